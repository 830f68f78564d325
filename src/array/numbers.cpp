// SPDX-License-Identifier: BSD-3-Clause
#include "array/numbers.hpp"

#include <algorithm>
#include <array>

#include "hocket/columns.hpp"

namespace hocket::array {
namespace {

constexpr std::array<const char*, 12> words{"sum",  "product", "maxval", "minval",
                                            "all",  "any",     "parity", "iall",
                                            "iany", "iparity", "count",  "replace"};

// How the kernels' loops compute the operation; none if they do not.
template <class T, Combine op>
constexpr std::optional<kernel::Fold> kernel_fold() {
    if constexpr (op == Combine::sum && std::is_integral_v<T>) return kernel::Fold::sum;
    if constexpr (std::is_arithmetic_v<T>) {
        if constexpr (op == Combine::maxval) return kernel::Fold::greatest;
        if constexpr (op == Combine::minval) return kernel::Fold::least;
    }
    return {};
}
template <class T>
constexpr kernel::NumberKind kind_of() {
    if (std::is_floating_point_v<T>) return kernel::NumberKind::real;
    return std::is_signed_v<T> ? kernel::NumberKind::integer : kernel::NumberKind::natural;
}

template <class T, Combine op>
void combine_columns(void* into, const void* from, std::int64_t rows, std::int64_t count) {
    if constexpr (constexpr auto fold = kernel_fold<T, op>()) {
        constexpr auto size = static_cast<std::int64_t>(sizeof(T));
        kernel::fold_columns(*fold, kind_of<T>(), size, into,
                             {from, rows, count, size * count, size});
    } else {
        auto* const a = static_cast<T*>(into);
        const auto* b = static_cast<const T*>(from);
        for (std::int64_t row = 0; row < rows; ++row, b += count)
            for (std::int64_t k = 0; k < count; ++k) a[k] = Fold<T, op>::of(a[k], b[k]);
    }
}

template <class T, Combine op>
FoldLoops loops_of() {
    using F = Fold<T, op>;
    FoldLoops loops;
    loops.itemsize = sizeof(T);
    loops.fill = [](void* into, std::int64_t count) {
        std::fill_n(static_cast<T*>(into), count, F::identity());
    };
    loops.combine = [](void* into, const void* from, std::int64_t count) {
        auto* const a = static_cast<T*>(into);
        const auto* const b = static_cast<const T*>(from);
        for (std::int64_t k = 0; k < count; ++k) a[k] = F::of(a[k], b[k]);
    };
    loops.columns = combine_columns<T, op>;
    loops.reduce = [](void* into, const void* from, std::int64_t count) {
        if constexpr (sizeof(T) == 1 && (op == Combine::all || op == Combine::any)) {
            const auto* const truths = static_cast<const std::uint8_t*>(from);
            auto& truth = *static_cast<T*>(into);
            truth = op == Combine::all ? truth != 0 && kernel::all_true(truths, count)
                                       : truth != 0 || kernel::any_true(truths, count);
            return;
        }
        // Several results at a time: a single one would wait for each operation's latency.
        constexpr std::int64_t lanes = 128;
        std::array<T, lanes> some;
        some.fill(F::identity());
        const std::int64_t rows = count / lanes;
        combine_columns<T, op>(some.data(), from, rows, lanes);
        T all = *static_cast<T*>(into);
        for (const T each : some) all = F::of(all, each);
        const auto* const b = static_cast<const T*>(from);
        for (std::int64_t k = rows * lanes; k < count; ++k) all = F::of(all, b[k]);
        *static_cast<T*>(into) = all;
    };
    return loops;
}

template <Combine op, class T>
constexpr bool has() {
    if constexpr (op == Combine::sum || op == Combine::product)
        return true;
    else if constexpr (op == Combine::maxval || op == Combine::minval)
        return std::is_arithmetic_v<T>;
    else
        return std::is_integral_v<T>;
}

template <Combine op>
FoldLoops loops_for(const DType& dtype) {
    FoldLoops found;
    const auto take = [&](auto zero) {
        using T = decltype(zero);
        if constexpr (has<op, T>()) found = loops_of<T, op>();
    };
    const bool logical = op == Combine::all || op == Combine::any || op == Combine::parity;
    if (!(logical ? with_truth(dtype, take) : with_number(dtype, take)) || found.itemsize == 0)
        throw MismatchError(name_of(op) + " does not take " + dtype.name + "; it takes " +
                            (logical ? "bool and integers of 8 to 64 bits"
                             : has<op, std::complex<float>>()
                                 ? "integers of 8 to 64 bits, float32, "
                                   "float64, complex64 and complex128"
                             : has<op, float>() ? "integers of 8 to 64 bits, float32 and float64"
                                                : "integers of 8 to 64 bits"));
    return found;
}

}  // namespace

std::string name_of(Combine op) {
    const auto at = static_cast<std::size_t>(op);
    if (at >= words.size())
        throw Error("there is no operation number " + std::to_string(at) + "; give one of 0 to " +
                    std::to_string(words.size() - 1));
    return words[at];
}

std::optional<ExactType> exact_type(const DType& dtype) {
    if (dtype.name == "float16") return ExactType{exact::Number::float16, 1};
    if (dtype.name == "float32") return ExactType{exact::Number::float32, 1};
    if (dtype.name == "float64") return ExactType{exact::Number::float64, 1};
    if (dtype.name == "complex64") return ExactType{exact::Number::float32, 2};
    if (dtype.name == "complex128") return ExactType{exact::Number::float64, 2};
    return {};
}

FoldLoops fold_loops(Combine op, const DType& dtype) {
    switch (op) {
        case Combine::sum:
            return loops_for<Combine::sum>(dtype);
        case Combine::product:
            return loops_for<Combine::product>(dtype);
        case Combine::maxval:
            return loops_for<Combine::maxval>(dtype);
        case Combine::minval:
            return loops_for<Combine::minval>(dtype);
        case Combine::all:
            return loops_for<Combine::all>(dtype);
        case Combine::any:
            return loops_for<Combine::any>(dtype);
        case Combine::parity:
            return loops_for<Combine::parity>(dtype);
        case Combine::iall:
            return loops_for<Combine::iall>(dtype);
        case Combine::iany:
            return loops_for<Combine::iany>(dtype);
        case Combine::iparity:
            return loops_for<Combine::iparity>(dtype);
        case Combine::count:
        case Combine::replace:
            break;
    }
    throw MismatchError(name_of(op) +
                        " is not for this function; count is for reduce, and replace "
                        "for scatter_combine");
}

}  // namespace hocket::array
