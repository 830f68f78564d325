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
#include <functional>
#include <memory>
#include <new>
#include <vector>

namespace hocket::kernel {

// Beyond the last level of most caches.
constexpr std::int64_t array_bytes = std::int64_t{96} << 20;

/// A pass over the first `bytes` bytes of an array.
struct TimedPass {
    std::int64_t bytes;
    std::function<void(std::byte* array)> run;
};

class Meter {
  public:
    explicit Meter(int repeat) : repeat_(repeat), array_(memory()), other_(memory()) {
        const double copied = least([&] {
            std::memcpy(other_.get(), array_.get(), static_cast<std::size_t>(array_bytes));
        });
        byte_ = copied / static_cast<double>(array_bytes);
    }

    struct Free {
        void operator()(std::byte* memory) const { std::free(memory); }
    };
    using Memory = std::unique_ptr<std::byte, Free>;

    /// The cost of a pass over the first `bytes` bytes of an array.
    template <class Run>
    double cost(std::int64_t bytes, Run&& run) const {
        return least([&] { run(array_.get()); }) / (byte_ * static_cast<double>(bytes));
    }
    double cost(const TimedPass& pass) const { return cost(pass.bytes, pass.run); }
    /// How much more a pass costs than another: the median of differences between one run and the
    /// next, because other programs slow down both.
    double difference(const TimedPass& pass, const TimedPass& than) const {
        std::vector<double> found;
        for (int turn = first(); turn <= repeat_; ++turn) {
            const double before = turn % 2 > 0 ? cost_of_run(than) : 0.0;
            const double took = cost_of_run(pass);
            const double other = turn % 2 > 0 ? before : cost_of_run(than);
            if (turn > 0) found.push_back(took - other);
        }
        const auto middle = found.begin() + std::ssize(found) / 2;
        std::nth_element(found.begin(), middle, found.end());
        return *middle;
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
    /// One run before several is not counted.
    int first() const { return repeat_ > 1 ? 0 : 1; }
    template <class Run>
    static double seconds(Run&& run) {
        const auto begin = std::chrono::steady_clock::now();
        run();
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    }
    double cost_of_run(const TimedPass& pass) const {
        return seconds([&] { pass.run(array_.get()); }) / (byte_ * static_cast<double>(pass.bytes));
    }
    // The least: other programs only ever add to it.
    template <class Run>
    double least(Run&& run) const {
        double best = INFINITY;
        for (int turn = first(); turn <= repeat_; ++turn) {
            const double took = seconds(run);
            if (turn > 0) best = std::min(best, took);
        }
        return best;
    }

    int repeat_;
    Memory array_, other_;
    double byte_ = 0;  // seconds
};

}  // namespace hocket::kernel
