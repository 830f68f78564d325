// SPDX-License-Identifier: BSD-3-Clause
#include "transport/buffers.hpp"

#include <string>

#include "base/environment.hpp"
#include "hocket/error.hpp"
#include "transport/message.hpp"

namespace hocket::transport {
namespace {

// One piece out, one in, and a ring for a message within the node.
constexpr std::int64_t least_buffers = 4 * piece_bytes;
constexpr std::int64_t unless_requested = std::int64_t{256} << 20;
const environment::ValidatedSetting checked_buffers([] { static_cast<void>(requested_buffers()); });
// Operations on whole arrays divide their work by it.
const environment::JobSetting buffers("HOCKET_MAX_BUFFER",
                                      [] { return std::to_string(default_buffers()); });

}  // namespace

void require_enough(std::int64_t max_buffer) {
    if (max_buffer < least_buffers)
        throw Error("max_buffer is " + std::to_string(max_buffer) +
                    " bytes, but messages travel in pieces of " + std::to_string(piece_bytes) +
                    "; give it " + std::to_string(least_buffers) + " (2 MiB) or more");
}

std::optional<std::int64_t> requested_buffers() {
    static const std::optional<std::int64_t> asked = [] {
        const auto given = environment::bytes("HOCKET_MAX_BUFFER");
        if (given && *given < least_buffers)
            throw Error("HOCKET_MAX_BUFFER is '" + *environment::value_of("HOCKET_MAX_BUFFER") +
                        "', but messages travel in pieces of 512 KiB; give 2M or more");
        return given;
    }();
    return asked;
}

std::int64_t default_buffers() {
    return requested_buffers().value_or(unless_requested);
}

}  // namespace hocket::transport
