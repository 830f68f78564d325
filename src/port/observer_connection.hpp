// SPDX-License-Identifier: BSD-3-Clause
// A connection to an observer. Long answers leave in a thread of the pool, so that `poll` neither
// copies them into sockets nor encrypts them.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>

#include "base/pool.hpp"
#include "net/connection.hpp"
#include "net/key.hpp"
#include "net/observer_messages.hpp"

namespace hocket::port {

class ObserverConnection {
  public:
    ObserverConnection(std::unique_ptr<net::Connection> connection, net::Right right)
        : connection_(std::move(connection)), right_(right) {}
    ~ObserverConnection();
    ObserverConnection(const ObserverConnection&) = delete;
    ObserverConnection& operator=(const ObserverConnection&) = delete;

    net::Right right() const { return right_; }
    /// False once it has left, or takes no byte any more.
    bool present() const { return !lost_; }
    void leave() { lost_ = true; }
    /// Queues a message. `shared` follows `body`, and stays where it is until it is sent.
    void send(net::MessageKind kind, const net::Writer& body,
              std::shared_ptr<const void> owner = {}, std::span<const std::byte> shared = {});
    void fail(std::int64_t number, const std::string& why);
    /// Passes all requests on that have come; none while the other thread sends. @throws what
    /// `take` throws.
    void receive(const std::function<void(const net::Frame&)>& take);
    /// Sends short messages now, and begins to send long ones. Never waits.
    void flush();
    /// Sends the reason, and ends the connection.
    void refuse(const std::string& why);
    /// Bytes that have not left yet.
    std::size_t queued() const { return queued_; }
    /// Whether the system takes no byte now, because the observer has not taken the last ones.
    bool full() const { return full_; }
    /// Whether the system has all bytes.
    bool drained() const { return drained_ && queued_ == 0; }

  private:
    struct Message {
        net::MessageKind kind;
        net::Bytes body;
        std::shared_ptr<const void> owner;
        std::span<const std::byte> shared;
    };
    bool write_out();
    void serve();

    std::unique_ptr<net::Connection> connection_;  // by the thread that holds io_
    net::Right right_;
    std::mutex io_, messages_lock_;
    std::deque<Message> messages_;
    std::atomic<std::size_t> queued_{0};
    std::atomic<bool> lost_{false}, serving_{false}, claimed_{true}, ends_{false}, drained_{true},
        full_{false};
    double began_ = 0;
    std::unique_ptr<base::ServiceThreads> thread_;  // last: it ends before its data
};

}  // namespace hocket::port
