// SPDX-License-Identifier: BSD-3-Clause
#include "remap/remap_plan.hpp"

#include <algorithm>
#include <exception>
#include <numeric>

#include "base/checked.hpp"
#include "base/numbering.hpp"
#include "base/text.hpp"
#include "layout/arrangement.hpp"
#include "layout/form.hpp"
#include "remap/digits.hpp"

namespace hocket::remap {
namespace {

class RemapPlanner {
  public:
    RemapPlanner(const Layout& layout, std::span<const std::int64_t> axes, Shape at,
                 std::int64_t itemsize, int threads, const std::string& methods)
        : layout_(layout),
          axes_(axes),
          at_(std::move(at)),
          now_(layout),
          itemsize_(itemsize),
          given_methods_(methods) {
        options_.threads = threads;
        order_.resize(layout.dimensions());
        std::iota(order_.begin(), order_.end(), std::size_t{0});
    }

    RemapPlan plan() {
        const auto changes = now_.changes_to(axes_);
        note_bytes();
        Digits local = digits(at_);
        for (std::size_t k = 0; k < changes.size(); ++k) {
            const layout::Change& change = changes[k];
            if (change.kind == layout::Change::Kind::swap)
                swap(change);
            else
                local = distribute(change, k + 1 == changes.size());
            note_bytes();
            if (change.kind == layout::Change::Kind::swap) local = digits(at_);
        }
        RemapStage last;
        add(last.permutations, 0, turn(local, final_order(local)));
        if (!last.permutations.empty()) plan_.stages.push_back(std::move(last));
        return std::move(plan_);
    }

  private:
    using Coordinates = Shape;

    void note_bytes() {
        const auto bytes = base::product(now_.elements(at_), itemsize_);
        if (!bytes)
            throw LayoutError("remapping " + layout::label(layout_.form()) + " by " +
                              text::axes(axes_) + " makes local arrays of more than 2^63 bytes");
        plan_.room = std::max(plan_.room, *bytes);
    }

    Digits digits(const Coordinates& at) const {
        Digits out;
        for (const std::size_t d : order_) out.push_back({d, 0, now_.extent(d, at)});
        return out;
    }

    Digits final_order(const Digits& digits) const { return in_order(digits, axes_); }

    kernel::Inplace turn(const Digits& from, const Digits& to) const {
        Shape shape, axes;
        for (const Digit& digit : from) shape.push_back(digit.extent);
        for (const Digit& digit : to) {
            const auto at = std::find_if(from.begin(), from.end(), [&](const Digit& other) {
                return other.dimension == digit.dimension && other.part == digit.part;
            });
            axes.push_back(at - from.begin());
        }
        return {shape, itemsize_, axes, options_};
    }

    static void add(LocalPermutations& made, std::int64_t offset, kernel::Inplace work) {
        if (!work.plan().steps.empty()) made.emplace_back(offset, std::move(work));
    }

    /// The methods to make chunks of (kept dimension, block, rest) each, so that they form (whole
    /// kept dimension, block, rest) after the exchange. The distributed dimension is divided into
    /// blocks for that: in one permutation if they are even, else in two. Or, in the paper's order,
    /// (block, kept dimension, rest), if the received blocks are even. If both are even, chunks can
    /// be sent in runs from their present positions, and all permutations come at the end. A cyclic
    /// dimension is (rounds, processes, block), of which the middle part is exchanged.
    enum class ChunkMethod { blocks, blocks_in_two, paper, as_they_lie, cyclic };

