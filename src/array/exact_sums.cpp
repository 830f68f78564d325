// SPDX-License-Identifier: BSD-3-Clause
#include "array/exact_sums.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "array/layouts.hpp"
#include "array/numbers.hpp"
#include "array/partials.hpp"
#include "hocket/binding.hpp"
#include "kernel/box.hpp"
#include "layout/form.hpp"

namespace hocket::array {
namespace {

// The most bytes of accumulators on a process at a time, if HOCKET_MAX_BUFFER is not less.
constexpr std::int64_t most_cells = std::int64_t{32} << 20;
// Complex numbers of a sum whose parts are not sums apart.
constexpr std::int64_t fewest_alternate = 128;
// Numbers of each factor that the second part of a product finds in the cache.
constexpr std::int64_t cached = std::int64_t{1} << 15;

// The terms of this process: of its local elements, summed over some dimensions. A sum of complex
// numbers has two parts, one beside the other.
class LocalTerms {
  public:
    LocalTerms(const Array& a, const Array* b, const std::vector<std::size_t>& dims)
        : number_(exact_type(a.dtype())->number), parts_(exact_type(a.dtype())->parts) {
        const Shape& local = a.local_shape();
        const auto take = [&](std::size_t d) {
            shape_.push_back(local[d]);
            a_strides_.push_back(a.strides()[d]);
            if (b != nullptr) b_strides_.push_back(b->strides()[d]);
        };
        const auto summed = [&](std::size_t d) {
            return std::find(dims.begin(), dims.end(), d) != dims.end();
        };
        std::vector<std::size_t> order;  // of the summed dimensions: long strides first
        for (std::size_t d = 0; d < local.size(); ++d)
            if (summed(d))
                order.push_back(d);
            else
                take(d);
        std::size_t kept = shape_.size();
        const auto at = static_cast<std::ptrdiff_t>(kept);
        results_ = elements_of(shape_);
        std::stable_sort(order.begin(), order.end(), [&](std::size_t d, std::size_t e) {
            return std::abs(a.strides()[d]) > std::abs(a.strides()[e]);
        });
        if (kept == 0 && is_dense(a) && (b == nullptr || is_dense(*b))) {
            shape_ = {elements_of(local)};
            a_strides_ = {a.dtype().size};
            if (b != nullptr) b_strides_ = a_strides_;
        } else {
            for (const std::size_t d : order) take(d);
        }

        const std::int64_t half = a.dtype().size / parts_;
        const auto* const x = static_cast<const std::byte*>(a.data());
        const auto* const y = b == nullptr ? nullptr : static_cast<const std::byte*>(b->data());
        const auto terms = [&](int part, bool crossed = false) {
            return exact::Terms{.number = number_,
                                .a = x + part * half,
                                .b = y,
                                .shape = shape_,
                                .a_strides = a_strides_,
                                .b_strides = b_strides_,
                                .kept = kept,
                                .crossed = crossed};
        };
        if (parts_ == 1) {
            lists_ = {terms(0)};
        } else if (b != nullptr) {  // conj(a) b = (ar br + ai bi) + (ar bi - ai br) i
            if (!shape_.empty() && a_strides_.back() == 2 * half && b_strides_.back() == 2 * half) {
                shape_.back() *= 2;
                a_strides_.back() = b_strides_.back() = half;
            } else {
                shape_.push_back(2);
                a_strides_.push_back(half);
                b_strides_.push_back(half);
            }
            lists_ = {terms(0), terms(0, true)};
        } else if (kept > 0 && a_strides_[kept - 1] == a.dtype().size) {  // long rows of reals
            shape_[kept - 1] *= 2;
            a_strides_[kept - 1] = half;
            lists_ = {terms(0)};
        } else if (elements_of({shape_.begin() + at, shape_.end()}) >= fewest_alternate &&
                   a_strides_.back() == a.dtype().size) {  // the parts of a row alternate
            shape_.insert(shape_.begin() + at, 2);
            a_strides_.insert(a_strides_.begin() + at, half);
            ++kept;
            lists_ = {terms(0)};
        } else {
            lists_ = {terms(0), terms(1)};
        }
    }

    LocalTerms(const LocalTerms&) = delete;
    LocalTerms& operator=(const LocalTerms&) = delete;

    // Numbers in the results of this process.
    std::int64_t numbers() const { return results_ * parts_; }

    void accumulate(std::int64_t* sums, std::int64_t words) const {
        if (lists_.size() == 2 && b_strides_.size() == 1) return accumulate_by_runs(sums, words);
        each_part(sums, 8 * words, [](const exact::Terms& terms, void* into) {
            exact::add(terms, static_cast<std::int64_t*>(into));
            return true;
        });
    }
    bool pairs(double* sums) const {
        return each_part(sums, 16, [](const exact::Terms& terms, void* into) {
            return exact::pairs(terms, static_cast<double*>(into));
        });
    }
    void rounded(void* sums, std::int64_t bytes) const {
        each_part(sums, bytes, [&](const exact::Terms& terms, void* into) {
            exact::sum(terms, number_, into);
            return true;
        });
    }

