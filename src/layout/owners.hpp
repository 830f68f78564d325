// SPDX-License-Identifier: BSD-3-Clause
// The owners of many elements, by tables that a single question would not pay for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "layout/form.hpp"

namespace hocket::layout {

/// Finds the owner of an element, as Layout::owner, and its row-major number in the owner's local
/// array.
class Owners {
  public:
    /// `questions`: how many will come.
    explicit Owners(const Layout& layout, std::size_t questions = 1);

    struct Place {
        std::int64_t process, offset;
    };
    /// @throws LayoutError for an element that no process holds.
    Place of(std::span<const std::int64_t> index);
    /// By the element's row-major number.
    Place of(std::int64_t number);

  private:
    struct Held {
        bool known = false;
        IndexSet indices;
        std::size_t hint = 0;
    };
    // An index along a dimension: its part of the position, and its number at the owner, who holds
    // `count` indices.
    struct Index {
        std::int64_t position = 0, local = 0, count = 0;
    };
    struct Dimension {
        const Axis* axis = nullptr;
        std::int64_t step = 0;     // of the position, for each coordinate
        std::vector<Held> held;    // by coordinate
        std::vector<Index> table;  // of all indices, if there are fewer than questions
        std::int64_t latest = -1;  // neighbours have the same index in most dimensions
        Index found;
    };
    static Index find(Dimension& dimension, std::int64_t index);
    Place of_list(std::span<const std::int64_t> index);

    const Layout layout_;
    bool by_tables_;
    std::int64_t first_ = 0;  // the position of coordinates that do not depend on the index
    std::vector<Dimension> dimensions_;
    std::unordered_map<std::int64_t, Shape> local_shapes_;
    Shape index_;
};

/// The owner of each row-major element number, and the element's number in the owner's local array.
/// @throws LayoutError for an element that no process holds.
void locate(const Layout& layout, std::span<const std::int64_t> numbers, std::int64_t* owners,
            std::int64_t* offsets);

}  // namespace hocket::layout
