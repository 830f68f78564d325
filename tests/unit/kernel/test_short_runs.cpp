// SPDX-License-Identifier: BSD-3-Clause
// Short runs at short distances, whose kernels work a cache line at a time: what lies between the
// runs, before the first and after the last must be as if it were not there.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "boxes.hpp"
#include "hocket/kernel.hpp"
#include "unit/watched.hpp"

namespace {

using namespace hocket::testing;
using hocket::kernel::Copy;
using hocket::kernel::Stores;

/// Memory that ends where the process would be killed for reading on.
class Cliff {
  public:
    explicit Cliff(std::int64_t bytes) : bytes_(bytes) {
        const std::int64_t page = sysconf(_SC_PAGESIZE);
        usable_ = (bytes + page - 1) / page * page;
        mapped_ = static_cast<std::size_t>(usable_ + page);
        memory_ =
            mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory_ == MAP_FAILED || mprotect(static_cast<std::byte*>(memory_) + usable_,
                                              static_cast<std::size_t>(page), PROT_NONE) != 0)
            throw std::system_error(errno, std::generic_category(), "mmap");
    }
    ~Cliff() { munmap(memory_, mapped_); }
    Cliff(const Cliff&) = delete;
    Cliff& operator=(const Cliff&) = delete;
    std::byte* data() const { return static_cast<std::byte*>(memory_) + usable_ - bytes_; }

  private:
    std::int64_t bytes_, usable_ = 0;
    std::size_t mapped_ = 0;
    void* memory_ = nullptr;
};

void check(std::mt19937_64& random, std::int64_t count, std::int64_t run, const Place& from,
           const Place& to) {
    const Bytes source = random_bytes(random, from.bytes), guards = random_bytes(random, to.bytes);
    Bytes expected = guards;
    naive_copy({count}, run, source, from, expected, to);
    const Cliff read(from.bytes), written(to.bytes);
    std::copy(source.begin(), source.end(), read.data());
    const Copy copy(Extents{count}, run, from.strides, to.strides);
    for (const Stores stores : {Stores::cached, Stores::streaming}) {
        std::copy(guards.begin(), guards.end(), written.data());
        copy.run(read.data() + from.first, written.data() + to.first, 1, stores);
        ASSERT_TRUE(std::equal(expected.begin(), expected.end(), written.data()))
            << count << " runs of " << run << " bytes, strides " << from.strides[0] << " -> "
            << to.strides[0] << ", from " << from.first << " to " << to.first;
    }
}

TEST(ShortRuns, spreads_and_collects_every_run_at_every_short_stride) {
    std::mt19937_64 random(7);
    for (std::int64_t run = 1; run < 64; ++run)
        for (std::int64_t stride = run + 1; stride <= 68; ++stride) {
            if (run % 4 != 0 && draw(random, 0, 7) > 0) continue;  // those have no kernel
            if (threads_watched && draw(random, 0, 3) > 0) continue;
            const std::int64_t count = draw(random, 100, 500);
            const auto place = [&](std::int64_t step) {
                const std::int64_t first = draw(random, 0, 1) * draw(random, 0, 70);
                return Place{{step}, first, first + (count - 1) * step + run};
            };
            check(random, count, run, place(run), place(stride));
            check(random, count, run, place(stride), place(run));
            if (HasFatalFailure()) return;
        }
}

}  // namespace
