// SPDX-License-Identifier: BSD-3-Clause
// What passes between a leader and those it leads, and how leaders join it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "shm/flag.hpp"
#include "team/call.hpp"
#include "team/round.hpp"

namespace hocket::team {

/// In the place of a header: the words that follow are a quarrel.
inline constexpr auto mismatch_marker = ~std::uint64_t{0};
inline constexpr std::size_t mismatch_words = 5;

inline shm::Payload packed(const Mismatch& mismatch) {
    return {mismatch_marker, mismatch.low_process, mismatch.low, mismatch.high_process,
            mismatch.high};
}
/// Of words that begin with `mismatch_marker`.
template <class Words>
Mismatch mismatch_in(const Words& words) {
    return {words[1], words[2], words[3], words[4]};
}

/// What some processes have said together. The first of them speaks for them.
struct PartialResult {
    std::size_t member = 0;  // of the speaker
    std::uint64_t header = 0, value = 0;
    std::optional<std::uint64_t> before =
        {};  // in a scan's answers: what all before them have said
    std::optional<Mismatch> mismatch = {};

    static constexpr std::size_t words = mismatch_words;
    shm::Payload packed() const;
    static PartialResult unpacked(std::size_t member, const shm::Payload& cell);
};

/// What these have said together, in order. At least one.
PartialResult combined(const Round& round, const std::vector<PartialResult>& published);

/// What each is told, of what they have `published`, in order: what `all` have said; in a scan,
/// what has been said up to it, and before it. What they said is folded before what was said before
/// them joins it, so that the last of a scan has what a reduction has, to the bit.
std::vector<PartialResult> answers_of(const Round& round,
                                      const std::vector<PartialResult>& published,
                                      const PartialResult& all);

}  // namespace hocket::team
