// SPDX-License-Identifier: BSD-3-Clause
// The same algorithm in three forms, a file each, which differ only in the order of work.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "matrix.hpp"
#include "panel.hpp"
#include "rows.hpp"

namespace linpack {

/// The result of a factorization.
struct Factored {
    explicit Factored(const Matrix& matrix) : order(matrix) {}

    Order order;
    std::vector<std::int64_t> pivots;  ///< the row exchanged with row i, in this order
    std::int64_t singular = -1;        ///< first column without a pivot
    /// Once a panel's pivots are known: they change the order of rows.
    void keep(Panel& panel) {
        panel.exchange_rows(order);
        for (std::int64_t i = 0; i < panel.width(); ++i) pivots.push_back(panel.pivot(i));
        if (singular < 0) singular = panel.singular();
    }
};

struct Options {
    std::int64_t width;  ///< columns that are updated at a time
    int workers;         ///< threads that a flow has
    Piece piece = {};    ///< of an update, after which a flow polls messages
};

/// A product in shares of rows, several for each worker, so that one which comes late takes fewer.
/// `begin` gets each share, to call it now or later, and `end` waits for all.
Product in_shares(const Options& options,
                  std::function<void(const std::function<void()>& share)> begin,
                  std::function<void()> end);

/// In sequence.
Factored plain(const Matrix& matrix, const Options& options);
/// Factors and sends the next panel before it updates the other columns: HPL's look-ahead of depth
/// 1, by hand.
Factored lookahead(const Matrix& matrix, const Options& options);

/// As a flow, in any order that the data allow.
Factored flow(const Matrix& matrix, const Options& options);

}  // namespace linpack
