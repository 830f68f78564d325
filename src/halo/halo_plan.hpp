// SPDX-License-Identifier: BSD-3-Clause
// The plan of a halo: the elements that each process sends to each border.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "hocket/halo.hpp"
#include "layout/form.hpp"
#include "transfer/schedule.hpp"

namespace hocket::halo {

/// Elements that process `from` holds and that process `to` has in its border, with their positions
/// in the memory of both, each a local array with its border.
struct BorderBlock {
    std::int64_t from, to;
    plan::Box box;  // loops over the dimensions in row-major order
    Shape source_shape, destination_shape;
};
BorderBlock border_block(std::int64_t from, std::int64_t to, const Shape& extents,
                         Shape source_first, Shape destination_first, Shape source_shape,
                         Shape destination_shape);

struct HaloPlan {
    /// One dimension after the other: the elements that a process sends along the second include
    /// the border that the first has filled. So corners need no messages of their own.
    std::vector<std::vector<BorderBlock>> phases;
    std::int64_t process = -1;
    std::int64_t itemsize = 1;
    Order order = Order::row_major;
    std::string text;  // for the agreement

    /// One schedule for each phase with blocks, from the memory with border to itself. `agreed`:
    /// the order of the lowest process. Only processes with this order publish the addresses of
    /// their memory.
    const std::vector<std::shared_ptr<const transfer::Schedule>>& schedules(Order agreed) const;

  private:
    mutable std::vector<std::shared_ptr<const transfer::Schedule>> made_[2];  // by `agreed`
};

/// All blocks that process `rank` of a layout of boxes, which holds elements, sends and receives.
std::vector<BorderBlock> box_borders(const layout::Form& form, std::int64_t rank,
                                     const Shape& width, const std::vector<bool>& periodic);

/// The shape of the local array of process `rank` with its border; zeros without elements.
/// halo_plan computes with its extents in 64 bits, and makes at most as many blocks as the border
/// has elements: call this function and take the memory before.
/// @throws LayoutError and MemoryError as Halo does.
Shape bordered_shape(const Layout& layout, std::int64_t rank, const DType& dtype,
                     const Shape& width, const std::vector<bool>& periodic);

/// For process `rank` of the layout. @throws LayoutError as Halo does.
HaloPlan halo_plan(const Layout& layout, std::int64_t rank, const DType& dtype, const Shape& width,
                   const std::vector<bool>& periodic, Order order);

}  // namespace hocket::halo
