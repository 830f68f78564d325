// SPDX-License-Identifier: BSD-3-Clause
// Arrays with a layout. Each process has an Array for its own part of a distributed array.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>

#include "hocket/comm.hpp"
#include "hocket/layout.hpp"

namespace hocket {

/// The index that varies fastest in dense memory: the last one, or the first one, as in Fortran.
enum class Order { row_major, column_major };

/// An element type: its name, which both sides of a transfer compare, and its size in bytes.
struct DType {
    std::string name;  ///< NumPy's name: "float64", "complex128", "int32", …
    std::int64_t size;
    friend bool operator==(const DType&, const DType&) = default;
};

/// The element type of a C++ arithmetic or complex type, const or not.
template <class Element>
DType dtype_of() {
    using T = std::remove_cv_t<Element>;
    constexpr auto bits = [](std::size_t bytes) { return std::to_string(8 * bytes); };
    if constexpr (std::is_same_v<T, bool>) {
        return {"bool", sizeof(T)};
    } else if constexpr (std::is_floating_point_v<T>) {
        return {"float" + bits(sizeof(T)), sizeof(T)};
    } else if constexpr (std::is_integral_v<T>) {
        return {(std::is_signed_v<T> ? "int" : "uint") + bits(sizeof(T)), sizeof(T)};
    } else {
        static_assert(
            std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>,
            "name other element types by a DType of your own");
        return {"complex" + bits(sizeof(T)), sizeof(T)};
    }
}

/// One process's part of a distributed array. An Array is a handle: copies share the memory, which
/// lives as long as any copy. So does what layout(), strides() and the other calls that return
/// references refer to: after `const auto& s = a.strides(); a = b;`, s refers to nothing if `a` was
/// the last copy.
class Array {
  public:
    /// Allocates uninitialised memory, dense and row-major. Local, not collective; a process beyond
    /// `layout.size()` gets an empty local array.
    ///
    /// `room`: bytes to reserve, for remap_inplace. By default hocket reserves enough for uneven
    /// blocks, at most twice an even share of the array. It takes no memory until it is used.
    /// @throws LayoutError if the communicator has fewer processes than the layout.
    static Array empty(const Layout& layout, const DType& dtype, const Comm& comm,
                       std::int64_t room = 0);

    /// Wraps the user's memory without a copy. `strides` are in bytes, one a dimension, of any
    /// sign; none: dense and row-major. The array owns `keep` as long as it is in use. `room`:
    /// bytes from `data` on that remap_inplace may use, if more than the local array has.
    static Array wrap(void* data, const Layout& layout, const DType& dtype, const Comm& comm,
                      std::optional<Shape> strides = {}, std::shared_ptr<const void> keep = {},
                      bool writable = true, std::int64_t room = 0);

    /// a[slices], one slice a dimension: an array in the same memory with the layout
    /// `layout().section(slices)`. Local. @throws LayoutError for slices that leave the shape, and
    /// for elements that are not equally spaced on this process (a stride through CYCLIC(k)),
    /// because no strides can describe them.
    Array section(std::span<const Slice> slices) const;

    const Layout& layout() const { return state_->layout; }
    const DType& dtype() const { return state_->dtype; }
    const Comm& comm() const { return state_->comm; }
    void* data() const { return state_->data; }
    const Shape& strides() const { return state_->strides; }  ///< bytes
    const Shape& local_shape() const { return state_->local_shape; }
    bool writable() const { return state_->writable; }
    /// Bytes from data() on that the array may use: at least its own size, if it is dense.
    std::int64_t room() const { return state_->room; }
    const std::shared_ptr<const void>& keep() const { return state_->keep; }
    /// This process's number in the layout; -1 for a process beyond it.
    std::int64_t process() const;

    /// The local elements of a dense array. @throws Error for another type, and for an array that
    /// is not dense.
    template <class T>
    std::span<T> local() const {
        require_dense(dtype_of<T>());
        std::size_t count = lacks_its_element() ? 0 : 1;
        for (const auto extent : local_shape()) count *= static_cast<std::size_t>(extent);
        return {static_cast<T*>(data()), count};
    }

  private:
    struct State {
        Layout layout;
        DType dtype;
        Comm comm;
        Shape local_shape;
        Shape strides = {};
        void* data = nullptr;
        std::shared_ptr<const void> keep = {};
        bool writable = true;
        std::int64_t room = 0;
    };

    Array(const Layout& layout, const DType& dtype, const Comm& comm);
    std::int64_t local_bytes() const;
    /// Of an array without dimensions: whether this process does not hold its element.
    bool lacks_its_element() const;
    void require_dense(const DType& wanted) const;

    handle::Shared<State, "Array"> state_;
};

/// The array with its elements converted to another type, with the values of NumPy's astype, except
/// that a float beyond the range of an integer type gives some integer. New memory, row-major, or
/// column-major like the array's; the array's layout. Local. @throws MismatchError for types other
/// than bool, integers, float16, 32 and 64, and complex64 and 128.
Array astype(const Array& array, const DType& dtype);

/// The distance in bytes between neighbours along each dimension of a dense array. @throws
/// MemoryError if it has more than 2^63 bytes.
Shape dense_strides(const Shape& shape, std::int64_t itemsize, Order order = Order::row_major);

}  // namespace hocket
