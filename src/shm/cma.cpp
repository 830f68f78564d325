// SPDX-License-Identifier: BSD-3-Clause
#include "shm/cma.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

#include "base/environment.hpp"
#include "base/platform.hpp"
#include "hocket/error.hpp"

namespace hocket::shm {
namespace {

constexpr std::int64_t no_file = -1;

ssize_t transfer(std::int64_t process, bool sending, const std::vector<iovec>& here,
                 const std::vector<iovec>& there) {
    const auto call = sending ? process_vm_writev : process_vm_readv;
    return call(static_cast<pid_t>(process), here.data(), here.size(), there.data(), there.size(),
                0);
}

}  // namespace

SharedAddress cma_address_of(const void* address) {
    return {platform::process_id(), no_file, 0,
            static_cast<std::int64_t>(reinterpret_cast<intptr_t>(address))};
}

bool is_cma_address(const SharedAddress& remote) {
    return remote && remote.file == no_file;
}

bool cma_permitted(const SharedAddress& remote) {
    if (!is_cma_address(remote) || forbidden(Mechanism::process_vm)) return false;
    std::byte byte{};
    const std::vector<iovec> here{{&byte, 1}};
    const std::vector<iovec> there{{reinterpret_cast<void*>(remote.offset), 1}};
    return transfer(remote.process, false, here, there) == 1;
}

namespace {

/// Whether HOCKET_CROSSING makes every copy one by the kernel; "auto" if the lengths of runs
/// decide.
/// @throws Error for an unknown word.
const std::string& setting() {
    static const std::string given = [] {
        auto word = environment::value_of("HOCKET_CROSSING").value_or("auto");
        if (word == "auto" || word == "always" || word == "packed") return word;
        throw Error("HOCKET_CROSSING is '" + word +
                    "'; it may be auto, always or packed, and HOCKET_FORBID=process_vm is never");
    }();
    return given;
}
const environment::ValidatedSetting checked_setting([] { static_cast<void>(setting()); });

}  // namespace

// The kernel looks up the pages of each run. Rings copy twice, but a few of them stay in cache.
// Times of rings as fractions of the kernel's, for arrays of hk.wrap, (BLOCK,*) -> (*,BLOCK), by
// `hocket bench redistribute` with HOCKET_FORBID=process_vm and with HOCKET_CROSSING=always:
// - 2 Zen 5 cores, runs of 4 KiB: 0.3 to 0.6; of 16 KiB: 0.9.
// - 2 Zen 5 cores, longer runs: 0.6 to 0.8 in messages up to 2 MiB, 0.95 in longer ones.
// - 2 Sapphire Rapids cores, long messages in runs of 32 KiB: 1.3.
// - 4 and 8 of 16 Xeon cores, runs of 2 to 8 KiB: 0.6 to 0.9.
// - 16 Xeon cores, whose rings of 7.5 MiB a process exceed its cache: 1.3 for 2 KiB, 0.95 for 1
// KiB.
bool cma_pays(std::int64_t bytes, std::int64_t runs, std::int64_t ring_bytes) {
    if (setting() != "auto") return setting() == "always";
    constexpr std::int64_t beyond_cache = 4 << 20, long_run = 32 << 10, run_of_many = 2 << 10;
    const std::int64_t run = bytes / std::max<std::int64_t>(runs, 1);
    return (run >= long_run && bytes >= beyond_cache) ||
           (run >= run_of_many && ring_bytes > beyond_cache);
}

// Messages with elements in the same lines are then unpacked together, so that a line is written
// once. One message alone takes as long through a ring, or less.
bool packed_cma_pays(std::int64_t bytes, std::int64_t runs,
                     const std::function<std::int64_t()>& packed_runs, std::int64_t count,
                     std::int64_t ring_bytes) {
    if (setting() != "auto") return setting() == "packed";
    return bytes > 0 && count > 1 && bytes / runs < 64 &&
           cma_pays(bytes, packed_runs(), ring_bytes);
}

bool cma_copy(std::int64_t process, bool sending, std::vector<iovec>& here,
              std::vector<iovec>& there) {
    // The system may move fewer bytes than requested, and stop within a run.
    while (!here.empty()) {
        const ssize_t moved = transfer(process, sending, here, there);
        if (moved < 0 && errno == EINTR) continue;
        if (moved < 0 && errno == ESRCH) return false;
        if (moved <= 0)
            throw Error("the memory of process " + std::to_string(process) +
                        " of this node cannot be copied across processes any more (" +
                        std::strerror(errno) +
                        "); arrays must live until their transfer is done, and "
                        "HOCKET_FORBID=process_vm does without");
        auto left = static_cast<std::size_t>(moved);
        std::size_t done = 0;
        while (done < here.size() && left >= here[done].iov_len) left -= here[done++].iov_len;
        for (auto* runs : {&here, &there}) {
            runs->erase(runs->begin(), runs->begin() + static_cast<std::ptrdiff_t>(done));
            if (runs->empty()) continue;
            runs->front().iov_base = static_cast<std::byte*>(runs->front().iov_base) + left;
            runs->front().iov_len -= left;
        }
    }
    return true;
}

}  // namespace hocket::shm
