// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <utility>

#include "modes.hpp"

namespace linpack {

Product in_shares(const Options& options,
                  std::function<void(const std::function<void()>& share)> begin,
                  std::function<void()> end) {
    const std::int64_t most = 3 * options.workers, least = options.piece.least;
    return [most, least, begin = std::move(begin), end = std::move(end)](
               const Block& a, const Block& b, const Block& c) {
        const std::int64_t pay = least / (2 * a.columns * c.columns),
                           rows = std::max({c.rows / most, pay, std::int64_t{1}}),
                           shares = (c.rows + rows - 1) / rows;
        if (shares < 2) return subtract_product(a, b, c);
        for (std::int64_t i = 0; i < shares; ++i) {
            const std::int64_t top = c.rows * i / shares, count = c.rows * (i + 1) / shares - top;
            begin([a = a.part(top, 0, count, a.columns), b, c = c.part(top, 0, count, c.columns)] {
                subtract_product(a, b, c);
            });
        }
        end();
    };
}

}  // namespace linpack
