// SPDX-License-Identifier: BSD-3-Clause
#include "transfer/refusals.hpp"

#include <algorithm>
#include <string>

#include "base/pack.hpp"

namespace hocket::transfer {
namespace {

comm::Protocol<> send_all(comm::Link* link, std::vector<int> ranks, int tag, std::string text) {
    comm::Requests requests;
    for (const int rank : ranks) link->send_text(requests, text, rank, tag);
    co_await comm::until(requests);
}

comm::Protocol<> receive_all(comm::Link* link, std::vector<int> ranks, int tag,
                             std::optional<comm::Fault>* first) {
    for (const int rank : ranks) {
        const comm::TextMessage reason = co_await comm::receive_text(*link, rank, tag);
        if (*first) continue;
        Unpacker in(reason.text);
        *first = comm::Fault::unpacked(in);
    }
}

bool done(std::optional<comm::Driven<void>>& driven) {
    if (!driven) return true;
    if (!driven->poll()) return false;
    driven->take();
    driven.reset();
    return true;
}

}  // namespace

void Refusals::clear() {
    observed_.reset();
    ranks_.clear();
}

void Refusals::send(const std::vector<int>& ranks, const comm::Fault& why) {
    Packer reason;
    why.pack(reason);
    sending_.emplace(send_all(route_.link, ranks, route_.refusal_tag(), reason.take()));
    static_cast<void>(done(sending_));  // at once: this process may not poll it again soon
}

void Refusals::from(int rank) {
    const auto at = std::lower_bound(ranks_.begin(), ranks_.end(), rank);
    if (at == ranks_.end() || *at != rank) ranks_.insert(at, rank);
}

bool Refusals::poll() {
    if (!ranks_.empty() && !observed_ && !receiving_)
        receiving_.emplace(receive_all(route_.link, ranks_, route_.refusal_tag(), &observed_));
    const bool sent = done(sending_), received = done(receiving_);
    return sent && received;
}

}  // namespace hocket::transfer
