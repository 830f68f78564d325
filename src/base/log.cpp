// SPDX-License-Identifier: BSD-3-Clause
#include "base/log.hpp"

#include <atomic>

namespace hocket {
namespace {

constexpr int nothing = 1 << 30;
std::atomic<int> from_level{nothing};
std::atomic<void (*)(LogLevel, const char*)> listener{nullptr};

}  // namespace

void set_log(void (*sink)(LogLevel level, const char* text), LogLevel from) {
    listener = sink;
    from_level = sink == nullptr ? nothing : static_cast<int>(from);
}

namespace log {

bool enabled(LogLevel level) {
    return static_cast<int>(level) >= from_level.load(std::memory_order_relaxed);
}

void write(LogLevel level, const std::string& text) {
    const auto sink = listener.load();
    if (sink != nullptr && enabled(level)) sink(level, text.c_str());
}

}  // namespace log
}  // namespace hocket
