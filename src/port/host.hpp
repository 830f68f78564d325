// SPDX-License-Identifier: BSD-3-Clause
// Process 0 of a port: it listens, keeps its observers, and finds the poll at which all processes
// do what these ask for.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "comm/call.hpp"
#include "port/entry.hpp"
#include "port/observer_connection.hpp"
#include "port/state.hpp"

namespace hocket::port {

inline constexpr std::size_t most_observers = 64;

class Host {
  public:
    /// Of that state, which owns it.
    Host(State& state, const EntryOptions& options) : state_(state), entry_(options) {}

    const net::PortFile& file() const { return entry_.file(); }
    /// Moves all that is under way; never waits. `polling`: within a poll of this process.
    void advance(bool polling);
    /// At the agreed poll: carried out, or called off because not all processes know of it yet.
    void settle();
    /// A poll that served observers took so many seconds of the program.
    void charge(double seconds);
    /// Whether a request of an observer is under way, or its answer.
    bool serves() const;
    /// A job that connects, if one waits.
    /// `task`: its name; "": any.
    std::unique_ptr<Client> next_connector(const std::string& task);
    const std::shared_ptr<Listener>& listener() const { return entry_.listener(); }
    LentMemories& lent_memories() { return lent_memories_; }
    /// To be called when the published names change.
    void catalog_changed() { ++catalogs_; }
    /// Nothing new is begun; true once nothing is under way.
    bool finish();
    /// Tells the observers.
    void end(const std::string& why);

  private:
    using ObserverPointer = std::shared_ptr<ObserverConnection>;
    struct PendingSection {
        ObserverPointer observer;
        net::SectionRequest request;
        int slot = 0;  // once it is agreed on
    };
    /// A section as all processes have it at the agreed poll: the program may publish another array
    /// of that name before the parts have come.
    struct AgreedSection {
        ObserverPointer observer;
        std::int64_t number;  // of the request
        Layout layout;
        std::int64_t itemsize;
        Part own;  // this process's part
        int slot;
        bool maps;  // whether the observer maps parts
    };
    // A slot is taken from the proposal of a section until its last part has been handed on.
    struct Slot {
        ObserverPointer observer;
        std::shared_ptr<comm::Call> call;
    };
    struct PendingChange {
        ObserverPointer observer;
        net::ParameterChange change;
    };
    void admit_clients();
    void receive_requests(const ObserverPointer& observer);
    void enqueue(const ObserverPointer& observer, net::SectionRequest request);
    void enqueue(const ObserverPointer& observer, net::ParameterChange change);
    void propose(bool polling);
    void receive_answers();
    void call_off(std::int64_t seen);
    void call_off_what_lies_too_far();
    void send_to_all(const std::string& text);
    void announce();
    std::vector<AgreedSection> agree_on(OwnParts own);
    bool waits_for_slot(const PendingSection& asked) const;
    bool may_begin_section() const;
    void begin_sections();
    static void send_lists(ObserverConnection& observer, const AgreedSection& asked,
                           std::int64_t process);
    comm::Protocol<> collect(AgreedSection asked, std::int64_t poll);
    bool collecting() const;
    void flush(bool polling);

    State& state_;
    Entry entry_;
    std::list<ObserverPointer> observers_;
    LentMemories lent_memories_;
    std::list<std::unique_ptr<Client>> connectors_;
    std::deque<PendingSection> sections_, agreed_sections_;
    std::deque<PendingChange> changes_, agreed_changes_;
    std::optional<comm::Texts> answers_;
    std::int64_t rounds_ = 0, lookahead_ = 3, accepted_ = 0;
    bool repeats_ = false;      // the last proposal was called off
    double patient_since_ = 0;  // with the agreed poll, as of when, and after so many polls
    std::int64_t patient_at_ = 0;
    double debt_ = 0, debt_at_ = 0;  // seconds that observers took from the program; as of when
    std::int64_t furthest_ = 0;      // polls that any process is known to have made
    std::array<Slot, most_sections> slots_;
    double carried_out_at_ = 0;            // the last batch
    double sending_ = 0, flushed_at_ = 0;  // seconds that polls took to send, less some; as of when
    std::int64_t catalogs_ = 1;            // how many lists of what is published there were
    bool finishing_ = false;
};

/// The messages between process 0 and the others about an agreed poll.
std::string proposal(const AgreedPoll& agreed);
std::string decision(std::int64_t round, bool carried_out);
std::string end_message();
std::string answer(std::int64_t round, bool accepted, std::int64_t polls);

}  // namespace hocket::port
