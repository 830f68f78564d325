// SPDX-License-Identifier: BSD-3-Clause
#include "plan/sums.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>

#include "layout/form.hpp"
#include "plan/part.hpp"
#include "plan/share.hpp"

namespace hocket::plan {

namespace {

std::int64_t spaced(std::int64_t k, std::int64_t count, std::int64_t size) {
    return count == 1
               ? 0
               : static_cast<std::int64_t>(static_cast<base::wide>(k) * (size - 1) / (count - 1));
}

}  // namespace

/// The peers and elements of each coordinate of a dimension. If peers have no formula, hocket
/// computes evenly spaced ones of many coordinates, the first and the last among them; the others
/// are taken as the one before.
struct Sums::Line {
    std::vector<std::int64_t> ranks;  // coordinates that are computed, increasing
    std::vector<double> elements, peers;

    Line(const layout::Axis& own, const layout::Axis& other) {
        constexpr std::int64_t work = std::int64_t{1} << 16;
        const std::int64_t most = has_count_formula(own, other)
                                      ? own.procs
                                      : std::clamp<std::int64_t>(work / other.procs, 4, 256);
        const std::int64_t count = std::min(own.procs, most);
        for (std::int64_t k = 0; k < count; ++k) {
            const std::int64_t c = spaced(k, count, own.procs);
            const layout::IndexSet held = layout::held_by(own, c);
            ranks.push_back(c);
            elements.push_back(static_cast<double>(held.count()));
            peers.push_back(static_cast<double>(count_shares(held, other)));
        }
    }
    std::size_t at(std::int64_t coordinate) const {
        return static_cast<std::size_t>(std::upper_bound(ranks.begin(), ranks.end(), coordinate) -
                                        ranks.begin() - 1);
    }
};

Sums::Sums(const std::shared_ptr<const Problem>& problem, const Costs& costs)
    : problem_(problem), costs_(costs) {
    const bool grids = problem->source.form().gridded() && problem->destination.form().gridded();
    complete_ = grids && problem->source.form().copies == 1;
    for (const Side side : {Side::source, Side::destination}) {
        if (grids)
            from_tables(side);
        else
            from_parts(side);
    }
}

Sums::Sums(const std::shared_ptr<const Problem>& problem, const Costs& costs,
           std::span<const Parcel> parcels)
    : problem_(problem), costs_(costs) {
    for (const Side side : {Side::source, Side::destination})
        for (std::int64_t rank = 0; rank < problem->form(side).size; ++rank)
            samples_[side == Side::destination].push_back({rank, {}});
    for (const auto& [source, destination, elements] : parcels) {
        const bool far = costs.far({Side::source, source}, {Side::destination, destination});
        for (Ends* ends : {&samples_[0][at(source)].ends, &samples_[1][at(destination)].ends}) {
            (far ? ends->far_messages : ends->near_messages) += 1;
            (far ? ends->far_elements : ends->near_elements) += static_cast<double>(elements);
        }
    }
}

double Sums::weight(Side side) const {
    return static_cast<double>(problem_->form(side).size) / static_cast<double>(of(side).size());
}

double Sums::messages() const {
    double sum = 0;
    for (const Sample& sample : of(Side::source)) sum += sample.messages();
    return sum * weight(Side::source);
}

double Sums::elements(Side side) const {
    double sum = 0;
    for (const Sample& sample : of(side)) sum += sample.elements();
    return sum * weight(side);
}

void Sums::from_tables(Side side) {
    constexpr std::int64_t most = 16384;
    const layout::Form& own = problem_->form(side);
    std::vector<Line> lines;
    for (std::size_t d = 0; d < own.axes.size(); ++d)
        lines.emplace_back(problem_->axis(side, d), problem_->axis(other(side), d));
    for (std::size_t d = 0; d < lines.size(); ++d)
        if (static_cast<std::int64_t>(lines[d].ranks.size()) < problem_->axis(side, d).procs)
            complete_ = false;
    const auto written = static_cast<double>(problem_->destination.form().copies);
    const auto held = static_cast<double>(problem_->source.form().copies);
    const std::int64_t count = std::min(own.size, most);
    if (count < own.size) complete_ = false;
    for (std::int64_t k = 0; k < count; ++k) {
        const std::int64_t rank = spaced(k, count, own.size);
        Sample& sample = samples_[side == Side::destination].emplace_back(Sample{rank, {}});
        const auto at = own.place(rank);
        if (!at || own.elements == 0) continue;
        // Every copy of the destination is written; the copies of the source share the work.
        double elements = 1, messages = 1;
        for (std::size_t d = 0; d < lines.size(); ++d) {
            const std::size_t c = lines[d].at(own.coordinate(problem_->dimension(side, d), *at));
            elements *= lines[d].elements[c];
            messages *= lines[d].peers[c];
        }
        if (elements == 0) continue;
        if (side == Side::source) {
            elements *= written / held;
            messages = std::max(messages * written / held, 1.0);
        }
        if (problem_->same(side, rank) >= 0) {  // its own share is like that of another peer
            elements -= elements / messages;
            messages -= 1;
        }
        sample.ends = {messages, 0, elements, 0};
    }
    split_by_nodes(side);
}

/// Divides the traffic of all samples like that of some, with some processes of their nodes.
void Sums::split_by_nodes(Side side) {
    if (costs_.nodes() == 1) return;
    constexpr std::int64_t most_samples = 16, most_mates = 32;
    std::vector<Sample>& samples = samples_[side == Side::destination];
    const std::int64_t size = problem_->form(other(side)).size;
    std::map<std::int64_t, std::vector<std::int64_t>> mates;  // processes of the other side
    for (std::int64_t rank = 0; rank < size; ++rank)
        mates[costs_.node({other(side), rank})].push_back(rank);
    double messages = 0, elements = 0, near_messages = 0, near_elements = 0;
    const auto count = static_cast<std::int64_t>(samples.size());
    const std::int64_t looked_at = std::min(count, most_samples);
    for (std::int64_t k = 0; k < looked_at; ++k) {
        const Sample& sample = samples[static_cast<std::size_t>(spaced(k, looked_at, count))];
        messages += sample.messages();
        elements += sample.elements();
        const auto here = mates.find(costs_.node({side, sample.rank}));
        if (here == mates.end()) continue;
        const auto there = static_cast<std::int64_t>(here->second.size());
        const std::int64_t asked = std::min(there, most_mates);
        for (std::int64_t j = 0; j < asked; ++j) {
            const std::int64_t mate =
                here->second[static_cast<std::size_t>(spaced(j, asked, there))];
            if (mate == problem_->same(side, sample.rank)) continue;
            const std::int64_t common = side == Side::source ? problem_->common(sample.rank, mate)
                                                             : problem_->common(mate, sample.rank);
            if (common == 0) continue;
            const double each = static_cast<double>(there) / static_cast<double>(asked) /
                                static_cast<double>(problem_->source.form().copies);
            near_messages += each;
            near_elements += each * static_cast<double>(common);
        }
    }
    const double m = messages > 0 ? std::min(near_messages / messages, 1.0) : 0;
    const double e = elements > 0 ? std::min(near_elements / elements, 1.0) : 0;
    for (Sample& sample : samples) {
        const double all = sample.messages(), bytes = sample.elements();
        sample.ends = {all * m, all * (1 - m), bytes * e, bytes * (1 - e)};
    }
}

void Sums::from_parts(Side side) {
    constexpr std::int64_t work = std::int64_t{1} << 17, most = 8192;
    const std::int64_t size = problem_->form(side).size;
    const auto peers = static_cast<std::int64_t>(make_part(problem_, side, 0)->peers.size());
    const std::int64_t count =
        std::min({size, most, std::max<std::int64_t>(work / (peers + 1), 2)});
    for (std::int64_t k = 0; k < count; ++k) {
        const std::int64_t rank = spaced(k, count, size), same = problem_->same(side, rank);
        Sample& sample = samples_[side == Side::destination].emplace_back(Sample{rank, {}});
        const auto part = make_part(problem_, side, rank);
        for (const Traffic& peer : part->peers) {
            if (peer.process == same) continue;
            const bool far = costs_.node({side, rank}) != costs_.node({other(side), peer.process});
            (far ? sample.ends.far_messages : sample.ends.near_messages) += 1;
            (far ? sample.ends.far_elements : sample.ends.near_elements) +=
                static_cast<double>(peer.elements);
        }
    }
}

}  // namespace hocket::plan
