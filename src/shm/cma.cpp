// SPDX-License-Identifier: BSD-3-Clause
#include "shm/cma.hpp"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

#include "base/environment.hpp"
#include "hocket/error.hpp"

namespace hocket::shm {
namespace {

constexpr std::int64_t no_file = -1;
constexpr std::size_t runs_at_once = 512;  // below every system's IOV_MAX

ssize_t transfer(std::int64_t process, bool sending, const std::vector<iovec>& here,
                 const std::vector<iovec>& there) {
    const auto call = sending ? process_vm_writev : process_vm_readv;
    return call(static_cast<pid_t>(process), here.data(), here.size(), there.data(), there.size(),
                0);
}

// This thread's processor time in seconds, which excludes other programs' time.
double seconds_now() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// The cost model: a copy by the kernel costs so many seconds a byte and a run; a copy through a
// buffer so many seconds a byte, for both copies. If two processes work, each makes half of the one
// and a half of the other. The measurement uses cached data of one core. Long arrays do not fit the
// cache, and data written by one core reaches another slowly; both cost copies through buffers
// more. On 2 cores of a Sapphire Rapids, 128 MiB each way at once, the kernel took 30 ms in runs of
// 32 KiB and 41 ms in runs of 4 KiB, and the buffers 39 to 42 ms; beside other programs, twice the
// kernel's time. In this measurement the two take about as long for long runs.
constexpr double beyond_the_cache = 2.5;

// The least cost of a run: the system looks up its pages. The measured value is a difference, which
// other programs can make arbitrarily small.
constexpr double least_run = 2e-8;

// On this process's own memory, larger than the nearest caches, so that it needs no other process;
// only the page tables differ then.
std::optional<CmaCosts> measure() {
    constexpr std::size_t bytes = std::size_t{4} << 20, part = std::size_t{1} << 19;
    constexpr std::size_t short_run = 4096, slot = std::size_t{128} << 10;
    std::vector<std::byte> from(bytes, std::byte{1}), to(bytes, std::byte{2}), buffer(slot);
    bool known = true;
    const auto across = [&](std::size_t run) {
        for (std::size_t at = 0; at < bytes; at += part) {
            CmaTransfer copying(getpid(), false);
            for (std::size_t i = at; i < at + part; i += run)
                copying.add(to.data() + i, from.data() + i, run);
            known = known && copying.finish();
        }
    };
    const auto through_buffer = [&] {
        for (std::size_t at = 0; at < bytes; at += slot) {
            std::memcpy(buffer.data(), from.data() + at, slot);
            std::memcpy(to.data() + at, buffer.data(), slot);
        }
    };
    const auto shorten = [](double& best, const auto& function) {
        const double begin = seconds_now();
        function();
        best = std::min(best, seconds_now() - begin);
    };
    double long_runs = 1e9, short_runs = 1e9, twice = 1e9;
    try {
        // In turns, so that a change of clock frequency affects all methods alike.
        for (int trial = 0; trial < 5; ++trial) {
            shorten(long_runs, [&] { across(part); });
            shorten(short_runs, [&] { across(short_run); });
            shorten(twice, through_buffer);
        }
    } catch (const Error&) {
        known = false;
    }
    if (!known) return std::nullopt;
    const auto all = static_cast<double>(bytes);
    return CmaCosts{.byte = long_runs / all,
                    .run = std::max(least_run, (short_runs - long_runs) * short_run / all),
                    .packed_byte = twice / 2 / all,
                    .staged_byte = beyond_the_cache * twice / all};
}

}  // namespace

SharedAddress cma_address_of(const void* address) {
    return {getpid(), no_file, 0, static_cast<std::int64_t>(reinterpret_cast<intptr_t>(address))};
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
const environment::ValidatedSetting checked_method([] { static_cast<void>(cma_method_setting()); });
}

std::optional<CmaMethod> cma_method_setting() {
    static const std::optional<CmaMethod> published = []() -> std::optional<CmaMethod> {
        const auto word = environment::value_of("HOCKET_CROSSING").value_or("measured");
        if (word == "always") return CmaMethod::direct;
        if (word == "packed") return CmaMethod::packed;
        if (word == "measured") return std::nullopt;
        throw Error("HOCKET_CROSSING is '" + word +
                    "'; it may be measured, always or packed, and HOCKET_FORBID=process_vm is "
                    "never");
    }();
    return published;
}

CmaMethod choose_cma_method(const CmaCosts& costs, std::int64_t bytes, std::int64_t runs,
                            const std::function<std::int64_t()>& packed_runs) {
    const auto all = static_cast<double>(bytes);
    const auto by_kernel = [&](std::int64_t in_runs) {
        return costs.byte * all + costs.run * static_cast<double>(in_runs);
    };
    const double direct = by_kernel(runs), staged = costs.staged_byte * all;
    const double packing = costs.packed_byte * all;
    if (direct <= std::min(by_kernel(1) + packing, staged)) return CmaMethod::direct;
    const double packed = by_kernel(packed_runs()) + packing;
    if (direct <= packed) return direct <= staged ? CmaMethod::direct : CmaMethod::none;
    // Both processes unpack buffers in the same short runs, which the comparison above ignores, and
    // from the other core's cache.
    return packed - packing <= staged ? CmaMethod::packed : CmaMethod::none;
}

CmaMethod choose_cma_method(std::int64_t bytes, std::int64_t runs,
                            const std::function<std::int64_t()>& packed_runs) {
    if (const auto published = cma_method_setting()) return *published;
    static const std::optional<CmaCosts> costs = measure();
    return costs ? choose_cma_method(*costs, bytes, runs, packed_runs) : CmaMethod::none;
}

void CmaTransfer::add(std::byte* here, std::byte* there, std::size_t bytes) {
    if (!alive_) return;
    here_.push_back({here, bytes});
    there_.push_back({there, bytes});
    bytes_ += bytes;
    if (here_.size() == runs_at_once) alive_ = move();
}

bool CmaTransfer::finish() {
    return alive_ && move();
}

bool CmaTransfer::move() {
    // The system may move fewer bytes than requested, and stop within a run.
    while (bytes_ > 0) {
        const ssize_t moved = transfer(process_, sending_, here_, there_);
        if (moved < 0 && errno == EINTR) continue;
        if (moved < 0 && errno == ESRCH) return false;
        if (moved <= 0)
            throw Error("the memory of process " + std::to_string(process_) +
                        " of this node cannot be copied across processes any more (" +
                        std::strerror(errno) +
                        "); arrays must live until their transfer is done, and "
                        "HOCKET_FORBID=process_vm does without");
        auto left = static_cast<std::size_t>(moved);
        bytes_ -= left;
        std::size_t done = 0;
        while (done < here_.size() && left >= here_[done].iov_len) left -= here_[done++].iov_len;
        const auto drop = [&](std::vector<iovec>& runs) {
            runs.erase(runs.begin(), runs.begin() + static_cast<std::ptrdiff_t>(done));
            if (runs.empty()) return;
            runs[0].iov_base = static_cast<std::byte*>(runs[0].iov_base) + left;
            runs[0].iov_len -= left;
        };
        drop(here_);
        drop(there_);
    }
    here_.clear();
    there_.clear();
    return true;
}

}  // namespace hocket::shm
