// SPDX-License-Identifier: BSD-3-Clause
#include "plan/own_routes.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <tuple>

#include "base/checked.hpp"
#include "plan/hybrid.hpp"
#include "plan/pair_counts.hpp"
#include "plan/part.hpp"
#include "plan/routes.hpp"

namespace hocket::plan {

namespace {

/// Strategies as in routes.cpp: the larger side (`n` processes) sends and the smaller one (`m`)
/// receives. If it is the other way round, messages and rounds are reversed at the end.
struct Numbers {
    Numbers(const Problem& problem, Strategy strategy, std::int64_t stages)
        : backwards(problem.source.size() < problem.destination.size()),
          central(strategy == Strategy::centralized && stages == 0),
          multistage(strategy == Strategy::multistage),
          hybrid(strategy == Strategy::hybrid),
          n(std::max(problem.source.size(), problem.destination.size())),
          m(std::min(problem.source.size(), problem.destination.size())),
          count(stages == 0 ? m : stages),
          levels(static_cast<std::int64_t>(std::bit_width(static_cast<std::uint64_t>(n - 1)))) {
        const std::int64_t few = base::ceil_div(m, count), many = base::ceil_div(count, m);
        if (hybrid) {
            if (n >= 2 * m) start_hybrid(problem);
            return;
        }
        std::vector<std::int64_t> rounds;  // of each phase
        if (central)
            rounds = {problem.source.size(), problem.destination.size()};
        else if (multistage)
            rounds.assign(static_cast<std::size_t>(levels + 1), 1);
        else if (count <= m)
            rounds = {n, 1, few};
        else
            rounds = {n, many};
        for (const std::int64_t each : rounds) {
            starts.push_back(all_rounds);
            all_rounds += each;
        }
    }

    /// Direct messages and those within groups have the first rounds together, unless a process of
    /// a group is also on the smaller side. Then the groups send across, one after the other.
    void start_hybrid(const Problem& problem) {
        const std::int64_t groups = hybrid_group_count(n, m);
        const std::int64_t longest = base::ceil_div(n - m, groups);
        bool apart = true;
        for (std::int64_t b = 0; b < m; ++b)
            apart = apart && problem.same(backwards ? Side::source : Side::destination, b) < m;
        const std::int64_t collect = apart ? 0 : m;
        starts = {0, collect, std::max(m, collect + longest - 1)};
        all_rounds = starts[2] + groups * base::ceil_div(m, longest);
    }

    /// The first process for which a stager of a block collects.
    std::int64_t head(std::int64_t c) const { return base::ceil_div(c * m, count); }

    /// Within its phase, for the larger side as the sender.
    std::int64_t round(std::int64_t phase, std::int64_t from, std::int64_t to) const {
        if (hybrid) {
            if (phase == 0) return base::floor_mod(to - from, m);
            const HybridGroup group = hybrid_group(n, m, from);
            if (phase == 1) return base::floor_mod(to - from, group.size) - 1;
            const std::int64_t first = base::ceil_div((from - group.first) * m, group.size);
            return group.number * base::ceil_div(m, group.size) + to - first;
        }
        if (central) return phase == 0 ? from : to;
        if (multistage) return 0;
        if (phase == 0) return base::floor_mod(to - from, n);
        if (count > m) return base::ceil_div(from * count, n) - base::ceil_div(to * count, m);
        return phase == 1 ? 0 : to - from;
    }

    bool backwards, central, multistage, hybrid;
    std::int64_t n, m, count, levels;
    std::vector<std::int64_t> starts;  // the first round of each phase
    std::int64_t all_rounds = 0;
};

class OwnRoutes {
  public:
    OwnRoutes(const std::shared_ptr<const Problem>& problem, Strategy strategy, std::int64_t stages,
              const SideRank& own)
        : problem_(problem),
          strategy_(strategy),
          stages_(stages),
          own_(own),
          numbers_(*problem, strategy, stages),
          large_(numbers_.backwards ? Side::destination : Side::source) {}

    std::vector<OwnMessage> run() {
        if (numbers_.multistage && own_.side == large_)
            butterfly();
        else
            route_all();
        std::vector<OwnMessage> found;
        for (auto& [key, message] : messages_) {
            const auto before = [](const Parcel& a, const Parcel& b) {
                return std::tie(a.source, a.destination) < std::tie(b.source, b.destination);
            };
            std::sort(message.parcels.begin(), message.parcels.end(), before);
            for (const Parcel& parcel : message.parcels) message.elements += parcel.elements;
            found.push_back(std::move(message));
        }
        std::stable_sort(found.begin(), found.end(), [](const OwnMessage& a, const OwnMessage& b) {
            return a.round < b.round;
        });
        return found;
    }

