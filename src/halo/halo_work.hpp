// SPDX-License-Identifier: BSD-3-Clause
// Who fills which part of whose border.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hocket/halo.hpp"
#include "hocket/kernel.hpp"

namespace hocket::halo {

/// A box of the local memory that travels as one message; `rank` -1: within this process.
struct Strip {
    int rank;
    std::int64_t bytes, offset;  // of the box in the local memory
    std::int64_t source_offset;  // within this process: where it comes from
    kernel::Copy copy;           // between the box and a dense buffer; or from the source
};

/// One dimension after the other: what the first has filled is part of what the second sends, so
/// that corners arrive without messages of their own.
struct HaloPhase {
    std::vector<Strip> sends, receives, local;
};

struct HaloWork {
    std::vector<HaloPhase> phases;
    std::string text;  // what processes must agree on
};

/// The interval of dimension `d` that processes at a coordinate along it hold.
struct Interval {
    std::int64_t first = 0, last = 0;
};

/// The bytes between neighbours along each dimension of dense memory in that order.
Shape dense_strides_in(Order order, const Shape& shape, std::int64_t itemsize);

/// The border of process `rank` of a layout of boxes, which holds elements.
HaloPhase box_borders(const layout::Form& form, std::int64_t rank, std::int64_t itemsize,
                      const Shape& width, const std::vector<bool>& periodic, Order order);

/// For process `rank` of the layout. @throws LayoutError as Halo does.
HaloWork halo_work(const Layout& layout, std::int64_t rank, const DType& dtype, const Shape& width,
                   const std::vector<bool>& periodic, Order order);

}  // namespace hocket::halo
