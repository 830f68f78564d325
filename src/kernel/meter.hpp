// SPDX-License-Identifier: BSD-3-Clause
// Times passes over an array, as multiples of copying it.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

namespace hocket::kernel {

// Beyond the last level of most caches.
constexpr std::int64_t array_bytes = std::int64_t{96} << 20;

class Meter {
  public:
    Meter() : array_(memory()), other_(memory()) {
        const double seconds = least([&] {
            std::memcpy(other_.get(), array_.get(), static_cast<std::size_t>(array_bytes));
        });
        byte_ = seconds / static_cast<double>(array_bytes);
    }

    struct Free {
        void operator()(std::byte* memory) const { std::free(memory); }
    };
    using Memory = std::unique_ptr<std::byte, Free>;

    /// The cost of a pass over the first `bytes` bytes of an array.
    template <class Run>
    double cost(std::int64_t bytes, Run&& run) const {
        return cost(array_, bytes, run);
    }
    template <class Run>
    double cost(const Memory& array, std::int64_t bytes, Run&& run) const {
        return least([&] { run(array.get()); }) / (byte_ * static_cast<double>(bytes));
    }

    std::byte* other() const { return other_.get(); }

    /// Of huge pages, as hocket's arrays and NumPy's are where the system has them.
    static Memory memory(std::int64_t bytes = array_bytes) {
        constexpr std::size_t huge_page = std::size_t{2} << 20;
        const auto size = static_cast<std::size_t>(bytes);
        Memory made(static_cast<std::byte*>(std::aligned_alloc(huge_page, size)));
        if (!made) throw std::bad_alloc();
        madvise(made.get(), size, MADV_HUGEPAGE);
        std::memset(made.get(), 1, size);
        return made;
    }

  private:
    // The least of three: other programs only ever add to it.
    template <class Run>
    static double least(Run&& run) {
        run();
        double best = INFINITY;
        for (int turn = 0; turn < 3; ++turn) {
            const auto begin = std::chrono::steady_clock::now();
            run();
            const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
            best = std::min(best, took.count());
        }
        return best;
    }

    Memory array_, other_;
    double byte_ = 0;  // seconds
};

}  // namespace hocket::kernel
