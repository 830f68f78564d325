// SPDX-License-Identifier: BSD-3-Clause
#include "transfer/convert.hpp"

#include "hocket/binding.hpp"
#include "hocket/memory.hpp"
#include "kernel/box.hpp"
#include "kernel/convert.hpp"

namespace hocket {
namespace {

bool is_row_major(const Array& array) {
    return kernel::is_dense(array.local_shape(), array.dtype().size, array.strides());
}

bool is_dense(const Array& array) {
    return is_row_major(array) || Binding::is_column_major(array);
}

// New memory with the layout of `array`, and its order if it is dense.
Array empty_like(const Array& array, const DType& dtype) {
    Array made = Array::empty(array.layout(), dtype, array.comm());
    if (is_row_major(array) || !Binding::is_column_major(array)) return made;
    return Array::wrap(made.data(), made.layout(), dtype, made.comm(),
                       dense_strides(made.local_shape(), dtype.size, Order::column_major),
                       made.keep(), true, made.room());
}

// Row-major memory for the local elements of an array that is not dense; nothing for others.
std::shared_ptr<std::byte> dense_memory_for(const Array& array) {
    if (is_dense(array)) return nullptr;
    return allocate(array.layout().local_elements(array.process()) * array.dtype().size);
}

// All local elements, of arrays with one layout in one order, at their addresses.
void convert_all(const Array& from, const void* source, const Array& to, void* target) {
    if (from.process() < 0) return;
    kernel::convert(from.dtype().name, static_cast<const std::byte*>(source), to.dtype().name,
                    static_cast<std::byte*>(target), from.layout().local_elements(from.process()));
}

kernel::Copy repacking(const Array& array, const Shape& source_strides,
                       const Shape& target_strides) {
    return {array.local_shape(), array.dtype().size, source_strides, target_strides};
}

Shape row_major_strides(const Array& array) {
    return dense_strides(array.local_shape(), array.dtype().size);
}

}  // namespace

Array astype(const Array& array, const DType& dtype) {
    if (!kernel::converts(array.dtype().name, dtype.name))
        throw MismatchError("hocket converts no " + array.dtype().name + " to " + dtype.name +
                            "; it converts bool, integers of 8 to 64 bits, float16 to float64, "
                            "complex64 and complex128");
    Array result = empty_like(array, dtype);
    const auto packed = dense_memory_for(array);
    if (packed)
        repacking(array, array.strides(), row_major_strides(array)).run(array.data(), packed.get());
    convert_all(array, packed ? packed.get() : array.data(), result, result.data());
    return result;
}

namespace transfer {

bool converts(const Array& source, const Array& destination, const RedistributeOptions& options) {
    const DType &from = source.dtype(), &to = destination.dtype();
    return options.convert && !(from == to) && kernel::converts(from.name, to.name);
}

Conversion::Conversion(const Array& source, const Array& destination)
    : sent_(source), received_(destination), destination_(destination) {
    if (destination.dtype().size <= source.dtype().size) {
        sent_ = astype(source, destination.dtype());
    } else {
        received_ = empty_like(destination, source.dtype());
        converted_ = dense_memory_for(destination);
    }
}

void Conversion::finish() const {
    if (received_.dtype() == destination_.dtype()) return;
    void* const target = converted_ ? converted_.get() : destination_.data();
    convert_all(received_, received_.data(), destination_, target);
    if (converted_)
        repacking(destination_, row_major_strides(destination_), destination_.strides())
            .run(target, destination_.data());
}

}  // namespace transfer
}  // namespace hocket