  private:
    // Products in one dimension: both parts of one run after the other.
    void accumulate_by_runs(std::int64_t* sums, std::int64_t words) const {
        for (std::int64_t first = 0; first < shape_[0]; first += cached) {
            const Shape run{std::min(cached, shape_[0] - first)};
            for (std::size_t part = 0; part < lists_.size(); ++part) {
                exact::Terms terms = lists_[part];
                terms.a = static_cast<const std::byte*>(terms.a) + first * a_strides_[0];
                terms.b = static_cast<const std::byte*>(terms.b) + first * b_strides_[0];
                terms.shape = run;
                exact::add(terms, sums + static_cast<std::int64_t>(part) * words);
            }
        }
    }
    static bool is_dense(const Array& array) {
        return kernel::is_dense(array.local_shape(), array.dtype().size, array.strides());
    }
    // compute(terms of one part, dense zeros for it), with `bytes` a number.
    template <class Compute>
    bool each_part(void* sums, std::int64_t bytes, const Compute& compute) const {
        if (lists_.size() == 1) return compute(lists_[0], sums);
        const auto size = static_cast<std::size_t>(bytes);
        auto* const into = static_cast<std::byte*>(sums);
        bool all = true;
        for (std::size_t part = 0; part < 2; ++part) {
            std::vector<std::byte> dense(static_cast<std::size_t>(results_) * size);
            all = compute(lists_[part], dense.data()) && all;
            for (std::size_t k = 0; k < static_cast<std::size_t>(results_); ++k)
                std::memcpy(into + (2 * k + part) * size, dense.data() + k * size, size);
        }
        return all;
    }

