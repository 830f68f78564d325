// SPDX-License-Identifier: BSD-3-Clause
#include "shm/retiring.hpp"

#include <mutex>
#include <utility>
#include <vector>

namespace hocket::shm {
namespace {

struct Retired {
    std::mutex mutex;
    std::vector<std::function<bool()>> all;
};
Retired& retired() {
    static Retired* const made = new Retired;  // outlives every communicator and team
    return *made;
}

}  // namespace

void retire(std::function<bool()> deserted) {
    {
        const std::lock_guard lock(retired().mutex);
        retired().all.push_back(std::move(deserted));
    }
    sweep();
}

void sweep() {
    const std::lock_guard lock(retired().mutex);
    std::erase_if(retired().all, [](const auto& deserted) { return deserted(); });
}

}  // namespace hocket::shm
