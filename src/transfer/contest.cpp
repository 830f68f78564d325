// SPDX-License-Identifier: BSD-3-Clause
#include "transfer/contest.hpp"

#include <algorithm>

#include "base/environment.hpp"
#include "hocket/error.hpp"

namespace hocket::transfer {
namespace {

// What all senders know alike: that they can vote, that somebody is far, and that two messages
// could be long enough.
bool may_contend(const Work& work, const Route& route, const comm::Group& senders) {
    if (senders.aggregates == nullptr || work.relay) return false;
    const Layout& layout = work.plan().source();
    std::int64_t bytes = work.plan().options().itemsize;
    for (const std::int64_t extent : layout.shape()) bytes *= extent;
    const std::int64_t here = route.link->node(senders.rank_of(0));
    return bytes >= 2 * ordered_from &&
           std::any_of(route.destination.begin(), route.destination.end(),
                       [&](int rank) { return route.link->node(rank) != here; });
}

// The receiver of the first message to another node, if that one is long; else -1.
std::int64_t wanted(const Work& work, const Route& route) {
    for (const Message& message : work.sends.messages) {
        if (route.link->near(route.rank_of(Side::destination, message.peer))) continue;
        return message.bytes < ordered_from ? -1 : message.peer;
    }
    return -1;
}

}  // namespace

namespace {
const environment::Checked checked_turns([] { static_cast<void>(takes_turns()); });
}

// Read each time, beside messages that take a thousand times as long.
bool takes_turns() {
    const auto told =
        environment::number("HOCKET_TAKE_TURNS", 0, 1, "whether senders that contend take turns");
    return told.value_or(0) == 1;
}

Contest::Contest(comm::Group senders, int number, const std::vector<int>& order)
    : senders_(std::move(senders)), number_(number) {
    const auto at = std::find(order.begin(), order.end(), senders_.index);
    if (at + 1 != order.end()) next_ = at[1];
    if (at != order.begin()) hearing_.emplace(senders_.aggregates->hear(number_, at[-1]));
}

Contest::~Contest() {
    if (passed_) return;
    try {
        heard_ = true;
        pass();
    } catch (const Error&) {
        return;  // they hear of this process in another way
    }
}

bool Contest::my_turn() {
    if (heard_) return true;
    if (hearing_) {
        if (!hearing_->poll()) return false;
        hearing_->take();
    }
    heard_ = true;
    if (trace::enabled()) track_ = trace::Track("turn to send", {});
    return true;
}

void Contest::pass() {
    if (passed_) return;
    passed_ = true;
    track_.end();
    if (next_ < 0) return;
    telling_.emplace(senders_.aggregates->tell(number_, next_));
    telling_->poll();
}

bool Contest::over() {
    return passed_ && (!telling_ || telling_->poll());
}

comm::Protocol<std::unique_ptr<Contest>> contend(const Work& work, const Route& route,
                                                 const comm::Group& senders, int number) {
    if (!may_contend(work, route, senders)) co_return nullptr;
    const std::int64_t receiver = wanted(work, route);
    std::vector<int> order = co_await senders.aggregates->vote(number, receiver);
    if (order.size() < 2) co_return nullptr;
    std::sort(order.begin(), order.end(),
              [&](int a, int b) { return work.turn(a, receiver) < work.turn(b, receiver); });
    co_return std::make_unique<Contest>(senders, number, order);
}

}  // namespace hocket::transfer
