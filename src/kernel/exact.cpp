// SPDX-License-Identifier: BSD-3-Clause
#include "hocket/exact.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "kernel/exact_together.hpp"

namespace hocket::exact {
namespace {

void store(void* results, std::int64_t at, Number number, double value) {
    if (number == Number::float64) static_cast<double*>(results)[at] = value;
    if (number == Number::float32) static_cast<float*>(results)[at] = static_cast<float>(value);
    if (number == Number::float16) static_cast<std::uint16_t*>(results)[at] = to_half(value);
}

}  // namespace

std::int64_t words(Number number, bool products) {
    return range_of(number, products).words();
}

void add(const Terms& terms, std::int64_t* accumulators) {
    Blocks blocks(terms, terms.b != nullptr);
    const std::int64_t each = blocks.range().words();
    walk_all(terms, blocks, {}, [&](const Block& block) {
        std::int64_t* accumulator = accumulators + block.element * each;
        blocks.add(block, accumulator);
        if (block.last) carry(accumulator, blocks.range());
    });
}

void merge(std::int64_t* into, const std::int64_t* from, std::int64_t count, Number number,
           bool products) {
    const Range range = range_of(number, products);
    for (std::int64_t element = 0; element < count; ++element) {
        into[0] |= from[0];
        for (int k = 1; k <= range.chunks; ++k) into[k] += from[k];
        carry(into, range);
        into += range.words();
        from += range.words();
    }
}

void round(const std::int64_t* accumulators, std::int64_t count, Number number, bool products,
           Number result, void* results) {
    const Range range = range_of(number, products);
    for (std::int64_t element = 0; element < count; ++element)
        store(results, element, result,
              rounded(accumulators + element * range.words(), range, result));
}

bool pairs(const Terms& terms, double* sums) {
    if (product_of(terms.shape) == 0)
        std::fill_n(sums, 2 * product_of(terms.shape.first(terms.kept)), 0.0);
    Blocks blocks(terms, false);
    std::array<BlockSum, widest> totals;
    bool all = true;
    walk_all(terms, blocks, {.both = sums}, [&](const Block& block) {
        BlockSum& total = totals[static_cast<std::size_t>(block.slot)];
        const BlockSum sum = blocks.sum_of(block);
        total = joined(block.first ? BlockSum{} : total, sum);
        all = all && total.whole;
        if (!block.last) return;
        sums[2 * block.element] = total.high;
        sums[2 * block.element + 1] = total.low;
    });
    return all;
}

void sum(const Terms& terms, Number result, void* results) {
    Blocks blocks(terms, false);
    const std::int64_t each = blocks.range().words();
    const std::int64_t slots = terms.kept == 0 ? 1 : std::min(widest, terms.shape[terms.kept - 1]);
    std::vector<std::int64_t> accumulators;  // until one is needed
    if (product_of(terms.shape) == 0)        // sums of nothing, if there are any
        for (std::int64_t k = product_of(terms.shape.first(terms.kept)); k-- > 0;)
            store(results, k, result, 0);
    double* const doubles = result == Number::float64 ? static_cast<double*>(results) : nullptr;
    walk_all(terms, blocks, {.rounded = doubles}, [&](const Block& block) {
        const BlockSum sum = blocks.sum_of(block);
        if (block.first && block.last && sum.pair())  // needs no accumulator
            return store(results, block.element, result, rounded_pair(sum.high, sum.low, result));
        if (accumulators.empty()) accumulators.resize(static_cast<std::size_t>(each * slots));
        std::int64_t* accumulator = accumulators.data() + block.slot * each;
        blocks.add(block, sum, accumulator);
        if (!block.last) return;
        carry(accumulator, blocks.range());
        store(results, block.element, result, rounded(accumulator, blocks.range(), result));
        std::fill_n(accumulator, each, 0);
    });
}

}  // namespace hocket::exact
