// SPDX-License-Identifier: BSD-3-Clause
#include "shm/deferred_free.hpp"

#include <mutex>
#include <utility>
#include <vector>

namespace hocket::shm {
namespace {

std::mutex mutex_of_frees;
std::vector<std::function<bool()>>& deferred_frees() {
    // Outlives every communicator and team.
    static auto* const made = new std::vector<std::function<bool()>>;
    return *made;
}

}  // namespace

void free_when(std::function<bool()> unused) {
    {
        const std::lock_guard lock(mutex_of_frees);
        deferred_frees().push_back(std::move(unused));
    }
    free_unused();
}

void free_unused() {
    const std::lock_guard lock(mutex_of_frees);
    std::erase_if(deferred_frees(), [](const auto& unused) { return unused(); });
}

}  // namespace hocket::shm
