// SPDX-License-Identifier: BSD-3-Clause
// A distributed array with a border: what neighbours hold next to each process's part.
#pragma once

#include <memory>
#include <vector>

#include "hocket/array.hpp"
#include "hocket/operation.hpp"

namespace hocket {

namespace halo {
struct HaloPlan;  // src/halo/halo_plan.hpp
}

/// Whether a process's border below and above its part of a dimension is the array's edge, where
/// nothing fills it.
struct Edges {
    bool below = false, above = false;
    friend bool operator==(const Edges&, const Edges&) = default;
};

/// Memory of hocket's own for one process's part of an array and a border of `width[d]` elements on
/// both sides of every dimension d, and the exchange that fills the border from the processes that
/// hold those elements. Works where every process holds one interval of each dimension that has a
/// border: `BLOCK`, `BLOCK(m)`, `GEN_BLOCK`, `BALANCED`, `*`, an `INDIRECT` of intervals, also
/// aligned or a section, and boxes; blocks may be uneven, empty, or shorter than the border. Border
/// elements in gaps between boxes stay as they are. A handle: copies name the same memory.
class Halo {
  public:
    /// Copies the elements of `array` into new memory; the array itself is not used any more.
    /// Local. `periodic[d]`: the dimension goes round; empty: none does. Processes may differ in
    /// `order`.
    /// @throws LayoutError for explicit segments and listed elements, for widths or flags that are
    /// not one a dimension, negative widths, and where a process holds several intervals of a
    /// dimension with a border (CYCLIC), naming it.
    explicit Halo(const Array& array, const Shape& width, const std::vector<bool>& periodic = {},
                  Order order = Order::row_major);

    /// The array within the border: its local elements are what is to be computed and sent.
    const Array& array() const { return array_; }
    const Shape& width() const { return width_; }
    /// Of this process: true where its part begins at the array's first index of the dimension, or
    /// ends at the last, and the dimension is not periodic; false on a process without elements.
    /// @throws Error if there is no such dimension.
    Edges edges(std::size_t dimension) const;
    /// The local elements with their border: dense, of `local_shape()`, each extent that of the
    /// local array and twice the width; its strides are the array's. Without elements there is no
    /// border either: zeros.
    void* data() const { return data_; }
    const Shape& local_shape() const { return local_shape_; }

    /// Fills the border, corners included, with the elements of the array that belong there, as
    /// they are on the processes that hold them. What lies beyond the edges of the array stays as
    /// it is, but where the dimension is periodic. Collective over the array's communicator.
    /// @throws MismatchError on every process where they differ in array, widths or periodic
    /// dimensions; DeadlineError, which ends the wait, not the exchange.
    void exchange(Deadline deadline = {}) const;
    /// The same, started: it goes on in every wait, and a flow's step that communicates may return
    /// it. Until it is done the border must not be touched, and the elements that are within
    /// `width` of it must not change; the others may. Collective, in the order of the calls.
    /// `later`: it takes its place among the collective calls of the array's communicator now, and
    /// begins when it is first polled, as a flow does when the step's turn has come
    /// (Flow::exchange); until it is done, nothing may write the array or touch the border.
    std::shared_ptr<Operation> iexchange(bool later = false) const;

  private:
    Shape width_, local_shape_;
    std::vector<Edges> edges_;
    void* data_ = nullptr;
    Array array_;
    std::shared_ptr<const halo::HaloPlan> work_;
};

}  // namespace hocket
