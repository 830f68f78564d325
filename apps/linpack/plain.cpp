// SPDX-License-Identifier: BSD-3-Clause
#include "modes.hpp"
#include "rows.hpp"

namespace linpack {

Factored plain(const Matrix& matrix, const Options& options) {
    Factored found(matrix);
    Panel panel(matrix);
    for (std::int64_t k = 0; k < matrix.panels(); ++k) {
        panel.open(k, found.order);
        if (panel.mine())
            factor(matrix, panel, found.order);
        else
            receive(matrix, panel).wait();
        wait(pass_on(matrix, panel));
        found.keep(panel);
        for (const Columns& columns : right_of(matrix, k, options.width)) {
            Swap swap(matrix, panel, columns);
            swap.gather();
            wait(swap.start(tag_of(matrix, panel, columns)));
            update(matrix, panel, swap);
        }
    }
    return found;
}

}  // namespace linpack
