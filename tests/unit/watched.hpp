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

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool sanitizing = true;
#else
inline constexpr bool sanitizing = false;
#endif

/// `usual`, or `watched` where ThreadSanitizer looks on.
template <class Value>
constexpr Value by_watch(Value usual, Value watched) {
    return threads_watched ? watched : usual;
}

/// `usual`, or `sanitized` under a sanitizer, whose tests need the same code and not its scale.
template <class Value>
constexpr Value by_sanitizer(Value usual, Value sanitized) {
    return sanitizing ? sanitized : usual;
}

}  // namespace hocket::testing