    /// Adds the permutations that make the chunks of one exchange. Returns the order after it.
    Digits deal(const layout::Change& change, ChunkMethod method, bool rest_as_result,
                const Coordinates& at, LocalPermutations& made) const {
        const std::size_t grid = change.grid, kept = change.from, distributed = change.to;
        const Digits local = digits(at);
        const std::int64_t procs = now_.procs(grid), block = now_.part(distributed, grid, 0);
        Digits after;
        if (method == ChunkMethod::as_they_lie) {
            for (const Digit& digit : local) {
                if (digit.dimension == distributed)
                    append(after, {{kept, 0, procs}, {distributed, 0, block}});
                else
                    after.push_back({digit.dimension, digit.dimension == kept, digit.extent});
            }
            return after;
        }
        const auto named = [&](std::size_t d) {
            return *std::find_if(local.begin(), local.end(),
                                 [&](const Digit& digit) { return digit.dimension == d; });
        };
        const auto divided = [&](const Digits& parts) {
            Digits out;
            for (const Digit& digit : local)
                append(out, digit.dimension == distributed ? parts : Digits{digit});
            return out;
        };
        Digits from = local, to{named(distributed), named(kept)};
        if (method == ChunkMethod::blocks) {
            const Digit outer{distributed, 0, procs}, inner{distributed, 1, block};
            from = divided({outer, inner});
            to = {outer, named(kept), inner};
        }
        if (method == ChunkMethod::cyclic) {
            const std::int64_t size = now_.cycle_block(grid);
            const std::int64_t round = base::product_up_to(size, procs, base::max_size);
            const auto parts = [&](std::size_t d) {
                return Digits{{d, 0, now_.shape()[d] / round}, {d, 1, procs}, {d, 2, size}};
            };
            const Digits out = parts(distributed), in = parts(kept);
            from = divided(out);
            to = {out[1], named(kept), out[0], out[2]};
            after = {in[1], in[0], in[2]};
        } else if (method == ChunkMethod::paper) {
            after = {{kept, 0, procs}};
        } else {
            after = {{kept, 0, now_.shape()[kept]}};
        }
        after.push_back({distributed, 0, now_.part(distributed, grid, at[grid])});
        if (method == ChunkMethod::paper) after.push_back({kept, 1, now_.part(kept, grid, 0)});
        Digits rest;
        for (const Digit& digit : rest_as_result ? final_order(local) : local)
            if (digit.dimension != kept && digit.dimension != distributed) rest.push_back(digit);
        append(to, rest);
        append(after, rest);
        add(made, 0, turn(from, to));
        if (method != ChunkMethod::blocks_in_two) return after;
        // Parts: each from row-major (rows, block, kept, rest), swapping block and kept.
        const std::int64_t here = named(kept).extent, each = count(rest);
        std::int64_t offset = 0;
        for (std::int64_t c = 0; c < procs;) {  // one permutation for parts of equal extents
            const std::int64_t part = now_.part(distributed, grid, c), begin = c;
            while (c < procs && now_.part(distributed, grid, c) == part) ++c;
            if (part == 0) continue;
            const Shape shape{c - begin, part, here, each};
            add(made, offset, {shape, itemsize_, Shape{0, 2, 1, 3}, options_});
            offset += (c - begin) * part * here * each * itemsize_;
        }
        return after;
    }

    double cost(const layout::Change& change, ChunkMethod method, bool rest_as_result,
                const Coordinates& at, bool last) const {
        LocalPermutations made;
        const Digits after = deal(change, method, rest_as_result, at, made);
        double sum = 0;
        for (const auto& [offset, work] : made) sum += work.plan().cost();
        if (last) sum += turn(after, final_order(after)).plan().cost();
        return sum;
    }

    /// The local array as (rows, members, run) before a dimension is distributed.
    std::pair<std::int64_t, std::int64_t> rows_and_run(std::size_t distributed, std::size_t grid,
                                                       const Coordinates& at) const {
        const Digits local = digits(at);
        const auto found = std::find_if(local.begin(), local.end(), [&](const Digit& digit) {
            return digit.dimension == distributed;
        });
        return {count({local.begin(), found}),
                count({found + 1, local.end()}) * now_.part(distributed, grid, 0) * itemsize_};
    }

    /// The cheapest method for process 0 of the arrangement, which holds most: all processes must
    /// use the same.
    std::pair<ChunkMethod, bool> choose(const layout::Change& change, bool last) const {
        constexpr std::int64_t least_run = 512;  // the shortest blocks that cycles move at full
                                                 // speed
        const Coordinates first(at_.size(), 0);
        std::vector<ChunkMethod> methods;
        if (now_.cycle_block(change.grid) > 0) {
            methods.push_back(ChunkMethod::cyclic);
        } else {
            const bool sent_even = now_.even(change.to, change.grid);
            const bool kept_even = now_.even(change.from, change.grid);
            if (sent_even) methods.push_back(ChunkMethod::blocks);
            if (last && kept_even) methods.push_back(ChunkMethod::paper);
            if (last && sent_even && kept_even &&
                rows_and_run(change.to, change.grid, first).second >= least_run)
                methods.push_back(ChunkMethod::as_they_lie);
        }
        if (methods.empty()) methods.push_back(ChunkMethod::blocks_in_two);
        std::pair<ChunkMethod, bool> best{methods[0], true};
        double least = -1;
        std::exception_ptr failure;
        for (const ChunkMethod method : methods) {
            for (const bool rest_as_result : {true, false}) {
                try {
                    const double here = cost(change, method, rest_as_result, first, last);
                    if (least >= 0 && here >= least) continue;
                    least = here;
                    best = {method, rest_as_result};
                } catch (const Error&) {
                    failure = std::current_exception();
                }
            }
        }
        if (least < 0) std::rethrow_exception(failure);
        return best;
    }

