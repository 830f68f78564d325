// SPDX-License-Identifier: BSD-3-Clause
#include "array/cells.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "array/numbers.hpp"

namespace hocket::array {
namespace {

std::size_t unsigned_of(std::int64_t value) {
    return static_cast<std::size_t>(value);
}

// The elements, with `filling` in place of those that the mask excludes.
std::vector<std::byte> selected(const Lines& lines, std::int64_t itemsize, const void* filling) {
    const std::size_t size = unsigned_of(itemsize);
    std::vector<std::byte> kept(unsigned_of(lines.size()) * size);
    for (std::size_t k = 0; k < unsigned_of(lines.size()); ++k)
        std::memcpy(
            kept.data() + k * size,
            lines.mask[k] != 0 ? static_cast<const void*>(lines.elements + k * size) : filling,
            size);
    return kept;
}

void add_lines(const FoldLoops& loops, std::byte* cells, const Lines& lines,
               const std::byte* elements) {
    const std::int64_t row = lines.inner * loops.itemsize;
    for (std::int64_t k = 0; k < lines.outer; ++k) {
        std::byte* const into = cells + k * row;
        const std::byte* const from = elements + k * lines.length * row;
        if (lines.inner == 1)
            loops.reduce(into, from, lines.length);
        else
            loops.columns(into, from, lines.length, lines.inner);
    }
}

Cells plain_cells(const FoldLoops& loops, const DType& result) {
    Cells cells;
    cells.bytes = loops.itemsize;
    cells.result = result;
    cells.clear = [=](std::byte* into, std::int64_t count) { loops.fill(into, count); };
    cells.add = [=](std::byte* into, const Lines& lines) {
        if (lines.mask == nullptr) return add_lines(loops, into, lines, lines.elements);
        std::vector<std::byte> identity(unsigned_of(loops.itemsize));
        loops.fill(identity.data(), 1);
        add_lines(loops, into, lines, selected(lines, loops.itemsize, identity.data()).data());
    };
    cells.merge = [=](std::byte* into, const std::byte* from, std::int64_t count) {
        loops.combine(into, from, count);
    };
    cells.finish = [=](const std::byte* from, std::int64_t count, void* results) {
        std::memcpy(results, from, unsigned_of(count * loops.itemsize));
    };
    return cells;
}

// True elements as ones, whose sum is their number.
Cells counting_cells(const DType& dtype) {
    const DType number = dtype_of<std::int64_t>();
    const FoldLoops loops = fold_loops(Combine::sum, number);
    Cells cells = plain_cells(loops, number);
    cells.add = [=](std::byte* into, const Lines& lines) {
        std::vector<std::int64_t> ones(unsigned_of(lines.size()));
        with_truth(dtype, [&](auto zero) {
            using T = decltype(zero);
            const auto* const from = reinterpret_cast<const T*>(lines.elements);
            for (std::size_t k = 0; k < ones.size(); ++k)
                ones[k] = from[k] != T{0} && (lines.mask == nullptr || lines.mask[k] != 0);
        });
        add_lines(loops, into, lines, reinterpret_cast<const std::byte*>(ones.data()));
    };
    return cells;
}

template <class T>
struct Found {
    std::int64_t number;  // -1: none
    T value;
};

// Among equal values the one with the lower number; NaN precedes all.
template <class T, Combine op>
void take(Found<T>& best, const Found<T>& other) {
    if (other.number < 0) return;
    const bool better = op == Combine::maxval ? other.value > best.value : other.value < best.value;
    const bool nan = is_nan(other.value), had = is_nan(best.value);
    if (best.number < 0 || (nan && !had) || (better && !had) ||
        ((other.value == best.value || (nan && had)) && other.number < best.number))
        best = other;
}

template <class T, Combine op>
Cells locating(std::int64_t none) {
    using Cell = Found<T>;
    Cells cells;
    cells.bytes = sizeof(Cell);
    cells.result = dtype_of<std::int64_t>();
    cells.clear = [](std::byte* into, std::int64_t count) {
        std::memset(into, 0, unsigned_of(count) * sizeof(Cell));
        for (std::int64_t k = 0; k < count; ++k) reinterpret_cast<Cell*>(into)[k].number = -1;
    };
    cells.add = [](std::byte* into, const Lines& lines) {
        const auto* const elements = reinterpret_cast<const T*>(lines.elements);
        for (std::int64_t k = 0; k < lines.outer; ++k)
            for (std::int64_t each = 0; each < lines.length; ++each)
                for (std::int64_t i = 0; i < lines.inner; ++i) {
                    const std::int64_t at = (k * lines.length + each) * lines.inner + i;
                    if (lines.mask == nullptr || lines.mask[at] != 0)
                        take<T, op>(reinterpret_cast<Cell*>(into)[k * lines.inner + i],
                                    {lines.numbers[unsigned_of(each)], elements[at]});
                }
    };
    cells.merge = [](std::byte* into, const std::byte* from, std::int64_t count) {
        for (std::int64_t k = 0; k < count; ++k)
            take<T, op>(reinterpret_cast<Cell*>(into)[k], reinterpret_cast<const Cell*>(from)[k]);
    };
    cells.finish = [none](const std::byte* from, std::int64_t count, void* results) {
        for (std::int64_t k = 0; k < count; ++k) {
            const std::int64_t number = reinterpret_cast<const Cell*>(from)[k].number;
            static_cast<std::int64_t*>(results)[k] = number < 0 ? none : number;
        }
    };
    return cells;
}

}  // namespace

Cells cells_of(Combine op, const DType& dtype) {
    if (op != Combine::count) return plain_cells(fold_loops(op, dtype), dtype);
    if (!is_truth(dtype))
        throw MismatchError("count does not take " + dtype.name + "; it takes bool and integers");
    return counting_cells(dtype);
}

Cells locating_cells(Combine op, const DType& dtype, std::int64_t none) {
    if (op != Combine::maxval && op != Combine::minval)
        throw MismatchError("locate takes maxval or minval, not " + name_of(op));
    Cells cells;
    const bool known = with_real(dtype, [&](auto zero) {
        using T = decltype(zero);
        cells = op == Combine::maxval ? locating<T, Combine::maxval>(none)
                                      : locating<T, Combine::minval>(none);
    });
    if (!known)
        throw MismatchError("locate does not take " + dtype.name +
                            "; it takes integers of 8 to 64 bits, float32 and float64");
    return cells;
}

}  // namespace hocket::array
