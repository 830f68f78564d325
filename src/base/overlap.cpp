// SPDX-License-Identifier: BSD-3-Clause
#include "base/overlap.hpp"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <utility>
#include <vector>

#include "base/checked.hpp"

namespace hocket::base {
namespace {

// One stride of the difference between an element of one box and an element of the other.
struct Term {
    std::int64_t stride;  // > 0
    wide low, high;       // range of its number of strides
};

// Searches for one count a term whose sum of strides lies in a window. Terms have descending
// strides. In arrays the lower terms together rarely exceed one stride of the next, so that only
// two or three counts of each are possible.
class Search {
  public:
    explicit Search(const std::vector<Term>& terms) : terms_(terms) {
        rests_.resize(terms.size() + 1);
        for (std::size_t k = terms.size(); k-- > 0;) {
            const Term& term = terms[k];
            rests_[k] = {rests_[k + 1].low + term.stride * term.low,
                         rests_[k + 1].high + term.stride * term.high,
                         std::gcd(rests_[k + 1].divisor, term.stride)};
        }
    }

    // True also if it gives up.
    bool finds(wide low, wide high, std::size_t k = 0) {
        if (--left_ < 0) return true;
        const Rest& rest = rests_[k];
        low = std::max(low, rest.low);
        high = std::min(high, rest.high);
        if (low > high) return false;
        if (k == terms_.size()) return true;
        // All sums are multiples of the divisor.
        if (floor_div<wide>(high, rest.divisor) * rest.divisor < low) return false;
        const Term& term = terms_[k];
        const Rest& after = rests_[k + 1];
        const wide first = std::max(term.low, ceil_div<wide>(low - after.high, term.stride));
        const wide last = std::min(term.high, floor_div<wide>(high - after.low, term.stride));
        for (wide count = first; count <= last; ++count)
            if (finds(low - count * term.stride, high - count * term.stride, k + 1)) return true;
        return false;
    }

  private:
    struct Rest {
        wide low = 0, high = 0;  // the range of the sum of this term and those after it
        std::int64_t divisor = 0;
    };
    const std::vector<Term>& terms_;
    std::vector<Rest> rests_;
    int left_ = 10000;
};

// Adds one box's strides, counted forwards (sign 1) or backwards (-1), and returns the lowest
// address of its elements.
std::intptr_t add(const StridedBox& box, int sign, std::vector<Term>& terms) {
    std::intptr_t lowest = box.start;
    for (std::size_t d = 0; d < box.extents.size(); ++d) {
        const std::int64_t reach = box.extents[d] - 1;
        std::int64_t stride = box.strides[d];
        if (reach == 0 || stride == 0) continue;
        if (stride < 0) {
            lowest += reach * stride;
            stride = -stride;
        }
        auto same = std::find_if(terms.begin(), terms.end(),
                                 [&](const Term& term) { return term.stride == stride; });
        if (same == terms.end()) same = terms.insert(terms.end(), {stride, 0, 0});
        (sign > 0 ? same->high : same->low) += static_cast<wide>(sign) * reach;
    }
    return lowest;
}

bool empty(const StridedBox& box) {
    return std::find(box.extents.begin(), box.extents.end(), 0) != box.extents.end();
}

}  // namespace

bool has_addresses(const StridedBox& box) {
    if (empty(box)) return true;
    wide first = box.start, end = first + box.itemsize;
    for (std::size_t d = 0; d < box.extents.size(); ++d) {
        const wide distance = static_cast<wide>(box.extents[d] - 1) * box.strides[d];
        (distance < 0 ? first : end) += distance;
    }
    return first >= 0 && end <= max_size;
}

bool share_bytes(const StridedBox& a, const StridedBox& b) {
    if (empty(a) || empty(b)) return false;
    std::vector<Term> terms;
    const std::intptr_t lowest_a = add(a, 1, terms), lowest_b = add(b, -1, terms);
    std::sort(terms.begin(), terms.end(),
              [](const Term& x, const Term& y) { return x.stride > y.stride; });
    // Elements at x and y share a byte if -a.itemsize < x - y < b.itemsize.
    const wide apart = static_cast<wide>(lowest_b) - lowest_a;
    return Search(terms).finds(apart - a.itemsize + 1, apart + b.itemsize - 1);
}

bool overlaps_itself(const StridedBox& box) {
    std::vector<std::pair<std::int64_t, std::int64_t>> steps;  // stride, extent
    for (std::size_t d = 0; d < box.extents.size(); ++d) {
        if (box.extents[d] == 0) return false;
        if (box.extents[d] > 1) steps.emplace_back(std::abs(box.strides[d]), box.extents[d]);
    }
    std::sort(steps.begin(), steps.end());
    std::int64_t covered = box.itemsize;
    for (const auto& [stride, extent] : steps) {
        if (stride < covered) return true;
        covered += (extent - 1) * stride;
    }
    return false;
}

}  // namespace hocket::base
