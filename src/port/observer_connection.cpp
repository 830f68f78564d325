// SPDX-License-Identifier: BSD-3-Clause
#include "port/observer_connection.hpp"

#include <algorithm>
#include <utility>

#include "base/platform.hpp"

namespace hocket::port {
namespace {

// Seconds in which an observer takes nothing, after which it is sent away.
constexpr double most_stalled = 10;

}  // namespace

ObserverConnection::ObserverConnection(Client client)
    : connection_(std::move(client.connection)),
      right_(client.right),
      // An encrypted line of this host passes no descriptors.
      may_map_(client.local && !connection_->stream().right()) {}

void ObserverConnection::send(net::MessageKind kind, const net::Writer& body,
                              std::shared_ptr<const void> owner,
                              std::span<const std::byte> shared) {
    if (!present()) return;
    connection_->send(static_cast<std::uint8_t>(kind), body.bytes(), std::move(owner), shared);
    drained_ = false;
}

void ObserverConnection::send(std::int64_t number, std::int64_t process, const Part& part) {
    if (!present()) return;
    if (part.lent) {
        const shm::Segment& segment = *part.lent;
        net::Writer body;
        net::write(body, net::LentPart{number, process, segment.inode});
        connection_->send_with(static_cast<std::uint8_t>(net::MessageKind::lent), body.bytes(),
                               part.lent, segment.file);
        drained_ = false;
        if (lent_.empty()) lent_at_ = platform::seconds();
        lent_.push_back(part.lent);
        lent_bytes_ += segment.bytes;
        return;
    }
    const std::span<const std::byte> all(part.data.get(), part.bytes);
    for (std::size_t first = 0; first < all.size(); first += longest_piece) {
        net::Writer body;
        body.i64(number).i64(process).i64(static_cast<std::int64_t>(first));
        send(net::MessageKind::part, body, part.data,
             all.subspan(first, std::min(longest_piece, all.size() - first)));
    }
}

LentMemory ObserverConnection::taken() {
    if (lent_.empty()) throw Error("it has taken a part that nobody has lent to it");
    auto memory = std::move(lent_.front());
    lent_.pop_front();
    lent_bytes_ -= memory->bytes;
    lent_at_ = platform::seconds();
    return memory;
}

void ObserverConnection::fail(std::int64_t number, const std::string& why) {
    net::Writer body;
    body.i64(number).text(why.substr(0, net::longest_text));
    send(net::MessageKind::failed, body);
}

void ObserverConnection::receive(const std::function<void(const net::Frame&)>& take) {
    constexpr int most_at_once = 16;
    for (int k = 0; k < most_at_once && connection_->queued() < most_queued; ++k) {
        const auto frame = connection_->receive();
        if (!frame) return;
        take(*frame);
    }
}

void ObserverConnection::refuse(const std::string& why) {
    lost_ = true;
    Listener::refuse(*connection_, why);
}

void ObserverConnection::flush(double until) {
    if (!present()) return;
    const bool waited = !drained_;
    try {
        drained_ = connection_->flush(until);
    } catch (const Error&) {
        lost_ = true;
    }
    // Its time begins when the last message has left.
    if (waited) lent_at_ = platform::seconds();
    if ((full() && connection_->stalled() > most_stalled) ||
        (!lent_.empty() && platform::seconds() > lent_at_ + most_stalled))
        lost_ = true;
}

}  // namespace hocket::port
