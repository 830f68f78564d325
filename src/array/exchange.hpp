// SPDX-License-Identifier: BSD-3-Clause
// Elements that choose their process, and elements that any process names by their numbers.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "array/local.hpp"

namespace hocket::array {

struct Records {
    std::shared_ptr<std::byte> data;
    std::int64_t count = 0;
};

/// Sends record k to process to[k], as often as wanted, and brings answers back.
class Exchange {
  public:
    /// Collective.
    Exchange(const Comm& comm, std::span<const std::int64_t> to, Deadline deadline);

    /// Records of `bytes` bytes arrive in the order of their senders, and those of one sender in
    /// their order. Collective.
    Records send(const std::byte* records, std::int64_t bytes) const;
    /// For the answers, one for each record that arrived, in that order.
    Array answers(std::int64_t bytes) const;
    /// The answers go back to the places of those records. Collective.
    void answer(const Array& answers, void* into) const;

    /// counts()[p]: the records that arrive from process p.
    const std::vector<std::int64_t>& counts() const { return counts_; }
    /// Of all processes, the most records that one sends and that one receives.
    std::int64_t most_sent() const { return most_sent_; }
    std::int64_t most_arriving() const { return most_arriving_; }

  private:
    Comm comm_;
    Deadline deadline_;
    std::vector<std::int64_t> place_;  // of each record, among those that this process sends
    std::vector<std::int64_t> counts_;
    std::int64_t arriving_ = 0, most_sent_ = 0, most_arriving_ = 0;
    Layout sent_, received_;
};

/// The elements of these row-major numbers, which may be on any processes. The array has no copies.
/// A process that would receive more than 64 MiB or HOCKET_MAX_BUFFER of questions and answers
/// gets them in parts. Collective.
void fetch(const Array& array, std::span<const std::int64_t> numbers, void* values,
           Deadline deadline);

/// Values at the owners of their elements, in the order of their turns; equal turns stay in order.
struct Delivered {
    std::vector<std::int64_t> offsets;  ///< of the elements in the dense row-major local array
    std::vector<std::byte> values;
};
/// Sends value k, of `bytes` bytes, to the owner of element numbers[k] of a layout without copies.
/// Collective.
Delivered deliver(const Comm& comm, const Layout& layout, std::span<const std::int64_t> numbers,
                  const void* values, std::int64_t bytes, std::span<const std::int64_t> turns,
                  Deadline deadline);

/// Writes values to the elements of these numbers, in the order of turns. The array has no copies.
/// Values arrive in parts, as with `fetch`. Collective.
void store(const Array& array, std::span<const std::int64_t> numbers, const void* values,
           std::span<const std::int64_t> turns, Deadline deadline);

/// Bodies with the size of an element as a constant where that is usual: copies become moves.
template <class Body>
void with_size(std::int64_t bytes, Body&& body) {
    switch (bytes) {
        case 1:
            return body(std::integral_constant<std::size_t, 1>());
        case 2:
            return body(std::integral_constant<std::size_t, 2>());
        case 4:
            return body(std::integral_constant<std::size_t, 4>());
        case 8:
            return body(std::integral_constant<std::size_t, 8>());
        case 16:
            return body(std::integral_constant<std::size_t, 16>());
        default:
            return body(static_cast<std::size_t>(bytes));
    }
}

}  // namespace hocket::array
