// SPDX-License-Identifier: BSD-3-Clause
#include "port/observer_connection.hpp"

#include <utility>

#include "base/platform.hpp"
#include "port/listener.hpp"

namespace hocket::port {
namespace {

// Less is sent in `poll`: a thread costs more.
constexpr std::size_t longest_inline = std::size_t{64} << 10;
// Seconds without a byte taken, after which an observer is sent away.
constexpr double most_stalled = 10;
// Seconds until a thread has begun, on a machine that allows no more threads.
constexpr double start_timeout = 0.05;
constexpr double longest_wait = 0.005;  // seconds, after which the sending thread looks around

}  // namespace

ObserverConnection::~ObserverConnection() {
    ends_ = true;
    thread_.reset();
}

void ObserverConnection::send(net::MessageKind kind, const net::Writer& body,
                              std::shared_ptr<const void> owner,
                              std::span<const std::byte> shared) {
    if (!present()) return;
    const std::scoped_lock lock(messages_lock_);
    queued_ += body.bytes().size() + shared.size();
    messages_.push_back(
        {kind, {body.bytes().begin(), body.bytes().end()}, std::move(owner), shared});
}

void ObserverConnection::fail(std::int64_t number, const std::string& why) {
    net::Writer body;
    body.i64(number).text(why.substr(0, net::longest_text));
    send(net::MessageKind::failed, body);
}

void ObserverConnection::receive(const std::function<void(const net::Frame&)>& take) {
    const std::unique_lock io(io_, std::try_to_lock);
    if (!io) return;
    while (const auto frame = connection_->receive()) take(*frame);
}

void ObserverConnection::refuse(const std::string& why) {
    lost_ = true;
    if (const std::unique_lock io(io_, std::try_to_lock); io) Listener::refuse(*connection_, why);
}

// By the thread that holds io_, one message at a time: true once all have left.
bool ObserverConnection::write_out() {
    drained_ = false;
    for (;;) {
        full_ = !connection_->flush();
        if (full_) {
            if (connection_->stalled() > most_stalled) lost_ = true;
            return false;
        }
        Message message;
        {
            const std::scoped_lock lock(messages_lock_);
            if (messages_.empty()) {
                drained_ = true;
                return true;
            }
            message = std::move(messages_.front());
            messages_.pop_front();
        }
        queued_ -= message.body.size() + message.shared.size();
        connection_->send(static_cast<std::uint8_t>(message.kind), message.body,
                          std::move(message.owner), message.shared);
    }
}

void ObserverConnection::serve() {
    if (claimed_.exchange(true)) return;
    bool left = false;
    while (!left && !ends_ && !lost_) {
        try {
            const std::scoped_lock io(io_);
            left = write_out();
            if (left) break;
        } catch (const std::exception&) {
            lost_ = true;
            break;
        }
        net::wait_for(connection_->stream().descriptor(), true, longest_wait);
    }
    serving_ = false;
}

void ObserverConnection::flush() {
    if (!present()) return;
    if (serving_) {
        if (claimed_ || platform::seconds() < began_ + start_timeout || claimed_.exchange(true))
            return;
        thread_.reset();
        serving_ = false;
    } else if (queued_ > longest_inline && !platform::simulated) {
        thread_.reset();
        began_ = platform::seconds();
        claimed_ = false;
        serving_ = true;
        thread_ = std::make_unique<base::ServiceThreads>(1, [this](int) { serve(); });
        return;
    }
    try {
        const std::unique_lock io(io_, std::try_to_lock);
        if (io) static_cast<void>(write_out());
    } catch (const Error&) {
        lost_ = true;
    }
}

}  // namespace hocket::port
