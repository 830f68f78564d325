// SPDX-License-Identifier: BSD-3-Clause
// Distributed arrays with a border (halo) of the elements that neighbours hold.
#pragma once

#include <memory>
#include <vector>

#include "hocket/array.hpp"
#include "hocket/operation.hpp"

namespace hocket {

namespace halo {
struct HaloPlan;  // src/halo/halo_plan.hpp
}

/// Whether a process's border below and above its part of a dimension is the edge of the array. An
/// exchange does not fill edges.
struct Edges {
    bool below = false, above = false;
    friend bool operator==(const Edges&, const Edges&) = default;
};

/// Memory for one process's part of an array with a border of `width[d]` elements on both sides of
/// each dimension d, and the exchange that fills the border from the owners of these elements.
/// Every process must hold one interval of each dimension that has a border: `BLOCK`, `BLOCK(m)`,
/// `GEN_BLOCK`, `BALANCED`, `*`, an `INDIRECT` of intervals, also aligned or a section, and boxes.
/// Blocks may be uneven, empty, or shorter than the border. The exchange does not change border
/// elements in gaps between boxes. A Halo is a handle: copies share the memory.
class Halo {
  public:
    /// Copies the elements of `array` into new memory; hocket does not use `array` afterwards.
    /// Local. `periodic[d]`: dimension d wraps around; empty: none does. Processes may differ in
    /// `order`.
    /// @throws LayoutError for explicit segments and listed elements, for widths or flags that are
    ///         not one a dimension, for negative widths, and for a dimension with a border of which
    ///         a process holds several intervals (CYCLIC); MemoryError, on all processes alike, if
    ///         the local array of one with its border has more than 2^63 bytes.
    explicit Halo(const Array& array, const Shape& width, const std::vector<bool>& periodic = {},
                  Order order = Order::row_major);

    /// The array within the border. Programs compute on, and send, its local elements.
    const Array& array() const { return state_->array; }
    const Shape& width() const { return state_->width; }
    /// The edges of this process: true if its part begins at the first index of the dimension, or
    /// ends at the last, and the dimension is not periodic; false on a process without elements.
    /// @throws Error if there is no such dimension.
    Edges edges(std::size_t dimension) const;
    /// The local elements with their border: dense, of shape `local_shape()`, with the strides of
    /// the array. Each extent is that of the local array plus twice the width. A process without
    /// elements has no border: all extents are 0.
    void* data() const { return state_->data; }
    const Shape& local_shape() const { return state_->local_shape; }

    /// Fills the border, corners included, with the elements that belong there, from their owners.
    /// Does not change elements beyond the edges of the array, except in periodic dimensions.
    /// Collective over the array's communicator.
    /// @throws MismatchError on every process if the processes differ in array, widths or periodic
    ///         dimensions; DeadlineError, which ends the wait, not the exchange.
    void exchange(Deadline deadline = {}) const;
    /// Starts the exchange. It progresses in every wait, and a communication step of a flow may
    /// return it. Until it completes, the program must not touch the border, nor change elements
    /// within `width` of it; it may change all other elements. Collective, in the order of the
    /// calls. `later`: the exchange takes its position among the collective calls of the array's
    /// communicator now, and begins at its first poll, as Flow::exchange needs. Until it completes,
    /// nothing may write the array or touch the border.
    std::shared_ptr<Operation> iexchange(bool later = false) const;

  private:
    struct State {
        Shape width, local_shape;
        Array array;
        std::vector<Edges> edges = {};
        void* data = nullptr;
        std::shared_ptr<const halo::HaloPlan> work = {};
    };
    handle::Shared<State, "Halo"> state_;
};

}  // namespace hocket
