// SPDX-License-Identifier: BSD-3-Clause
#include "comm/closing.hpp"

#include <utility>

#include "base/pack.hpp"
#include "comm/agree.hpp"
#include "comm/call.hpp"
#include "comm/engine.hpp"

namespace hocket::comm {
namespace {

/// The numbers of messages on a link, which processes add up.
struct Ledger {
    std::int64_t unreceived = 0;  // sent, less received
    bool given_up = false;

    std::string packed() const {
        return Packer().number(unreceived).number(given_up ? 1 : 0).take();
    }
    static Ledger unpacked(const std::string& bytes) {
        Unpacker in(bytes);
        Ledger ledger;
        ledger.unreceived = in.number();
        ledger.given_up = in.number() != 0;
        return ledger;
    }
};

std::string sum(const std::string& low, const std::string& high) {
    Ledger all = Ledger::unpacked(low);
    const Ledger more = Ledger::unpacked(high);
    all.unreceived += more.unreceived;
    all.given_up = all.given_up || more.given_up;
    return all.packed();
}

Protocol<> closing(std::unique_ptr<Link> link) {
    const Ledger mine{link->unreceived(), link->given_up()};
    const Group group = Group::own(*link);
    std::string all = co_await reduce(group, link->closing_tag(), mine.packed(), sum);
    all = co_await broadcast(group, link->closing_tag(), std::move(all));
    const Ledger ledger = Ledger::unpacked(all);
    if (ledger.unreceived == 0 && !ledger.given_up) link->free();
}

}  // namespace

void close(std::unique_ptr<Link> link) {
    if (link == nullptr || !running()) return;
    Engine::instance().post_background(
        std::make_shared<Call>(closing(std::move(link)), "closing a communicator"));
}

}  // namespace hocket::comm
