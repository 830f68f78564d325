// SPDX-License-Identifier: BSD-3-Clause
// The predicted seconds of strategies in plans with too many messages to list.
#include <algorithm>

#include "plan/butterfly_loads.hpp"
#include "plan/hybrid.hpp"
#include "plan/pair_counts.hpp"
#include "plan/sums.hpp"

namespace hocket::plan {

namespace {

/// Strategies as in routes.cpp: the larger side has `n` processes, the smaller one `m`. If the
/// larger side receives, all messages go the other way, and phases in the reverse order.
class FromSums {
  public:
    FromSums(const Sums& sums, const Problem& problem, const Costs& costs)
        : sums_(sums),
          problem_(problem),
          costs_(costs),
          large_(problem.source.size() < problem.destination.size() ? Side::destination
                                                                    : Side::source),
          small_(other(large_)),
          n_(problem.form(large_).size),
          m_(problem.form(small_).size),
          all_(sums.elements(Side::destination)),
          exact_(sums.complete() && problem.disjoint() && costs.whole_nodes()) {}

    double direct() const {
        StageOfSums stage(problem_, costs_);
        for (const Side side : {Side::source, Side::destination})
            for (const Sums::Sample& sample : sums_.of(side))
                stage.add({side, sample.rank}, side == Side::source, sample.ends, false,
                          sums_.weight(side));
        return stage.end();
    }

    double centralized() const {
        const SideRank centre{Side::source, 0};
        double seconds = 0, relay = 0;
        for (const Side side : {Side::source, Side::destination}) {
            StageOfSums stage(problem_, costs_);
            const double weight = sums_.weight(side);
            for (const Sums::Sample& sample : sums_.of(side)) {
                const SideRank stop{side, sample.rank};
                if (sample.messages() == 0 ||
                    process_number(problem_, stop) == process_number(problem_, centre))
                    continue;
                const Ends one = ends(1, sample.elements(), costs_.far(stop, centre));
                stage.add(stop, side == Side::source, one, true, weight);
                stage.add(centre, side != Side::source, times(one, weight), true);
                if (side == Side::source) relay = std::max(relay, costs_.relay(stop, centre));
            }
            seconds += stage.end();
        }
        return seconds + relay;
    }

    /// A stager collects for a block of the smaller side, or for one process of it from a block of
    /// the larger side.
    double staged(std::int64_t stages) const {
        const std::int64_t count = stages == 0 ? m_ : stages;
        if (count == m_ && exact_) return staged_exactly();
        const double stagers = static_cast<double>(count);
        const double share = all_ / stagers;
        StageOfSums collect(problem_, costs_), cross(problem_, costs_), spread(problem_, costs_);
        for (const Sums::Sample& sample : sums_.of(large_)) {
            const double messages = std::min(sample.messages(), stagers);
            collect.add({large_, sample.rank}, sends(large_),
                        by_node(large_, sample.rank, messages, sample.elements()), true,
                        sums_.weight(large_));
        }
        const double senders =
            std::min(sums_.messages() / std::min(stagers, static_cast<double>(m_)),
                     static_cast<double>(n_) * std::min(1.0, static_cast<double>(m_) / stagers));
        const auto looked_at = static_cast<std::int64_t>(sums_.of(small_).size());
        const double weight = stagers / static_cast<double>(std::min(count, looked_at));
        double near = 0, across = 0;  // relays, within a side and between the sides
        for (std::int64_t k = 0; k < std::min(count, looked_at); ++k) {
            const std::int64_t c = k * count / std::min(count, looked_at);
            const SideRank stager{large_, c * n_ / count}, head{small_, c * m_ / count};
            // With a stager for each process, these are known.
            const double elements =
                count == m_ ? sums_.of(small_)[static_cast<std::size_t>(k)].elements() : share;
            collect.add(stager, !sends(large_), by_node(large_, stager.rank, senders, elements),
                        true, weight);
            near = std::max(near, costs_.relay(stager, {large_, (stager.rank + 1) % n_}));
            across = std::max(across, costs_.relay(stager, head));
            if (process_number(problem_, stager) == process_number(problem_, head)) continue;
            const Ends one = ends(1, elements, costs_.far(stager, head));
            cross.add(stager, sends(large_), one, true, weight);
            cross.add(head, !sends(large_), one, true, weight);
            if (count < m_)
                spread.add(
                    head, sends(large_),
                    by_node(small_, head.rank, static_cast<double>(m_) / stagers - 1, elements),
                    true, weight);
        }
        const double seconds = collect.end() + cross.end();
        if (count < m_) return seconds + near + across + spread.end();
        return seconds + (sends(large_) ? near : across);
    }

