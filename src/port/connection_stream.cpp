// SPDX-License-Identifier: BSD-3-Clause
#include "port/connection_stream.hpp"

#include <algorithm>
#include <cstring>

#include "comm/interrupts.hpp"

namespace hocket::port {
namespace {

constexpr double between_checks = 0.1;

}  // namespace

// False while it is not open.
bool ConnectionStream::open(bool wanted) {
    if (connection_) return true;
    if (lost_) return false;
    try {
        connection_ = opening_->connection(process_, wanted);
        if (!connection_ && !opening_->awaits(process_))
            if (const auto why = opening_->lost()) lost_ = why;
    } catch (const Error& error) {
        lose(error.what());
    }
    return connection_ != nullptr;
}

void ConnectionStream::lose(const std::string& why) {
    lost_ = why;
    opening_->lose(name_ + " is lost: " + why);
}

std::int64_t ConnectionStream::write(const void* data, std::int64_t bytes) {
    if (lost_ || !open(true)) return 0;
    try {
        if (!connection_->flush()) return 0;
        const auto* const first = static_cast<const std::byte*>(data);
        const std::span all(first, static_cast<std::size_t>(bytes));
        return static_cast<std::int64_t>(connection_->stream().write(all));
    } catch (const net::Disconnected&) {
        return 0;  // what has arrived is read first; then that throws, too
    } catch (const Error& error) {
        lose(error.what());
        return 0;
    }
}

std::int64_t ConnectionStream::read(void* data, std::int64_t bytes) {
    if (lost_ || !open(false)) return 0;
    const std::span into(static_cast<std::byte*>(data), static_cast<std::size_t>(bytes));
    try {
        // The bytes that arrived together with the answer to the hello.
        const auto early = connection_->arrived();
        if (early.empty()) return static_cast<std::int64_t>(connection_->stream().read(into));
        const auto part = early.first(std::min(early.size(), into.size()));
        std::copy(part.begin(), part.end(), into.begin());
        connection_->drop(part.size());
        return static_cast<std::int64_t>(part.size());
    } catch (const Error& error) {
        lose(error.what());
        return 0;
    }
}

bool ConnectionStream::flush() {
    if (!connection_) return true;
    try {
        return connection_->flush();
    } catch (const Error&) {
        return true;  // nothing travels any more, as a read finds
    }
}

std::optional<std::string> ConnectionStream::lost() {
    const double now = comm::coarse_seconds();
    if (!lost_ && open(true) && now >= next_check_) {
        next_check_ = now + between_checks;
        try {
            connection_->stream().require_answers();
        } catch (const net::Disconnected& error) {
            lose(error.what());
        }
    }
    return lost_;
}

}  // namespace hocket::port
