// SPDX-License-Identifier: BSD-3-Clause
#include "transfer/run.hpp"

#include "base/port.hpp"
#include "hocket/memory.hpp"
#include "transfer/counts.hpp"

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

// What is sent, what is received and what passes through rings: a third of the memory each.
std::int64_t share_of(const Route& route) {
    return (route.max_buffer > 0 ? route.max_buffer : usual_buffers()) / 3;
}

}  // namespace

Runner::Runner(std::shared_ptr<const Work> work, Route route, Stopwatch& watch)
    : work_(std::move(work)),
      route_(std::move(route)),
      watch_(watch),
      near_sends_(work_->sends.messages.size()),
      near_receives_(work_->receives.messages.size()),
      rings_(share_of(route_)),
      far_sends_(Far::Way::out, *work_, route_, share_of(route_)),
      far_receives_(Far::Way::in, *work_, route_, share_of(route_)) {
    if (work_->relay) relay_.emplace(*work_->relay, route_, watch_);
}

Runner::~Runner() {
    if (under_way_) break_off("it was given up before it was done");
}

int Runner::sender(std::size_t i) const {
    return route_.source[static_cast<std::size_t>(work_->receives.messages[i].peer)];
}
int Runner::receiver(std::size_t i) const {
    return route_.destination[static_cast<std::size_t>(work_->sends.messages[i].peer)];
}

void Runner::offer(std::size_t i) {
    near_sends_[i] = std::make_unique<NearSend>(work_->near_send(i), !connected_);
    const std::uint64_t sent = send_offer(route_, receiver(i), near_sends_[i]->offer());
    offered_.push_back({receiver(i), sent});
}

// What is offered once the transfer goes on is begun at once.
bool Runner::accept_offers() {
    bool any = false;
    for (std::size_t k = 0; k < expecting_.size();) {
        const std::size_t i = expecting_[k];
        const auto offered = receive_offer(route_, sender(i));
        if (!offered) {
            route_.link->need(sender(i));
            ++k;
            continue;
        }
        const Message& message = work_->receives.messages[i];
        const bool in_mail = mailed(message, sender(i));
        if (in_mail)
            message.pieces.run(0, offered->data(), at(to_, 0));
        else
            near_receives_[i] =
                std::make_unique<NearReceive>(work_->near_receive(i), offered->lane());
        expecting_[k] = expecting_.back();
        expecting_.pop_back();
        any = true;
        if (started_ && !in_mail) begin_receive(i);
    }
    return any;
}

// A short message is done at once then, and nobody may look after its mail any more.
bool Runner::all_gone(std::vector<std::pair<int, std::uint64_t>>& mail) {
    std::erase_if(mail, [&](const auto& each) {
        if (route_.link->mail_gone(each.first, each.second)) return true;
        route_.link->need(each.first);
        return false;
    });
    return mail.empty();
}

void Runner::break_off(const std::string& why) {
    under_way_ = false;
    const std::size_t sends = near_sends_.size(), receives = near_receives_.size();
    try {
        for (std::size_t i = 0; i < sends; ++i) {
            if (near_sends_[i])
                near_sends_[i]->break_off(why);
            else if (near(receiver(i)))
                withhold_offer(route_, receiver(i), why);
        }
        for (std::size_t i = 0; i < receives; ++i) {
            if (near_receives_[i])
                near_receives_[i]->break_off(why);
            else if (near(sender(i)) &&
                     !mailed(work_->receives.messages[i], sender(i)))  // whose sender has gone on
                refuse_offer(route_, sender(i), why);
        }
    } catch (const std::exception&) {
        return;  // no memory for the words: the first error is the one to tell of
    }
}

template <class Function>
auto Runner::together(const Function& function) {
    try {
        return function();
    } catch (const std::exception& error) {
        break_off(error.what());
        throw;
    }
}

void Runner::begin_receive(std::size_t i) {
    near_receives_[i]->start(to_);
    receiving_.push_back(i);
}

