// SPDX-License-Identifier: BSD-3-Clause
#include "transfer/run.hpp"

#include "base/port.hpp"
#include "base/trace.hpp"
#include "comm/engine.hpp"
#include "hocket/memory.hpp"

namespace hocket::transfer {
namespace {

std::byte* at(void* base, std::int64_t offset) {
    return static_cast<std::byte*>(base) + offset;
}
const std::byte* at(const void* base, std::int64_t offset) {
    return static_cast<const std::byte*>(base) + offset;
}

// Ends that are done leave the list; the order does not matter.
template <class Ends, class... Arguments>
bool poll_each(std::vector<std::size_t>& under_way, const Ends& ends, Arguments... arguments) {
    bool any_done = false;
    for (std::size_t k = 0; k < under_way.size();) {
        if (ends[under_way[k]]->poll(arguments...)) {
            under_way[k] = under_way.back();
            under_way.pop_back();
            any_done = true;
        } else {
            ++k;
        }
    }
    return any_done;
}

}  // namespace

Runner::Runner(std::shared_ptr<const Work> work, Route route, std::shared_ptr<Profile> profile)
    : work_(std::move(work)),
      route_(std::move(route)),
      profile_(profile ? std::move(profile) : std::make_shared<Profile>()),
      near_sends_(work_->sends.size()),
      near_receives_(work_->receives.size()) {}

Runner::~Runner() = default;

int Runner::sender(std::size_t i) const {
    return route_.source[static_cast<std::size_t>(work_->receives[i].peer)];
}
int Runner::receiver(std::size_t i) const {
    return route_.destination[static_cast<std::size_t>(work_->sends[i].peer)];
}

comm::Protocol<> Runner::connect() {
    const std::size_t sends = work_->sends.size(), receives = work_->receives.size();
    offers_out_.resize(sends);
    offers_in_.resize(receives);
    for (std::size_t i = 0; i < receives; ++i)
        if (near(sender(i)))
            route_.link->receive(in_, &offers_in_[i], sizeof(LaneOffer), sender(i),
                                 route_.data_tag);
    for (std::size_t i = 0; i < sends; ++i) {
        if (!near(receiver(i))) continue;
        near_sends_[i] = std::make_unique<NearSend>(work_->near_send(i));
        offers_out_[i] = near_sends_[i]->offer();
        route_.link->send(out_, &offers_out_[i], sizeof(LaneOffer), receiver(i), route_.data_tag);
    }
    co_await comm::until(in_);
    co_await comm::until(out_);
    for (std::size_t i = 0; i < receives; ++i)
        if (near(sender(i)))
            near_receives_[i] =
                std::make_unique<NearReceive>(work_->near_receive(i), offers_in_[i]);
    brief_ = work_->local.size() == 0;
    for (std::size_t i = 0; i < sends; ++i)
        brief_ = brief_ && near_sends_[i] && work_->sends[i].bytes < direct_from;
    for (std::size_t i = 0; i < receives; ++i)
        brief_ = brief_ && near_receives_[i] && work_->receives[i].bytes < direct_from;
}

void Runner::rebind(std::shared_ptr<const Work> work) {
    for (std::size_t i = 0; i < near_sends_.size(); ++i)
        if (near_sends_[i]) near_sends_[i]->rebind(work->near_send(i));
    for (std::size_t i = 0; i < near_receives_.size(); ++i)
        if (near_receives_[i]) near_receives_[i]->rebind(work->near_receive(i));
    work_ = std::move(work);  // the last owner of what the ends were bound to goes after them
    send_buffer_.reset();
    receive_buffer_.reset();
}

void Runner::start(const void* source, void* destination) {
    from_ = source;
    to_ = destination;
    if (!brief_) last_ = comm::Engine::instance().seconds();
    const std::size_t sends = work_->sends.size(), receives = work_->receives.size();
    for (std::size_t i = 0; i < receives; ++i) {
        if (near_receives_[i]) {
            near_receives_[i]->start(to_);
            receiving_.push_back(i);
        } else if (work_->receives[i].bytes >= direct_from && near(sender(i))) {
            offers_in_.resize(receives);
            in_.begin_group(receives + i);
            route_.link->receive(in_, &offers_in_[i], sizeof(LaneOffer), sender(i),
                                 route_.data_tag);
        } else {
            receive(i);
        }
    }
    // Long near messages first: their receivers work while this process packs the others.
    for (std::size_t i = 0; i < sends; ++i) {
        const bool connected = near_sends_[i] != nullptr;
        if (!connected) {
            if (work_->sends[i].bytes < direct_from || !near(receiver(i))) continue;
            near_sends_[i] = std::make_unique<NearSend>(work_->near_send(i));
            offers_out_.resize(sends);
            offers_out_[i] = near_sends_[i]->offer();
            route_.link->send(out_, &offers_out_[i], sizeof(LaneOffer), receiver(i),
                              route_.data_tag);
        }
        near_sends_[i]->start(from_);
        sending_.push_back(i);
    }
    if (brief_) return;
    lap(profile_->move, "start");
    for (std::size_t i = 0; i < sends; ++i) {
        if (near_sends_[i]) continue;
        send(i);
        poll();
    }
    local_done_ = 0;
}

bool Runner::copy_local() {
    const Parts& local = work_->local;
    if (local_done_ == local.size()) return false;
    lap(profile_->move, "move");
    local.run(local_done_++, at(from_, 0), at(to_, 0), stores_for(local.bytes()));
    lap(profile_->pack, "copy what stays");
    return true;
}

void Runner::send(std::size_t i) {
    const auto& message = work_->sends[i];
    const void* data = nullptr;
    if (message.in_place) {
        data = at(from_, message.pieces[0].array_offset);
    } else {
        if (!send_buffer_) send_buffer_ = allocate(work_->send_buffer);
        for (const auto& piece : message.pieces)
            piece.copy.run(at(from_, piece.array_offset), send_buffer_.get() + piece.buffer_offset);
        data = send_buffer_.get() + message.buffer_offset;
        lap(profile_->pack, "pack");
    }
    route_.link->send(out_, data, message.bytes, receiver(i), route_.data_tag);
}

void Runner::receive(std::size_t i) {
    const auto& message = work_->receives[i];
    std::byte* data = nullptr;
    if (message.in_place) {
        data = at(to_, message.pieces[0].array_offset);
    } else {
        if (!receive_buffer_) receive_buffer_ = allocate(work_->receive_buffer);
        data = receive_buffer_.get() + message.buffer_offset;
    }
    in_.begin_group(i);
    route_.link->receive(in_, data, message.bytes, sender(i), route_.data_tag);
}

void Runner::arrived(std::size_t number) {
    const std::size_t receives = work_->receives.size();
    if (number >= receives) {
        const std::size_t i = number - receives;
        near_receives_[i] = std::make_unique<NearReceive>(work_->near_receive(i), offers_in_[i]);
        near_receives_[i]->start(to_);
        receiving_.push_back(i);
        return;
    }
    const auto& message = work_->receives[number];
    if (message.in_place) return;
    for (const auto& piece : message.pieces)
        piece.copy.run(receive_buffer_.get() + piece.buffer_offset, at(to_, piece.array_offset));
}

bool Runner::poll_near() {
    const bool received = poll_each(receiving_, near_receives_);
    const bool free = receiving_.empty() && local_done_ == work_->local.size();
    return poll_each(sending_, near_sends_, free) || received;
}

// The clock is looked at only while there is time for it: what is done at once costs next to
// nothing, and the first look would be most of it.
bool Runner::poll_brief() {
    poll_near();
    const bool done = sending_.empty() && receiving_.empty();
    if (done && last_ != 0) {
        lap(profile_->move, "move");
        last_ = 0;
    } else if (!done && last_ == 0) {
        last_ = comm::Engine::instance().seconds();
    }
    return done;
}

bool Runner::poll() {
    if (brief_) return poll_brief();
    bool more = true;
    while (more) {  // what is served may start something that is done at once
        more = poll_near();
        if (in_.all_done()) continue;
        for (const auto number : in_.newly_done()) {
            more = true;
            arrived(number);
        }
    }
    if (!out_.all_done()) out_.newly_done();
    lap(profile_->move, "move");
    // One part a poll: in turn with those of near messages, which often fill the other elements of
    // the same cache lines, and the messages of far ones are served meanwhile.
    copy_local();
    return local_done_ == work_->local.size() && in_.all_done() && out_.all_done() &&
           sending_.empty() && receiving_.empty();
}

void Runner::lap(double& seconds, const char* name) {
    const double now = comm::Engine::instance().seconds(), spent = now - last_;
    seconds += spent;
    last_ = now;
    if (!trace::enabled()) return;
    const double end = port::seconds();
    trace::record(name, end - spent, end);
}

comm::Protocol<> run(std::shared_ptr<const Work> work, const void* source_data,
                     void* destination_data, Route route, std::shared_ptr<Profile> profile) {
    Runner runner(std::move(work), std::move(route), std::move(profile));
    runner.start(source_data, destination_data);
    comm::When done([&] { return runner.poll(); });
    co_await comm::until(done);
}

}  // namespace hocket::transfer
