// SPDX-License-Identifier: BSD-3-Clause
#include "shm/message_queue.hpp"

#include <cstring>
#include <span>
#include <utility>

namespace hocket::shm {
namespace {

constexpr std::size_t header_words = 2;  // words: the sequence number, and the number of bytes that
                                         // follow

std::size_t words_of(std::uint64_t bytes) {
    return static_cast<std::size_t>((bytes + 7) / 8);
}

}  // namespace

std::uint64_t MessageQueue::send(std::uint64_t number, const std::string& text) {
    const std::size_t at = outgoing_.size();
    outgoing_.resize(at + header_words + words_of(text.size()));
    outgoing_[at] = number;
    outgoing_[at + 1] = text.size();
    if (!text.empty()) std::memcpy(&outgoing_[at + header_words], text.data(), text.size());
    sent_ += outgoing_.size() - at;
    flush();
    return sent_;
}

bool MessageQueue::delivered(std::uint64_t sent) {
    if (delivered_ < sent) flush();
    return delivered_ >= sent;
}

void MessageQueue::flush() {
    put_ += out_->put(delivered_, std::span(outgoing_).subspan(put_));
    if (put_ < outgoing_.size() && put_ <= outgoing_.size() / 2) return;
    outgoing_.erase(outgoing_.begin(), outgoing_.begin() + static_cast<std::ptrdiff_t>(put_));
    put_ = 0;
}

void MessageQueue::fetch() {
    if (!in_->any(read_)) return;
    in_->take(read_, incoming_);
    std::size_t at = 0;
    while (incoming_.size() - at >= header_words) {
        const std::uint64_t bytes = incoming_[at + 1];
        const std::size_t end = at + header_words + words_of(bytes);
        if (incoming_.size() < end) break;
        std::string text(static_cast<std::size_t>(bytes), '\0');
        if (bytes > 0) std::memcpy(text.data(), &incoming_[at + header_words], text.size());
        received_.emplace(incoming_[at], std::move(text));
        at = end;
    }
    incoming_.erase(incoming_.begin(), incoming_.begin() + static_cast<std::ptrdiff_t>(at));
}

std::optional<std::string> MessageQueue::receive(std::uint64_t number) {
    fetch();
    const auto found = received_.lower_bound(number);
    if (found == received_.end() || found->first != number) return std::nullopt;
    std::string text = std::move(found->second);
    received_.erase(found);
    return text;
}

}  // namespace hocket::shm
