// SPDX-License-Identifier: BSD-3-Clause
#include "net/secret.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <new>

namespace hocket::net {
namespace {

std::size_t page() {
    static const auto bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    return bytes;
}

}  // namespace

SecretMemory::SecretMemory(std::size_t bytes) : mapped_((bytes + page() - 1) / page() * page()) {
    void* const made =
        ::mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (made == MAP_FAILED) throw std::bad_alloc();
    bytes_ = {static_cast<unsigned char*>(made), bytes};
    keep_out_of_cores(made, bytes);
}

SecretMemory::~SecretMemory() {
    if (bytes_.data() == nullptr) return;
    ::explicit_bzero(bytes_.data(), mapped_);
    ::munmap(bytes_.data(), mapped_);
}

void keep_out_of_cores(const void* first, std::size_t bytes) {
#ifdef MADV_DONTDUMP
    const auto begin = reinterpret_cast<std::uintptr_t>(first) / page() * page();
    const auto end = reinterpret_cast<std::uintptr_t>(first) + bytes;
    // Pages of the range that are not mapped are no error here.
    static_cast<void>(::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTDUMP));
#endif
}

}  // namespace hocket::net
