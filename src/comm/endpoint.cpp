// SPDX-License-Identifier: BSD-3-Clause
#include "comm/endpoint.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/text.hpp"
#include "hocket/error.hpp"

namespace hocket::comm {
namespace {

// Short enough that what goes between two of them does not wait long.
constexpr std::int64_t chunk_bytes = std::int64_t{256} << 10;
constexpr std::size_t read_ahead = std::size_t{64} << 10;
// Reading ends now and then, so that its caller works on what has come.
constexpr double between_polls = 10e-3;  // seconds
// A stream that the process opened before its end is seen earlier.
constexpr double after_an_end = 0.2;  // seconds
constexpr std::int64_t most_a_poll = std::int64_t{4} << 20;

}  // namespace

Endpoint::Handle Endpoint::send(const void* data, std::int64_t bytes, int tag) {
    auto message = std::make_shared<Message>();
    message->sending_ = true;
    message->tag_ = tag;
    message->data_ = static_cast<std::byte*>(const_cast<void*>(data));  // it is only read
    message->bytes_ = bytes;
    const std::int64_t held = bytes + std::int64_t{sizeof(Header)};
    if (bytes <= eager_limit && unconsumed_ + held <= eager_window) {
        unconsumed_ += held;
        write({Kind::eager, tag, 0, bytes});
        out_.append(static_cast<const char*>(data), static_cast<std::size_t>(bytes));
        queued_ += bytes;
        message->end_ = queued_;
        leaving_.push_back(message);
    } else {
        message->number_ = ++numbers_;
        waiting_.emplace(message->number_, message);
        write({Kind::announcement, tag, message->number_, bytes});
    }
    write_out();
    return message;
}

Endpoint::Handle Endpoint::receive(void* data, std::int64_t bytes, int tag) {
    auto message = std::make_shared<Message>();
    message->tag_ = tag;
    message->data_ = static_cast<std::byte*>(data);
    message->bytes_ = bytes;
    const auto come = arrivals_.find(tag);
    if (come == arrivals_.end()) {
        posted_[tag].push_back(message);
        return message;
    }
    Arrival arrival = std::move(come->second.front());
    come->second.pop_front();
    if (come->second.empty()) arrivals_.erase(come);
    match(message, std::move(arrival));
    write_out();
    return message;
}

std::optional<std::int64_t> Endpoint::probe(int tag) {
    auto come = arrivals_.find(tag);
    if (come == arrivals_.end()) {
        poll();
        come = arrivals_.find(tag);
    }
    if (come == arrivals_.end()) return std::nullopt;
    return come->second.front().bytes;
}

void Endpoint::match(const Handle& message, Arrival arrival) {
    if (arrival.cancelled) return fail(*message, "the sender gave this message up");
    const bool fits = arrival.bytes <= message->bytes_;
    if (!fits)
        fail(*message, "a message of " + std::to_string(arrival.bytes) +
                           " bytes has come, where this process receives " +
                           std::to_string(message->bytes_));
    if (arrival.text) {
        unreceived_ -= arrival.bytes + std::int64_t{sizeof(Header)};
        if (fits && arrival.bytes > 0)
            std::memcpy(message->data_, arrival.text->data(), arrival.text->size());
        message->moved_ = arrival.bytes;
        message->done_ = true;
        consumed_ += arrival.bytes + std::int64_t{sizeof(Header)};
        if (consumed_ < eager_window / 4) return;
        write({Kind::consumed, 0, 0, consumed_});
        consumed_ = 0;
        return;
    }
    const Handle target = fits ? message : std::make_shared<Message>();
    target->number_ = arrival.number;
    target->bytes_ = arrival.bytes;
    receiving_.emplace(arrival.number, target);
    write({Kind::acceptance, 0, arrival.number, 0});
}

void Endpoint::fail(Message& message, const std::string& why) {
    message.failed_ = name() + ": " + why + " (tag " + std::to_string(message.tag_) + ")";
    message.data_ = nullptr;
}

void Endpoint::cancel(Message& message) {
    const std::byte* const data = std::exchange(message.data_, nullptr);  // what comes is dropped
    if (message.done_) return;
    const auto same = [&](const Handle& each) { return each.get() == &message; };
    if (!message.sending_) {
        const auto posted = posted_.find(message.tag_);
        if (posted == posted_.end()) return;
        std::erase_if(posted->second, same);
        if (posted->second.empty()) posted_.erase(posted);
    } else if (message.number_ != 0) {
        // The chunk under way was announced with its length.
        if (going_.message.get() == &message && data != nullptr)
            going_.rest.assign(reinterpret_cast<const char*>(data + message.moved_),
                               static_cast<std::size_t>(going_.left));
        waiting_.erase(message.number_);
        std::erase_if(accepted_, same);
        write({Kind::cancelled, message.tag_, message.number_, 0});
        write_out();
    }
}

void Endpoint::poll() {
    write_out();
    read_in();
    if (!out_.empty() || !accepted_.empty()) write_out();
}

bool Endpoint::done(const Message& message) {
    if (!message.failed_.empty()) throw Error(message.failed_);
    if (!message.done_) require_present();
    return message.done_;
}

// A wait for messages by shared memory polls no stream, so this function reads now and then. It
// reports an end that it finds itself only at the next call: messages that came with the end are
// looked for first.
std::optional<std::string> Endpoint::lost() {
    auto why = broken_.empty() ? stream_->lost() : broken_;
    if (const double now = coarse_seconds(); now >= next_look_) {
        next_look_ = now + between_polls;
        read_in();
        if (!why && monitor_ && !stream_->opened() && monitor_->ended()) {
            if (ended_at_ == 0) ended_at_ = now;
            if (now - ended_at_ > after_an_end) why = broken_ = "its process has ended";
        }
    }
    return why;
}

std::string Endpoint::silence_text() const {
    if (last_arrival_ == 0) return name() + " has not been heard yet";
    return name() + " was last heard " + text::seconds(coarse_seconds() - last_arrival_) + " ago";
}

void Endpoint::require_present() {
    if (const auto why = lost())
        throw JobLostError(name() + " is lost: " + *why +
                           "; this process waits for a message of it, which will not come");
}

void Endpoint::write(const Header& header) {
    const Header sent = header.little_endian();
    out_.append(reinterpret_cast<const char*>(&sent), sizeof sent);
    queued_ += std::int64_t{sizeof sent};
}

void Endpoint::write_out() {
    for (;;) {
        if (going_.message != nullptr && !write_chunk()) break;
        if (!out_.empty()) {
            const std::int64_t taken = stream_->write(
                out_.data() + out_begin_, static_cast<std::int64_t>(out_.size() - out_begin_));
            out_begin_ += static_cast<std::size_t>(taken);
            written_ += taken;
            if (out_begin_ < out_.size()) break;
            out_.clear();
            out_begin_ = 0;
        }
        if (accepted_.empty()) break;
        going_.message = std::move(accepted_.front());
        accepted_.pop_front();
        const Message& message = *going_.message;
        going_.left = std::min(message.bytes_ - message.moved_, chunk_bytes);
        going_.header =
            Header{Kind::chunk, message.tag_, message.number_, going_.left}.little_endian();
        going_.header_left = sizeof(Header);
    }
    if (!stream_->flush()) return;
    while (!leaving_.empty() && leaving_.front()->end_ <= written_) {
        leaving_.front()->done_ = true;
        leaving_.pop_front();
    }
}

// False if the stream takes no byte now.
bool Endpoint::write_chunk() {
    Message& message = *going_.message;
    while (going_.header_left > 0) {
        const auto* const end = reinterpret_cast<const std::byte*>(&going_.header + 1);
        const std::int64_t taken = stream_->write(end - going_.header_left, going_.header_left);
        if (taken == 0) return false;
        going_.header_left -= taken;
    }
    while (going_.left > 0) {
        const void* const from =
            message.data_ != nullptr
                ? static_cast<const void*>(message.data_ + message.moved_)
                : going_.rest.data() +
                      (static_cast<std::int64_t>(going_.rest.size()) - going_.left);
        const std::int64_t taken = stream_->write(from, going_.left);
        if (taken == 0) return false;
        going_.left -= taken;
        message.moved_ += taken;
    }
    message.end_ = written_;
    if (message.data_ != nullptr || message.bytes_ == 0)  // else it is cancelled
        (message.moved_ == message.bytes_ ? leaving_ : accepted_).push_back(going_.message);
    going_ = {};
    return true;
}

void Endpoint::read_in() {
    std::int64_t most = most_a_poll;
    while (broken_.empty()) {
        if (coming_.left > 0) {
            if (!read_chunk(most)) return;
            continue;
        }
        const std::size_t there = in_end_ - in_begin_;
        if (there >= sizeof(Header)) {
            const Header header = Header::at(in_.data() + in_begin_);
            const bool eager = header.kind == Kind::eager;
            if (header.bytes < 0 || (eager && header.bytes > eager_limit)) {
                broken_ = "it sends bytes that are no message";
                return;
            }
            const std::size_t whole =
                sizeof header + (eager ? static_cast<std::size_t>(header.bytes) : 0);
            if (there >= whole) {
                const char* const payload = in_.data() + in_begin_ + sizeof header;
                in_begin_ += whole;
                arrived(header, payload);
                continue;
            }
        }
        if (!read_ahead_of(most)) return;
    }
}

// Makes the bytes that are there more.
bool Endpoint::read_ahead_of(std::int64_t& most) {
    if (most <= 0) return false;
    in_.resize(read_ahead);
    std::memmove(in_.data(), in_.data() + in_begin_, in_end_ - in_begin_);
    in_end_ -= in_begin_;
    in_begin_ = 0;
    const std::int64_t come =
        read(in_.data() + in_end_, static_cast<std::int64_t>(read_ahead - in_end_), most);
    in_end_ += static_cast<std::size_t>(come);
    return come > 0;
}

// False where nothing has come. Long chunks go straight to their memory.
bool Endpoint::read_chunk(std::int64_t& most) {
    Message& message = *coming_.message;
    std::byte* const to = message.data_ != nullptr ? message.data_ + message.moved_ : nullptr;
    std::int64_t come =
        std::min<std::int64_t>(static_cast<std::int64_t>(in_end_ - in_begin_), coming_.left);
    if (come > 0) {
        if (to != nullptr) std::memcpy(to, in_.data() + in_begin_, static_cast<std::size_t>(come));
        in_begin_ += static_cast<std::size_t>(come);
    } else if (to == nullptr || coming_.left < static_cast<std::int64_t>(read_ahead)) {
        return read_ahead_of(most);
    } else {
        if (most <= 0) return false;
        come = read(to, coming_.left, most);
        if (come == 0) return false;
    }
    message.moved_ += come;
    coming_.left -= come;
    if (coming_.left == 0) end_chunk();
    return true;
}

void Endpoint::end_chunk() {
    const Handle message = std::move(coming_.message);
    coming_.message = nullptr;
    if (message->moved_ < message->bytes_) return;
    message->done_ = true;
    receiving_.erase(message->number_);
}

void Endpoint::arrived(const Header& header, const char* payload) {
    const auto long_one = receiving_.find(header.number);
    switch (header.kind) {
        case Kind::eager:
        case Kind::announcement: {
            Arrival arrival{header.number, header.bytes, std::nullopt};
            if (header.kind == Kind::eager)
                arrival.text.emplace(payload, static_cast<std::size_t>(header.bytes));
            if (arrival.text) unreceived_ += arrival.bytes + std::int64_t{sizeof(Header)};
            if (unreceived_ > eager_window) break;
            const auto posted = posted_.find(header.tag);
            if (posted == posted_.end()) {
                arrivals_[header.tag].push_back(std::move(arrival));
                return;
            }
            const Handle message = std::move(posted->second.front());
            posted->second.pop_front();
            if (posted->second.empty()) posted_.erase(posted);
            return match(message, std::move(arrival));
        }
        case Kind::acceptance:
            if (const auto sent = waiting_.find(header.number); sent != waiting_.end()) {
                accepted_.push_back(std::move(sent->second));
                waiting_.erase(sent);
            }
            return;
        case Kind::chunk:
            if (long_one == receiving_.end() ||
                header.bytes > long_one->second->bytes_ - long_one->second->moved_)
                break;
            coming_.message = long_one->second;
            coming_.left = header.bytes;
            if (coming_.left == 0) end_chunk();
            return;
        case Kind::consumed:
            unconsumed_ -= header.bytes;
            return;
        case Kind::cancelled:
            if (long_one != receiving_.end()) {
                fail(*long_one->second, "the sender gave this message up");
                receiving_.erase(long_one);
            } else if (const auto come = arrivals_.find(header.tag); come != arrivals_.end()) {
                for (Arrival& each : come->second)
                    each.cancelled = each.cancelled || each.number == header.number;
            }
            return;
    }
    broken_ = "it sends bytes that are no message";
}

}  // namespace hocket::comm
