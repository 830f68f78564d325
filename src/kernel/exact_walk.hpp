// SPDX-License-Identifier: BSD-3-Clause
// Walks over the terms of sums: blocks of one sum are gathered dense, as float64, and go to a sink.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <memory>
#include <numeric>
#include <utility>

#include "hocket/exact.hpp"
#include "kernel/accumulator.hpp"
#include "kernel/exact_block.hpp"
#include "kernel/odometer.hpp"

namespace hocket::exact {

// Two buffers, apart by no multiple of a page: loads would wait for stores of the same places.
inline constexpr std::int64_t apart = block_length + 72;
inline constexpr std::int64_t buffered = 2 * apart;
static_assert(deepest <= apart);
// Sums of so few terms are computed together: a single one would not fill a vector.
inline constexpr std::int64_t shortest = 2 * lanes;
// Shorter runs are copied, several to a block.
inline constexpr std::int64_t shortest_run = 256;
// In fields, numbers so near each other often have sizes that differ less than those of a block.
inline constexpr std::int64_t neighbours = 256;

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
    } else if (number == Number::float32 && stride == 2 * sizeof(float)) {
        gather_as<float>(from, 2 * sizeof(float), count, to);  // of a stride that is known
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
    const char* factors = nullptr;     // by which the values are multiplied, `step` apart, too
    const BlockSum* sum = nullptr;     // where it is known

    // Every other number, from number `part` on: of another element.
    Block part(int part, const BlockSum& of) const {
        Block some = *this;
        some.element = 2 * element + part;
        some.slot = part;
        some.values += part * step;
        some.step *= 2;
        some.count /= 2;
        some.sum = &of;
        return some;
    }
};

// Buffers, and how one block of a sum is added.
class Blocks {
  public:
    Blocks(const Terms& terms, bool products)
        : terms_(terms),
          range_(range_of(terms.number, products)),
          memory_(std::make_unique_for_overwrite<double[]>(buffered)) {}

    double* x() { return memory_.get(); }
    double* y() { return x() + apart; }
    const Range& range() const { return range_; }

    BlockSum sum_of(const Block& block) {
        if (block.sum != nullptr) return *block.sum;
        if (block.count % lanes != 0) return {.whole = false};
        return block.single ? sum_as<float>(block) : sum_as<double>(block);
    }

    /// The sums of the two parts of a block, whose numbers alternate.
    std::array<BlockSum, 2> sums_of(const Block& block) {
        return block.single
                   ? sum_parts(reinterpret_cast<const float*>(block.values), block.count, guess_)
                   : sum_parts(reinterpret_cast<const double*>(block.values), block.count, guess_);
    }

    void add(const Block& block, std::int64_t* accumulator) {
        add(block, sum_of(block), accumulator);
    }
    void add(const Block& block, const BlockSum& sum, std::int64_t* accumulator) {
        add_terms(block, sum, accumulator);
        carry_in_time(block, accumulator);
    }

  private:
    void add_terms(const Block& block, const BlockSum& sum, std::int64_t* accumulator) {
        if (sum.whole) return add_sums(sum, accumulator);
        const auto item = static_cast<std::int64_t>(block.single ? sizeof(float) : sizeof(double));
        if (block.count <= neighbours || block.step != item) return add_each(block, accumulator);
        for (std::int64_t k = 0; k < block.count; k += neighbours) {
            Block near = block;
            near.values += k * item;
            if (near.factors != nullptr) near.factors += k * item;
            near.count = std::min(neighbours, block.count - k);
            near.sum = nullptr;
            add_terms(near, sum_of(near), accumulator);
        }
    }
    void add_each(const Block& block, std::int64_t* accumulator) {
        const auto number = [&](const char* from, std::int64_t k) {
            double value = 0;
            gather(from + k * block.step, 0, 1, block.single ? Number::float32 : Number::float64,
                   &value);
            return value;
        };
        for (std::int64_t k = 0; k < block.count; ++k) {
            const double value = number(block.values, k);
            const std::int64_t odd = terms_.crossed ? k & 1 : 0;
            if (block.factors == nullptr)
                add_number(accumulator, range_, value);
            else
                add_product(accumulator, range_, odd != 0 ? -value : value,
                            number(block.factors, terms_.crossed ? k ^ 1 : k));
        }
    }
    template <class T>
    BlockSum sum_as(const Block& block) {
        const auto* const values = reinterpret_cast<const T*>(block.values);
        if (block.factors == nullptr) return sum_block(values, block.count, guess_);
        return sum_products(values, reinterpret_cast<const T*>(block.factors), block.count,
                            terms_.crossed, guess_);
    }
    // For each of the sums that are taken together.
    void carry_in_time(const Block& block, std::int64_t* accumulator) {
        std::int64_t& since_carry = since_carry_[static_cast<std::size_t>(block.slot)];
        since_carry = (block.first ? 0 : since_carry) + block.count + 5;  // a sum is up to 6
        if (since_carry < additions_before_carry) return;
        carry(accumulator, range_);
        since_carry = 0;
    }
    void add_sums(const BlockSum& sum, std::int64_t* accumulator) {
        add_number(accumulator, range_, sum.high);
        if (sum.low != 0) add_number(accumulator, range_, sum.low);
        for (const double more : sum.rest)
            if (more != 0) add_number(accumulator, range_, more);
    }

