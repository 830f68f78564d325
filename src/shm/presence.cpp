// SPDX-License-Identifier: BSD-3-Clause
#include "shm/presence.hpp"

#include <new>

#include "hocket/memory.hpp"

namespace hocket::shm {
namespace {

using Word = std::atomic<std::uint64_t>;

struct Own {
    std::shared_ptr<std::byte> memory = allocate(sizeof(Word));
    Word* word = new (memory.get()) Word(0);
};
Own& own() {
    static Own* const made = new Own;  // others read it as long as they like
    return *made;
}

}  // namespace

Place presence() {
    return place_of(own().memory.get());
}

void leave() {
    own().word->store(1, std::memory_order_release);
}

bool Presence::left() const {
    if (!word_) return false;
    return std::launder(reinterpret_cast<const Word*>(word_.get()))
               ->load(std::memory_order_acquire) != 0;
}

}  // namespace hocket::shm