  private:
    /// All parcels of a process of either side that do not stay on it.
    void add_parcels_of(Side side, std::int64_t rank) {
        const std::int64_t same = problem_->same(side, rank);
        const auto part = make_part(problem_, side, rank);
        for (const Traffic& peer : part->peers) {
            if (peer.process == same) continue;
            if (side == Side::source)
                parcels_.push_back({rank, peer.process, peer.elements});
            else
                parcels_.push_back({peer.process, rank, peer.elements});
        }
    }

    /// Parcels whose routes may touch this process.
    void collect() {
        const Numbers& with = numbers_;
        const Side small = other(large_);
        add_parcels_of(own_.side, own_.rank);
        if (with.hybrid) {
            if (own_.side != large_ || own_.rank < with.m) return;
            const HybridGroup group = hybrid_group(with.n, with.m, own_.rank);
            const std::int64_t i = own_.rank - group.first;
            for (std::int64_t b = base::ceil_div(i * with.m, group.size);
                 b < base::ceil_div((i + 1) * with.m, group.size); ++b)
                add_parcels_of(small, b);
        } else if (with.central) {
            if (own_ == SideRank{Side::source, 0})
                for (std::int64_t s = 1; s < problem_->source.size(); ++s)
                    add_parcels_of(Side::source, s);
        } else if (!with.multistage && own_.side == large_) {
            const std::int64_t c = base::ceil_div(own_.rank * with.count, with.n);
            if (c >= with.count || c * with.n / with.count != own_.rank) return;
            const std::int64_t first =
                with.count <= with.m ? with.head(c) : c * with.m / with.count;
            const std::int64_t last = with.count <= with.m ? with.head(c + 1) : first + 1;
            for (std::int64_t b = first; b < last; ++b) add_parcels_of(small, b);
        } else if (!with.multistage && with.count < with.m) {
            const std::int64_t c = own_.rank * with.count / with.m;
            if (with.head(c) != own_.rank) return;
            for (std::int64_t b = own_.rank + 1; b < with.head(c + 1); ++b)
                add_parcels_of(small, b);
        }
    }

    void route_all() {
        collect();
        const auto before = [](const Parcel& a, const Parcel& b) {
            return std::tie(a.source, a.destination) < std::tie(b.source, b.destination);
        };
        std::sort(parcels_.begin(), parcels_.end(), before);
        parcels_.erase(std::unique(parcels_.begin(), parcels_.end()), parcels_.end());
        const Routes ways =
            numbers_.hybrid
                ? Routes([this](std::int64_t s, std::int64_t d) { return through_group(s, d); })
                : routes_of(strategy_, problem_->source.size(), problem_->destination.size(),
                            stages_);
        for (const Parcel& parcel : parcels_)
            for (Hop& hop : without_loops(*problem_, ways(parcel.source, parcel.destination))) {
                if (!(hop.from == own_) && !(hop.to == own_)) continue;
                if (process_number(*problem_, hop.from) == process_number(*problem_, hop.to))
                    continue;
                if (turned()) {
                    std::swap(hop.from, hop.to);
                    hop.phase = Hop::latest - hop.phase;
                }
                add(hop, parcel);
            }
    }
    bool turned() const { return numbers_.backwards && !numbers_.central; }

    /// The hops of hybrid, as `routes_of` has those of the other strategies.
    std::vector<Hop> through_group(std::int64_t source, std::int64_t destination) const {
        const bool back = numbers_.backwards;
        const std::int64_t a = back ? destination : source, b = back ? source : destination;
        const SideRank from{large_, a}, to{other(large_), b};
        if (a < numbers_.m) return {back ? Hop{Hop::latest, to, from} : Hop{0, from, to}};
        const HybridGroup group = hybrid_group(numbers_.n, numbers_.m, a);
        const SideRank stager{large_, group.first + b * group.size / numbers_.m};
        if (back) return {{Hop::latest - 2, to, stager}, {Hop::latest - 1, stager, from}};
        return {{1, from, stager}, {2, stager, to}};
    }

