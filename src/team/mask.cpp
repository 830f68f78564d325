// SPDX-License-Identifier: BSD-3-Clause
#include "hocket/mask.hpp"

#include <bit>

namespace hocket {

Mask::Mask(std::span<const std::uint64_t> words) {
    if (words.empty()) return;
    low_ = words[0];
    high_.assign(words.begin() + 1, words.end());
    while (!high_.empty() && high_.back() == 0) high_.pop_back();
}

void Mask::add(int process) {
    const auto index = static_cast<std::size_t>(process) / 64;
    const std::uint64_t bit = std::uint64_t{1} << (static_cast<unsigned>(process) % 64);
    if (index == 0) {
        low_ |= bit;
        return;
    }
    if (high_.size() < index) high_.resize(index, 0);
    high_[index - 1] |= bit;
}

int Mask::count() const {
    int count = std::popcount(low_);
    for (const std::uint64_t word : high_) count += std::popcount(word);
    return count;
}

std::vector<int> Mask::processes() const {
    std::vector<int> found;
    found.reserve(static_cast<std::size_t>(count()));
    each([&](int process) { found.push_back(process); });
    return found;
}

std::vector<std::uint64_t> Mask::words() const {
    std::vector<std::uint64_t> words{low_};
    words.insert(words.end(), high_.begin(), high_.end());
    return words;
}

// The mixer of Steele, Lea, Flood: "Fast splittable pseudorandom number generators" (OOPSLA 2014).
std::uint64_t Mask::hash() const {
    std::uint64_t hash = 0;
    for (std::size_t index = 0; index <= high_.size(); ++index) {
        hash = (hash + 0x9e3779b97f4a7c15) ^ word(index);
        hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9;
        hash = (hash ^ (hash >> 27)) * 0x94d049bb133111eb;
        hash ^= hash >> 31;
    }
    return hash;
}

std::string Mask::text() const {
    std::string out = "{";
    int written = 0;
    for (const int process : processes()) {
        if (written++ > 0) out += ", ";
        if (written > 12) {
            out += "… (" + std::to_string(count()) + " in all)";
            break;
        }
        out += std::to_string(process);
    }
    return out + "}";
}

}  // namespace hocket
