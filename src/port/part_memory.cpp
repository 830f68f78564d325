// SPDX-License-Identifier: BSD-3-Clause
#include "port/part_memory.hpp"

#include <algorithm>

#include "hocket/memory.hpp"
#include "shm/mapping.hpp"

namespace hocket::port {
namespace {

constexpr std::size_t shortest_lent = std::size_t{64} << 10;  // less is quicker as bytes
constexpr double keep_unused = 15;  // seconds: longer than an observer waits for its turn

// Nothing where the system lends no memory.
LentMemory lent_memory(std::size_t bytes) {
    if (shm::forbidden(shm::Mechanism::socket)) return nullptr;
    const shm::Segment made = shm::make_sealed_segment(bytes, "hocket.picture");
    if (made.data == nullptr) return nullptr;
    LentMemory memory(new shm::Segment(made), [](const shm::Segment* each) {
        shm::free_segment(*each);
        delete each;
    });
    shm::use_segment(made, false);  // a fork needs no copy
    return made.file >= 0 ? memory : nullptr;
}

}  // namespace

Part private_part(std::size_t bytes) {
    return {allocate(static_cast<std::int64_t>(bytes)), bytes};
}

Part LentMemories::part(std::size_t bytes) {
    if (bytes < shortest_lent) return private_part(bytes);
    const auto fits = std::find_if(unused_.begin(), unused_.end(), [&](const Unused& each) {
        return bytes <= each.memory->bytes && each.memory->bytes / 2 < bytes;
    });
    LentMemory memory = fits != unused_.end() ? std::move(fits->memory) : lent_memory(bytes);
    if (fits != unused_.end()) unused_.erase(fits);
    if (!memory) return private_part(bytes);
    return {{memory, memory->data}, bytes, memory};
}

void LentMemories::put_back(LentMemory memory, double now) {
    // An observer may say so before it can have read it.
    if (memory.use_count() == 1) unused_.push_front({std::move(memory), now});
}

void LentMemories::free_unused(double now) {
    unused_.remove_if([now](const Unused& each) { return now - each.since > keep_unused; });
}

}  // namespace hocket::port
