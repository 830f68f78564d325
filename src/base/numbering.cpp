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

std::string number(std::int64_t index) {
    return std::to_string(index + first_index());
}

std::string number(std::size_t dimension) {
    return number(static_cast<std::int64_t>(dimension));
}

std::string numbers(std::span<const std::int64_t> indices) {
    std::vector<std::int64_t> shifted(indices.begin(), indices.end());
    for (std::int64_t& index : shifted) index += first_index();
    return tuple(shifted);
}

std::string axes(std::span<const std::int64_t> given) {
    return (first_index() == 0 ? "axes " : "order ") + numbers(given);
}

}  // namespace hocket::text
