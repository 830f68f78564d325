// SPDX-License-Identifier: BSD-3-Clause
#include "plan/own_routes.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "base/checked.hpp"
#include "plan/hybrid.hpp"
#include "plan/pair_counts.hpp"
#include "plan/part.hpp"
#include "plan/relay_rounds.hpp"
#include "plan/routes.hpp"
#include "plan/totals.hpp"

namespace hocket::plan {

namespace {

class OwnRoutes {
  public:
    OwnRoutes(const std::shared_ptr<const Problem>& problem, Strategy strategy, std::int64_t stages,
              const SideRank& own, const std::vector<Parcel>* all)
        : problem_(problem),
          strategy_(strategy),
          stages_(stages),
          own_(own),
          all_(all),
          numbers_(*problem, strategy, stages),
          large_(numbers_.backwards ? Side::destination : Side::source) {}

    std::vector<OwnMessage> run() {
        if (numbers_.relay == Relay::centre && own_ == SideRank{Side::source, 0})
            return through_centre();
        if (numbers_.relay == Relay::butterfly && own_.side == large_ && all_ == nullptr)
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

    /// Whether the larger side's process c n / count is this one's number of a stager, c.
    std::optional<std::int64_t> own_stage() const {
        const std::int64_t c = base::ceil_div(own_.rank * numbers_.count, numbers_.n);
        if (c >= numbers_.count || c * numbers_.n / numbers_.count != own_.rank) return {};
        return c;
    }

    /// The processes of the smaller side whose parcels may pass this process, but for the
    /// butterfly.
    std::pair<std::int64_t, std::int64_t> served() const {
        const RelayRounds& with = numbers_;
        const bool large = own_.side == large_;
        const auto stage = large ? own_stage() : std::nullopt;
        switch (with.relay) {
            case Relay::centre:
            case Relay::butterfly:
                break;
            case Relay::few_stagers:
                if (stage) return {with.head(*stage), with.head(*stage + 1)};
                if (!large) {
                    const std::int64_t c = own_.rank * with.count / with.m;
                    if (with.head(c) == own_.rank) return {own_.rank + 1, with.head(c + 1)};
                }
                break;
            case Relay::many_stagers:
                if (stage) return {*stage * with.m / with.count, *stage * with.m / with.count + 1};
                break;
            case Relay::hybrid_groups:
                if (!large || own_.rank < with.m) break;
                const HybridGroup group = hybrid_group(with.n, with.m, own_.rank);
                const std::int64_t i = own_.rank - group.first;
                return {base::ceil_div(i * with.m, group.size),
                        base::ceil_div((i + 1) * with.m, group.size)};
        }
        return {0, 0};
    }

    /// Parcels whose routes may touch this process.
    void collect() {
        const auto [first, last] = served();
        if (all_ == nullptr) {
            add_parcels_of(own_.side, own_.rank);
            for (std::int64_t b = first; b < last; ++b) add_parcels_of(other(large_), b);
            return;
        }
        const std::int64_t Parcel::*const larger =
            large_ == Side::source ? &Parcel::source : &Parcel::destination;
        const std::int64_t Parcel::*const smaller =
            large_ == Side::source ? &Parcel::destination : &Parcel::source;
        const std::int64_t Parcel::*const mine = own_.side == large_ ? larger : smaller;
        const bool passes = numbers_.relay == Relay::butterfly && own_.side == large_;
        for (const Parcel& each : *all_) {
            const std::int64_t a = each.*larger, b = each.*smaller;
            if (each.*mine == own_.rank || (first <= b && b < last) || (passes && on_way(a, b)))
                parcels_.push_back(each);
        }
    }

    /// Whether the butterfly's route from a to the home of b passes this process: its distance from
    /// a is that of the home without the higher bits.
    bool on_way(std::int64_t a, std::int64_t b) const {
        const std::int64_t j = base::floor_mod(own_.rank - a, numbers_.n);
        const std::int64_t d = base::floor_mod(b * numbers_.n / numbers_.m - a, numbers_.n);
        const std::int64_t low =
            (std::int64_t{1} << std::bit_width(static_cast<std::uint64_t>(j))) - 1;
        return (d & low) == j;
    }

    /// All messages of centralized, without a route for each parcel.
    std::vector<OwnMessage> through_centre() const {
        std::optional<std::vector<Parcel>> found;
        if (all_ == nullptr) found = all_parcels(problem_);
        const std::vector<Parcel>& parcels = all_ == nullptr ? *found : *all_;
        const std::int64_t senders = problem_->source.size();
        std::vector<OwnMessage> in, out(at(problem_->destination.size()));
        for (const Parcel& parcel : parcels) {
            if (parcel.source != 0) {
                if (in.empty() || in.back().from.rank != parcel.source)
                    in.push_back({parcel.source, {Side::source, parcel.source}, own_, 0, {}});
                in.back().parcels.push_back(parcel);
            }
            out[at(parcel.destination)].parcels.push_back(parcel);
        }
        for (std::int64_t d = 0; d < problem_->destination.size(); ++d) {
            OwnMessage& message = out[at(d)];
            if (message.parcels.empty() || problem_->same(Side::destination, d) == 0) continue;
            message.from = own_;
            message.to = {Side::destination, d};
            message.round = senders + d;
            in.push_back(std::move(message));
        }
        for (OwnMessage& message : in)
            for (const Parcel& parcel : message.parcels) message.elements += parcel.elements;
        return in;
    }

    void route_all() {
        collect();
        const auto before = [](const Parcel& a, const Parcel& b) {
            return std::tie(a.source, a.destination) < std::tie(b.source, b.destination);
        };
        std::sort(parcels_.begin(), parcels_.end(), before);
        parcels_.erase(std::unique(parcels_.begin(), parcels_.end()), parcels_.end());
        const Routes ways =
            routes_of(strategy_, problem_->source.size(), problem_->destination.size(), stages_);
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
    bool turned() const { return numbers_.backwards && numbers_.relay != Relay::centre; }

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
    const std::vector<Parcel>* all_;
    RelayRounds numbers_;
    Side large_;
    std::vector<Parcel> parcels_;
    using Key = std::tuple<std::int64_t, std::int64_t, std::int64_t, Side>;
    std::map<Key, OwnMessage> messages_;
    Key last_key_{};
    OwnMessage* last_ = nullptr;
};

}  // namespace

bool needs_all_parcels(const Problem& problem, Strategy strategy) {
    const layout::Form &from = problem.source.form(), &to = problem.destination.form();
    if (!from.gridded() || !to.gridded()) return true;
    return from.copies > 1 && strategy != Strategy::staged;
}

bool has_own_routes(const std::shared_ptr<const Problem>& problem, Strategy strategy,
                    std::int64_t stages) {
    if (strategy == Strategy::direct) return false;
    if (needs_all_parcels(*problem, strategy)) return true;
    constexpr std::int64_t most = std::int64_t{1} << 24;
    const RelayRounds numbers(*problem, strategy, stages);
    const auto passes = [&](std::int64_t a, std::int64_t b) {
        return base::product_up_to(a, b, most + 1) <= most;
    };
    switch (numbers.relay) {
        case Relay::centre:
            return passes(numbers.n, numbers.m) || count_messages(problem) <= most;
        case Relay::few_stagers:
        case Relay::many_stagers:
            return passes(numbers.n, base::ceil_div(numbers.m, numbers.count));
        case Relay::butterfly:
            return passes(numbers.n, numbers.levels);
        case Relay::hybrid_groups:
            break;
    }
    return true;
}

std::vector<OwnMessage> own_routes(const std::shared_ptr<const Problem>& problem, Strategy strategy,
                                   std::int64_t stages, const SideRank& own,
                                   const std::vector<Parcel>* all) {
    return OwnRoutes(problem, strategy, stages, own, all).run();
}

std::int64_t own_rounds(const Problem& problem, Strategy strategy, std::int64_t stages) {
    return RelayRounds(problem, strategy, stages).all_rounds;
}

}  // namespace hocket::plan
