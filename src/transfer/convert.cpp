// SPDX-License-Identifier: BSD-3-Clause
#include "transfer/convert.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "hocket/memory.hpp"
#include "kernel/box.hpp"
#include "kernel/convert.hpp"

namespace hocket {
namespace {

std::int64_t count_of(const Array& array) {
    return array.process() < 0 ? 0 : array.layout().local_elements(array.process());
}

Shape column_major(const Shape& shape, std::int64_t itemsize) {
    const Shape strides = dense_strides({shape.rbegin(), shape.rend()}, itemsize);
    return {strides.rbegin(), strides.rend()};
}

bool is_column_major(const Array& array) {
    return array.strides() == column_major(array.local_shape(), array.dtype().size);
}

// Converts all local elements of `from` into those of `to`, which has an equal layout.
void convert_into(const Array& from, const Array& to) {
    const std::int64_t count = count_of(from);
    if (count == 0) return;
    const Shape& shape = from.local_shape();
    const bool both = is_column_major(from) && is_column_major(to);
    const auto in_place = [&](const Array& array) {
        return both || kernel::is_dense(shape, array.dtype().size, array.strides());
    };
    const auto strides_in = [&](const Array& array) {
        return dense_strides(shape, array.dtype().size);
    };
    std::shared_ptr<std::byte> unpacked, converted;
    const auto* source = static_cast<const std::byte*>(from.data());
    if (!in_place(from)) {
        unpacked = allocate(count * from.dtype().size);
        kernel::Copy(shape, from.dtype().size, from.strides(), strides_in(from))
            .run(source, unpacked.get());
        source = unpacked.get();
    }
    if (!in_place(to)) converted = allocate(count * to.dtype().size);
    auto* const target = converted ? converted.get() : static_cast<std::byte*>(to.data());
    kernel::convert(from.dtype().name, source, to.dtype().name, target, count);
    if (converted)
        kernel::Copy(shape, to.dtype().size, strides_in(to), to.strides()).run(target, to.data());
}

class Converting final : public Operation {
  public:
    Converting(std::shared_ptr<Operation> begun, const Array& received, const Array& destination)
        : begun_(std::move(begun)), received_(received), destination_(destination) {}
    bool poll() override {
        if (!begun_->poll()) return false;
        if (received_) convert_into(*received_, destination_);
        received_.reset();
        return true;
    }
    bool leave() override { return begun_->leave(); }
    std::string text() const override { return begun_->text(); }

  private:
    std::shared_ptr<Operation> begun_;
    std::optional<Array> received_;
    Array destination_;
};

}  // namespace

Array astype(const Array& array, const DType& dtype) {
    if (!kernel::converts(array.dtype().name, dtype.name))
        throw MismatchError("hocket converts no " + array.dtype().name + " to " + dtype.name +
                            "; it converts bool, integers of 8 to 64 bits, float16 to float64, "
                            "complex64 and complex128");
    Array result = Array::empty(array.layout(), dtype, array.comm());
    if (is_column_major(array))
        result = Array::wrap(result.data(), result.layout(), dtype, result.comm(),
                             column_major(result.local_shape(), dtype.size), result.keep(), true,
                             result.room());
    convert_into(array, result);
    return result;
}

namespace transfer {

bool converts(const Array& source, const Array& destination, const RedistributeOptions& options) {
    const DType &from = source.dtype(), &to = destination.dtype();
    return options.convert && !(from == to) && kernel::converts(from.name, to.name);
}

Conversion::Conversion(const Array& source, const Array& destination)
    : sent_(source), received_(destination), destination_(destination) {
    if (destination.dtype().size <= source.dtype().size)
        sent_ = astype(source, destination.dtype());
    else
        received_ = Array::empty(destination.layout(), source.dtype(), destination.comm());
}

std::shared_ptr<Operation> Conversion::ending(std::shared_ptr<Operation> begun) const {
    if (received_.dtype() == destination_.dtype()) return begun;
    return std::make_shared<Converting>(std::move(begun), received_, destination_);
}

}  // namespace transfer
}  // namespace hocket
