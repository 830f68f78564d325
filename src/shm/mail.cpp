// SPDX-License-Identifier: BSD-3-Clause
#include "shm/mail.hpp"

#include <cstring>
#include <span>
#include <utility>

namespace hocket::shm {
namespace {

constexpr std::size_t heading = 2;  // words: the number, and how many bytes follow

std::size_t words_of(std::uint64_t bytes) {
    return static_cast<std::size_t>((bytes + 7) / 8);
}

}  // namespace

std::uint64_t Mail::send(std::uint64_t number, const std::string& text) {
    const std::size_t at = leaving_.size();
    leaving_.resize(at + heading + words_of(text.size()));
    leaving_[at] = number;
    leaving_[at + 1] = text.size();
    if (!text.empty()) std::memcpy(&leaving_[at + heading], text.data(), text.size());
    sent_ += leaving_.size() - at;
    push();
    return sent_;
}

bool Mail::gone(std::uint64_t sent) {
    if (gone_ < sent) push();
    return gone_ >= sent;
}

void Mail::push() {
    put_ += out_->put(gone_, std::span(leaving_).subspan(put_));
    if (put_ < leaving_.size() && put_ <= leaving_.size() / 2) return;
    leaving_.erase(leaving_.begin(), leaving_.begin() + static_cast<std::ptrdiff_t>(put_));
    put_ = 0;
}

void Mail::fetch() {
    if (!in_->any(read_)) return;
    in_->take(read_, arriving_);
    std::size_t at = 0;
    while (arriving_.size() - at >= heading) {
        const std::uint64_t bytes = arriving_[at + 1];
        const std::size_t end = at + heading + words_of(bytes);
        if (arriving_.size() < end) break;
        std::string text(static_cast<std::size_t>(bytes), '\0');
        if (bytes > 0) std::memcpy(text.data(), &arriving_[at + heading], text.size());
        here_.emplace(arriving_[at], std::move(text));
        at = end;
    }
    arriving_.erase(arriving_.begin(), arriving_.begin() + static_cast<std::ptrdiff_t>(at));
}

std::optional<std::string> Mail::receive(std::uint64_t number) {
    fetch();
    const auto found = here_.lower_bound(number);
    if (found == here_.end() || found->first != number) return std::nullopt;
    std::string text = std::move(found->second);
    here_.erase(found);
    return text;
}

}  // namespace hocket::shm
