// SPDX-License-Identifier: BSD-3-Clause
// Process 0 of a port: it listens, keeps its observers, and finds the poll at which all processes
// do what these ask for.
#pragma once

#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "comm/call.hpp"
#include "port/door.hpp"
#include "port/state.hpp"

namespace hocket::port {

/// Somebody who looks on.
struct Onlooker {
    std::unique_ptr<net::Connection> connection;  // none once it has left
    net::Right right = net::Right::read;

    bool present() const { return connection != nullptr; }
    void send(net::Say kind, const net::Writer& body, std::shared_ptr<const net::Bytes> owner = {},
              std::span<const std::byte> shared = {});
    void fail(std::int64_t number, const std::string& why);
};

class Host {
  public:
    /// Of that state, which owns it.
    Host(State& state, const DoorOptions& options) : state_(state), door_(options) {}

    const net::PortFile& file() const { return door_.file(); }
    /// Moves all that is under way; never waits. `polling`: within a poll of this process.
    void advance(bool polling);
    /// At the agreed poll: carried out, or called off because not all processes know of it yet.
    void settle();
    /// A job that connects, if one waits.
    std::unique_ptr<Client> next_connector();
    void welcome(Client& client, const std::string& rest) {
        door_.listener().welcome(client, rest);
    }
    /// To be called when the published names change.
    void catalog_changed() { catalog_changed_ = true; }
    /// Nothing new is begun; true once nothing is under way.
    bool finish();
    /// Tells the observers.
    void end(const std::string& why);

  private:
    using Who = std::shared_ptr<Onlooker>;
    struct AskedLook {
        Who who;
        net::Look look;
    };
    struct AskedSet {
        Who who;
        net::Set set;
    };
    void let_in();
    void listen(const Who& who);
    void ask(const Who& who, net::Look look);
    void ask(const Who& who, net::Set set);
    void propose(bool polling);
    void hear_answers();
    void call_off(std::int64_t seen);
    void tell_all(const std::string& text);
    void announce();
    comm::Protocol<> collect(std::vector<AskedLook> looks, OwnParts own, std::int64_t poll);
    comm::Protocol<> collect_one(const AskedLook& asked, const Layout& section,
                                 std::int64_t itemsize, std::shared_ptr<const net::Bytes> own);

    State& state_;
    Door door_;
    std::list<Who> onlookers_;
    std::list<std::unique_ptr<Client>> connectors_;
    std::deque<AskedLook> looks_, agreed_looks_;
    std::deque<AskedSet> sets_, agreed_sets_;
    std::optional<Texts> answers_;
    std::int64_t rounds_ = 0, lookahead_ = 3, accepted_ = 0;
    std::int64_t furthest_ = 0;  // polls that any process is known to have made
    std::shared_ptr<comm::Call> collecting_;
    bool catalog_changed_ = false, finishing_ = false;
};

/// The messages between process 0 and the others about an agreed poll.
std::string proposal(const AgreedPoll& agreed);
std::string decision(std::int64_t round, bool carried_out);
std::string last_word();
std::string answer(std::int64_t round, bool accepted, std::int64_t polls);

}  // namespace hocket::port