    /// That method, or another process's choice: two characters an exchange.
    std::pair<ChunkMethod, bool> chosen(const layout::Change& change, bool last) {
        const std::size_t next = plan_.methods.size();
        const auto [method, rest_as_result] =
            given_methods_.empty()
                ? choose(change, last)
                : std::pair(static_cast<ChunkMethod>(given_methods_.at(next) - 'a'),
                            given_methods_.at(next + 1) == 'r');
        plan_.methods +=
            {static_cast<char>('a' + static_cast<int>(method)), rest_as_result ? 'r' : '-'};
        return {method, rest_as_result};
    }

    /// Adds the stage; returns the local array's digits after it.
    Digits distribute(const layout::Change& change, bool last) {
        const auto [method, rest_as_result] = chosen(change, last);
        RemapStage stage = exchange_along(change);
        Digits after = deal(change, method, rest_as_result, at_, stage.permutations);
        if (method == ChunkMethod::as_they_lie)
            stage.rows = std::max<std::int64_t>(rows_and_run(change.to, change.grid, at_).first, 1);
        plan_.stages.push_back(std::move(stage));
        now_.apply(change);
        order_.clear();
        for (const Digit& digit : after)
            if (digit.part == 0) order_.push_back(digit.dimension);
        if (method != ChunkMethod::cyclic || last) return after;
        // The next change applies to whole dimensions.
        const Shape memory(order_.begin(), order_.end());
        RemapStage together;
        add(together.permutations, 0, turn(after, in_order(after, memory)));
        plan_.stages.push_back(std::move(together));
        return digits(at_);
    }

    int process_at(const Coordinates& at) const {
        return static_cast<int>(layout_.form().process_at(layout_.form().position(at)));
    }

    RemapStage exchange_along(const layout::Change& change) const {
        const auto [kind, grid, from, to, other] = change;
        RemapStage out;
        out.own = static_cast<std::size_t>(at_[grid]);
        std::int64_t rest = itemsize_;
        for (std::size_t d = 0; d < now_.shape().size(); ++d)
            if (d != from && d != to) rest *= now_.extent(d, at_);
        Coordinates at = at_;
        for (std::int64_t q = 0; q < now_.procs(grid); ++q) {
            at[grid] = q;
            out.members.push_back(process_at(at));
            out.sends.push_back(now_.part(from, grid, at_[grid]) * now_.part(to, grid, q) * rest);
            out.receives.push_back(now_.part(from, grid, q) * now_.part(to, grid, at_[grid]) *
                                   rest);
        }
        return out;
    }

    /// Two equal dimensions of the arrangement: processes with exchanged coordinates swap whole
    /// local arrays.
    void swap(const layout::Change& change) {
        Coordinates mirrored = at_;
        std::swap(mirrored[change.grid], mirrored[change.other]);
        const std::int64_t before = now_.elements(at_) * itemsize_;
        now_.apply(change);
        const std::int64_t after = now_.elements(at_) * itemsize_;
        RemapStage& stage = plan_.stages.emplace_back();
        if (mirrored == at_) return;
        const int own = process_at(at_), peer = process_at(mirrored);
        stage.own = own < peer ? 0 : 1;
        stage.members = {std::min(own, peer), std::max(own, peer)};
        stage.sends = stage.receives = {0, 0};
        stage.sends[1 - stage.own] = before;
        stage.receives[1 - stage.own] = after;
    }

    const Layout& layout_;
    std::span<const std::int64_t> axes_;
    Coordinates at_;
    layout::Arrangement now_;
    std::int64_t itemsize_;
    kernel::InplaceOptions options_;
    const std::string& given_methods_;
    std::vector<std::size_t> order_;  // of the dimensions in memory
    RemapPlan plan_;
};

}  // namespace

RemapPlan plan_remap(const Layout& layout, std::span<const std::int64_t> axes, std::int64_t process,
                     std::int64_t itemsize, int threads, const std::string& methods) {
    static_cast<void>(layout::remapped(layout, axes));  // for its checks
    if (process < 0) return {};
    const auto at = layout.form().place(process);
    return at ? RemapPlanner(layout, axes, *at, itemsize, threads, methods).plan() : RemapPlan{};
}

}  // namespace hocket::remap
