// SPDX-License-Identifier: BSD-3-Clause
// Who fills which part of whose border.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hocket/halo.hpp"
#include "transfer/packed.hpp"

namespace hocket::halo {

/// One dimension after the other: what the first has filled is part of what the second sends, so
/// that corners arrive without messages of their own.
/// The array of messages is the local memory with its border.
struct HaloPhase {
    std::vector<transfer::PackedMessage> sends, receives;
    std::vector<transfer::LocalCopy> local;

    /// The local memory at `offset`, described by `copy` for the buffer, is one of the messages.
    static void add(std::vector<transfer::PackedMessage>& messages, std::int64_t peer,
                    kernel::Copy copy, std::int64_t offset, bool sending);
};

struct HaloPlan {
    std::vector<HaloPhase> phases;
    std::string text;  // what processes must agree on
};

/// The bytes between neighbours along each dimension of dense memory in that order.
Shape dense_strides_in(Order order, const Shape& shape, std::int64_t itemsize);

/// The border of process `rank` of a layout of boxes, which holds elements.
HaloPhase box_borders(const layout::Form& form, std::int64_t rank, std::int64_t itemsize,
                      const Shape& width, const std::vector<bool>& periodic, Order order);

/// For process `rank` of the layout. @throws LayoutError as Halo does.
HaloPlan halo_plan(const Layout& layout, std::int64_t rank, const DType& dtype, const Shape& width,
                   const std::vector<bool>& periodic, Order order);

}  // namespace hocket::halo
