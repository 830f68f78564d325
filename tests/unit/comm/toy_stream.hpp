// SPDX-License-Identifier: BSD-3-Clause
// The smallest transport: a socket of this host a pair of processes.
#pragma once

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "comm/endpoint.hpp"

namespace hocket::comm::testing {

class ToyStream final : public ByteStream {
  public:
    ToyStream(int file, std::string name) : file_(file), name_(std::move(name)) {
        fcntl(file_, F_SETFL, fcntl(file_, F_GETFL) | O_NONBLOCK);
    }
    ~ToyStream() override { ::close(file_); }
    ToyStream(const ToyStream&) = delete;
    ToyStream& operator=(const ToyStream&) = delete;

    std::int64_t write(const void* data, std::int64_t bytes) override {
        const auto taken = send(file_, data, static_cast<std::size_t>(bytes), MSG_NOSIGNAL);
        return taken > 0 ? taken : 0;  // an end is seen where it is read
    }
    std::int64_t read(void* data, std::int64_t bytes) override {
        const auto come = recv(file_, data, static_cast<std::size_t>(bytes), 0);
        if (come > 0) return come;
        if (come == 0 || (errno != EAGAIN && errno != EINTR)) lost_ = "its socket was closed";
        return 0;
    }
    std::optional<std::string> lost() override { return lost_; }
    std::string name() const override { return name_; }

    /// Two connected ones.
    static std::pair<std::unique_ptr<ToyStream>, std::unique_ptr<ToyStream>> two() {
        std::array<int, 2> ends{};
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) != 0) return {};
        return {std::make_unique<ToyStream>(ends[0], "process 1 of 'b'"),
                std::make_unique<ToyStream>(ends[1], "process 0 of 'a'")};
    }

  private:
    int file_;
    std::string name_;
    std::optional<std::string> lost_;
};

}  // namespace hocket::comm::testing
