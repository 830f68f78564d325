// SPDX-License-Identifier: BSD-3-Clause
// A connection to an observer. Nothing here waits: bytes leave as far as the system takes them.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "net/connection.hpp"
#include "net/key.hpp"
#include "net/observer_messages.hpp"
#include "port/listener.hpp"
#include "port/part_memory.hpp"

namespace hocket::port {

/// The most bytes of an array, or of a list, in one message; of answers that wait, but for one
/// part.
inline constexpr std::size_t longest_piece = std::size_t{1} << 20,
                             most_queued = std::size_t{16} << 20;

class ObserverConnection {
  public:
    explicit ObserverConnection(Client client);

    net::Right right() const { return right_; }
    /// Whether it may be lent memory: it is on this host, and of our user.
    bool may_map() const { return may_map_; }
    /// False once it has left, or takes nothing any more.
    bool present() const { return !lost_; }
    void leave() { lost_ = true; }
    /// Queues a message. `shared` follows `body`, and stays where it is until it is sent.
    void send(net::MessageKind kind, const net::Writer& body,
              std::shared_ptr<const void> owner = {}, std::span<const std::byte> shared = {});
    /// Queues a part of a picture.
    void send(std::int64_t number, std::int64_t process, const Part& part);
    void fail(std::int64_t number, const std::string& why);
    /// Passes requests on that have come, at most a few, and none while many answers wait: one that
    /// asks without end gets no more of the program's time and memory. @throws what `take` throws.
    void receive(const std::function<void(const net::Frame&)>& take);
    /// It has read the part that was lent first. @throws Error where none is lent.
    LentMemory taken();
    /// Sends until that time, or as long as the system takes bytes.
    void flush(double until);
    /// Sends the reason, and ends the connection.
    void refuse(const std::string& why);
    /// Bytes that have not left yet, or are lent.
    std::size_t queued() const { return connection_->queued() + lent_bytes_; }
    /// Whether the system takes no byte now, because the observer has not taken the last ones.
    bool full() const { return connection_->full(); }
    /// Whether the system has all bytes.
    bool drained() const { return drained_ && connection_->queued() == 0; }

    std::int64_t catalog = 0;  // the number of the list that it has, or will have

  private:
    std::unique_ptr<net::Connection> connection_;
    net::Right right_;
    bool may_map_, lost_ = false, drained_ = true;
    std::deque<LentMemory> lent_;  // not read yet; never used again if it leaves
    std::size_t lent_bytes_ = 0;
    double lent_at_ = 0;  // or when it has read one, if that was later
};

}  // namespace hocket::port
