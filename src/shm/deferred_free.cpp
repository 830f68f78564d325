// SPDX-License-Identifier: BSD-3-Clause
#include "shm/deferred_free.hpp"

#include <mutex>
#include <utility>
#include <vector>

namespace hocket::shm {
namespace {

struct DeferredFrees {
    std::mutex mutex;
    std::vector<std::function<bool()>> all;
};
DeferredFrees& deferred_frees() {
    static DeferredFrees* const made = new DeferredFrees;  // outlives every communicator and team
    return *made;
}

}  // namespace

void free_when(std::function<bool()> unused) {
    {
        const std::lock_guard lock(deferred_frees().mutex);
        deferred_frees().all.push_back(std::move(unused));
    }
    free_unused();
}

void free_unused() {
    const std::lock_guard lock(deferred_frees().mutex);
    std::erase_if(deferred_frees().all, [](const auto& unused) { return unused(); });
}

}  // namespace hocket::shm
