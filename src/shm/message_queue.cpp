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

// The bytes of a word, or the `left` ones that a text still lacks.
void put_down(char* to, std::size_t left, std::uint64_t word) {
    if (left >= 8)
        std::memcpy(to, &word, 8);
    else
        std::memcpy(to, &word, left);
}

}  // namespace

std::uint64_t MessageQueue::send(std::uint64_t number, const std::string& text) {
    const char* const bytes = text.data();
    const std::size_t size = text.size();
    const auto word = [number, bytes, size](std::size_t i) -> std::uint64_t {
        if (i < header_words) return i == 0 ? number : size;
        const std::size_t at = (i - header_words) * 8;
        std::uint64_t eight = 0;
        if (size - at >= 8)
            std::memcpy(&eight, bytes + at, 8);
        else
            std::memcpy(&eight, bytes + at, size - at);
        return eight;
    };
    const std::size_t words = header_words + words_of(size);
    if (!outgoing_.empty()) flush();
    std::size_t put = outgoing_.empty() ? out_->put(delivered_, words, word) : 0;
    for (; put < words; ++put) outgoing_.push_back(word(put));
    sent_ += words;
    return sent_;
}

bool MessageQueue::delivered(std::uint64_t sent) {
    if (delivered_ < sent) flush();
    return delivered_ >= sent || out_->has_detached();
}

void MessageQueue::flush() {
    put_ += out_->put(delivered_, std::span(outgoing_).subspan(put_));
    if (put_ < outgoing_.size() && put_ <= outgoing_.size() / 2) return;
    outgoing_.erase(outgoing_.begin(), outgoing_.begin() + static_cast<std::ptrdiff_t>(put_));
    put_ = 0;
}

// If memory for a text is short, its words stay where they are until the next call.
void MessageQueue::fetch() {
    for (;;) {
        if (arrived_ < header_words)
            arrived_ += in_->take(read_, header_words - arrived_,
                                  [header = header_.data() + arrived_](
                                      std::size_t i, std::uint64_t word) { header[i] = word; });
        if (arrived_ < header_words) return;
        const auto size = static_cast<std::size_t>(header_[1]);
        text_.resize(size);
        const std::size_t words = words_of(size), had = arrived_ - header_words;
        arrived_ +=
            in_->take(read_, words - had,
                      [bytes = text_.data() + had * 8, left = size - std::min(size, had * 8)](
                          std::size_t i, std::uint64_t word) {
                          put_down(bytes + i * 8, left - i * 8, word);
                      });
        if (arrived_ < header_words + words) return;
        received_.emplace(header_[0], std::move(text_));
        text_.clear();
        arrived_ = 0;
    }
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
