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
#include "transport/buffers.hpp"
#include "transport/early_elements.hpp"

namespace hocket::transfer {

using transport::Route;

namespace {

void run_all(const std::vector<kernel::OffsetCopy>& copies, const std::byte* source,
             std::byte* destination) {
    for (const auto& each : copies)
        each.copy.run(source + each.source_offset, destination + each.destination_offset);
}

// Packed sends, packed receives and rings get a third of the memory each.
std::int64_t share_of(const Route& route) {
    return (route.max_buffer > 0 ? route.max_buffer : transport::default_buffers()) / 3;
}

}  // namespace

Executor::Executor(std::shared_ptr<const Schedule> work, Route route, Stopwatch& watch)
    : work_(std::move(work)),
      route_(std::move(route)),
      watch_(watch),
      refusals_(route_),
      transports_(transport::transports_for(*work_, route_, share_of(route_))) {}

Executor::~Executor() {
    if (under_way_ && !comm::forked()) abort_run("it was given up before it was done");
}

void Executor::abort_run(const std::string& why) {
    under_way_ = false;
    for (const auto& each : transports_) each->abort(why);
}

template <class Function>
auto Executor::together(const Function& function) {
    try {
        return function();
    } catch (const std::exception& error) {
        abort_run(error.what());
        throw;
    }
}

comm::Protocol<> Executor::connect() {
    together([&] {
        for (const auto& each : transports_) each->connect();
    });
    comm::When met([&] {
        return together([&] {
            return std::all_of(transports_.begin(), transports_.end(),
                               [](const auto& each) { return each->connected(); });
        });
    });
    co_await comm::until(met);
    short_ = !forwards() && work_->local.size() == 0 &&
             std::all_of(transports_.begin(), transports_.end(),
                         [](const auto& each) { return each->short_only(); });
}

void Executor::rebind(std::shared_ptr<const Schedule> work) {
    for (const auto& each : transports_) each->rebind(*work);
    work_ = std::move(work);  // the new schedule must replace the old one after all are rebound
}

void Executor::start(const void* source, void* destination) {
    ++runs_;
    const bool traced = trace::enabled();
    const double began = traced ? platform::seconds() : 0;
    together([&] { begin(source, destination, false); });
    to_draw_ = traced && destination != nullptr;
    if (runs_ == 1 && log::enabled(LogLevel::debug)) log_messages();
    if (traced && source != nullptr) draw(Side::source, began);
}

void Executor::refuse(const comm::Fault& why) {
    ++runs_;
    std::vector<int> receivers;
    for (const std::int64_t peer : work_->receivers)
        receivers.push_back(route_.destination[static_cast<std::size_t>(peer)]);
    together([&] {
        begin(nullptr, nullptr, true);
        refusals_.send(receivers, why);
    });
    to_draw_ = false;
}

// Only after all messages are received.
bool Executor::receive_refusals() {
    for (const std::size_t i : run_.refused) refusals_.from(route_.rank_of(work_->receives[i]));
    run_.refused.clear();
    return refusals_.poll();
}

void Executor::log_messages() const {
    const auto counted = [&](const std::vector<transport::Message>& side) {
        const std::size_t all = side.size();
        const auto in_node = static_cast<std::size_t>(
            std::count_if(side.begin(), side.end(),
                          [&](const auto& message) { return route_.in_node(message); }));
        return std::to_string(all) + (all == 1 ? " message" : " messages") + " (" +
               std::to_string(in_node) + " by shared memory, " + std::to_string(all - in_node) +
               " by MPI)";
    };
    log::write(LogLevel::debug, "transfer of " + work_->text() + ": this process sends " +
                                    counted(work_->sends) + " and receives " +
                                    counted(work_->receives));
}

void Executor::draw(Side side, double began) {
    record_arrows(side, *work_, route_, runs_, watch_.name().empty() ? "transfer" : watch_.name(),
                  began);
}

void Executor::begin(const void* source, void* destination, bool refusing) {
    under_way_ = true;
    delivered_ = false;
    refusals_.clear();
    if (forwards() && !scratch_) scratch_ = allocate(work_->scratch);
    run_.source = static_cast<const std::byte*>(source);
    run_.destination = static_cast<std::byte*>(destination);
    run_.scratch = scratch_.get();
    run_.refusing = refusing;
    run_.local_done = refusing ? work_->local.size() : 0;
    run_.interleaves = false;
    received_ = ready_ = 0;
    timed_ = !short_;
    if (timed_) watch_.restart();
    const std::size_t sends = work_->sends.size(), receives = work_->receives.size();
    count_sends(sends);
    count_receives(receives);
    unpacked_.assign(forwards() ? receives : 0, false);
    for (const auto& each : transports_) each->begin(run_);
    if (route_.early) transport::unpack_early(*route_.early, *work_, run_.received_into());
    send_what_is_ready();
    if (short_) return;
    watch_.lap(&Profile::move);
    while (start_next()) go_on();
}

bool Executor::send_what_is_ready() {
    const auto& sends = work_->sends;
    const std::size_t before = ready_;
    for (; ready_ < sends.size() && sends[ready_].after <= received_; ++ready_)
        if (forwards()) load(ready_);
    if (ready_ == before) return false;
    for (const auto& each : transports_) each->send(ready_);
    return true;
}

// Copies the cargo of send `i` into the scratch memory.
void Executor::load(std::size_t i) {
    watch_.lap(&Profile::move);
    for (const Cargo& cargo : work_->outgoing[i]) {
        if (cargo.source < 0) {
            run_all(cargo.copies, scratch_.get(), scratch_.get());
            continue;
        }
        scratch_.get()[cargo.flag_offset] = std::byte{run_.refusing};
        if (!run_.refusing) run_all(cargo.copies, run_.source, scratch_.get());
    }
    watch_.lap(&Profile::pack);
}

// Copies the cargo of receive `i` that ends on this process into the array.
void Executor::received(std::size_t i) {
    unpacked_[i] = true;
    while (received_ < unpacked_.size() && unpacked_[received_]) ++received_;
    const std::vector<Cargo>& parcels = work_->incoming[i];
    if (parcels.empty()) return;
    watch_.lap(&Profile::move);
    for (const Cargo& parcel : parcels) {
        const bool refused = scratch_.get()[parcel.flag_offset] != std::byte{0};
        if (refused) refusals_.from(route_.source[static_cast<std::size_t>(parcel.source)]);
        if (refused || run_.refusing) continue;
        for (const auto& each : parcel.copies)
            route_.convert(route_.source[static_cast<std::size_t>(parcel.source)],
                           scratch_.get() + each.source_offset, each.copy.bytes());
        run_all(parcel.copies, scratch_.get(), run_.destination);
    }
    watch_.lap(&Profile::pack);
}

// First within the node: those receivers work while this process packs messages to others.
bool Executor::start_next() {
    for (const auto& each : transports_) {
        const auto packed = each->start_next();
        if (!packed) continue;
        watch_.lap(*packed > 0 ? &Profile::pack : &Profile::move);
        return true;
    }
    return false;
}

bool Executor::copy_local() {
    if (run_.interleaves || run_.local_done == work_->local.size()) return false;
    const auto& receives = work_->receives;
    work_->local.run(run_.local_done++, run_.source, run_.destination,
                     transport::stores_for(work_->local.bytes(),
                                           receives.empty() ? 0 : receives[0].bytes_of_many));
    watch_.lap(&Profile::pack);
    return true;
}

bool Executor::poll_transports() {
    bool any = false;
    for (const auto& each : transports_)
        if (each->poll()) any = true;
    for (const std::size_t i : run_.received) received(i);
    run_.received.clear();
    return any;
}

// A profile reads the clock only if the process has to wait: otherwise that would take most of the
// time.
bool Executor::poll_short() {
    if (!delivered_) {
        const bool any = transports_.empty() || transports_.front()->poll();
        delivered_ = transports_.empty() || (any && transports_.front()->finished());
    }
    const bool done = delivered_ && receive_refusals();
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
    if (short_) return poll_short();
    for (bool more = true; more;) {  // a complete message may let another start that completes
        more = poll_transports();
        if (send_what_is_ready()) more = true;
    }
    watch_.lap(&Profile::move);
    // One chunk a poll, alternating with chunks of messages within the node, which often have the
    // other elements of the same cache lines; meanwhile messages by MPI progress. In simulation a
    // copy takes no time but a poll does, so all chunks are copied at once.
    bool any = false;
    do {
        any = copy_local();
        if (start_next()) any = true;
    } while (platform::simulated && any);
    under_way_ = !(ready_ == work_->sends.size() && run_.local_done == work_->local.size() &&
                   std::all_of(transports_.begin(), transports_.end(),
                               [](const auto& each) { return each->finished(); }) &&
                   receive_refusals());
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
