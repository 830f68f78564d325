// SPDX-License-Identifier: BSD-3-Clause
// Cross-memory attach (CMA): the kernel copies between the address spaces of two processes of a
// node (process_vm_readv, process_vm_writev), for memory that cannot be mapped.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "shm/mapping.hpp"

namespace hocket::shm {

/// The address of any memory of this process, as a `SharedAddress` that only CMA can use: `map`
/// returns nullptr for it.
SharedAddress cma_address_of(const void* address);
bool is_cma_address(const SharedAddress& remote);

/// Whether this process may copy from and to that address. Reads one byte of it. False if
/// HOCKET_FORBID contains process_vm.
bool cma_permitted(const SharedAddress& remote);

/// For a message to or from memory that this process cannot map: whether the kernel copies it from
/// array to array, in so many runs. `ring_bytes`: of the buffers of all messages that travel
/// together. HOCKET_CROSSING=always and =packed decide for all messages.
bool cma_pays(std::int64_t bytes, std::int64_t runs, std::int64_t ring_bytes);
/// For such a message where `cma_pays` is false: whether the kernel copies between the other's
/// array and a buffer, and this process between that and its own array. If that is false, too, both
/// processes copy, through buffers that stay in cache. `packed_runs` gives the runs of the other's
/// array alone, which are fewer. `count`: of messages that travel together, this one among them.
bool packed_cma_pays(std::int64_t bytes, std::int64_t runs,
                     const std::function<std::int64_t()>& packed_runs, std::int64_t count,
                     std::int64_t ring_bytes);

/// Copies runs between this process and another, `here` and `there` in the same order, and clears
/// both lists. `sending`: from here to that process; else from there. At most `cma_runs` at once.
/// False if the process has ended.
/// @throws Error if its memory is unmapped, or the system forbids the copy now.
bool cma_copy(std::int64_t process, bool sending, std::vector<iovec>& here,
              std::vector<iovec>& there);
inline constexpr std::size_t cma_runs = 512;  // below every system's IOV_MAX

}  // namespace hocket::shm
