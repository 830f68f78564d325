// SPDX-License-Identifier: BSD-3-Clause
#include "comm/requests.hpp"

#include <algorithm>
#include <utility>

#include "comm/awaited_peers.hpp"
#include "comm/fork.hpp"

namespace hocket::comm {

void Requests::count() {
    ++pending_;
    if (left_.size() <= group_) left_.resize(group_ + 1, 0);
    ++left_[group_];
}

void Requests::end_of(std::size_t group) {
    --pending_;
    if (--left_[group] == 0) done_.push_back(group);
}

void Requests::add_in_node(std::function<bool()> delivered, std::int64_t process) {
    in_node_.push_back({std::move(delivered), process});
}

void Requests::add(std::shared_ptr<Endpoint> endpoint, Endpoint::Handle message) {
    on_endpoints_.push_back({std::move(endpoint), std::move(message), group_});
    count();
}

void Requests::poll_endpoints() {
    std::vector<Endpoint*> polled;
    for (const OnEndpoint& each : on_endpoints_) {
        Endpoint* const endpoint = each.endpoint.get();
        if (std::find(polled.begin(), polled.end(), endpoint) != polled.end()) continue;
        endpoint->poll();
        polled.push_back(endpoint);
    }
    for (std::size_t k = 0; k < on_endpoints_.size();) {
        OnEndpoint& each = on_endpoints_[k];
        if (!each.endpoint->done(*each.message)) {
            ++k;
            continue;
        }
        end_of(each.group);
        if (lengths_ && each.message->bytes() == 0) empty_.push_back(each.group);
        each = std::move(on_endpoints_.back());
        on_endpoints_.pop_back();
    }
}

// A forked process has the same connections, which it must not use.
void Requests::cancel_on_endpoints() {
    if (forked()) return;
    for (const OnEndpoint& each : on_endpoints_) each.endpoint->cancel(*each.message);
}

bool Requests::holds() {
    newly_done();
    std::erase_if(in_node_, [](const InNodeText& each) { return each.delivered(); });
    if (AwaitedPeers* const needs = AwaitedPeers::collecting())
        for (const InNodeText& each : in_node_) needs->add_any({each.process});
    return all_done();
}

}  // namespace hocket::comm
