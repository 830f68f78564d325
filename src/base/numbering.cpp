// SPDX-License-Identifier: BSD-3-Clause
#include "base/numbering.hpp"

#include <vector>

#include "base/text.hpp"

namespace hocket::text {
namespace {

thread_local std::int64_t first_of_thread = 0;

}  // namespace

std::int64_t first_index() {
    return first_of_thread;
}

void set_first_index(std::int64_t first) {
    first_of_thread = first;
}

std::int64_t shifted(std::int64_t index, std::int64_t first) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(index) +
                                     static_cast<std::uint64_t>(first));
}

std::string number(std::int64_t index) {
    return std::to_string(shifted(index));
}

std::string number(std::size_t dimension) {
    return number(static_cast<std::int64_t>(dimension));
}

std::string numbers(std::span<const std::int64_t> indices) {
    std::vector<std::int64_t> all(indices.begin(), indices.end());
    for (std::int64_t& index : all) index = shifted(index);
    return tuple(all);
}

std::string axes(std::span<const std::int64_t> given) {
    return (first_index() == 0 ? "axes " : "order ") + numbers(given);
}

}  // namespace hocket::text
