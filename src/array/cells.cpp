// SPDX-License-Identifier: BSD-3-Clause
#include "array/cells.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
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
        if (lines.inner == 1) {
            loops.reduce(into, from, lines.length);
            continue;
        }
        for (std::int64_t each = 0; each < lines.length; ++each)
            loops.combine(into, from + each * row, lines.inner);
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

// Accumulators: one of real numbers, two of complex ones.
class ExactSums {
  public:
    ExactSums(const DType& dtype, bool products)
        : type_(*exact_type(dtype)),
          itemsize_(dtype.size),
          half_(dtype.size / type_.parts),
          products_(products),
          words_(exact::words(type_.number, products)) {}

    std::int64_t bytes() const { return words_ * type_.parts * 8; }

    void add(std::byte* cells, const Lines& lines) const {
        std::vector<std::byte> kept;
        const std::byte* elements = lines.elements;
        if (lines.mask != nullptr) {
            const std::vector<std::byte> zero(unsigned_of(itemsize_));
            kept = selected(lines, itemsize_, zero.data());
            elements = kept.data();
        }
        if (lines.size() == 0) return;
        if (!products_) {
            for (int part = 0; part < type_.parts; ++part)
                add_part(cells, lines, elements + part * half_, nullptr, part, false);
            return;
        }
        if (type_.parts == 1) return add_part(cells, lines, elements, lines.factors, 0, false);
        // conj(a) b = (ar br + ai bi) + (ar bi - ai br) i
        const std::byte* const b = lines.factors;
        add_part(cells, lines, elements, b, 0, false);
        add_part(cells, lines, elements + half_, b + half_, 0, false);
        add_part(cells, lines, elements, b + half_, 1, false);
        add_part(cells, lines, elements + half_, b, 1, true);
    }

    void merge(std::byte* into, const std::byte* from, std::int64_t count) const {
        exact::merge(reinterpret_cast<std::int64_t*>(into),
                     reinterpret_cast<const std::int64_t*>(from), count * type_.parts, type_.number,
                     products_);
    }
    void finish(const std::byte* cells, std::int64_t count, void* results) const {
        exact::round(reinterpret_cast<const std::int64_t*>(cells), count * type_.parts,
                     type_.number, products_, type_.number, results);
    }

  private:
    // The cells of one part are `parts` accumulators apart; exact::add needs them contiguous.
    void add_part(std::byte* cells, const Lines& lines, const std::byte* a, const std::byte* b,
                  int part, bool negative) const {
        std::vector<std::int64_t> shape{lines.outer, lines.inner, lines.length};
        const std::int64_t row = lines.inner * itemsize_;
        std::vector<std::int64_t> strides{lines.length * row, itemsize_, row};
        if (lines.inner == 1) {
            shape.erase(shape.begin() + 1);
            strides.erase(strides.begin() + 1);
        }
        exact::Terms terms{.number = type_.number,
                           .a = a,
                           .b = b,
                           .shape = shape,
                           .a_strides = strides,
                           .b_strides = {},
                           .kept = shape.size() - 1,
                           .negative = negative};
        if (b != nullptr) terms.b_strides = strides;
        auto* const own = reinterpret_cast<std::int64_t*>(cells);
        if (type_.parts == 1) return exact::add(terms, own);
        std::vector<std::int64_t> together(unsigned_of(lines.results() * words_));
        exact::add(terms, together.data());
        for (std::int64_t k = 0; k < lines.results(); ++k)
            exact::merge(own + (2 * k + part) * words_, together.data() + k * words_, 1,
                         type_.number, products_);
    }

    ExactType type_;
    std::int64_t itemsize_, half_;
    bool products_;
    std::int64_t words_;
};

Cells exact_cells(const DType& dtype, bool products) {
    const auto sums = std::make_shared<const ExactSums>(dtype, products);
    Cells cells;
    cells.bytes = sums->bytes();
    cells.result = dtype;
    cells.clear = [=](std::byte* into, std::int64_t count) {
        std::memset(into, 0, unsigned_of(count * sums->bytes()));
    };
    cells.add = [=](std::byte* into, const Lines& lines) { sums->add(into, lines); };
    cells.merge = [=](std::byte* into, const std::byte* from, std::int64_t count) {
        sums->merge(into, from, count);
    };
    cells.finish = [=](const std::byte* from, std::int64_t count, void* results) {
        sums->finish(from, count, results);
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
    if (op == Combine::sum && exact_type(dtype)) return exact_cells(dtype, false);
    if (op != Combine::count) return plain_cells(fold_loops(op, dtype), dtype);
    if (!is_truth(dtype))
        throw MismatchError("count does not take " + dtype.name + "; it takes bool and integers");
    return counting_cells(dtype);
}

Cells product_cells(const DType& dtype) {
    return exact_cells(dtype, true);
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
