// SPDX-License-Identifier: BSD-3-Clause
#include "transport/nearby.hpp"

#include "comm/needs.hpp"
#include "transport/offers.hpp"

namespace hocket::transport {
namespace {

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

Nearby::Nearby(const Direction& sends, const Direction& receives, const Parts& stay,
               const Route& route, std::int64_t most)
    : out_(&sends),
      in_(&receives),
      stay_(&stay),
      route_(route),
      sends_(sends.messages.size()),
      receives_(receives.messages.size()),
      rings_(most) {}

int Nearby::sender(std::size_t i) const {
    return route_.source[static_cast<std::size_t>(in_->messages[i].peer)];
}
int Nearby::receiver(std::size_t i) const {
    return route_.destination[static_cast<std::size_t>(out_->messages[i].peer)];
}

bool Nearby::mailed(const Message& message, int rank) const {
    return !lanes_stay_ && message.bytes <= mailed_up_to && near(rank);
}

void Nearby::offer(std::size_t i) {
    sends_[i] = std::make_unique<NearSend>(out_->messages[i], !lanes_stay_);
    const std::uint64_t sent = send_offer(route_, receiver(i), sends_[i]->offer());
    offered_.push_back({receiver(i), sent});
}

// What is offered once the transfer goes on is begun at once.
bool Nearby::accept_offers() {
    bool any = false;
    for (std::size_t k = 0; k < expecting_.size();) {
        const std::size_t i = expecting_[k];
        const auto offered = receive_offer(route_, sender(i));
        if (!offered) {
            route_.link->need(sender(i));
            ++k;
            continue;
        }
        const Message& message = in_->messages[i];
        const bool in_mail = mailed(message, sender(i));
        if (in_mail)
            message.cut(Parts::Kind::unpacking, piece_bytes).run(0, data_in(*offered), to_);
        else
            receives_[i] = std::make_unique<NearReceive>(in_->messages[i], lane_in(*offered));
        expecting_[k] = expecting_.back();
        expecting_.pop_back();
        any = true;
        if (started_ && !in_mail) begin_receive(i);
    }
    return any;
}

// A short message is done at once then, and nobody may look after its mail any more.
bool Nearby::all_gone(std::vector<std::pair<int, std::uint64_t>>& mail) {
    std::erase_if(mail, [&](const auto& each) {
        if (route_.link->mail_gone(each.first, each.second)) return true;
        route_.link->need(each.first);
        return false;
    });
    return mail.empty();
}

void Nearby::break_off(const std::string& why) {
    try {
        for (std::size_t i = 0; i < sends_.size(); ++i) {
            if (sends_[i])
                sends_[i]->break_off(why);
            else if (near(receiver(i)))
                withhold_offer(route_, receiver(i), why);
        }
        for (std::size_t i = 0; i < receives_.size(); ++i) {
            if (receives_[i])
                receives_[i]->break_off(why);
            else if (near(sender(i)) &&
                     !mailed(in_->messages[i], sender(i)))  // whose sender has gone on
                refuse_offer(route_, sender(i), why);
        }
    } catch (const std::exception&) {
        return;  // no memory for the words: the first error is the one to tell of
    }
}

void Nearby::connect() {
    lanes_stay_ = true;
    for (std::size_t i = 0; i < receives_.size(); ++i)
        if (near(sender(i))) expecting_.push_back(i);
    for (std::size_t i = 0; i < sends_.size(); ++i)
        if (near(receiver(i))) offer(i);
}

bool Nearby::connected() {
    route_.link->push_mail();
    accept_offers();
    if (!all_gone(offered_) || !expecting_.empty()) return false;
    brief_ = stay_->size() == 0;
    for (std::size_t i = 0; i < sends_.size(); ++i)
        brief_ = brief_ && sends_[i] && out_->messages[i].bytes < direct_from;
    for (std::size_t i = 0; i < receives_.size(); ++i)
        brief_ = brief_ && receives_[i] && in_->messages[i].bytes < direct_from;
    return true;
}

void Nearby::rebind(const Direction& sends, const Direction& receives, const Parts& stay) {
    for (std::size_t i = 0; i < sends_.size(); ++i)
        if (sends_[i]) sends_[i]->rebind(sends.messages[i]);
    for (std::size_t i = 0; i < receives_.size(); ++i)
        if (receives_[i]) receives_[i]->rebind(receives.messages[i]);
    weaving_.reset();
    out_ = &sends;
    in_ = &receives;
    stay_ = &stay;
}

void Nearby::begin(const void* source, void* destination) {
    from_ = static_cast<const std::byte*>(source);
    to_ = static_cast<std::byte*>(destination);
    stay_done_ = 0;
    unsent_.clear();
    next_unsent_ = 0;
    started_ = true;
}

void Nearby::begin_receive(std::size_t i) {
    receives_[i]->start(to_);
    receiving_.push_back(i);
}

bool Nearby::receive(std::size_t i) {
    if (receives_[i]) {
        begin_receive(i);
        return true;
    }
    if (!near(sender(i))) return false;
    expecting_.push_back(i);
    return true;
}

bool Nearby::send(std::size_t i) {
    const Message& message = out_->messages[i];
    const int to = receiver(i);
    if (!near(to)) return false;
    if (mailed(message, to))
        mailed_.push_back(
            {to, mail_message(route_, to, message.cut(Parts::Kind::packing, piece_bytes), from_)});
    else
        unsent_.push_back(i);
    return true;
}

// What is packed at once, and has no lane that stays, has to find room.
void Nearby::begin_sends() {
    for (; next_unsent_ < unsent_.size(); ++next_unsent_) {
        const std::size_t i = unsent_[next_unsent_];
        const std::int64_t packed = lanes_stay_ ? 0 : bytes_packed(out_->messages[i]);
        if (packed > 0 && !rings_.take(packed)) return;
        if (!sends_[i]) offer(i);
        sends_[i]->start(from_);
        sending_.push_back(i);
    }
}

// All that comes, and what stays, a part of each at once, where that is one pass over whole lines.
bool Nearby::weave() {
    if (brief_ || receiving_.empty() || receiving_.size() != receives_.size()) return false;
    if (!weaving_) weaving_.emplace(*stay_, receives_);
    return weaving_->step(stay_done_, from_, to_);
}

bool Nearby::poll() {
    route_.link->push_mail();
    const bool accepted = !expecting_.empty() && accept_offers();
    for (const auto i : sending_)
        if (sends_[i]->unanswered()) require_not_refused(route_, receiver(i));
    wove_ = weave();
    const bool received = !wove_ && poll_each(receiving_, receives_);
    if (comm::Needs::asked() != nullptr) {
        for (const auto i : receiving_) route_.link->need(sender(i));
        for (const auto i : sending_) route_.link->need(receiver(i));
    }
    const bool free = receiving_.empty() && stay_done_ == stay_->size() && !Busy::any();
    const bool sent = poll_each(sending_, sends_, &rings_, free);
    begin_sends();
    return sent || received || accepted;
}

bool Nearby::copy_stay() {
    if (wove_ || stay_done_ == stay_->size()) return false;
    stay_->run(stay_done_++, from_, to_, stores_for(stay_->bytes()));
    return true;
}

bool Nearby::finished() {
    return stay_done_ == stay_->size() && lanes_done() && expecting_.empty() &&
           next_unsent_ == unsent_.size() && all_gone(mailed_);
}

}  // namespace hocket::transport