    const Terms& terms_;
    Range range_;
    std::unique_ptr<double[]> memory_;
    std::array<std::int64_t, widest> since_carry_ = {};
    Guess guess_;
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

inline std::int64_t size_of(Number number) {
    return number == Number::float64 ? 8 : number == Number::float32 ? 4 : 2;
}

// Whether the last kept dimension has two parts that alternate in memory, as the real and the
// imaginary parts of complex numbers, and the last one that is summed over is dense.
inline bool alternates(const Terms& terms) {
    const std::size_t kept = terms.kept, last = terms.shape.size() - 1;
    return terms.b == nullptr && 0 < kept && kept <= last && terms.shape[kept - 1] == 2 &&
           terms.a_strides[kept - 1] == size_of(terms.number) &&
           terms.a_strides[last] == 2 * size_of(terms.number);
}

// One sum after the other, or two whose terms alternate.
template <class Sink>
void walk(const Terms& terms, Blocks& blocks, Sink&& take) {
    const auto dims = terms.shape.size();
    const bool two = alternates(terms);
    const std::size_t kept = two ? terms.kept - 1 : terms.kept;
    const auto sink = [&](const Block& block) {
        if (!two) return take(block);
        const auto sums = blocks.sums_of(block);
        take(block.part(0, sums[0]));
        take(block.part(1, sums[1]));
    };
    // Without a dimension to walk along there is one term.
    const std::int64_t run = (dims > terms.kept ? terms.shape[dims - 1] : 1) * (two ? 2 : 1);
    const std::int64_t a_step = two           ? size_of(terms.number)
                                : dims > kept ? terms.a_strides[dims - 1]
                                              : 0;
    const std::int64_t b_step = dims > kept && terms.b ? terms.b_strides[dims - 1] : 0;
    const std::size_t inner = dims > kept ? dims - 1 : dims;
    const bool single = terms.number == Number::float32;
    const std::int64_t size = single ? sizeof(float) : sizeof(double);
    const bool direct = terms.number != Number::float16 && a_step == size &&
                        (terms.b == nullptr || b_step == size) && run >= shortest_run;
    Odometer result(part(terms.shape, 0, kept), part(terms.a_strides, 0, kept),
                    part(terms.b_strides, 0, kept));
    std::int64_t element = 0;
    do {
        Odometer outer(part(terms.shape, terms.kept, inner),
                       part(terms.a_strides, terms.kept, inner),
                       part(terms.b_strides, terms.kept, inner));
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
                std::int64_t count = std::min(run - k, here ? block_length : block_length - filled);
                if (here) count -= count % lanes;
                const bool last = !more && k + count == run;
                if (here) {
                    sink(Block{element, 0, a + k * size, size, count, first, last, single,
                               b == nullptr ? nullptr : b + k * size});
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
                           padded(blocks.x(), filled), first, last, false,
                           b == nullptr ? nullptr : reinterpret_cast<const char*>(blocks.y())});
                first = false;
                filled = 0;
            }
        }
        ++element;
    } while (result.next());
}

}  // namespace hocket::exact
