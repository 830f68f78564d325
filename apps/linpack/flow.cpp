// SPDX-License-Identifier: BSD-3-Clause
#include "hocket/flow.hpp"

#include "modes.hpp"
#include "rows.hpp"

namespace linpack {
namespace {

using hocket::reads;
using hocket::Region;
using hocket::updates;
using hocket::writes;

// Panels in use: working further ahead is not worth their memory.
constexpr std::int64_t depth = 3;
// The next panel, and the columns that become it, are on the critical path.
const int urgent = 2, soon = 1, whenever = 0;

hocket::flow::Operations operations(const std::vector<hocket::Request>& requests) {
    hocket::flow::Operations found;
    for (const auto& request : requests) found.push_back(request.operation());
    return found;
}

Region memory_of(const Matrix& matrix, const Columns& columns) {
    return Region(std::span(&matrix.local().at(0, columns.first),
                            static_cast<std::size_t>(matrix.local().stride * columns.count)));
}

Region named(const char* what, std::int64_t number) {
    return Region::key(what + std::to_string(number));
}

}  // namespace

Factored flow(const Matrix& matrix, const Options& options) {
    Factored found(matrix);
    std::vector<Panel> panels;
    for (std::int64_t d = 0; d < depth; ++d) panels.emplace_back(matrix);
    // Steps call these, so they outlive the flow.
    Product in_turns = subtract_product, shared = subtract_product;
    // The workers of all processes use all cores: a further thread would take time from them.
    hocket::Flow flow({.workers = options.workers, .agent = hocket::Agent::between_steps});
    // Panels travel while the columns are updated; rows, which are waited for, do not.
    if (matrix.grid().columns() > 1) in_turns = in_pieces(options.piece, [&] { flow.give_way(); });
    // The next panel waits for these, so all workers share them.
    const auto begin = [&](auto& part) { flow.task(part, {}, {urgent, "product"}); };
    if (options.workers > 1) shared = in_shares(options, begin, [&] { flow.wait(); });
    std::int64_t turn = 0;
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
                    factor(matrix, panel, found.order, shared);
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
        std::int64_t part = 0;
        for (const Columns& columns : right_of(matrix, k, options.width, options.workers > 1)) {
            const auto change = [&, columns, part] {
                Swap swap(matrix, panel, columns);
                swap.gather();
                wait(swap.start(tag_of(matrix, panel, columns)));
                update(matrix, panel, swap, part > 0 || options.workers < 2 ? in_turns : shared);
            };
            // One update for each worker at a time: pivot searches wait for what is on the wire.
            // The first does not pause: the next search waits for it on all processes.
            const hocket::Access data[] = {
                reads(factors), reads(rows), updates(memory_of(matrix, columns)),
                updates(named("turn ", part > 0 ? turn++ % options.workers : -1))};
            if (part++ > 0)
                flow.blocking_task(change, data, {whenever, "update"});
            else
                flow.task(change, data, {soon, "update"});
        }
    }
    flow.wait();
    return found;
}

}  // namespace linpack
