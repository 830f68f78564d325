// SPDX-License-Identifier: BSD-3-Clause
// Memory for the frames of coroutines.
#include <array>
#include <new>
#include <utility>

#include "hocket/coroutine.hpp"

namespace hocket::coroutine {
namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr bool keeps = false;  // so that a use after the end is found
#elif defined(__has_feature)
constexpr bool keeps = !__has_feature(address_sanitizer);
#else
constexpr bool keeps = true;
#endif

// A short message has a dozen frames, half of them longer than what malloc hands out quickly.
constexpr std::size_t grain = 256, longest = 4096, most_of_a_size = 16;

struct Kept {
    Kept* next;
};
struct Size {
    Kept* first;
    std::size_t count;
};
// Without a constructor, as looking whether it has run would cost as much as what is saved here.
struct Store {
    std::array<Size, longest / grain> sizes;
    bool watched, ended;
};
thread_local Store store;

// Gives all back as the thread ends, which keeps nothing from then on.
struct Watch {
    Watch() = default;
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;
    ~Watch() {
        store.ended = true;
        for (Size& size : store.sizes)
            while (size.first != nullptr)
                ::operator delete(std::exchange(size.first, size.first->next));
    }
    void begin() const { store.watched = true; }
};
thread_local const Watch watch;

}  // namespace

void* take_frame(std::size_t bytes) {
    if (!keeps || bytes == 0 || bytes > longest) return ::operator new(bytes);
    const std::size_t index = (bytes - 1) / grain;
    Size& size = store.sizes[index];
    if (size.first == nullptr) return ::operator new((index + 1) * grain);
    --size.count;
    return std::exchange(size.first, size.first->next);
}

void give_frame(void* frame, std::size_t bytes) noexcept {
    Store& mine = store;
    if (!keeps || bytes == 0 || bytes > longest || mine.ended) return ::operator delete(frame);
    Size& size = mine.sizes[(bytes - 1) / grain];
    if (size.count == most_of_a_size) return ::operator delete(frame);
    if (!mine.watched) watch.begin();
    ++size.count;
    size.first = new (frame) Kept{size.first};
}

}  // namespace hocket::coroutine
