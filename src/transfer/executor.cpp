// SPDX-License-Identifier: BSD-3-Clause
#include "transfer/executor.hpp"

#include <algorithm>
#include <utility>

#include "base/log.hpp"
#include "base/platform.hpp"
#include "base/trace.hpp"
#include "comm/fork.hpp"
#include "hocket/memory.hpp"
#include "transfer/counts.hpp"
#include "transfer/trace_arrows.hpp"

namespace hocket::transfer {

using transport::NetMessages;

namespace {

void run_all(const std::vector<transport::LocalCopy>& copies, const std::byte* source,
             std::byte* destination) {
    for (const auto& each : copies)
        each.copy.run(source + each.source_offset, destination + each.destination_offset);
}

// Packed sends, packed receives and rings get a third of the memory each.
std::int64_t share_of(const Route& route) {
    return (route.max_buffer > 0 ? route.max_buffer : transport::default_buffers()) / 3;
}

// Sends by MPI are at most so many turns ahead of the receives. So in an all-to-all few messages of
// a process share links and queues, and receives are posted before their messages arrive.
constexpr std::int64_t send_window = 16;

}  // namespace

Executor::Executor(std::shared_ptr<const Schedule> work, Route route, Stopwatch& watch)
    : work_(std::move(work)),
      route_(std::move(route)),
      watch_(watch),
      in_node_(work_->sends, work_->receives, work_->local, route_, share_of(route_)),
      net_sends_(NetMessages::Action::out, work_->sends, route_, share_of(route_)),
      net_receives_(NetMessages::Action::in, work_->receives, route_, share_of(route_)),
      refusals_(route_) {}

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
    work_ = std::move(work);  // the new schedule must replace the old one after all ends are
                              // rebound
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

// Only after all messages are received.
bool Executor::receive_refusals() {
    in_node_.each_refused([&](int rank) { refusals_.from(rank); });
    return refusals_.poll();
}

void Executor::tell() const {
    const std::size_t sends = work_->sends.messages.size(),
                      receives = work_->receives.messages.size();
    std::size_t near_sends = 0, near_receives = 0;
    for (std::size_t i = 0; i < sends; ++i) near_sends += in_node_.sends(i) ? 1 : 0;
    for (std::size_t i = 0; i < receives; ++i) near_receives += in_node_.receives(i) ? 1 : 0;
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
    if (forwards() && !scratch_) scratch_ = allocate(work_->scratch);
    std::byte* const scratch = scratch_.get();
    in_node_.begin(source, destination, scratch, refusing);
    net_sends_.begin(forwards() ? scratch : source, refusing && !forwards());
    net_receives_.begin(forwards() ? scratch : destination, refusing && !forwards());
    from_ = static_cast<const std::byte*>(source);
    to_ = static_cast<std::byte*>(destination);
    refusing_ = refusing;
    received_ = ready_ = 0;
    timed_ = !all_short();
    if (timed_) watch_.restart();
    const std::size_t sends = work_->sends.messages.size(),
                      receives = work_->receives.messages.size();
    count_sends(sends);
    count_receives(receives);
    missing_.assign(forwards() ? receives : 0, 1);
    for (std::size_t i = 0; i < receives; ++i) {
        if (in_node_.receive(i)) continue;
        net_receives_.add(i);
        if (forwards()) missing_[i] = net_receives_.pieces(i);
    }
    while (net_receives_.start_one(in_)) {
    }
    // First messages within the node: their receivers work while this process packs the others.
    send_what_is_ready();
    if (all_short()) return;
    watch_.lap(&Profile::move);
    while (send_one()) go_on();
}

bool Executor::send_what_is_ready() {
    const auto& sends = work_->sends.messages;
    const std::size_t before = ready_;
    for (; ready_ < sends.size() && sends[ready_].after <= received_; ++ready_) {
        if (forwards()) load(ready_);
        if (!in_node_.send(ready_)) net_sends_.add(ready_);
    }
    if (ready_ == before) return false;
    in_node_.begin_sends();
    return true;
}

// Copies the cargo of send `i` into the scratch memory.
void Executor::load(std::size_t i) {
    watch_.lap(&Profile::move);
    const Cargo& cargo = work_->outgoing[i];
    for (const OwnParcel& parcel : cargo.parcels) {
        scratch_.get()[parcel.flag_offset] = std::byte{refusing_};
        if (!refusing_) run_all(parcel.copies, from_, scratch_.get());
    }
    run_all(cargo.forwarded, scratch_.get(), scratch_.get());
    watch_.lap(&Profile::pack);
}

// Copies the cargo of receive `i` that ends on this process into the array.
void Executor::received(std::size_t i) {
    missing_[i] = 0;
    while (received_ < missing_.size() && missing_[received_] == 0) ++received_;
    const Cargo& cargo = work_->incoming[i];
    if (cargo.parcels.empty()) return;
    watch_.lap(&Profile::move);
    for (const OwnParcel& parcel : cargo.parcels) {
        const bool refused = scratch_.get()[parcel.flag_offset] != std::byte{0};
        if (refused) refusals_.from(rank_of(route_, Side::source, parcel.source));
        if (!refused && !refusing_) run_all(parcel.copies, scratch_.get(), to_);
    }
    watch_.lap(&Profile::pack);
}

// Never delays the message of the lowest round that has not arrived, because its sender has
// received all messages of lower rounds.
bool Executor::window_full() const {
    const std::int64_t next = net_sends_.next_turn();
    return next >= send_window && net_receives_.first_turn() <= next - send_window;
}

bool Executor::send_one() {
    if (window_full()) return false;
    if (!net_sends_.start_one(out_)) return false;
    watch_.lap(net_sends_.packed() ? &Profile::pack : &Profile::move);
    return true;
}

bool Executor::poll_net() {
    bool any = false;
    if (!in_.all_done()) {
        for (const auto number : in_.newly_done()) {
            any = true;
            const auto& empty = in_.newly_empty();
            const bool refused = std::find(empty.begin(), empty.end(), number) != empty.end();
            const std::size_t i = net_receives_.done(number, refused);
            if (forwards() && --missing_[i] == 0) received(i);
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

// Reads the clock only if the process has to wait: otherwise reading it would take most of the
// time.
bool Executor::poll_short() {
    in_node_.poll();
    const bool done = in_node_.channels_done() && receive_refusals();
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
    while (more) {  // a complete message may let another one start that completes at once
        more = in_node_.poll();
        if (forwards())
            for (const std::size_t i : in_node_.take_received()) received(i);
        if (poll_net()) more = true;
        if (ready_ < work_->sends.messages.size() && send_what_is_ready()) more = true;
    }
    watch_.lap(&Profile::move);
    // One chunk a poll, alternating with chunks of messages within the node, which often have the
    // other elements of the same cache lines; meanwhile messages by MPI progress. In simulation a
    // copy takes no time but a poll does, so all chunks are copied at once.
    bool any = false;
    do {
        any = in_node_.copy_stay();
        if (any) watch_.lap(&Profile::pack);
        if (send_one()) any = true;
    } while (platform::simulated && any);
    under_way_ = !(ready_ == work_->sends.messages.size() && net_sends_.finished() &&
                   net_receives_.finished() && in_.all_done() && out_.all_done() &&
                   in_node_.finished() && receive_refusals());
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
