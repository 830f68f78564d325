// SPDX-License-Identifier: BSD-3-Clause
#include "hocket/array.hpp"

#include "base/text.hpp"
#include "hocket/memory.hpp"

namespace hocket {

Shape dense_strides(const Shape& shape, std::int64_t itemsize) {
    Shape strides(shape.size());
    std::int64_t step = itemsize;
    for (std::size_t d = shape.size(); d-- > 0;) {
        strides[d] = step;
        step *= shape[d] > 0 ? shape[d] : 1;
    }
    return strides;
}

Array::Array(Layout layout, DType dtype, Comm comm)
    : layout_(std::move(layout)), dtype_(std::move(dtype)), comm_(std::move(comm)) {
    if (dtype_.size < 1)
        throw Error("elements of type " + dtype_.name + " have " + std::to_string(dtype_.size) +
                    " bytes; only elements of a fixed size of 1 byte or more can be moved");
    if (comm_.size() < layout_.size())
        throw LayoutError("the layout " + layout_.text() + " needs " +
                          std::to_string(layout_.size()) + " processes, but the communicator has " +
                          std::to_string(comm_.size()) +
                          "; start more processes, or give the layout fewer");
    local_shape_ =
        process() >= 0 ? layout_.local_shape(process()) : Shape(layout_.local_shape(0).size(), 0);
}

Array Array::empty(const Layout& layout, const DType& dtype, const Comm& comm) {
    Array array(layout, dtype, comm);
    std::int64_t bytes = dtype.size;
    for (const auto extent : array.local_shape_) {
        if (__builtin_mul_overflow(bytes, extent, &bytes))
            throw Error("a local array of shape " + text::tuple(array.local_shape_) + " of " +
                        dtype.name + " has more than 2^63 bytes; use more processes");
    }
    auto memory = allocate(bytes);
    array.data_ = memory.get();
    array.keep_ = std::move(memory);
    array.strides_ = dense_strides(array.local_shape_, dtype.size);
    return array;
}

Array Array::wrap(void* data, const Layout& layout, const DType& dtype, const Comm& comm,
                  std::optional<Shape> strides, std::shared_ptr<const void> keep, bool writable) {
    Array array(layout, dtype, comm);
    array.data_ = data;
    array.keep_ = std::move(keep);
    array.writable_ = writable;
    array.strides_ = strides ? std::move(*strides) : dense_strides(array.local_shape_, dtype.size);
    if (array.strides_.size() != array.local_shape_.size())
        throw Error("the array has " + std::to_string(array.strides_.size()) +
                    " strides, but its layout " + layout.text() + " has " +
                    std::to_string(array.local_shape_.size()) +
                    " dimensions; give one stride a dimension, in bytes");
    return array;
}

std::int64_t Array::process() const {
    return comm_.rank() < layout_.size() ? comm_.rank() : -1;
}

void Array::require_dense(const DType& wanted) const {
    if (!(wanted == dtype_))
        throw Error("the array holds " + dtype_.name + ", not " + wanted.name +
                    "; ask for local<T>() with the type that it was made with");
    if (strides_ != dense_strides(local_shape_, dtype_.size))
        throw Error("the local array of shape " + text::tuple(local_shape_) + " has strides " +
                    text::tuple(strides_) + " bytes and is not dense; use data() and strides()");
}

}  // namespace hocket
