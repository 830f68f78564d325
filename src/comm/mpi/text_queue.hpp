// SPDX-License-Identifier: BSD-3-Clause
// The texts that come to this process on one communicator, whatever their tags. One receive from
// any process is open ahead of them. So a wait calls MPI once for the texts of all operations,
// which would each take a probe and a receive of their own.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "comm/link.hpp"

namespace hocket::comm {

class TextQueue {
  public:
    /// Opens the receive. `mpi_tag`: that of all texts. `unreceived`: as `Link::unreceived`; lives
    /// as long.
    TextQueue(MPI_Comm comm, int mpi_tag, std::int64_t& unreceived);
    /// Closes the receive.
    ~TextQueue();
    TextQueue(const TextQueue&) = delete;
    TextQueue& operator=(const TextQueue&) = delete;

    /// The next text with this tag, from a rank of the communicator or from any (negative). A
    /// longer one than `longest` has come only as far as its header: its sender sends the rest by
    /// its own tag.
    std::optional<ProbeResult> next(int from, int tag);
    /// The message that its sender sends for this text.
    static std::string message(const std::string& text, int tag);
    static bool is_long(std::int64_t bytes) { return bytes > longest; }
    int mpi_tag() const { return mpi_tag_; }
    /// Closes the receives of all queues, because MPI ends.
    static void close_all();

  private:
    struct Header {
        std::int64_t bytes;
        std::int64_t tag;
    };
    static constexpr std::int64_t longest = 32768 - static_cast<std::int64_t>(sizeof(Header));

    void open();
    void close();
    bool receive();
    std::optional<ProbeResult> take(int from, int tag);

    MPI_Comm comm_;
    int mpi_tag_;
    std::int64_t& unreceived_;
    MPI_Request request_ = MPI_REQUEST_NULL;
    std::vector<char> buffer_;
    std::map<int, std::deque<ProbeResult>> arrived_;  // by tag; none is empty
    std::uint64_t polls_ = 0;  // of the engine, at the last test that found nothing
    int skipped_ = 0;          // tests since then
};

}  // namespace hocket::comm
