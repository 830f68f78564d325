// SPDX-License-Identifier: BSD-3-Clause
// A connection to a process of another job, as endpoints use it.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "comm/endpoint.hpp"
#include "net/connection.hpp"

namespace hocket::port {

class ConnectionStream final : public comm::ByteStream {
  public:
    /// `name`: "process 2 of 'viewer'".
    ConnectionStream(std::unique_ptr<net::Connection> connection, std::string name)
        : connection_(std::move(connection)), name_(std::move(name)) {}

    std::int64_t write(const void* data, std::int64_t bytes) override;
    std::int64_t read(void* data, std::int64_t bytes) override;
    bool flush() override;
    std::optional<std::string> lost() override;
    std::string name() const override { return name_; }

  private:
    std::unique_ptr<net::Connection> connection_;
    std::string name_;
    std::optional<std::string> lost_;
    double next_check_ = 0;
};

}  // namespace hocket::port
