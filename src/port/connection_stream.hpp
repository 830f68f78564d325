// SPDX-License-Identifier: BSD-3-Clause
// A connection to a process of another job, as endpoints use it. It opens at its first use.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "comm/endpoint.hpp"
#include "net/connection.hpp"
#include "port/opening.hpp"

namespace hocket::port {

class ConnectionStream final : public comm::ByteStream {
  public:
    /// `name`: "process 2 of 'viewer'".
    ConnectionStream(std::shared_ptr<Opening> opening, int process, std::string name)
        : opening_(std::move(opening)), process_(process), name_(std::move(name)) {}

    std::int64_t write(const void* data, std::int64_t bytes) override;
    std::int64_t read(void* data, std::int64_t bytes) override;
    bool flush() override;
    bool opened() override { return open(false); }
    std::optional<std::string> lost() override;
    std::string name() const override { return name_; }

  private:
    bool open(bool wanted);
    void lose(const std::string& why);

    std::shared_ptr<Opening> opening_;
    int process_;
    std::unique_ptr<net::Connection> connection_;
    std::string name_;
    std::optional<std::string> lost_;
    double next_check_ = 0;
};

}  // namespace hocket::port
