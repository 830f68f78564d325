// SPDX-License-Identifier: BSD-3-Clause
#include "shm/message_queue.hpp"

#include <algorithm>
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
    const auto word = [&](std::size_t i) -> std::uint64_t {
        if (i < header_words) return i == 0 ? number : text.size();
        const std::size_t at = (i - header_words) * 8;
        std::uint64_t bytes = 0;
        std::memcpy(&bytes, text.data() + at, std::min<std::size_t>(text.size() - at, 8));
        return bytes;
    };
    const std::size_t words = header_words + words_of(text.size());
    if (!outgoing_.empty()) flush();
    std::size_t put = outgoing_.empty() ? out_->put(delivered_, words, word) : 0;
    for (; put < words; ++put) outgoing_.push_back(word(put));
    sent_ += words;
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
    in_->take(read_, [&](std::uint64_t word) {
        const std::size_t i = arrived_++;
        if (i < header_words) {
            header_[i] = word;
            if (i + 1 < header_words) return;
            text_.resize(static_cast<std::size_t>(header_[1]));
        } else {
            const std::size_t at = (i - header_words) * 8;
            std::memcpy(text_.data() + at, &word, std::min<std::size_t>(text_.size() - at, 8));
        }
        if (arrived_ < header_words + words_of(text_.size())) return;
        received_.emplace(header_[0], std::exchange(text_, {}));
        arrived_ = 0;
    });
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
