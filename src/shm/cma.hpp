// SPDX-License-Identifier: BSD-3-Clause
// Memory of another process of this node that is not ours to map: the kernel copies it, from one
// address space to the other (process_vm_readv, process_vm_writev), where the system allows it.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "shm/mapping.hpp"

namespace hocket::shm {

/// Where a process has memory that it got from wherever; in words that travel as a `SharedAddress`
/// does. `map` finds nothing there.
SharedAddress cma_address_of(const void* address);
bool is_cma_address(const SharedAddress& remote);

/// Whether this process may copy from and to that place, found out by reading a byte of it. Not
/// where HOCKET_FORBID says process_vm.
bool cma_permitted(const SharedAddress& remote);

/// How a message gets to or from memory that nobody here can map.
enum class CmaMethod {
    none,    // not by the kernel: both processes copy, through buffers that stay in cache
    direct,  // the kernel copies from array to array, a run after the other
    packed,  // the kernel copies between the other's array and a buffer, in fewer runs, and this
             // process between that and its own array
};

/// What HOCKET_CROSSING says: always is direct, packed is packed, measured is nothing.
/// @throws Error for other words in it.
std::optional<CmaMethod> cma_method_setting();

/// What copies cost here, in seconds. With two processes at work each does half of a copy by the
/// kernel, and one half of each copy through a buffer.
struct CmaCosts {
    double byte = 0, run = 0;  // by the kernel: a byte, and beside its bytes a run
    double packed_byte = 0;    // copied once more, to or from a buffer that is in this core's cache
    double staged_byte = 0;    // through buffers, by both processes
};

/// The one that takes least for so many runs; `packed_runs` is asked for only where packing may be
/// better.
CmaMethod choose_cma_method(const CmaCosts& costs, std::int64_t bytes, std::int64_t runs,
                            const std::function<std::int64_t()>& packed_runs);
/// By what copies cost on this machine, measured once, when first asked.
CmaMethod choose_cma_method(std::int64_t bytes, std::int64_t runs,
                            const std::function<std::int64_t()>& packed_runs);

/// Runs on their way between this process and another, so many at a time as the system takes.
class CmaTransfer {
  public:
    enum class Direction { read, write };
    CmaTransfer(std::int64_t process, Direction direction)
        : process_(process), direction_(direction) {}

    void add(std::byte* here, std::byte* there, std::size_t bytes);
    /// Moves what was added. False if the process is not there any more.
    /// @throws Error where its memory is gone, or the system allows it no longer.
    bool finish();

  private:
    bool move();

    std::int64_t process_;
    Direction direction_;
    std::vector<iovec> here_, there_;
    std::size_t bytes_ = 0;
    bool alive_ = true;
};

}  // namespace hocket::shm
