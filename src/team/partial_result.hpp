// SPDX-License-Identifier: BSD-3-Clause
// Partial results, which leaders and their members exchange, and their combination.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "shm/flag.hpp"
#include "team/call.hpp"
#include "team/round.hpp"

namespace hocket::team {

/// In place of a header: a mismatch follows.
inline constexpr auto mismatch_marker = ~std::uint64_t{0};
inline constexpr std::size_t mismatch_words = 5;

inline shm::Payload packed(const Mismatch& mismatch) {
    return {mismatch_marker, mismatch.low_process, mismatch.low, mismatch.high_process,
            mismatch.high};
}
/// `words` begin with `mismatch_marker`.
template <class Words>
Mismatch mismatch_in(const Words& words) {
    return {words[1], words[2], words[3], words[4]};
}

/// The combined values of some processes, sent by the first of them.
struct PartialResult {
    std::size_t member = 0;  // index of the sender
    std::uint64_t header = 0, value = 0;
    std::optional<std::uint64_t> before =
        {};  // in answers of a scan: the fold of all values before theirs
    std::optional<Mismatch> mismatch = {};

    static constexpr std::size_t words = mismatch_words;
    shm::Payload packed() const;
    static PartialResult unpacked(std::size_t member, const shm::Payload& cell);
};

/// Combines partial results in order. At least one.
PartialResult combined(const Round& round, const std::vector<PartialResult>& published);

/// The answers to the senders of `published`, in order: the fold of all values; in a scan, the fold
/// up to each sender, and the fold before it. Invariant: the last process of a scan gets the bits
/// of a reduction: `all`, which in a scan folds the values up to the last sender.
std::vector<PartialResult> answers_of(const Round& round,
                                      const std::vector<PartialResult>& published,
                                      const PartialResult& all);

}  // namespace hocket::team
