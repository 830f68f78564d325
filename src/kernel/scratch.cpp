// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/scratch.hpp"

#include <cstdlib>
#include <memory>
#include <new>

namespace hocket::kernel {
namespace {

struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
};

struct Buffer {
    std::unique_ptr<std::byte, Free> memory;
    std::int64_t size = 0;
};

Buffer& buffer_of(Scratch use) {
    thread_local Buffer buffers[2];
    return buffers[static_cast<std::size_t>(use)];
}

}  // namespace

std::byte* thread_scratch(Scratch use, std::int64_t bytes) {
    Buffer& buffer = buffer_of(use);
    if (buffer.size < bytes) {
        trim_thread_scratch(use, 0);  // first, so that both never exist together
        const std::int64_t rounded = (bytes + 4095) / 4096 * 4096;
        buffer.memory.reset(
            static_cast<std::byte*>(std::aligned_alloc(4096, static_cast<std::size_t>(rounded))));
        if (!buffer.memory) throw std::bad_alloc();
        buffer.size = rounded;
    }
    return buffer.memory.get();
}

void trim_thread_scratch(Scratch use, std::int64_t keep) {
    Buffer& buffer = buffer_of(use);
    if (buffer.size <= keep) return;
    buffer.memory.reset();
    buffer.size = 0;
}

}  // namespace hocket::kernel
