// SPDX-License-Identifier: BSD-3-Clause
// A process of another job: messages with tags over an ordered stream of bytes. A Link has one
// endpoint for each of its ranks that MPI does not reach.
//
// Invariant: messages of one tag stay in order, because their announcements travel on one stream,
// and each receive takes the oldest announcement of its tag. Invariant: no tag waits for another,
// because a long message travels only once a receive has accepted it. So a receiver holds at most
// `eager_window` bytes that no receive has asked for: this is the back-pressure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/byte_order.hpp"
#include "comm/interrupts.hpp"
#include "shm/liveness.hpp"

namespace hocket::comm {

/// Bytes to and from another process, in order. No function of it waits.
class ByteStream {
  public:
    virtual ~ByteStream() = default;
    /// Takes as many of the bytes as fit now, from the first on, and says how many.
    virtual std::int64_t write(const void* data, std::int64_t bytes) = 0;
    /// Gives at most so many bytes that have arrived, and says how many.
    virtual std::int64_t read(void* data, std::int64_t bytes) = 0;
    /// True once the system has all bytes that `write` took: they arrive even if this process ends.
    virtual bool flush() { return true; }
    /// Why no byte travels any more; nothing while the other process can be reached, or bytes that
    /// have arrived are not read yet: "its connection was closed".
    virtual std::optional<std::string> lost() = 0;
    /// False for one that opens at its first use, if neither process has used it.
    virtual bool opened() { return true; }
    /// How people call the other process: "process 2 of 'simulation'".
    virtual std::string name() const = 0;
};

class Endpoint {
  public:
    /// `other_order`: the other process stores the bytes of numbers in the other order.
    explicit Endpoint(std::unique_ptr<ByteStream> stream, bool other_order = false)
        : stream_(std::move(stream)), other_order_(other_order) {}
    Endpoint(const Endpoint&) = delete;
    Endpoint& operator=(const Endpoint&) = delete;
    /// The endpoint of a process to itself.
    static std::shared_ptr<Endpoint> loopback();

    /// A message under way.
    class Message {
      public:
        bool done() const { return done_; }
        /// Of a receive that is done: how many bytes came.
        std::int64_t bytes() const { return moved_; }

      private:
        friend class Endpoint;
        bool sending_ = false, done_ = false;
        int tag_ = 0;
        std::byte* data_ = nullptr;
        std::int64_t bytes_ = 0, moved_ = 0;
        std::int64_t number_ = 0;  // of a long message, for both ends
        std::int64_t end_ =
            0;  // of a short one: the position of its last byte among the bytes written
        std::string failed_;  // why it never will be done
    };
    using Handle = std::shared_ptr<Message>;

    /// Starts a message. `data` must live until it is done: until the system has all bytes.
    Handle send(const void* data, std::int64_t bytes, int tag);
    /// Starts the receive of at most so many bytes.
    Handle receive(void* data, std::int64_t bytes, int tag);
    /// The length of the next message of this tag that no receive has taken.
    std::optional<std::int64_t> probe(int tag);
    /// Touches the memory of the message no more. The receiver of a long one that has not left gets
    /// an error.
    void cancel(Message& message);

    /// Writes and reads what it can.
    void poll();
    /// Whether the message is done, after `poll`. @throws PeerLostError where it never will be;
    /// Error for one that the other end gave up, or that is longer than its receive.
    bool done(const Message& message);
    /// Why no message goes or comes any more.
    std::optional<std::string> lost();
    /// @throws PeerLostError, naming the process, if it is lost.
    void require_present();
    bool opened() { return stream_->opened(); }
    std::string name() const { return stream_->name(); }
    /// Something of it has come. A stopped process cannot be told from one that computes, so that
    /// the errors of deadlines say when this was.
    void note_arrival() { last_arrival_ = coarse_seconds(); }
    /// "process 1 of 'viewer' was last heard 12 s ago".
    std::string silence_text() const;
    bool other_order() const { return other_order_; }
    /// Its process, which may end before the stream opens; only one of this host can be seen.
    void watch(const shm::ProcessIdentity& process) {
        if (auto found = shm::ProcessMonitor::on(process)) monitor_.emplace(std::move(*found));
    }

    /// Up to so many bytes travel behind their announcement.
    static constexpr std::int64_t eager_limit = 16384;
    /// So many of these bytes at most wait for receives at the other end.
    static constexpr std::int64_t eager_window = std::int64_t{1} << 20;

  private:
    enum class Kind : std::int32_t { eager, announcement, acceptance, chunk, consumed, cancelled };
    struct Header {
        Kind kind;
        std::int32_t tag;
        std::int64_t number, bytes;
        /// As it travels, and back.
        Header little_endian() const {
            return {Kind{base::little_endian(static_cast<std::int32_t>(kind))},
                    base::little_endian(tag), base::little_endian(number),
                    base::little_endian(bytes)};
        }
        static Header at(const char* bytes) {
            Header header;
            std::memcpy(&header, bytes, sizeof header);
            return header.little_endian();
        }
    };
    struct Arrival {  // which no receive has taken
        std::int64_t number, bytes;
        std::optional<std::string> text;  // of a short message
        bool cancelled = false;
    };
    // A chunk of a long message, on its way from or to the memory of `message`.
    struct Chunk {
        Handle message;
        Header header;
        std::int64_t header_left = 0, left = 0;
        std::string rest = {};  // of a message that was cancelled meanwhile
    };

    void write(const Header& header);
    void write_out();
    bool write_chunk();
    void read_in();
    /// Takes what comes from `most`.
    std::int64_t read(void* data, std::int64_t bytes, std::int64_t& most) {
        const std::int64_t come = stream_->read(data, bytes);
        most -= come;
        if (come > 0) note_arrival();
        return come;
    }
    bool read_ahead_of(std::int64_t& most);
    bool read_chunk(std::int64_t& most);
    void end_chunk();
    void arrived(const Header& header, const char* payload);
    void match(const Handle& message, Arrival arrival);
    void fail(Message& message, const std::string& why);

    std::unique_ptr<ByteStream> stream_;
    double last_arrival_ = 0;  // coarse_seconds(); 0: never
    bool other_order_;
    std::optional<shm::ProcessMonitor> monitor_;
    double next_look_ = 0;         // whether it is lost
    double ended_at_ = 0;          // when its process was seen to have ended
    std::string broken_;           // why the stream's bytes make no sense
    std::int64_t numbers_ = 0;     // of long messages
    std::int64_t unreceived_ = 0;  // eager bytes here that no receive has taken
    std::int64_t unconsumed_ = 0,
                 consumed_ = 0;  // eager bytes: at the other end; here, not reported
    // Bytes to write between chunks; how many there were, and how many are written.
    std::string out_;
    std::size_t out_begin_ = 0;
    std::int64_t queued_ = 0, written_ = 0;
    std::deque<Handle> leaving_;              // short messages that are not with the system yet
    std::map<std::int64_t, Handle> waiting_;  // long ones that no receive has accepted
    std::deque<Handle> accepted_;
    Chunk going_, coming_;
    std::string in_;  // bytes read: from in_begin_ to in_end_
    std::size_t in_begin_ = 0, in_end_ = 0;
    std::map<int, std::deque<Arrival>> arrivals_;  // by tag
    std::map<int, std::deque<Handle>> posted_;     // receives, by tag
    std::map<std::int64_t, Handle> receiving_;     // long messages, by number
};

}  // namespace hocket::comm
