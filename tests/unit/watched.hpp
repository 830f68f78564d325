// SPDX-License-Identifier: BSD-3-Clause
// Under ThreadSanitizer everything takes ten times as long and more, and random arrays find no more
// races than a tenth of them: tests then do less of each kind.
#pragma once

namespace hocket::testing {

#ifdef __SANITIZE_THREAD__
inline constexpr bool threads_watched = true;
#else
inline constexpr bool threads_watched = false;
#endif

/// `usual`, or `watched` where ThreadSanitizer looks on.
template <class Value>
constexpr Value by_watch(Value usual, Value watched) {
    return threads_watched ? watched : usual;
}

}  // namespace hocket::testing
