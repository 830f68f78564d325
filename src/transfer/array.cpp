// SPDX-License-Identifier: BSD-3-Clause
#include "hocket/array.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "base/checked.hpp"
#include "base/numbering.hpp"
#include "base/overlap.hpp"
#include "base/text.hpp"
#include "hocket/binding.hpp"
#include "hocket/memory.hpp"
#include "kernel/box.hpp"
#include "layout/arrangement.hpp"
#include "layout/form.hpp"

namespace hocket {
namespace {

// Local arrays of up to so many bytes always get enough memory for any remap.
constexpr std::int64_t small_room = std::int64_t{256} << 10;

// Invariant: elements have addresses below 2^63, because each array is checked here. So sums of
// distances never overflow.
void require_addresses(const Array& array) {
    const Shape &shape = array.local_shape(), &strides = array.strides();
    if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return;
    if (array.data() == nullptr)
        throw Error("the memory of the local array is a null pointer, but process " +
                    std::to_string(array.process()) + " holds elements of " +
                    layout::label(array.layout().form()) + "; give their address");
    if (!base::has_addresses(
            {reinterpret_cast<std::intptr_t>(array.data()), shape, strides, array.dtype().size}))
        throw Error("strides " + text::tuple(strides) + " bytes of a local array of shape " +
                    text::tuple(shape) +
                    " lead out of memory; give for each dimension the bytes from one element to "
                    "the next");
}

// Bytes to allocate for the part of process `rank`; -1: of a process beyond the layout.
std::int64_t room_of(const Layout& layout, std::int64_t itemsize, std::int64_t rank) {
    if (rank < 0) return 0;
    const layout::Form& form = layout.form();
    const std::int64_t own = layout.local_elements(rank);
    const auto at = form.place(rank);
    std::int64_t elements = own;
    if (at && layout::Arrangement::exists(form)) {
        const std::int64_t most = layout::Arrangement(layout).most_elements(*at);
        const std::int64_t even = base::ceil_div(layout.num_elements(), layout.size());
        elements = std::max(own, std::min(most, std::max(2 * even, small_room / itemsize)));
    }
    return base::product(elements, itemsize).value_or(base::max_size);
}

}  // namespace

Shape dense_strides(const Shape& shape, std::int64_t itemsize, Order order) {
    if (order == Order::column_major) {
        const Shape strides = dense_strides({shape.rbegin(), shape.rend()}, itemsize);
        return {strides.rbegin(), strides.rend()};
    }
    Shape strides(shape.size());
    std::int64_t step = itemsize;
    for (std::size_t d = shape.size(); d-- > 0;) {
        strides[d] = step;
        if (!__builtin_mul_overflow(step, std::max<std::int64_t>(shape[d], 1), &step)) continue;
        if (std::find(shape.begin(), shape.end(), 0) == shape.end())
            throw MemoryError("an array of shape " + text::tuple(shape) + " of elements of " +
                              std::to_string(itemsize) + " bytes has more than 2^63 bytes");
        step = itemsize;  // there is no element to address
    }
    return strides;
}

Array::Array(const Layout& layout, const DType& dtype, const Comm& comm)
    : state_(std::make_shared<State>(State{layout, dtype, comm, {}})) {
    if (dtype.size < 1)
        throw Error("elements of type " + dtype.name + " have " + std::to_string(dtype.size) +
                    " bytes; only elements of a fixed size of 1 byte or more can be moved");
    if (const std::int64_t known = Binding::number_bytes(dtype.name);
        known != 0 && known != dtype.size)
        throw Error("elements of type " + dtype.name + " have " + std::to_string(known) +
                    " bytes, not " + std::to_string(dtype.size) +
                    "; give that size, or a name of your own");
    if (comm.size() < layout.size())
        throw LayoutError("the layout " + layout::label(layout.form()) + " needs " +
                          std::to_string(layout.size()) + " processes, but the communicator has " +
                          std::to_string(comm.size()) +
                          "; start more processes, or give the layout fewer");
    state_->local_shape =
        process() >= 0 ? layout.local_shape(process()) : Shape(layout.local_shape(0).size(), 0);
}

std::int64_t Array::local_bytes() const {
    std::int64_t bytes = dtype().size;
    for (const auto extent : local_shape()) {
        if (__builtin_mul_overflow(bytes, extent, &bytes))
            throw MemoryError("a local array of shape " + text::tuple(local_shape()) + " of " +
                              dtype().name + " has more than 2^63 bytes; use more processes");
    }
    return bytes;
}

Array Array::empty(const Layout& layout, const DType& dtype, const Comm& comm, std::int64_t room) {
    Array array(layout, dtype, comm);
    State& made = *array.state_;
    const std::int64_t bytes = array.local_bytes();
    made.room = std::max({bytes, room_of(layout, dtype.size, array.process()), room});
    auto memory = allocate(bytes, made.room);
    made.data = memory.get();
    made.keep = std::move(memory);
    made.strides = dense_strides(made.local_shape, dtype.size);
    return array;
}

Array Array::wrap(void* data, const Layout& layout, const DType& dtype, const Comm& comm,
                  std::optional<Shape> strides, std::shared_ptr<const void> keep, bool writable,
                  std::int64_t room) {
    Array array(layout, dtype, comm);
    State& made = *array.state_;
    made.data = data;
    made.keep = std::move(keep);
    made.writable = writable;
    made.strides = strides ? std::move(*strides) : dense_strides(made.local_shape, dtype.size);
    if (made.strides.size() != made.local_shape.size())
        throw Error("the array has " + std::to_string(made.strides.size()) +
                    " strides, but its layout " + layout::label(layout.form()) + " has " +
                    std::to_string(made.local_shape.size()) +
                    " dimensions; give one stride a dimension, in bytes");
    require_addresses(array);
    const bool dense = kernel::is_dense(made.local_shape, dtype.size, made.strides);
    made.room = dense ? std::max(array.local_bytes(), room) : room;
    return array;
}

Array Array::section(std::span<const Slice> slices) const {
    const Layout part = layout().section(slices);
    const std::int64_t itemsize = dtype().size;
    Array array(part, dtype(), comm());
    State& made = *array.state_;
    made.keep = keep();
    made.writable = writable();
    made.strides = dense_strides(made.local_shape, itemsize);
    const std::int64_t rank = process();
    if (rank < 0 || part.local_elements(rank) == 0) return array;
    const auto places = layout().section_slices(slices, rank);
    Shape steps;
    std::int64_t offset = 0;
    for (std::size_t d = 0; d < places.size(); ++d) {
        if (!places[d])
            throw LayoutError("process " + std::to_string(rank) + "'s elements of " +
                              layout::label(part.form()) +
                              " are not equally spaced in its local array; copy the whole array to "
                              "a layout in which they are, or take "
                              "a section with step 1 or -1");
        offset += places[d]->first * strides()[d];
        if (layout().is_indexed() || slices[d].keep)
            steps.push_back(places[d]->step * strides()[d]);
    }
    made.data = static_cast<std::byte*>(data()) + offset;
    made.strides = std::move(steps);
    const bool dense = kernel::is_dense(made.local_shape, itemsize, made.strides);
    made.room = dense ? array.local_bytes() : 0;
    return array;
}

std::int64_t Binding::number_bytes(std::string_view name) {
    if (name == "bool") return 1;
    for (const std::string_view kind : {"int", "uint", "float", "complex"}) {
        if (!name.starts_with(kind)) continue;
        const auto digits = name.substr(kind.size());
        int bits = 0;
        const auto [end, error] =
            std::from_chars(digits.data(), digits.data() + digits.size(), bits);
        if (error != std::errc{} || end != digits.data() + digits.size()) continue;
        const int least = kind == "complex" ? 64 : kind == "float" ? 16 : 8;
        const int most = kind == "complex" ? 256 : kind == "float" ? 128 : 64;
        if (bits >= least && bits <= most && (bits & (bits - 1)) == 0) return bits / 8;
    }
    // x86's long double.
    return name == "float96" ? 12 : name == "complex192" ? 24 : 0;
}

std::int64_t Binding::set_first_index(std::int64_t first) {
    const std::int64_t before = text::first_index();
    text::set_first_index(first);
    return before;
}

bool Binding::is_column_major(const Array& array) {
    const Shape &shape = array.local_shape(), &strides = array.strides();
    return kernel::is_dense(Shape(shape.rbegin(), shape.rend()), array.dtype().size,
                            Shape(strides.rbegin(), strides.rend()));
}

std::int64_t Array::process() const {
    return comm().rank() < layout().size() ? comm().rank() : -1;
}

bool Array::lacks_its_element() const {
    return local_shape().empty() && (process() < 0 || layout().local_elements(process()) == 0);
}

void Array::require_dense(const DType& wanted) const {
    if (!(wanted == dtype()))
        throw Error("the array holds " + dtype().name + ", not " + wanted.name +
                    "; ask for local<T>() with the type that it was made with");
    if (strides() != dense_strides(local_shape(), dtype().size))
        throw Error("the local array of shape " + text::tuple(local_shape()) + " has strides " +
                    text::tuple(strides()) + " bytes and is not dense; use data() and strides()");
}

}  // namespace hocket