comm::Protocol<> Runner::connect() {
    const std::size_t sends = work_->sends.messages.size(),
                      receives = work_->receives.messages.size();
    connected_ = true;
    together([&] {
        for (std::size_t i = 0; i < receives; ++i)
            if (near(sender(i))) expecting_.push_back(i);
        for (std::size_t i = 0; i < sends; ++i)
            if (near(receiver(i))) offer(i);
    });
    comm::When met([&] {
        route_.link->push_mail();
        together([&] { accept_offers(); });
        return all_gone(offered_) && expecting_.empty();
    });
    co_await comm::until(met);
    brief_ = work_->local.size() == 0 && !relay_;
    for (std::size_t i = 0; i < sends; ++i)
        brief_ = brief_ && near_sends_[i] && work_->sends.messages[i].bytes() < direct_from;
    for (std::size_t i = 0; i < receives; ++i)
        brief_ = brief_ && near_receives_[i] && work_->receives.messages[i].bytes() < direct_from;
}

void Runner::rebind(std::shared_ptr<const Work> work) {
    for (std::size_t i = 0; i < near_sends_.size(); ++i)
        if (near_sends_[i]) near_sends_[i]->rebind(work->near_send(i));
    for (std::size_t i = 0; i < near_receives_.size(); ++i)
        if (near_receives_[i]) near_receives_[i]->rebind(work->near_receive(i));
    weaving_.reset();
    far_sends_.rebind(*work);
    far_receives_.rebind(*work);
    if (relay_) relay_.emplace(*work->relay, route_, watch_);
    work_ = std::move(work);  // the last owner of what the ends were bound to goes after them
}

void Runner::start(const void* source, void* destination) {
    from_ = source;
    to_ = destination;
    together([&] { begin(); });
}

void Runner::begin() {
    local_done_ = 0;
    unsent_.clear();
    next_unsent_ = 0;
    started_ = under_way_ = true;
    far_sends_.begin(from_);
    far_receives_.begin(to_);
    timed_ = !brief_;
    if (timed_) watch_.restart();
    const std::size_t sends = work_->sends.messages.size(),
                      receives = work_->receives.messages.size();
    count_sends(sends);
    count_receives(receives);
    if (relay_) relay_->start(at(from_, 0), at(to_, 0));
    for (std::size_t i = 0; i < receives; ++i) {
        if (near_receives_[i]) {
            begin_receive(i);
        } else if (near(sender(i))) {
            expecting_.push_back(i);
        } else {
            far_receives_.add(i);
        }
    }
    while (far_receives_.start_one(in_)) {
    }
    // Long near messages first: their receivers work while this process packs the others.
    for (std::size_t i = 0; i < sends; ++i) {
        const Message& message = work_->sends.messages[i];
        if (!near(receiver(i)))
            far_sends_.add(i);
        else if (mailed(message, receiver(i)))
            mailed_.push_back(
                {receiver(i), mail_message(route_, receiver(i), message.pieces, at(from_, 0))});
        else
            unsent_.push_back(i);
    }
    begin_near_sends();
    if (brief_) return;
    watch_.lap(&Profile::move);
    while (send_one()) go_on();
}

// What is packed at once, and has no lane that stays, has to find room.
void Runner::begin_near_sends() {
    for (; next_unsent_ < unsent_.size(); ++next_unsent_) {
        const std::size_t i = unsent_[next_unsent_];
        const std::int64_t packed = connected_ ? 0 : work_->near_send(i).bytes_packed();
        if (packed > 0 && !rings_.take(packed)) return;
        if (!near_sends_[i]) offer(i);
        near_sends_[i]->start(from_);
        sending_.push_back(i);
    }
}

bool Runner::send_one() {
    if (contest_ && !contest_->my_turn()) return false;
    if (!far_sends_.start_one(out_)) return false;
    watch_.lap(far_sends_.packed() ? &Profile::pack : &Profile::move);
    return true;
}