    exact::Number number_;
    int parts_;
    std::int64_t results_ = 0;
    Shape shape_, a_strides_, b_strides_;
    std::vector<exact::Terms> lists_;  // one of both parts, or one of each
};

// The sums of float64 pairs, one list of them for each part, if these sums are pairs, too: adding
// both numbers of all parts has no rounding error. Else false, and the results mean nothing. Those
// of float32 must be single numbers, because they are rounded once.
template <class T>
bool sum_plainly(const std::vector<double>& pairs, std::size_t count, T* results) {
    const auto error_of = [](double x, double y, double sum) {
        const double back = sum - x;
        return (x - (sum - back)) + (y - back);
    };
    bool exact = true;
    for (std::size_t k = 0; k < count; ++k) {
        double high = pairs[2 * k], low = pairs[2 * k + 1];
        for (std::size_t at = 2 * (k + count); at < pairs.size(); at += 2 * count) {
            const double more = high + pairs[at], rest = low + pairs[at + 1];
            exact &=
                error_of(high, pairs[at], more) == 0 && error_of(low, pairs[at + 1], rest) == 0;
            high = more;
            low = rest;
        }
        const double sum = high + low;
        exact &= std::isfinite(sum);
        if constexpr (sizeof(T) < sizeof(double)) exact &= error_of(high, low, sum) == 0;
        results[k] = static_cast<T>(sum);
    }
    return exact;
}

// The sums, if two numbers have each process's part of each sum exactly, as they do for numbers of
// similar size: a thirtieth of an accumulator's bytes. False if they do not. Collective.
bool sum_by_pairs(const Array& array, const LocalTerms* terms, const Partials& partials,
                  const Array& result, Deadline deadline) {
    const ExactType type = *exact_type(array.dtype());
    const auto fill = [&](std::byte* mine, std::size_t) {
        return terms == nullptr || terms->pairs(reinterpret_cast<double*>(mine));
    };
    const std::int64_t numbers = count_of(result) * type.parts;
    std::vector<double> all;
    const auto take = [&](const std::byte* values) {
        const auto* const first = reinterpret_cast<const double*>(values);
        all.insert(all.end(), first, first + 2 * numbers);
    };
    all.reserve(partials.parts.size() * static_cast<std::size_t>(2 * numbers));
    if (!collect(partials, std::int64_t{16} * type.parts, array.comm(), deadline, fill, take))
        return false;
    if (numbers == 0) return true;
    const auto count = static_cast<std::size_t>(numbers);
    if (type.number == exact::Number::float64 &&
        sum_plainly(all, count, static_cast<double*>(result.data())))
        return true;
    if (type.number == exact::Number::float32 &&
        sum_plainly(all, count, static_cast<float*>(result.data())))
        return true;
    const std::int64_t shape[]{numbers, static_cast<std::int64_t>(partials.parts.size()), 2};
    const std::int64_t strides[]{16, 16 * numbers, 8};
    exact::sum({.number = exact::Number::float64,
                .a = all.data(),
                .shape = shape,
                .a_strides = strides,
                .kept = 1},
               type.number, result.data());
    return true;
}

void sum_along(const Array& array, const std::vector<std::size_t>& dims, const Partials& partials,
               const Array& result, bool by_pairs, Deadline deadline);

// One tile of the result's longest dimension after the other.
void sum_by_tiles(const Array& array, const std::vector<std::size_t>& dims, const Array& result,
                  std::int64_t tiles, bool by_pairs, Deadline deadline) {
    const Shape& shape = result.layout().shape();
    const auto longest =
        static_cast<std::size_t>(std::max_element(shape.begin(), shape.end()) - shape.begin());
    std::size_t own = longest;  // its number in the array
    for (const std::size_t dim : dims) own += dim <= own ? 1 : 0;
    const std::int64_t step = std::max<std::int64_t>(1, (shape[longest] + tiles - 1) / tiles);
    for (std::int64_t first = 0; first < shape[longest]; first += step) {
        const std::int64_t last = std::min(first + step, shape[longest]);
        const Array part = slab(array, own, first, last);
        const auto partials = partials_of(part.layout(), dims, part.process());
        const Array sums = Array::empty(partials->target, array.dtype(), array.comm());
        sum_along(part, dims, *partials, sums, by_pairs, deadline);
        copy(sums, slab(result, longest, first, last), deadline);
    }
}

void sum_along(const Array& array, const std::vector<std::size_t>& dims, const Partials& partials,
               const Array& result, bool by_pairs, Deadline deadline) {
    const ExactType type = *exact_type(array.dtype());
    std::optional<LocalTerms> terms;
    if (count_of(array) > 0) terms.emplace(array, nullptr, dims);
    if (partials.parts.empty()) {
        if (count_of(result) > 0)
            std::memset(result.data(), 0,
                        static_cast<std::size_t>(count_of(result) * array.dtype().size));
        return;
    }
    if (partials.are_results()) {
        if (terms) terms->rounded(result.data(), array.dtype().size / type.parts);
        return;
    }
    const std::int64_t room = within_buffers(most_cells);
    const std::int64_t parts = static_cast<std::int64_t>(partials.parts.size());
    if (by_pairs && 32 * result.layout().num_elements() * parts <= room) {
        if (sum_by_pairs(array, terms ? &*terms : nullptr, partials, result, deadline)) return;
        by_pairs = false;
    }
    const std::int64_t words = exact::words(type.number, false);
    const std::int64_t bytes = 8 * words * type.parts;
    const std::int64_t tiles = partials.most * bytes / room + 1;
    const Shape& shape = result.layout().shape();
    if (tiles > 1 && *std::max_element(shape.begin(), shape.end()) > 1)
        return sum_by_tiles(array, dims, result, tiles, by_pairs, deadline);

    const std::int64_t numbers = count_of(result) * type.parts;
    std::vector<std::int64_t> sums(static_cast<std::size_t>(numbers * words));
    const auto fill = [&](std::byte* mine, std::size_t size) {
        std::memset(mine, 0, size);
        if (terms) terms->accumulate(reinterpret_cast<std::int64_t*>(mine), words);
        return true;
    };
    collect(partials, bytes, array.comm(), deadline, fill, [&](const std::byte* values) {
        exact::merge(sums.data(), reinterpret_cast<const std::int64_t*>(values), numbers,
                     type.number, false);
    });
    exact::round(sums.data(), numbers, type.number, false, type.number, result.data());
}

}  // namespace

Array exact_sum(const Array& array, const std::vector<std::size_t>& dims, Deadline deadline) {
    const Array source = on_grid(array, deadline);
    const auto partials = partials_of(source.layout(), dims, source.process());
    Array result = Array::empty(partials->target, source.dtype(), source.comm());
    sum_along(source, dims, *partials, result, true, deadline);
    return result;
}

Array exact_total(const Array& a, const std::optional<Array>& b, Deadline deadline) {
    const Array first = a.layout().form().gridded() ? a : sole(a, deadline);
    std::optional<Array> second;
    if (b) second = to(*b, first.layout(), deadline);
    const ExactType type = *exact_type(a.dtype());
    const std::int64_t words = exact::words(type.number, b.has_value());
    std::vector<std::int64_t> mine(static_cast<std::size_t>(words * type.parts));
    if (contributes(first)) {
        std::vector<std::size_t> dims;
        for (std::size_t d = 0; d < first.local_shape().size(); ++d) dims.push_back(d);
        LocalTerms(first, second ? &*second : nullptr, dims).accumulate(mine.data(), words);
    }
    if (a.comm().size() > 1) {
        const std::int64_t each = words * type.parts;
        const auto all =
            allgather(a.comm(), b ? "dot product" : "sum", mine.data(), 8 * each, deadline);
        const auto* rows = reinterpret_cast<const std::int64_t*>(all.get());
        std::fill(mine.begin(), mine.end(), 0);
        for (int rank = 0; rank < a.comm().size(); ++rank, rows += each)
            exact::merge(mine.data(), rows, type.parts, type.number, b.has_value());
    }
    Array result = Array::empty(replicated({}, a.comm().size()), a.dtype(), a.comm());
    exact::round(mine.data(), type.parts, type.number, b.has_value(), type.number, result.data());
    return result;
}

}  // namespace hocket::array

hocket::Array hocket::Binding::exact_sum(const Array& array,
                                         const std::vector<std::int64_t>& dims) {
    const Deadline deadline = Deadline::in({});
    if (dims.size() == array.layout().dimensions()) return array::exact_total(array, {}, deadline);
    return array::exact_sum(array, {dims.begin(), dims.end()}, deadline);
}
