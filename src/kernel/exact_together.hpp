// SPDX-License-Identifier: BSD-3-Clause
// Walks over the terms of many sums together, row by row.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <vector>

#include "kernel/exact_walk.hpp"

namespace hocket::exact {

// x + y, and its rounding error (Knuth's TwoSum).
inline std::array<double, 2> sum_and_error(double x, double y) {
    const double sum = x + y, back = sum - x;
    return {sum, (x - (sum - back)) + (y - back)};
}

// The sum of both if two numbers have it; else it is not whole.
inline BlockSum joined(const BlockSum& a, const BlockSum& b) {
    const auto [high, high_error] = sum_and_error(a.high, b.high);
    const auto [low, low_error] = sum_and_error(a.low, b.low);
    // Numbers with few bits each stay so: other processes' add to them without an error.
    if (a.pair() && b.pair() && high_error == 0 && low_error == 0) return {high, low, true, {}};
    double all[] = {b.rest[1], a.rest[1], b.rest[0], a.rest[0], b.low, a.low, b.high, a.high};
    constexpr std::size_t count = std::size(all);
    // The sums and errors of neighbours, until two numbers have the sum.
    bool more = a.whole && b.whole;
    for (std::size_t pass = 0; more && pass < count; ++pass) {
        for (std::size_t k = 1; k < count; ++k) {
            const auto [sum, error] = sum_and_error(all[k - 1], all[k]);
            all[k - 1] = error;
            all[k] = sum;
        }
        more = std::any_of(all, all + count - 2, [](double each) { return each != 0; });
    }
    // An overflow is no sum, though its errors may seem to end.
    const bool whole = a.whole && b.whole && !more && std::isfinite(all[count - 1]);
    return {all[count - 1], all[count - 2], whole, {}};
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
    /// The same for a run of sums: these loops need no test of each.
    bool take(std::int64_t first, const double* high, const double* low, std::int64_t count) const {
        if (rounded != nullptr)
            for (std::int64_t k = 0; k < count; ++k) rounded[first + k] = high[k] + low[k];
        if (both != nullptr) {
            double* const into = both + 2 * first;
            for (std::int64_t k = 0; k < count; ++k) {
                into[2 * k] = high[k];
                into[2 * k + 1] = low[k];
            }
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
    // Copied rows stay in the caches, and lie apart by no multiple of a page, as their columns
    // would have the same places in the first one.
    constexpr std::int64_t deepest_copied = 32;
    const std::int64_t pitch = most + 8;
    const std::int64_t copied = direct && side % 8 == 0 ? 0 : std::min(deep, deepest_copied);
    std::vector<double> memory(static_cast<std::size_t>(pitch * copied), 0);
    std::vector<const void*> rows;
    ColumnSums sums, totals, wider;
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
            bool any_begun = false;
            for (bool more = true; more;) {
                rows.clear();
                for (std::int64_t n = 0; n < (here ? deep : copied) && more; ++n) {
                    const char* const row = a + outer.a();
                    double* const room = here ? nullptr : memory.data() + n * pitch;
                    if (!here) gather(row, side_step, wide, terms.number, room);
                    rows.push_back(here ? static_cast<const void*>(row) : room);
                    more = outer.next();
                }
                const std::int64_t whole = (wide + 7) / 8 * 8;  // vectors
                sum_columns(rows, singles, whole, guesses.data(), sums);
                const bool any = join_columns(sums, whole, totals, broken.data());
                any_begun |= any;
                if (!any_begun && !more && results.take(element + k, totals.high, totals.low, wide))
                    break;
                if (any) {
                    auto learned = guesses;  // a float's stays 0 where plain sums suffice
                    for (std::int64_t c = 0; c < whole; c += 8)
                        if (std::any_of(sums.broken + c, sums.broken + c + 8,
                                        [](std::int64_t each) { return each != 0; }))
                            sum_wide_columns(rows, singles, c, 8, learned.data(), wider);
                }
                for (std::int64_t slot = 0; slot < wide && (any || !more); ++slot) {
                    const auto at = static_cast<std::size_t>(slot);
                    const auto pass_on = [&](Block block) {
                        const BlockSum total{totals.high[at], totals.low[at], true, {}};
                        const bool known = block.sum != nullptr || block.values != nullptr;
                        block.element = element + k + slot;
                        block.slot = slot;
                        block.first = !begun[at];
                        begun[at] = true;
                        if (!known) block.sum = &total;
                        sink(block);
                    };
                    if (any && broken[at] != 0) {
                        pass_on({});
                        const bool alone = sums.broken[at] != 0;
                        totals.high[at] = alone ? 0 : sums.high[at];
                        totals.low[at] = alone ? 0 : sums.low[at];
                        if (alone && wider.broken[at] == 0) {
                            const BlockSum three{
                                wider.high[at], wider.low[at], true, {wider.least[at], 0}};
                            pass_on({.sum = &three});
                        } else if (alone) {
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
    if (terms.b == nullptr && terms.kept > 0 && terms.kept < dims && !alternates(terms) &&
        (size(terms.a_strides[terms.kept - 1]) < size(terms.a_strides[dims - 1]) ||
         (terms.shape[terms.kept - 1] >= 8 &&
          product_of(terms.shape.subspan(terms.kept)) <= shortest)))
        return walk_together(terms, blocks, results, sink);
    walk(terms, blocks, sink);
}

}  // namespace hocket::exact