bool Runner::copy_local() {
    const Parts& local = work_->local;
    if (local_done_ == local.size()) return false;
    watch_.lap(&Profile::move);
    local.run(local_done_++, at(from_, 0), at(to_, 0), stores_for(local.bytes()));
    watch_.lap(&Profile::pack);
    return true;
}

// All that comes, and what stays, a part of each at once, where that is one pass over whole lines.
bool Runner::weave() {
    if (brief_ || receiving_.empty() || receiving_.size() != near_receives_.size()) return false;
    if (!weaving_) weaving_.emplace(work_->local, near_receives_);
    return weaving_->step(local_done_, at(from_, 0), at(to_, 0));
}

// One piece a call is packed and sent: those of near messages, and what comes, have their turns.
bool Runner::poll_far() {
    bool any = false;
    if (!in_.all_done()) {
        for (const auto number : in_.newly_done()) {
            any = true;
            far_receives_.done(number);
        }
    }
    while (far_receives_.start_one(in_)) any = true;
    if (!out_.all_done()) {
        for (const auto number : out_.newly_done()) far_sends_.done(number);
    }
    // Before the last pieces have gone, so that the next sender's follow without a gap.
    if (contest_ && far_sends_.left_of_first() <= 2) contest_->pass();
    return any;
}

bool Runner::poll_near() {
    route_.link->push_mail();
    const bool accepted = !expecting_.empty() && accept_offers();
    for (const auto i : sending_)
        if (near_sends_[i]->unanswered()) require_not_refused(route_, receiver(i));
    wove_ = weave();
    const bool received = !wove_ && poll_each(receiving_, near_receives_);
    if (comm::Needs::asked() != nullptr) {
        for (const auto i : receiving_) route_.link->need(sender(i));
        for (const auto i : sending_) route_.link->need(receiver(i));
    }
    const bool free = receiving_.empty() && local_done_ == work_->local.size() && !Busy::any();
    const bool sent = poll_each(sending_, near_sends_, &rings_, free);
    begin_near_sends();
    return sent || received || accepted;
}

// The clock is looked at only while there is time for it: what is done at once costs next to
// nothing, and the first look would be most of it.
bool Runner::poll_brief() {
    poll_near();
    const bool done = sending_.empty() && receiving_.empty();
    under_way_ = !done;
    if (done && timed_) {
        watch_.lap(&Profile::move);
    } else if (!done && !timed_) {
        timed_ = true;
        watch_.restart();
    }
    return done;
}

bool Runner::poll() {
    return together([&] { return go_on(); });
}

bool Runner::go_on() {
    if (brief_) return poll_brief();
    bool more = true;
    while (more) {  // what is served may start something that is done at once
        more = poll_near();
        if (poll_far()) more = true;
    }
    const bool relayed = !relay_ || relay_->poll();
    watch_.lap(&Profile::move);
    // One part a poll: in turn with those of near messages, which often fill the other elements of
    // the same cache lines, and the messages of far ones are served meanwhile.
    // Simulated, a copy takes no time but the next poll does: all at once.
    bool any = false;
    do {
        any = !wove_ && copy_local();
        if (send_one()) any = true;
    } while (port::simulated && any);
    under_way_ =
        !(relayed && local_done_ == work_->local.size() && far_sends_.finished() &&
          far_receives_.finished() && in_.all_done() && out_.all_done() && sending_.empty() &&
          receiving_.empty() && expecting_.empty() && next_unsent_ == unsent_.size() &&
          all_gone(mailed_) && (!contest_ || contest_->over()));
    return !under_way_;
}

comm::Protocol<> run(std::shared_ptr<const Work> work, const void* source_data,
                     void* destination_data, Route route, Stopwatch& watch,
                     std::unique_ptr<Contest> contest) {
    Runner runner(std::move(work), std::move(route), watch);
    runner.take_turns(std::move(contest));
    runner.start(source_data, destination_data);
    comm::When done([&] { return runner.poll(); });
    co_await comm::until(done);
}

}  // namespace hocket::transfer
