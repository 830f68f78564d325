// SPDX-License-Identifier: BSD-3-Clause
// An all-to-all within the memory of each array. Pairs exchange equal amounts through a bounded
// buffer, or swap them if one can map the other's memory; then surpluses follow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "comm/link.hpp"
#include "comm/protocol.hpp"
#include "remap/remap_plan.hpp"

namespace hocket::remap {

/// The partner of player `own` in a round of a tournament in which every two players meet once
/// (rounds(players) rounds); -1 in a round that it skips. The circle method works for any number of
/// players; a bitwise exclusive or of the numbers would need a power of two.
int partner_in_round(int own, int players, int round);
inline int rounds(int players) {
    return players - 1 + players % 2;
}

/// The exchange of a stage. Process r of the layout is rank r of the link. `number`: of the call,
/// as Route::call. `array` has memory for the sent and for the received chunks. Beside it the
/// exchange uses `exchange_buffer` bytes, and as many again to pack runs.
comm::Protocol<> exchange_inplace(comm::Link& link, int tag, std::int64_t number,
                                  const RemapStage& exchange, std::byte* array, int threads);

inline constexpr std::int64_t exchange_piece = std::int64_t{1} << 20;
inline constexpr std::int64_t exchange_buffer = 2 * exchange_piece;

}  // namespace hocket::remap
