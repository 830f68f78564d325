// SPDX-License-Identifier: BSD-3-Clause
// Partial results of a reduction, on their way to the processes of the result. Along distributed
// dimensions, the partial results of one part of them form an aligned array: the elements that
// HPF's A(j) WITH T(i, j) gives to the holders of index i.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "array/local.hpp"

namespace hocket::array {

struct Partials {
    Layout target;              ///< of the result: without the dimensions
    std::vector<Layout> parts;  ///< of the partial results, for each part of the dimensions
    std::int64_t most = 0;      ///< partial results of one process
    /// For each part, and each element of this process in the result: the process that has its
    /// partial result, and the number there. Only if they are few.
    std::vector<std::int64_t> owners, offsets;
    /// For each part: the process that has all of them, in order; -1: none has.
    std::vector<std::int64_t> sole_owners;

    /// Whether the one part that there is has its partial results where the result is.
    bool are_results() const { return parts.size() == 1 && parts[0] == target; }
};

/// Of a layout on a grid, from a bounded cache. `process`: this one's number, or -1.
std::shared_ptr<const Partials> partials_of(const Layout& layout,
                                            const std::vector<std::size_t>& dims,
                                            std::int64_t process);

/// Brings partial results of `bytes` bytes to the processes of the result. `fill(memory, size)`
/// writes those of this process; if it returns false on a process, all return false. Calls
/// `take(values)` for one part after the other: dense values of this process's elements in the
/// result. `call`: the same on all processes. Collective, unless they are results; then each
/// process returns its own outcome of `fill`.
bool collect(const Partials& partials, std::int64_t bytes, const Comm& comm, Deadline deadline,
             const std::function<bool(std::byte* memory, std::size_t size)>& fill,
             const std::function<void(const std::byte* values)>& take,
             const std::string& call = "partial results");

}  // namespace hocket::array
