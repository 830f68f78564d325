// SPDX-License-Identifier: BSD-3-Clause
#include "transport/node_messages.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "comm/awaited_peers.hpp"
#include "transport/rendezvous.hpp"

namespace hocket::transport {
namespace {

// Removes the messages that are complete. Their order does not matter.
template <class IsComplete>
bool remove_complete(std::vector<std::size_t>& under_way, const IsComplete& is_complete) {
    bool any = false;
    for (std::size_t k = 0; k < under_way.size();) {
        if (is_complete(under_way[k])) {
            under_way[k] = under_way.back();
            under_way.pop_back();
            any = true;
        } else {
            ++k;
        }
    }
    return any;
}

}  // namespace

NodeMessages::NodeMessages(const Schedule& schedule, const Route& route, std::int64_t most)
    : schedule_(&schedule),
      route_(route),
      outgoing_(schedule.sends.size()),
      incoming_(schedule.receives.size()),
      most_(most) {}

bool NodeMessages::is_eager(const Message& message) const {
    return !persistent_ && message.bytes <= eager_limit;
}

void NodeMessages::offer(std::size_t i) {
    outgoing_[i] = std::make_unique<ShmSend>(sent(i), !persistent_, !route_.ahead);
    offers_.push_back(
        {route_.rank_of(sent(i)), send_channel(route_, sent(i), outgoing_[i]->offer())});
}

// A text belongs to its sender's first message without a text. So missing texts keep their order,
// and each sender is polled once.
bool NodeMessages::accept_offers() {
    awaited_.clear();
    const auto accepted = [&](std::size_t i) {
        const Message& message = received(i);
        const int from = route_.rank_of(message);
        if (std::find(awaited_.begin(), awaited_.end(), from) != awaited_.end()) return false;
        const auto text = receive_rendezvous(route_, message);
        if (!text) {
            awaited_.push_back(from);
            route_.link->need(from);
            return false;
        }
        if (is_eager(message)) {
            message.cut(Chunks::Kind::unpacking, piece_bytes)
                .run(0, elements_in(*text), run_->received_into());
            if (run_->scratch != nullptr) run_->received.push_back(i);
        } else {
            incoming_[i] = std::make_unique<ShmReceive>(message, channel_in(*text));
            if (run_ != nullptr) begin_receive(i);
        }
        return true;
    };
    return std::erase_if(unannounced_, accepted) > 0;
}

// A short message is complete then, and its sender may not poll its texts any more.
bool NodeMessages::all_delivered(Texts& texts) {
    std::erase_if(texts, [&](const auto& each) {
        if (route_.link->delivered_in_node(each.first, each.second)) return true;
        route_.link->need(each.first);
        return false;
    });
    return texts.empty();
}

void NodeMessages::abort(const std::string& why) {
    try {
        each_send([&](std::size_t i) {
            if (outgoing_[i])
                outgoing_[i]->abort_use(why);
            else
                send_failure(route_, sent(i), why);
        });
        each_receive([&](std::size_t i) {
            if (incoming_[i])
                incoming_[i]->abort_use(why);
            else if (!is_eager(received(i)))  // whose sender has gone on
                send_refusal(route_, received(i), why);
        });
    } catch (const std::exception&) {
        return;  // no memory for the text: report the first error
    }
}

void NodeMessages::connect() {
    persistent_ = true;
    each_receive([&](std::size_t i) { unannounced_.push_back(i); });
    each_send([&](std::size_t i) { offer(i); });
}

bool NodeMessages::connected() {
    route_.link->flush_inbox();
    accept_offers();
    if (!all_delivered(offers_) || !unannounced_.empty()) return false;
    short_only_ = true;
    each_send([&](std::size_t i) { short_only_ = short_only_ && is_short(sent(i)); });
    each_receive([&](std::size_t i) { short_only_ = short_only_ && is_short(received(i)); });
    return true;
}

void NodeMessages::rebind(const Schedule& schedule) {
    schedule_ = &schedule;
    for (std::size_t i = 0; i < outgoing_.size(); ++i)
        if (outgoing_[i]) outgoing_[i]->rebind(sent(i));
    for (std::size_t i = 0; i < incoming_.size(); ++i)
        if (incoming_[i]) incoming_[i]->rebind(received(i));
    interleaved_streams_.clear();
}

void NodeMessages::begin(ScheduleRun& run) {
    run_ = &run;
    given_ = next_ = 0;
    for (std::size_t i = 0; i < incoming_.size(); ++i) {
        if (incoming_[i])
            begin_receive(i);
        else if (route_.in_node(received(i)))
            unannounced_.push_back(i);
    }
}

void NodeMessages::begin_receive(std::size_t i) {
    if (run_->withholds())
        incoming_[i]->discard();
    else
        incoming_[i]->start(run_->received_into());
    receiving_.push_back(i);
}

void NodeMessages::send(std::size_t end) {
    given_ = end;
    begin_sends();
}

// A message that is packed at once without a persistent channel needs free memory.
void NodeMessages::begin_sends() {
    for (; next_ < given_; ++next_) {
        const std::size_t i = next_;
        const Message& message = sent(i);
        if (!outgoing_[i] && !route_.in_node(message)) continue;
        if (is_eager(message)) {
            eager_sends_.push_back(
                {route_.rank_of(message), send_eager(route_, message, run_->sent_from())});
            continue;
        }
        const std::int64_t packed = persistent_ ? 0 : bytes_packed(message);
        if (packed > 0 && packed > free_bytes()) return;
        if (!outgoing_[i]) offer(i);
        if (run_->withholds())
            outgoing_[i]->refuse();
        else
            outgoing_[i]->start(run_->sent_from());
        held_ += outgoing_[i]->held();
        sending_.push_back(i);
    }
}

std::int64_t NodeMessages::free_bytes() const {
    return held_ > 0 ? most_ - held_ : std::numeric_limits<std::int64_t>::max();
}

bool NodeMessages::poll_receives() {
    return remove_complete(receiving_, [&](std::size_t i) {
        if (!incoming_[i]->poll()) return false;
        if (incoming_[i]->refused()) run_->refused.push_back(i);
        if (run_->scratch != nullptr) run_->received.push_back(i);
        return true;
    });
}

bool NodeMessages::poll_sends() {
    const bool help = receiving_.empty() && run_->local_done == schedule_->local.size() &&
                      !ShmReceive::any_copying();
    return remove_complete(sending_, [&](std::size_t i) {
        held_ -= outgoing_[i]->held();
        const bool complete = outgoing_[i]->poll(free_bytes(), help);
        held_ += outgoing_[i]->held();
        return complete;
    });
}

bool NodeMessages::poll() {
    route_.link->flush_inbox();
    const bool accepted = !unannounced_.empty() && accept_offers();
    for (const auto i : sending_)
        if (outgoing_[i]->unanswered()) check_refusal(route_, sent(i));
    run_->interleaves = interleave();
    const bool any_received = !run_->interleaves && poll_receives();
    if (comm::AwaitedPeers::collecting() != nullptr || route_.link->has_endpoints()) {
        for (const auto i : receiving_) route_.link->need(route_.rank_of(received(i)));
        for (const auto i : sending_) route_.link->need(route_.rank_of(sent(i)));
    }
    const bool any_sent = poll_sends();
    begin_sends();
    return any_sent || any_received || accepted;
}

bool NodeMessages::finished() {
    return sending_.empty() && receiving_.empty() && unannounced_.empty() && next_ == given_ &&
           all_delivered(eager_sends_);
}

}  // namespace hocket::transport
