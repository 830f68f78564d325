// SPDX-License-Identifier: BSD-3-Clause
// Walks over the terms of sums: blocks of one sum are gathered dense, as float64, and go to a sink.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

#include "hocket/exact.hpp"
#include "kernel/accumulator.hpp"
#include "kernel/exact_block.hpp"
#include "kernel/odometer.hpp"

namespace hocket::exact {

// Four buffers, apart by no multiple of a page: loads would wait for stores of the same places.
inline constexpr std::int64_t apart = block_length + 72;
inline constexpr std::int64_t buffered = 4 * apart;
static_assert(deepest <= apart);
// Sums of so few terms are computed together: a single one would not fill a vector.
inline constexpr std::int64_t shortest = 2 * lanes;
// Shorter runs are copied, several to a block.
inline constexpr std::int64_t shortest_run = 256;

// Numbers that lie `stride` bytes apart, as float64.
template <class T>
void gather_as(const char* from, std::int64_t stride, std::int64_t count, double* to) {
    for (std::int64_t k = 0; k < count; ++k) {
        T value;
        std::memcpy(&value, from + k * stride, sizeof value);
        to[k] = static_cast<double>(value);
    }
}

inline void gather(const char* from, std::int64_t stride, std::int64_t count, Number number,
                   double* to) {
    if (number == Number::float64 && stride == sizeof(double)) {
        std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(double));
    } else if (number == Number::float64 && stride == 2 * sizeof(double)) {
        take_alternate(reinterpret_cast<const double*>(from), count, to);
    } else if (number == Number::float64) {
        gather_as<double>(from, stride, count, to);
    } else if (number == Number::float32) {
        gather_as<float>(from, stride, count, to);
    } else {
        std::uint16_t halves[block_length];
        for (std::int64_t k = 0; k < count; ++k)
            std::memcpy(halves + k, from + k * stride, sizeof *halves);
        widen_halves(halves, count, to);
    }
}