    double multistage() const {
        if (const auto loads = butterfly_loads(problem_)) return multistage_exactly(*loads);
        double seconds = 0;
        const double weight = sums_.weight(large_);
        for (std::int64_t step = 1; step < n_; step *= 2) {
            StageOfSums stage(problem_, costs_);
            double start = 0, carry = 0, relay = 0;
            const double most = most_at(step),
                         mean = all_ * distances_with(step) / static_cast<double>(n_);
            for (const Sums::Sample& sample : sums_.of(large_)) {
                const SideRank here{large_, sample.rank}, next{large_, (sample.rank + step) % n_};
                const bool far = costs_.far(here, next);
                const Ends one = ends(1, mean, far);
                stage.add(here, sends(large_), one, true, weight);
                stage.add(next, !sends(large_), one, true, weight);
                start = std::max(start, 2 * costs_.start(far));
                carry = std::max(carry, costs_.carry(far, most, true));
                relay = std::max(relay, costs_.relay(here, next));
            }
            seconds += std::max(stage.end(), start + carry) + relay;
        }
        StageOfSums cross(problem_, costs_);
        for (const Sums::Sample& sample : sums_.of(small_)) {
            const SideRank end{small_, sample.rank}, home{large_, home_of(sample.rank)};
            if (process_number(problem_, end) == process_number(problem_, home)) continue;
            const Ends one = ends(1, sample.elements(), costs_.far(home, end));
            cross.add(home, sends(large_), one, true, sums_.weight(small_));
            cross.add(end, !sends(large_), one, true, sums_.weight(small_));
        }
        return seconds + cross.end();
    }

    /// Groups collect while the other processes of the larger side send, as in hybrid.cpp; sparse
    /// traffic goes directly. Each round lasts as long as its slowest message.
    double hybrid() const {
        if (!hybrid_groups(n_, m_, sums_.messages())) return direct();
        const auto n = static_cast<double>(n_), m = static_cast<double>(m_);
        const auto groups = static_cast<double>(std::max<std::int64_t>((n_ - m_) / m_, 1));
        const double size = (n - m) / groups, each = all_ / n / m;
        const SideRank sender{large_, m_}, receiver{small_, 0};
        const bool across = costs_.far(sender, receiver), within = costs_.mates(sender) < n;
        const double out = costs_.mates(sender), in = costs_.mates(receiver);
        const double block = std::max(m / size, 1.0);  // receivers of one stager
        const double link = across || within ? costs_.link(each) : 0;
        const double round =
            std::max({costs_.start(across) + costs_.carry(across, each, false),
                      2 * costs_.start(within) + costs_.carry(within, each * block, true),
                      link * std::max(across ? in : 0, out * (within ? block : 1))});
        const double last = std::max(costs_.start(across) + costs_.carry(across, each * size, true),
                                     link * size * std::min(std::max(in, out), m));
        const double rounds = std::max(m, size) * round + groups * block * last;
        StageOfSums collect(problem_, costs_);
        for (const Sums::Sample& sample : sums_.of(large_)) {
            if (sample.rank < m_) continue;
            const double others = std::min(size, m) * (size - 1) / size;
            const Ends ends = by_node(large_, sample.rank, others, all_ / n * (size - 1) / size);
            collect.add({large_, sample.rank}, true, ends, true, sums_.weight(large_));
            collect.add({large_, sample.rank}, false, ends, true, sums_.weight(large_));
        }
        const double relay = costs_.relay({large_, m_}, {large_, n_ - 1});
        const double crossed = sends(large_) || !across ? 0 : out * costs_.link(all_ / n);
        return std::max(rounds, crossed + relay + collect.end());
    }

