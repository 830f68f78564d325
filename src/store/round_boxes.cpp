// SPDX-License-Identifier: BSD-3-Clause
#include "store/round_boxes.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include "base/checked.hpp"
#include "hocket/binding.hpp"
#include "hocket/plan.hpp"

namespace hocket::store {

RoundBoxes::RoundBoxes(const Rounds& rounds, const Layout& array, Shape axes, IndexBox region,
                       Place place)
    : rounds_(rounds), axes_(std::move(axes)), region_(std::move(region)), place_(place) {
    const layout::Form& form = array.form();
    // Copies of a grid share their elements by the needs of all writers.
    all_ = form.indexed() || (place_.writing && form.copies > 1);
    if (form.indexed() || place_.rank >= array.size()) return;
    sets_ = form.sets(place_.rank);
    if (!all_ && form.local_elements(place_.rank) > 0) find_turns();
}

void RoundBoxes::find_turns() {
    // For each dimension the tiles with an index of this process.
    std::vector<Shape> lists(sets_.size());
    for (std::size_t k = 0; k < sets_.size(); ++k) {
        const layout::IndexSet& set = sets_[k];
        const std::size_t d = stored(k);
        for (std::int64_t place = 0; place < set.count();) {
            const std::int64_t tile = rounds_.tile_of(d, region_.start[d] + set.element(place));
            lists[d].push_back(tile);
            const std::int64_t end = rounds_.end_of(d, tile) - region_.start[d];
            place = end >= set.extent() ? set.count() : set.count_below(end);
        }
    }
    std::int64_t count = 1;
    for (const Shape& list : lists) count *= static_cast<std::int64_t>(list.size());
    turns_.reserve(static_cast<std::size_t>(count));
    Shape tile(lists.size());
    for (std::int64_t number = 0; number < count; ++number) {
        std::int64_t left = number;
        for (std::size_t d = lists.size(); d-- > 0;) {
            const auto extent = static_cast<std::int64_t>(lists[d].size());
            tile[d] = lists[d][static_cast<std::size_t>(left % extent)];
            left /= extent;
        }
        turns_.push_back(rounds_.turn_of(tile));
    }
    std::sort(turns_.begin(), turns_.end());
}

// Writers are spread over the processes.
std::int64_t RoundBoxes::rank_of(std::int64_t writer) const {
    return writer * place_.processes / rounds_.writers();
}

std::int64_t RoundBoxes::writer_at(std::int64_t rank) const {
    const std::int64_t writer = base::ceil_div(rank * rounds_.writers(), place_.processes);
    return writer < rounds_.writers() && rank_of(writer) == rank ? writer : -1;
}

IndexBox RoundBoxes::own(std::int64_t round) const {
    return rounds_.box(writer_at(place_.rank), round);
}

Layout RoundBoxes::layout(std::int64_t round) const {
    std::vector<std::int64_t> processes;
    std::vector<layout::ProcessBox> boxes;
    const auto add = [&](std::int64_t writer) {
        const IndexBox box = rounds_.box(writer, round);
        if (zarr::is_empty(box)) return;
        layout::ProcessBox& added = boxes.emplace_back();
        for (std::size_t d = 0; d < box.start.size(); ++d)
            added.ranges.push_back(
                {box.start[d] - region_.start[d], box.stop[d] - region_.start[d]});
        processes.push_back(rank_of(writer));
    };
    if (all_) {
        for (std::int64_t writer = 0; writer < rounds_.writers(); ++writer) add(writer);
    } else {
        std::vector<std::int64_t> writers;
        const std::int64_t begun = round - round % rounds_.parts();
        const auto first =
            std::lower_bound(turns_.begin(), turns_.end(),
                             Rounds::Turn{begun, std::numeric_limits<std::int64_t>::min()});
        for (auto turn = first; turn != turns_.end() && turn->first_round == begun; ++turn)
            writers.push_back(turn->writer);
        if (const std::int64_t mine = writer_at(place_.rank); mine >= 0) {
            const auto at = std::lower_bound(writers.begin(), writers.end(), mine);
            if (at == writers.end() || *at != mine) writers.insert(at, mine);
        }
        for (const std::int64_t writer : writers) add(writer);
    }
    return Layout(std::make_shared<const layout::Form>(
        layout::make_form(zarr::extents_of(region_), place_.processes, processes, boxes)));
}

std::optional<Shape> RoundBoxes::within_part(const IndexBox& box) const {
    if (sets_.size() != box.start.size() || zarr::is_empty(box)) return std::nullopt;
    Shape first;
    for (std::size_t k = 0; k < sets_.size(); ++k) {
        const std::size_t d = stored(k);
        const std::int64_t start = box.start[d] - region_.start[d];
        const std::int64_t stop = box.stop[d] - region_.start[d];
        first.push_back(sets_[k].count_below(start));
        if (sets_[k].count_below(stop) - first.back() != stop - start) return std::nullopt;
    }
    return first;
}

}  // namespace hocket::store

std::pair<std::int64_t, std::int64_t> hocket::Binding::plan_store(
    const Layout& layout, const std::vector<std::int64_t>& chunks,
    const std::vector<std::int64_t>& shards, std::int64_t rank, bool writing) {
    zarr::Wanted wanted;
    wanted.shape = layout.shape();
    wanted.type = zarr::type_of_name("float64");
    wanted.chunks = chunks;
    wanted.shards = shards;
    wanted.codec = "none";
    const zarr::Metadata array = zarr::make_metadata(wanted);
    const IndexBox whole = zarr::whole_of(array.shape);
    constexpr std::int64_t box_bytes = std::int64_t{16} << 20;
    const store::Rounds rounds(array, whole, layout.size(), box_bytes);
    const store::RoundBoxes boxes(rounds, layout, {}, whole, {layout.size(), rank, writing});
    const Layout files = boxes.layout(0);
    plan::Options options;
    options.itemsize = wanted.type.size;
    options.strategy = "direct";
    options.same_ranks = options.partial = true;
    const Plan plan(writing ? layout : files, writing ? files : layout, options);
    std::pair<std::int64_t, std::int64_t> elements{0, 0};
    for (const plan::Traffic& each : plan.sends(rank)) elements.first += each.elements;
    for (const plan::Traffic& each : plan.recvs(rank)) elements.second += each.elements;
    return elements;
}
