// SPDX-License-Identifier: BSD-3-Clause
#include "hocket/flow.hpp"

#include <algorithm>
#include <memory>
#include <optional>

#include "modes.hpp"
#include "rows.hpp"

namespace linpack {
namespace {

using hocket::reads;
using hocket::Region;
using hocket::updates;
using hocket::writes;

// The largest number of panels in use: working further ahead is not worth their memory, which is
// the matrix's own if no other process column needs them.
std::int64_t depth_of(const Matrix& matrix) {
    return matrix.grid().columns() == 1 ? 8 : 3;
}
// The next panel, and the columns that become it, are on the critical path.
// An exchange comes after the updates whose rows have arrived: they are in cache.
const int urgent = 4, soon = 2, whenever = 0;

hocket::flow::Operations operations(const std::vector<hocket::Request>& requests) {
    hocket::flow::Operations found;
    for (const auto& request : requests) found.push_back(request.operation());
    return found;
}

Region memory_of(const Matrix& matrix, const Columns& columns) {
    return Region(std::span(&matrix.local().at(0, columns.first),
                            static_cast<std::size_t>(matrix.local().rows * columns.count)));
}

Region named(const char* what, std::int64_t number) {
    return Region::key(what + std::to_string(number));
}

}  // namespace

Factored flow(const Matrix& matrix, const Options& options) {
    Factored found(matrix);
    const std::int64_t depth = depth_of(matrix);
    std::vector<Panel> panels;
    for (std::int64_t d = 0; d < depth; ++d) panels.emplace_back(matrix);
    // The workers of all processes use all cores: a further thread would take time from them.
    hocket::Flow flow({.workers = options.workers, .agent = hocket::Agent::between_steps});
    for (std::int64_t k = 0; k < matrix.panels(); ++k) {
        Panel& panel = panels[static_cast<std::size_t>(k % depth)];
        const Region factors = named("panel ", k % depth), rows = named("rows ", k % depth),
                     order = Region::key("order");
        const std::int64_t first = k * matrix.nb();
        const Columns own{matrix.local_column(first), std::min(matrix.nb(), matrix.n() - first)};
        if (matrix.column_owner(first) == matrix.grid().column())
            flow.task(
                [&, k] {
                    panel.open(k, found.order);
                    factor(matrix, panel, found.order);
                },
                {reads(order), updates(memory_of(matrix, own)), writes(factors)},
                {urgent, "factor"});
        else
            flow.comm(
                [&, k] {
                    panel.open(k, found.order);
                    return receive(matrix, panel).operation();
                },
                {reads(order), writes(factors)}, {urgent, "receive"});
        flow.comm([&] { return operations(pass_on(matrix, panel)); }, {reads(factors)},
                  {urgent, "send"});
        flow.task([&] { found.keep(panel); }, {reads(factors), writes(rows), updates(order)},
                  {urgent, "order"});
        int priority = soon;
        for (const Columns& columns : right_of(matrix, k, options.width)) {
            const auto swap = std::make_shared<std::optional<Swap>>();
            const Region memory = memory_of(matrix, columns), upper(swap.get(), sizeof *swap);
            // One exchange at a time of each of two panels, whose longer messages go opposite ways:
            // the searches for pivots wait for what is on the wire.
            const Region turn = named("turn ", k % 2 + priority);
            flow.blocking_task(
                [&, swap, columns] {
                    swap->emplace(matrix, panel, columns).gather();
                    wait((*swap)->start(tag_of(matrix, panel, columns)));
                },
                {reads(rows), updates(memory), writes(upper), updates(turn)},
                {priority - 1, "exchange"});
            flow.task(
                [&, swap] {
                    update(
                        matrix, panel, **swap, [&] { flow.give_way(); }, options.piece);
                    swap->reset();
                },
                {reads(factors), reads(rows), updates(upper), updates(memory)},
                {priority, "update"});
            priority = whenever;
        }
    }
    flow.wait();
    return found;
}

}  // namespace linpack
