// SPDX-License-Identifier: BSD-3-Clause
#include "transfer/executor.hpp"

#include <algorithm>
#include <utility>

#include "base/log.hpp"
#include "base/platform.hpp"
#include "base/trace.hpp"
#include "comm/fork.hpp"
#include "transfer/counts.hpp"
#include "transfer/trace_arrows.hpp"

namespace hocket::transfer {

using transport::NetMessages;

namespace {

// What is sent, what is received and what passes through rings: a third of the memory each.
std::int64_t share_of(const Route& route) {
    return (route.max_buffer > 0 ? route.max_buffer : transport::default_buffers()) / 3;
}

// How many turns sends by MPI are ahead of what has come by it. Where all send to all, so many
// messages of a process are under way at a time, not one to each: what shares links and queues
// stays few, and receives are posted before what they are for.
constexpr std::int64_t most_ahead = 16;

}  // namespace

Executor::Executor(std::shared_ptr<const Schedule> work, Route route, Stopwatch& watch)
    : work_(std::move(work)),
      route_(std::move(route)),
      watch_(watch),
      in_node_(work_->sends, work_->receives, work_->local, route_, share_of(route_)),
      net_sends_(NetMessages::Action::out, work_->sends, route_, share_of(route_)),
      net_receives_(NetMessages::Action::in, work_->receives, route_, share_of(route_)),
      refusals_(route_) {
    if (work_->relay) relay_.emplace(*work_->relay, route_, refusals_, watch_);
}

Executor::~Executor() {
    if (under_way_ && !comm::forked()) abort_use("it was given up before it was done");
}

void Executor::abort_use(const std::string& why) {
    under_way_ = false;
    in_node_.abort_use(why);
}

template <class Function>
auto Executor::together(const Function& function) {
    try {
        return function();
    } catch (const std::exception& error) {
        abort_use(error.what());
        throw;
    }
}

comm::Protocol<> Executor::connect() {
    in_.watch_lengths();
    together([&] {
        in_node_.connect();
        for (std::size_t i = 0; i < work_->sends.messages.size(); ++i)
            if (!in_node_.sends(i)) net_sends_.prepare(i);
        for (std::size_t i = 0; i < work_->receives.messages.size(); ++i)
            if (!in_node_.receives(i)) net_receives_.prepare(i);
    });
    comm::When met([&] { return together([&] { return in_node_.connected(); }); });
    co_await comm::until(met);
}

void Executor::rebind(std::shared_ptr<const Schedule> work) {
    in_node_.rebind(work->sends, work->receives, work->local);
    net_sends_.rebind(work->sends);
    net_receives_.rebind(work->receives);
    if (relay_) relay_.emplace(*work->relay, route_, refusals_, watch_);
    work_ = std::move(work);  // the last owner of what the ends were bound to goes after them
}

void Executor::start(const void* source, void* destination) {
    ++runs_;
    const bool traced = trace::enabled();
    const double began = traced ? platform::seconds() : 0;
    together([&] { begin(source, destination, false); });
    to_draw_ = traced && destination != nullptr;
    if (runs_ == 1 && log::enabled(LogLevel::debug)) tell();
    if (traced && source != nullptr) draw(Side::source, began);
}

void Executor::refuse(const comm::Fault& why) {
    ++runs_;
    std::vector<int> receivers;
    for (const std::int64_t peer : work_->receivers)
        receivers.push_back(rank_of(route_, Side::destination, peer));
    together([&] {
        begin(nullptr, nullptr, true);
        refusals_.tell(receivers, why);
    });
    to_draw_ = false;
}

// Only once nothing else is left to come.
bool Executor::hear_refusals() {
    in_node_.each_refused([&](int rank) { refusals_.from(rank); });
    return refusals_.poll();
}

void Executor::tell() const {
    std::size_t sends = work_->sends.messages.size(), receives = work_->receives.messages.size();
    std::size_t near_sends = 0, near_receives = 0;
    for (std::size_t i = 0; i < sends; ++i) near_sends += in_node_.sends(i) ? 1 : 0;
    for (std::size_t i = 0; i < receives; ++i) near_receives += in_node_.receives(i) ? 1 : 0;
    if (work_->relay) {
        sends = work_->relay->sends.size();
        receives = work_->relay->receives.size();
    }
    const auto counted = [](std::size_t messages, std::size_t near) {
        return std::to_string(messages) + (messages == 1 ? " message" : " messages") + " (" +
               std::to_string(near) + " by shared memory, " + std::to_string(messages - near) +
               " by MPI)";
    };
    log::write(LogLevel::debug, "transfer of " + work_->text() + ": this process sends " +
                                    counted(sends, near_sends) + " and receives " +
                                    counted(receives, near_receives));
}

void Executor::draw(Side side, double began) {
    record_arrows(side, *work_, route_, runs_, watch_.name().empty() ? "transfer" : watch_.name(),
                  began);
}

void Executor::begin(const void* source, void* destination, bool refusing) {
    under_way_ = true;
    refusals_.clear();
    in_node_.begin(source, destination, refusing);
    net_sends_.begin(source, refusing);
    net_receives_.begin(destination, refusing);
    timed_ = !all_short();
    if (timed_) watch_.restart();
    const std::size_t sends = work_->sends.messages.size(),
                      receives = work_->receives.messages.size();
    count_sends(sends);
    count_receives(receives);
    if (relay_)
        relay_->start(static_cast<const std::byte*>(source), static_cast<std::byte*>(destination),
                      refusing);
    for (std::size_t i = 0; i < receives; ++i)
        if (!in_node_.receive(i)) net_receives_.add(i);
    while (net_receives_.start_one(in_)) {
    }
    // Long near messages first: their receivers work while this process packs the others.
    for (std::size_t i = 0; i < sends; ++i)
        if (!in_node_.send(i)) net_sends_.add(i);
    in_node_.begin_sends();
    if (all_short()) return;
    watch_.lap(&Profile::move);
    while (send_one()) go_on();
}

// The message of the lowest turn that has not come, wherever, is never kept back by this: all that
// its sender expects before it has come. So the transfer goes on.
bool Executor::window_full() const {
    const std::int64_t next = net_sends_.next_turn();
    return next >= most_ahead && net_receives_.first_turn() <= next - most_ahead;
}

bool Executor::send_one() {
    if (window_full()) return false;
    if (!net_sends_.start_one(out_)) return false;
    watch_.lap(net_sends_.packed() ? &Profile::pack : &Profile::move);
    return true;
}

// One piece a call is packed and sent: those of near messages, and what comes, have their turns.
bool Executor::poll_net() {
    bool any = false;
    if (!in_.all_done()) {
        for (const auto number : in_.newly_done()) {
            any = true;
            const auto& empty = in_.newly_empty();
            const bool refused = std::find(empty.begin(), empty.end(), number) != empty.end();
            const std::size_t i = net_receives_.done(number, refused);
            if (refused)
                refusals_.from(rank_of(route_, Side::source, work_->receives.messages[i].peer));
        }
    }
    while (net_receives_.start_one(in_)) any = true;
    if (!out_.all_done()) {
        for (const auto number : out_.newly_done()) net_sends_.done(number);
    }
    return any;
}

// The clock is looked at only while there is time for it: what is done at once costs next to
// nothing, and the first look would be most of it.
bool Executor::poll_short() {
    in_node_.poll();
    const bool done = in_node_.channels_done() && hear_refusals();
    under_way_ = !done;
    if (done && timed_) {
        watch_.lap(&Profile::move);
    } else if (!done && !timed_) {
        timed_ = true;
        watch_.restart();
    }
    return done;
}

bool Executor::poll() {
    const double began = to_draw_ ? platform::seconds() : 0;
    const bool done = together([&] { return go_on(); });
    if (done && std::exchange(to_draw_, false)) draw(Side::destination, began);
    return done;
}

bool Executor::go_on() {
    if (all_short()) return poll_short();
    bool more = true;
    while (more) {  // what is served may start something that is done at once
        more = in_node_.poll();
        if (poll_net()) more = true;
    }
    const bool relayed = !relay_ || relay_->poll();
    watch_.lap(&Profile::move);
    // One part a poll: in turn with those of near messages, which often fill the other elements of
    // the same cache lines, and the messages of far ones are served meanwhile.
    // Simulated, a copy takes no time but the next poll does: all at once.
    bool any = false;
    do {
        any = in_node_.copy_stay();
        if (any) watch_.lap(&Profile::pack);
        if (send_one()) any = true;
    } while (platform::simulated && any);
    under_way_ = !(relayed && net_sends_.finished() && net_receives_.finished() && in_.all_done() &&
                   out_.all_done() && in_node_.finished() && hear_refusals());
    return !under_way_;
}

comm::Protocol<> run(std::shared_ptr<const Schedule> work, const void* source_data,
                     void* destination_data, Route route, Stopwatch& watch) {
    Executor runner(std::move(work), std::move(route), watch);
    runner.start(source_data, destination_data);
    comm::When done([&] { return runner.poll(); });
    co_await comm::until(done);
}

}  // namespace hocket::transfer
