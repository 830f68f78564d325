// SPDX-License-Identifier: BSD-3-Clause
#include "task/open_receives.hpp"

#include <algorithm>
#include <utility>

namespace hocket::task {

std::shared_ptr<const OpenReceives::Send> OpenReceives::meet(std::int64_t ticket, int tag) {
    auto send = std::make_shared<Send>(Send{ticket, tag});
    const auto it = std::find_if(receives_.begin(), receives_.end(),
                                 [&](const Envelope& each) { return fit(each, *send); });
    if (it == receives_.end()) {
        sends_.push_back(send);
    } else {
        send->receive = std::move(*it);
        receives_.erase(it);
    }
    return send;
}

void OpenReceives::forget(std::int64_t ticket) {
    std::erase_if(sends_, [&](const auto& send) { return send->ticket == ticket; });
}

void OpenReceives::add(Envelope receive) {
    // Earlier receives, or none so far, have the messages that had come. This also forgets sends
    // with an error, which get no reply.
    std::erase_if(sends_, [&](const auto& send) { return send->ticket <= receive.send; });
    const auto it = std::find_if(sends_.begin(), sends_.end(),
                                 [&](const auto& send) { return fit(receive, *send); });
    if (it != sends_.end()) {
        (*it)->receive = std::move(receive);
        sends_.erase(it);
    } else if (receives_.size() < most) {
        receives_.push_back(std::move(receive));
    }
}

}  // namespace hocket::task