inline std::int64_t product_of(std::span<const std::int64_t> shape) {
    return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

// A block of the terms of one sum.
struct Block {
    std::int64_t element = 0;      // of the result
    std::int64_t slot = 0;         // among the sums that are taken together
    const char* values = nullptr;  // float64, `step` apart; or the user's own float32
    std::int64_t step = 0, count = 0;
    bool first = false, last = false;  // of the sum
    bool single = false;               // float32
    const BlockSum* sum = nullptr;     // where it is known
};

// Buffers, and how one block of a sum is added.
class Blocks {
  public:
    Blocks(const Terms& terms, bool products)
        : terms_(terms), range_(range_of(terms.number, products)), memory_(buffered) {}

    double* x() { return memory_.data(); }
    double* y() { return x() + apart; }
    const Range& range() const { return range_; }

    /// The sum of a block that has no factors y.
    BlockSum sum_of(const Block& block) {
        if (block.sum != nullptr) return *block.sum;
        if (block.count % lanes != 0) return {.whole = false};
        return block.single
                   ? sum_block(reinterpret_cast<const float*>(block.values), block.count, guess_)
                   : sum_block(reinterpret_cast<const double*>(block.values), block.count, guess_);
    }

    void add(const Block& block, std::int64_t* accumulator) {
        if (terms_.b != nullptr) {
            add_products(block.count, accumulator);
        } else {
            add(block, sum_of(block), accumulator);
        }
        since_carry_ += block.count;
        if (since_carry_ >= additions_before_carry) {
            carry(accumulator, range_);
            since_carry_ = 0;
        }
    }
    void add(const Block& block, const BlockSum& sum, std::int64_t* accumulator) {
        if (sum.whole) return add_pair(sum, accumulator);
        for (std::int64_t k = 0; k < block.count; ++k) {
            const char* at = block.values + k * block.step;
            double value = 0;
            gather(at, 0, 1, block.single ? Number::float32 : Number::float64, &value);
            add_term(value, accumulator);
        }
    }

  private:
    void add_products(std::int64_t count, std::int64_t* accumulator) {
        double* products = x() + 2 * apart;
        double* errors = x() + 3 * apart;
        BlockSum sum{.whole = multiply_block(x(), y(), count, products, errors)}, more;
        if (sum.whole) sum = sum_block(products, count, guess_);
        if (sum.whole && terms_.number == Number::float64)
            more = sum_block(errors, count, guess_of_errors_);
        if (sum.whole && more.whole) {
            add_pair(sum, accumulator);
            return add_pair(more, accumulator);
        }
        for (std::int64_t k = 0; k < count; ++k)
            add_product(accumulator, range_, terms_.negative ? -x()[k] : x()[k], y()[k]);
    }
    void add_pair(const BlockSum& sum, std::int64_t* accumulator) {
        add_term(sum.high, accumulator);
        for (const double more : {sum.low, sum.rest[0], sum.rest[1]})
            if (more != 0) add_term(more, accumulator);
    }
    void add_term(double value, std::int64_t* accumulator) {
        add_number(accumulator, range_, terms_.negative ? -value : value);
    }

    const Terms& terms_;
    Range range_;
    std::vector<double> memory_;
    std::int64_t since_carry_ = 0;
    Guess guess_, guess_of_errors_;
};

inline std::span<const std::int64_t> part(std::span<const std::int64_t> of, std::size_t first,
                                          std::size_t last) {
    return of.empty() ? of : of.subspan(first, last - first);
}

// Fills up to whole vectors with zeros.
inline std::int64_t padded(double* values, std::int64_t count) {
    while (count % lanes != 0) values[count++] = 0;
    return count;
}

// One sum after the other.
template <class Sink>
void walk(const Terms& terms, Blocks& blocks, Sink&& sink) {
    const auto dims = terms.shape.size();
    const std::size_t kept = terms.kept;
    // Without a dimension to walk along there is one term.
    const std::int64_t run = dims > kept ? terms.shape[dims - 1] : 1;
    const std::int64_t a_step = dims > kept ? terms.a_strides[dims - 1] : 0;
    const std::int64_t b_step = dims > kept && terms.b ? terms.b_strides[dims - 1] : 0;
    const std::size_t inner = dims > kept ? dims - 1 : dims;
    const bool single = terms.number == Number::float32;
    const std::int64_t size = single ? sizeof(float) : sizeof(double);
    const bool direct = terms.number != Number::float16 && a_step == size && terms.b == nullptr &&
                        run >= shortest_run;
    Odometer result(part(terms.shape, 0, kept), part(terms.a_strides, 0, kept),
                    part(terms.b_strides, 0, kept));
    std::int64_t element = 0;
    do {
        Odometer outer(part(terms.shape, kept, inner), part(terms.a_strides, kept, inner),
                       part(terms.b_strides, kept, inner));
        std::int64_t filled = 0;
        bool first = true;
        for (bool more = true; more;) {
            const char* a = static_cast<const char*>(terms.a) + result.a() + outer.a();
            const char* b = terms.b == nullptr
                                ? nullptr
                                : static_cast<const char*>(terms.b) + result.b() + outer.b();
            more = outer.next();
            for (std::int64_t k = 0; k < run;) {
                const bool here = direct && run - k >= lanes;  // else the end of a run
                std::int64_t count =
                    std::min(run - k, here ? longest_block : block_length - filled);
                if (here) count -= count % lanes;
                const bool last = !more && k + count == run;
                if (here) {
                    sink(Block{element, 0, a + k * size, size, count, first, last, single});
                    first = false;
                    k += count;
                    continue;
                }
                gather(a + k * a_step, a_step, count, terms.number, blocks.x() + filled);
                if (b != nullptr)
                    gather(b + k * b_step, b_step, count, terms.number, blocks.y() + filled);
                k += count;
                filled += count;
                if (filled < block_length && !last) continue;
                if (b != nullptr) padded(blocks.y(), filled);
                sink(Block{element, 0, reinterpret_cast<const char*>(blocks.x()), sizeof(double),
                           padded(blocks.x(), filled), first, last});
                first = false;
                filled = 0;
            }
        }
        ++element;
    } while (result.next());
}

// The sum of both if two numbers have it; else it is not whole.
inline BlockSum joined(const BlockSum& a, const BlockSum& b) {
    const auto error_of = [](double x, double y, double sum) {
        const double back = sum - x;
        return (x - (sum - back)) + (y - back);
    };
    BlockSum sum{a.high + b.high, a.low + b.low, a.pair() && b.pair(), {}};
    if (error_of(a.high, b.high, sum.high) != 0 || error_of(a.low, b.low, sum.low) != 0)
        sum.whole = false;
    return sum;
}

/// The results of sums that two numbers have: the rounded sum, or both numbers. Without memory for
/// them, these sums go to the sink, too.
struct Pairs {
    double *rounded = nullptr, *both = nullptr;
    bool take(std::int64_t element, double high, double low) const {
        if (rounded != nullptr) rounded[element] = high + low;
        if (both != nullptr) {
            both[2 * element] = high;
            both[2 * element + 1] = low;
        }
        return rounded != nullptr || both != nullptr;
    }
};

// Many sums together, where their terms lie further apart than the sums' first terms: as those of
// columns of a row-major array.
template <class Sink>
void walk_together(const Terms& terms, Blocks& blocks, const Pairs& results, Sink&& sink) {
    const auto dims = terms.shape.size();
    const std::size_t kept = terms.kept;
    const std::int64_t side = terms.shape[kept - 1], side_step = terms.a_strides[kept - 1];
    const bool single = terms.number == Number::float32;
    const std::int64_t size = single ? sizeof(float) : sizeof(double);
    const bool direct = terms.number != Number::float16 && side_step == size;
    const std::int64_t most = std::min(widest, (side + 7) / 8 * 8);
    const std::int64_t deep = std::min(deepest, product_of(terms.shape.subspan(kept)));
    const std::int64_t copied = direct && side % 8 == 0 ? 0 : std::min(deep, deepest_copy);
    std::vector<double> memory(static_cast<std::size_t>(most * copied), 0);
    std::vector<const void*> rows;
    ColumnSums sums, totals;
    std::array<std::int64_t, widest> broken;
    std::array<bool, widest> begun;  // a part of the sum went to the sink
    std::array<double, widest> guesses;
    Odometer result(part(terms.shape, 0, kept - 1), part(terms.a_strides, 0, kept - 1), {});
    std::int64_t element = 0;
    do {
        guesses.fill(0);  // whole lines may be of another size
        std::int64_t wide = 0;
        for (std::int64_t k = 0; k < side; k += wide) {
            const bool here = direct && side - k >= 8;  // else less than a vector, or copied
            const bool singles = here && single;
            wide = std::min(widest, here ? (side - k) / 8 * 8 : side - k);
            const char* a = static_cast<const char*>(terms.a) + result.a() + k * side_step;
            Odometer outer(part(terms.shape, kept, dims), part(terms.a_strides, kept, dims), {});
            std::fill_n(totals.high, wide, 0.0);
            std::fill_n(totals.low, wide, 0.0);
            begun.fill(false);
            for (bool more = true; more;) {
                rows.clear();
                for (std::int64_t n = 0; n < (here ? deep : copied) && more; ++n) {
                    const char* const row = a + outer.a();
                    double* const room = here ? nullptr : memory.data() + n * most;
                    if (!here) gather(row, side_step, wide, terms.number, room);
                    rows.push_back(here ? static_cast<const void*>(row) : room);
                    more = outer.next();
                }
                const std::int64_t whole = (wide + 7) / 8 * 8;  // vectors
                sum_columns(rows, singles, whole, guesses.data(), sums);
                const bool any = join_columns(sums, whole, totals, broken.data());
                for (std::int64_t slot = 0; slot < wide && (any || !more); ++slot) {
                    const auto at = static_cast<std::size_t>(slot);
                    const auto pass_on = [&](Block block) {
                        const BlockSum total{totals.high[at], totals.low[at], true, {}};
                        block.element = element + k + slot;
                        block.slot = slot;
                        block.first = !begun[at];
                        begun[at] = true;
                        if (block.values == nullptr) block.sum = &total;
                        sink(block);
                    };
                    if (any && broken[at] != 0) {
                        pass_on({});
                        const bool alone = sums.broken[at] != 0;
                        totals.high[at] = alone ? 0 : sums.high[at];
                        totals.low[at] = alone ? 0 : sums.low[at];
                        if (alone) {
                            double* next = blocks.x();
                            for (const void* const row : rows)
                                *next++ = singles ? static_cast<const float*>(row)[slot]
                                                  : static_cast<const double*>(row)[slot];
                            pass_on({.values = reinterpret_cast<const char*>(blocks.x()),
                                     .step = sizeof(double),
                                     .count = padded(blocks.x(), next - blocks.x())});
                        }
                    }
                    if (more) continue;
                    if (begun[at] ||
                        !results.take(element + k + slot, totals.high[at], totals.low[at]))
                        pass_on({.last = true});
                }
            }
        }
        element += side;
    } while (result.next());
}

template <class Sink>
void walk_all(const Terms& terms, Blocks& blocks, const Pairs& results, Sink&& sink) {
    if (product_of(terms.shape) == 0) return;
    const auto size = [](std::int64_t step) { return step < 0 ? -step : step; };
    const std::size_t dims = terms.shape.size();
    if (terms.b == nullptr && terms.kept > 0 && terms.kept < dims &&
        (size(terms.a_strides[terms.kept - 1]) < size(terms.a_strides[dims - 1]) ||
         (terms.shape[terms.kept - 1] >= 8 &&
          product_of(terms.shape.subspan(terms.kept)) <= shortest)))
        return walk_together(terms, blocks, results, sink);
    walk(terms, blocks, sink);
}

}  // namespace hocket::exact
