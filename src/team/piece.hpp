// SPDX-License-Identifier: BSD-3-Clause
// What passes between a leader and those it leads, and how leaders join it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "shm/cell.hpp"
#include "team/call.hpp"
#include "team/round.hpp"

namespace hocket::team {

/// In the place of a header: the words that follow are a quarrel.
inline constexpr auto in_quarrel = ~std::uint64_t{0};
inline constexpr std::size_t quarrel_words = 5;

inline shm::Words packed(const Quarrel& quarrel) {
    return {in_quarrel, quarrel.low_process, quarrel.low, quarrel.high_process, quarrel.high};
}
/// Of words that begin with `in_quarrel`.
template <class Words>
Quarrel quarrel_in(const Words& words) {
    return {words[1], words[2], words[3], words[4]};
}

/// What some processes have said together. The first of them speaks for them.
struct Piece {
    std::size_t place = 0;  // of the speaker
    std::uint64_t header = 0, value = 0;
    std::optional<std::uint64_t> before =
        {};  // in a scan's answers: what all before them have said
    std::optional<Quarrel> quarrel = {};

    static constexpr std::size_t words = quarrel_words;
    shm::Words packed() const;
    static Piece unpacked(std::size_t place, const shm::Words& cell);
};

/// What these have said together, in order. At least one.
Piece joined(const Round& round, const std::vector<Piece>& said);

/// What each is told, of what they have `said`, in order: what `all` have said; in a scan, what has
/// been said up to it, and before it. What they said is folded before what was said before them
/// joins it, so that the last of a scan has what a reduction has, to the bit.
std::vector<Piece> told(const Round& round, const std::vector<Piece>& said, const Piece& all);

}  // namespace hocket::team
