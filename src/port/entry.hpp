// SPDX-License-Identifier: BSD-3-Clause
// Where a port is found: its file, and process 0's listener.
#pragma once

#include <memory>
#include <string>

#include "net/directory.hpp"
#include "net/key.hpp"
#include "port/listener.hpp"

namespace hocket::port {

struct EntryOptions {
    std::string name, address, key;
    bool secure = true;
    std::int64_t processes = 1;
};

class Entry {
  public:
    /// @throws Error where the name is taken, or nothing can be listened at.
    explicit Entry(const EntryOptions& options);
    ~Entry();
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;

    /// A meeting holds it until all connections stand.
    const std::shared_ptr<Listener>& listener() const { return listener_; }
    const net::PortFile& file() const { return file_; }

  private:
    net::PortFile file_;
    std::shared_ptr<Listener> listener_;
    bool made_key_ = false;
};

}  // namespace hocket::port
