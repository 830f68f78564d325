// SPDX-License-Identifier: BSD-3-Clause
// A process to itself, where MPI does not run.
#include <algorithm>

#include "comm/endpoint.hpp"

namespace hocket::comm {
namespace {

constexpr std::int64_t capacity = std::int64_t{256} << 10;

class Loopback final : public ByteStream {
  public:
    std::int64_t write(const void* data, std::int64_t bytes) override {
        const std::int64_t space = capacity - static_cast<std::int64_t>(held_.size());
        const std::int64_t taken = std::clamp<std::int64_t>(bytes, 0, space);
        held_.append(static_cast<const char*>(data), static_cast<std::size_t>(taken));
        return taken;
    }
    std::int64_t read(void* data, std::int64_t bytes) override {
        const std::size_t given =
            held_.copy(static_cast<char*>(data), static_cast<std::size_t>(bytes));
        held_.erase(0, given);
        return static_cast<std::int64_t>(given);
    }
    std::optional<std::string> lost() override { return std::nullopt; }
    std::string name() const override { return "this process"; }

  private:
    std::string held_;
};

}  // namespace

std::shared_ptr<Endpoint> Endpoint::loopback() {
    return std::make_shared<Endpoint>(std::make_unique<Loopback>());
}

}  // namespace hocket::comm