    /// The butterfly's hops into and out of this process x. A parcel from a passes it on its way to
    /// a home at distance d if j = x - a is d without its higher bits. So the homes of these
    /// parcels are multiples of the next higher power of two after x. A route that comes to the
    /// last process, `end`, ends there.
    void butterfly() {
        PairCounts counts(*problem_);
        const std::int64_t n = numbers_.n, m = numbers_.m, x = own_.rank;
        const Side small = other(large_);
        for (std::int64_t j = 0; j < n; ++j) {
            const std::int64_t a = base::floor_mod(x - j, n);
            const auto bits = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(j)));
            for (std::int64_t d = j; d < n; d += std::int64_t{1} << bits) {
                const std::int64_t home = (a + d) % n;
                const auto b = static_cast<std::int64_t>(
                    base::ceil_div<base::wide>(static_cast<base::wide>(home) * m, n));
                if (b >= m || static_cast<std::int64_t>(static_cast<base::wide>(b) * n / m) != home)
                    continue;
                const std::int64_t end = problem_->same(small, b);
                if (end >= 0) {
                    const std::int64_t at = base::floor_mod(end - a, n);
                    const std::int64_t low =
                        (std::int64_t{1} << std::bit_width(static_cast<std::uint64_t>(at))) - 1;
                    if (at < j && (d & low) == at) continue;
                }
                const std::int64_t source = numbers_.backwards ? b : a;
                const std::int64_t destination = numbers_.backwards ? a : b;
                const std::int64_t elements = counts.of(source, destination);
                if (elements == 0 || a == end) continue;
                const Parcel parcel{source, destination, elements};
                if (j > 0) {
                    const std::int64_t step = std::int64_t{1} << (bits - 1);
                    add({bits - 1, {large_, base::floor_mod(x - step, n)}, own_}, parcel);
                }
                if (x == end) continue;
                const std::int64_t rest = d - j;
                if (rest == 0) {
                    add({numbers_.levels, own_, {small, b}}, parcel);
                } else {
                    const int phase = std::countr_zero(static_cast<std::uint64_t>(rest));
                    add({phase, own_, {large_, (x + (std::int64_t{1} << phase)) % n}}, parcel);
                }
            }
        }
    }

    /// `hop`: with the larger side as the sender.
    void add(const Hop& hop, const Parcel& parcel) {
        const auto key = std::tuple(hop.phase, hop.from.rank, hop.to.rank, hop.to.side);
        if (last_ == nullptr || key != last_key_) {
            last_key_ = key;
            auto [at, made] = messages_.try_emplace(key);
            last_ = &at->second;
            if (made) {
                std::int64_t round = numbers_.round(hop.phase, hop.from.rank, hop.to.rank);
                round += numbers_.starts[static_cast<std::size_t>(hop.phase)];
                last_->from = turned() ? hop.to : hop.from;
                last_->to = turned() ? hop.from : hop.to;
                last_->round = turned() ? numbers_.all_rounds - 1 - round : round;
            }
        }
        last_->parcels.push_back(parcel);
    }

    const std::shared_ptr<const Problem>& problem_;
    Strategy strategy_;
    std::int64_t stages_;
    SideRank own_;
    Numbers numbers_;
    Side large_;
    std::vector<Parcel> parcels_;
    using Key = std::tuple<std::int64_t, std::int64_t, std::int64_t, Side>;
    std::map<Key, OwnMessage> messages_;
    Key last_key_{};
    OwnMessage* last_ = nullptr;
};

}  // namespace

bool has_own_routes(const Problem& problem, Strategy strategy, std::int64_t stages) {
    const layout::Form &from = problem.source.form(), &to = problem.destination.form();
    if (strategy == Strategy::direct || !from.gridded() || !to.gridded()) return false;
    if (from.copies > 1 && (strategy == Strategy::multistage || strategy == Strategy::hybrid))
        return false;
    constexpr std::int64_t most = std::int64_t{1} << 24;
    const Numbers numbers(problem, strategy, stages);
    if (numbers.hybrid) return true;
    const std::int64_t receivers =
        numbers.central
            ? numbers.m
            : (numbers.multistage ? numbers.levels : base::ceil_div(numbers.m, numbers.count));
    return base::product_up_to(numbers.n, receivers, most + 1) <= most;
}

std::vector<OwnMessage> own_routes(const std::shared_ptr<const Problem>& problem, Strategy strategy,
                                   std::int64_t stages, const SideRank& own) {
    return OwnRoutes(problem, strategy, stages, own).run();
}

std::int64_t own_rounds(const Problem& problem, Strategy strategy, std::int64_t stages) {
    return Numbers(problem, strategy, stages).all_rounds;
}

}  // namespace hocket::plan