  private:
    /// With a stager for each process of the smaller side, and each side on one node: as message by
    /// message.
    double staged_exactly() const {
        PairCounts counts(problem_);
        StageOfSums collect(problem_, costs_), cross(problem_, costs_);
        for (const Sums::Sample& sample : sums_.of(large_))
            collect.add({large_, sample.rank}, sends(large_), sample_ends(sample), true);
        for (const Sums::Sample& sample : sums_.of(small_)) {
            const SideRank stager{large_, home_of(sample.rank)}, head{small_, sample.rank};
            const std::int64_t own = sends(large_) ? counts.of(stager.rank, head.rank)
                                                   : counts.of(head.rank, stager.rank);
            const Ends stays{own > 0 ? 1.0 : 0.0, 0, static_cast<double>(own), 0};
            collect.add(stager, sends(large_), times(stays, -1), true);
            const Ends all = sample_ends(sample);
            collect.add(stager, !sends(large_), all, true);
            collect.add(stager, !sends(large_), times(stays, -1), true);
            if (all.near_messages == 0) continue;
            const bool relayed = all.near_messages > stays.near_messages;
            const Ends one = ends(1, all.near_elements, costs_.far(stager, head));
            cross.add(stager, sends(large_), one, relayed);
            cross.add(head, !sends(large_), one, relayed);
        }
        const SideRank first{large_, 0};
        const double relay = collect.any() ? sends(large_) ? costs_.relay(first, first)
                                                           : costs_.relay({small_, 0}, first)
                                           : 0;
        return collect.end() + cross.end() + relay;
    }
    /// As message by message.
    double multistage_exactly(const ButterflyLoads& loads) const {
        std::vector<std::pair<double, double>> phases;  // seconds, and of relays
        Stage stage(problem_, costs_, true);
        double relay = 0;
        bool any = false;
        const auto send = [&](const SideRank& from, const SideRank& to, std::int64_t elements,
                              bool relayed) {
            if (elements == 0) return;
            stage.add(sends(large_) ? from : to, sends(large_) ? to : from, elements, relayed);
            relay = std::max(relay, costs_.relay(from, to));
            any = true;
        };
        const auto end = [&] {
            if (any) phases.emplace_back(stage.end(), relay);
            any = false;
            relay = 0;
        };
        for (std::size_t level = 0; level < loads.sent.size(); ++level) {
            for (std::int64_t x = 0; x < n_; ++x)
                send({large_, x}, {large_, (x + (std::int64_t{1} << level)) % n_},
                     loads.sent[level][at(x)], true);
            end();
        }
        for (std::int64_t b = 0; b < m_ && problem_.disjoint(); ++b)
            send({large_, home_of(b)}, {small_, b}, loads.all[at(b)],
                 loads.all[at(b)] != loads.own[at(b)]);
        end();
        if (!sends(large_)) std::reverse(phases.begin(), phases.end());
        double seconds = 0;
        for (std::size_t k = 0; k < phases.size(); ++k)  // nobody waits for the last one
            seconds += phases[k].first + (k + 1 < phases.size() ? phases[k].second : 0);
        return seconds;
    }
    /// All messages of a process, as if they stayed within its node.
    static Ends sample_ends(const Sums::Sample& sample) {
        return {sample.messages(), 0, sample.elements(), 0};
    }

