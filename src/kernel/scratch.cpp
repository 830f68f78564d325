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

thread_local std::unique_ptr<std::byte, Free> memory;
thread_local std::int64_t size = 0;

}  // namespace

std::byte* thread_scratch(std::int64_t bytes) {
    if (size < bytes) {
        memory.reset();  // first, so that both never exist together
        size = 0;
        const std::int64_t rounded = (bytes + 4095) / 4096 * 4096;
        memory.reset(
            static_cast<std::byte*>(std::aligned_alloc(4096, static_cast<std::size_t>(rounded))));
        if (!memory) throw std::bad_alloc();
        size = rounded;
    }
    return memory.get();
}

void trim_thread_scratch(std::int64_t keep) {
    if (size <= keep) return;
    memory.reset();
    size = 0;
}

}  // namespace hocket::kernel
