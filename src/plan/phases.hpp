// SPDX-License-Identifier: BSD-3-Clause
// The messages of strategies with relays as the cost model needs them: without their parcels.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "plan/routing.hpp"

namespace hocket::plan {

struct PhaseMessage {
    std::int64_t phase;  ///< in the order of time
    SideRank from, to;
    std::int64_t elements;
    bool relayed;  ///< contains relayed parcels
};

/// The messages of `make_routing` for centralized, staged and multistage, in a few additions a
/// parcel.
class PhaseMessages {
  public:
    using Visit = std::function<void(const PhaseMessage&)>;
    /// `parcels`: all of the plan; they must outlive this object.
    PhaseMessages(const Problem& problem, std::span<const Parcel> parcels);
    /// Visits one phase after the other, from the first to the last or backwards.
    void run(Strategy strategy, std::int64_t stages, const Visit& visit) const;

  private:
    void centralized(const Visit& visit) const;
    void staged_few(std::int64_t count, const Visit& visit) const;
    void staged_many(std::int64_t count, const Visit& visit) const;
    void multistage(const Visit& visit) const;

    // As in routes.cpp, the larger side (`n_` processes) sends and the smaller one (`m_`) receives.
    // If it is the other way round, `send` reverses messages and phases. A parcel's process on the
    // larger side is `a`, that on the smaller side `b`.
    SideRank large(std::int64_t rank) const {
        return {backwards_ ? Side::destination : Side::source, rank};
    }
    SideRank small(std::int64_t rank) const {
        return {backwards_ ? Side::source : Side::destination, rank};
    }
    struct Sum;
    void send(const Visit& visit, std::int64_t phase, std::int64_t phases, const SideRank& from,
              const SideRank& to, const Sum& sum) const;
    std::array<bool, 3> without_loops(std::array<std::int64_t, 4> stops) const;

    const Problem& problem_;
    bool backwards_;
    std::int64_t n_, m_;
    std::vector<std::int64_t> smaller_, larger_;  // numbers of the processes
    std::vector<Parcel> turned_;                  // if backwards
    std::span<const Parcel> by_larger_;           // (a, b, elements), by a, then b
};

}  // namespace hocket::plan
