// SPDX-License-Identifier: BSD-3-Clause
#include "transport/node_messages.hpp"

#include <algorithm>

#include "comm/awaited_peers.hpp"
#include "transport/rendezvous.hpp"

namespace hocket::transport {
namespace {

// Removes complete ends from the list, and adds them to `done`, if that is given. Their order does
// not matter.
template <class Ends, class... Arguments>
bool poll_each(std::vector<std::size_t>& under_way, const Ends& ends,
               std::vector<std::size_t>* done, Arguments... arguments) {
    bool any_done = false;
    for (std::size_t k = 0; k < under_way.size();) {
        if (ends[under_way[k]]->poll(arguments...)) {
            if (done != nullptr) done->push_back(under_way[k]);
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

NodeMessages::NodeMessages(const Direction& sends, const Direction& receives, const Chunks& stay,
                           const Route& route, std::int64_t most)
    : out_(&sends),
      in_(&receives),
      stay_(&stay),
      route_(route),
      sends_(sends.messages.size()),
      receives_(receives.messages.size()),
      rings_(most) {}

bool NodeMessages::is_eager(const Message& message, int rank) const {
    return !persistent_ && message.bytes <= eager_limit && near(rank);
}

void NodeMessages::offer(std::size_t i) {
    sends_[i] = std::make_unique<ShmSend>(out_->messages[i], !persistent_);
    const std::uint64_t sent = send_channel(route_, out_->messages[i], sends_[i]->offer());
    offered_.push_back({receiver(i), sent});
}

// A text belongs to its sender's first message without a text. So missing texts keep their order,
// and each sender is polled once.
bool NodeMessages::accept_offers() {
    silent_.clear();
    const auto accepted = [&](std::size_t i) {
        const Message& message = in_->messages[i];
        const int from = sender(i);
        if (std::find(silent_.begin(), silent_.end(), from) != silent_.end()) return false;
        const auto offered = receive_rendezvous(route_, message);
        if (!offered) {
            silent_.push_back(from);
            route_.link->need(from);
            return false;
        }
        if (is_eager(message, from)) {
            message.cut(Chunks::Kind::unpacking, piece_bytes)
                .run(0, data_in(*offered), received_into());
            if (scratch_ != nullptr) received_.push_back(i);
        } else {
            receives_[i] = std::make_unique<ShmReceive>(message, lane_in(*offered));
            if (started_) begin_receive(i);
        }
        return true;
    };
    return std::erase_if(unannounced_, accepted) > 0;
}

// A short message is complete then, and its sender may not poll its texts any more.
bool NodeMessages::all_gone(std::vector<std::pair<int, std::uint64_t>>& mail) {
    std::erase_if(mail, [&](const auto& each) {
        if (route_.link->delivered_in_node(each.first, each.second)) return true;
        route_.link->need(each.first);
        return false;
    });
    return mail.empty();
}

void NodeMessages::abort_use(const std::string& why) {
    try {
        for (std::size_t i = 0; i < sends_.size(); ++i) {
            if (sends_[i])
                sends_[i]->abort_use(why);
            else if (near(receiver(i)))
                send_failure(route_, out_->messages[i], why);
        }
        for (std::size_t i = 0; i < receives_.size(); ++i) {
            if (receives_[i])
                receives_[i]->abort_use(why);
            else if (near(sender(i)) &&
                     !is_eager(in_->messages[i], sender(i)))  // whose sender has gone on
                send_refusal(route_, in_->messages[i], why);
        }
    } catch (const std::exception&) {
        return;  // no memory for the text: report the first error
    }
}

void NodeMessages::connect() {
    persistent_ = true;
    for (std::size_t i = 0; i < receives_.size(); ++i)
        if (near(sender(i))) unannounced_.push_back(i);
    for (std::size_t i = 0; i < sends_.size(); ++i)
        if (near(receiver(i))) offer(i);
}

bool NodeMessages::connected() {
    route_.link->flush_inbox();
    accept_offers();
    if (!all_gone(offered_) || !unannounced_.empty()) return false;
    all_short_ = stay_->size() == 0;
    for (std::size_t i = 0; i < sends_.size(); ++i)
        all_short_ = all_short_ && sends_[i] && out_->messages[i].bytes < direct_from;
    for (std::size_t i = 0; i < receives_.size(); ++i)
        all_short_ = all_short_ && receives_[i] && in_->messages[i].bytes < direct_from;
    return true;
}

void NodeMessages::rebind(const Direction& sends, const Direction& receives, const Chunks& stay) {
    for (std::size_t i = 0; i < sends_.size(); ++i)
        if (sends_[i]) sends_[i]->rebind(sends.messages[i]);
    for (std::size_t i = 0; i < receives_.size(); ++i)
        if (receives_[i]) receives_[i]->rebind(receives.messages[i]);
    interleaving_.reset();
    out_ = &sends;
    in_ = &receives;
    stay_ = &stay;
}

void NodeMessages::begin(const void* source, void* destination, std::byte* scratch, bool refusing) {
    from_ = static_cast<const std::byte*>(source);
    to_ = static_cast<std::byte*>(destination);
    scratch_ = scratch;
    refusing_ = refusing && scratch == nullptr;
    received_.clear();
    stay_done_ = refusing ? stay_->size() : 0;
    unsent_.clear();
    next_unsent_ = 0;
    started_ = true;
}

void NodeMessages::begin_receive(std::size_t i) {
    if (refusing_)
        receives_[i]->discard();
    else
        receives_[i]->start(received_into());
    receiving_.push_back(i);
}

bool NodeMessages::receive(std::size_t i) {
    if (receives_[i]) {
        begin_receive(i);
        return true;
    }
    if (!near(sender(i))) return false;
    unannounced_.push_back(i);
    return true;
}

bool NodeMessages::send(std::size_t i) {
    if (!near(receiver(i))) return false;
    unsent_.push_back(i);
    return true;
}

// A message that is packed at once without a persistent channel needs free memory.
void NodeMessages::begin_sends() {
    for (; next_unsent_ < unsent_.size(); ++next_unsent_) {
        const std::size_t i = unsent_[next_unsent_];
        const Message& message = out_->messages[i];
        if (const int to = receiver(i); is_eager(message, to)) {
            eager_sends_.push_back({to, send_eager(route_, message, sent_from())});
            continue;
        }
        const std::int64_t packed = persistent_ ? 0 : bytes_packed(message);
        if (packed > 0 && !rings_.take(packed)) return;
        if (!sends_[i]) offer(i);
        if (refusing_)
            sends_[i]->refuse();
        else
            sends_[i]->start(sent_from());
        sending_.push_back(i);
    }
}

// Copies all interleaved receives and local elements, a chunk of each at once, in one pass over
// whole lines.
bool NodeMessages::weave() {
    if (all_short_ || scratch_ != nullptr) return false;
    if (receiving_.empty() || receiving_.size() != receives_.size()) return false;
    if (!interleaving_) interleaving_.emplace(*stay_, receives_);
    return interleaving_->step(stay_done_, from_, to_);
}

bool NodeMessages::poll() {
    route_.link->flush_inbox();
    const bool accepted = !unannounced_.empty() && accept_offers();
    for (const auto i : sending_)
        if (sends_[i]->unanswered()) check_refusal(route_, out_->messages[i]);
    wove_ = weave();
    std::vector<std::size_t>* const received = scratch_ != nullptr ? &received_ : nullptr;
    const bool any_received = !wove_ && poll_each(receiving_, receives_, received);
    if (comm::AwaitedPeers::collecting() != nullptr || route_.link->has_endpoints()) {
        for (const auto i : receiving_) route_.link->need(sender(i));
        for (const auto i : sending_) route_.link->need(receiver(i));
    }
    const bool free =
        receiving_.empty() && stay_done_ == stay_->size() && !ReceiveInProgress::any();
    const bool sent = poll_each(sending_, sends_, nullptr, &rings_, free);
    begin_sends();
    return sent || any_received || accepted;
}

bool NodeMessages::copy_stay() {
    if (wove_ || stay_done_ == stay_->size()) return false;
    stay_->run(stay_done_++, from_, to_, stores_for(stay_->bytes()));
    return true;
}

bool NodeMessages::finished() {
    return stay_done_ == stay_->size() && channels_done() && unannounced_.empty() &&
           next_unsent_ == unsent_.size() && all_gone(eager_sends_);
}

}  // namespace hocket::transport