    bool sends(Side side) const { return side == Side::source; }
    std::int64_t home_of(std::int64_t b) const {
        return static_cast<std::int64_t>(static_cast<base::wide>(b) * n_ / m_);
    }
    static Ends ends(double messages, double elements, bool far) {
        return far ? Ends{0, messages, 0, elements} : Ends{messages, 0, elements, 0};
    }
    static Ends times(const Ends& ends, double factor) {
        return {ends.near_messages * factor, ends.far_messages * factor,
                ends.near_elements * factor, ends.far_elements * factor};
    }
    /// Traffic with processes of the same side that are spread evenly.
    Ends by_node(Side side, std::int64_t rank, double messages, double elements) const {
        const double near =
            costs_.mates({side, rank}) / static_cast<double>(problem_.form(side).size);
        return {messages * near, messages * (1 - near), elements * near, elements * (1 - near)};
    }

    /// The share of all distances below n with that bit, a power of two.
    double distances_with(std::int64_t bit) const {
        const std::int64_t periods = n_ / (2 * bit);
        const std::int64_t those = periods * bit + std::max<std::int64_t>(n_ % (2 * bit) - bit, 0);
        return static_cast<double>(those) / static_cast<double>(n_);
    }

    /// The elements of the busiest sender among some, in the phase of the butterfly that moves
    /// parcels `step` processes on: those of `step` sources, for processes whose homes are an odd
    /// number of steps on. Of many homes, evenly spaced ones are added up.
    double most_at(std::int64_t step) const {
        constexpr std::int64_t looked_at = 16, most_homes = 1024;
        const auto& ends = sums_.of(small_);
        double most_sent = 0;
        for (const Sums::Sample& sample : sums_.of(large_))
            most_sent = std::max(most_sent, sample.elements());
        const double mean = all_ / static_cast<double>(n_);
        const std::int64_t homes = (n_ - 1 + step) / (2 * step),
                           added = std::min(homes, most_homes);
        // The last home may be too near for some of the sources.
        const double sources = (most_sent + static_cast<double>(step - 1) * mean) *
                               distances_with(step) * static_cast<double>(n_) /
                               static_cast<double>(homes * step);
        double most = 0;
        for (std::int64_t k = 0; k < std::min(m_, looked_at); ++k) {
            const std::int64_t last = home_of(k * m_ / std::min(m_, looked_at));
            double elements = 0;
            for (std::int64_t j = 0; j < added; ++j) {
                const std::int64_t home = (last + 2 * step * (j * homes / added)) % n_;
                const auto b = static_cast<std::int64_t>(
                    base::ceil_div<base::wide>(static_cast<base::wide>(home) * m_, n_));
                if (b >= m_ || home_of(b) != home) continue;
                elements +=
                    ends[static_cast<std::size_t>(static_cast<base::wide>(b) *
                                                  static_cast<std::int64_t>(ends.size()) / m_)]
                        .elements();
            }
            most =
                std::max(most, elements * static_cast<double>(homes) / static_cast<double>(added));
        }
        return all_ > 0 ? sources / all_ * most : 0;
    }

    const Sums& sums_;
    const Problem& problem_;
    const Costs& costs_;
    Side large_, small_;
    std::int64_t n_, m_;
    double all_;
    bool exact_;  // the sums are those of all processes, and each side is on one node
};

}  // namespace

double predict_from(const Sums& sums, const Problem& problem, const Costs& costs, Strategy strategy,
                    std::int64_t stages) {
    const FromSums from(sums, problem, costs);
    switch (strategy) {
        case Strategy::centralized:
            return stages == 0 ? from.centralized() : from.staged(stages);
        case Strategy::staged:
            return from.staged(stages);
        case Strategy::multistage:
            return from.multistage();
        case Strategy::hybrid:
            return from.hybrid();
        case Strategy::direct:
            break;
    }
    return from.direct();
}

}  // namespace hocket::plan
