// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/loop_schedule.hpp"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <mutex>
#include <numeric>
#include <optional>
#include <queue>
#include <vector>

#include "base/checked.hpp"
#include "base/pool.hpp"
#include "base/text.hpp"
#include "hocket/error.hpp"

namespace hocket::kernel {
namespace {

using base::ceil_div;
using Range = std::function<void(std::int64_t, std::int64_t)>;
using Length = std::function<std::int64_t(std::int64_t)>;

std::optional<std::int64_t> positive(std::string_view text) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value < 1) return std::nullopt;
    return value;
}

std::vector<std::string> split(std::string_view text) {
    std::vector<std::string> words{""};
    for (const char c : text) {
        if (c == ',')
            words.emplace_back();
        else if (c != ' ')
            words.back() += c;
    }
    return words;
}

/// Iteration numbers, the longest iteration first.
std::vector<std::int64_t> by_length(std::int64_t count, const Length& length) {
    std::vector<std::int64_t> order(static_cast<std::size_t>(count));
    std::iota(order.begin(), order.end(), std::int64_t{0});
    std::sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
        return length(a) != length(b) ? length(a) > length(b) : a < b;
    });
    return order;
}

/// Gives the longest remaining iteration to the thread with the least work.
void run_balanced(int threads, std::int64_t count, const Length& length, const Range& run) {
    std::vector<std::vector<std::int64_t>> shares(static_cast<std::size_t>(threads));
    using Load = std::pair<std::int64_t, std::size_t>;
    std::priority_queue<Load, std::vector<Load>, std::greater<>> loads;
    for (std::size_t thread = 0; thread < shares.size(); ++thread) loads.push({0, thread});
    for (const std::int64_t k : by_length(count, length)) {
        auto [load, thread] = loads.top();
        loads.pop();
        shares[thread].push_back(k);
        loads.push({load + length(k), thread});
    }
    base::parallel_for(threads, threads, [&](std::int64_t thread) {
        for (const std::int64_t k : shares[static_cast<std::size_t>(thread)]) run(k, k + 1);
    });
}

/// Chunks in turn; `size(rest)` is the size of the next one.
template <class Size>
void run_in_turn(int threads, std::int64_t count, const Range& run, Size size) {
    std::atomic<std::int64_t> next{0};
    base::parallel_for(threads, threads, [&](std::int64_t) {
        std::int64_t first = next.load(std::memory_order_relaxed);
        while (first < count) {
            const std::int64_t last = first + std::min(size(count - first), count - first);
            if (!next.compare_exchange_weak(first, last, std::memory_order_relaxed)) continue;
            run(first, last);
            first = next.load(std::memory_order_relaxed);
        }
    });
}

void run_affinity(int threads, std::int64_t count, std::int64_t chunk, const Range& run) {
    struct Partition {
        std::mutex mutex;
        std::int64_t first, last;
    };
    std::vector<Partition> partitions(static_cast<std::size_t>(threads));
    const std::int64_t share = ceil_div<std::int64_t>(count, threads);
    for (std::size_t p = 0; p < partitions.size(); ++p) {
        partitions[p].first = std::min(static_cast<std::int64_t>(p) * share, count);
        partitions[p].last = std::min(partitions[p].first + share, count);
    }
    const auto take = [&](Partition& partition) -> std::pair<std::int64_t, std::int64_t> {
        const std::lock_guard lock(partition.mutex);
        const std::int64_t rest = partition.last - partition.first;
        const std::int64_t size =
            std::min(chunk > 0 ? chunk : ceil_div<std::int64_t>(rest, 2), rest);
        partition.first += size;
        return {partition.first - size, partition.first};
    };
    base::parallel_for(threads, threads, [&](std::int64_t thread) {
        for (int turn = 0; turn < threads; ++turn) {  // its own range, then the next ones
            auto& partition = partitions[static_cast<std::size_t>((thread + turn) % threads)];
            for (auto [first, last] = take(partition); first < last;
                 std::tie(first, last) = take(partition))
                run(first, last);
        }
    });
}

}  // namespace

LoopSchedule LoopSchedule::parse(std::string_view text) {
    if (text == "auto") return {};  // the default, in a fraction of the time of a small copy
    const auto words = split(text);
    const auto chunk = words.size() > 1 ? positive(words[1]) : std::nullopt;
    const std::string& name = words[0];
    if (words.size() == 1) {
        if (name == "auto") return {};  // with spaces
        if (name == "static") return {.kind = Kind::fixed};
        if (name == "guided") return {.kind = Kind::guided};
        if (name == "dynamic") return {.kind = Kind::dynamic};
        if (name == "affinity") return {.kind = Kind::affinity};
    } else if (words.size() == 2) {
        if (name == "static" && words[1] == "balanced") return {.kind = Kind::balanced};
        if (name == "guided" && chunk) return {.kind = Kind::guided, .chunk = *chunk};
        if (name == "dynamic" && chunk) return {.kind = Kind::dynamic, .chunk = *chunk};
        if (name == "affinity" && chunk) return {.kind = Kind::affinity, .chunk = *chunk};
        if (name == "dynamic" && words[1] == "largest")
            return {.kind = Kind::dynamic, .chunk = 1, .largest_first = true};
    } else if (words.size() == 3 && name == "dynamic" && chunk && words[2] == "largest") {
        return {.kind = Kind::dynamic, .chunk = *chunk, .largest_first = true};
    }
    const std::vector<std::string> known{"auto", "static", "guided", "dynamic", "affinity"};
    throw Error("unknown schedule '" + std::string(text) + "'" + text::did_you_mean(name, known) +
                "; there are auto, static, static,balanced, guided[,n], dynamic[,n][,largest] and "
                "affinity[,n], with n iterations of at least 1");
}

void run_scheduled(const LoopSchedule& schedule, int threads, std::int64_t count,
                   const Length& length, const Range& run) {
    threads = base::resolve_threads(threads);
    const std::int64_t share = ceil_div<std::int64_t>(count, threads);
    switch (schedule.kind) {
        case LoopSchedule::Kind::balanced:
            return run_balanced(threads, count, length, run);
        case LoopSchedule::Kind::affinity:
            return run_affinity(threads, count, schedule.chunk, run);
        case LoopSchedule::Kind::automatic:
            return run_in_turn(threads, count, run, [&](std::int64_t) {
                return ceil_div<std::int64_t>(count, 8 * std::int64_t{threads});
            });
        case LoopSchedule::Kind::guided: {
            const std::int64_t least = std::max<std::int64_t>(schedule.chunk, 1);
            return run_in_turn(threads, count, run, [&](std::int64_t rest) {
                return std::max(ceil_div<std::int64_t>(rest, threads), least);
            });
        }
        case LoopSchedule::Kind::dynamic: {
            const std::int64_t chunk = schedule.chunk > 0 ? schedule.chunk : share;
            const auto fixed = [&](std::int64_t) { return chunk; };
            if (!schedule.largest_first) return run_in_turn(threads, count, run, fixed);
            const auto order = by_length(count, length);
            const auto run_ordered = [&](std::int64_t first, std::int64_t last) {
                for (std::int64_t k = first; k < last; ++k) {
                    const std::int64_t at = order[static_cast<std::size_t>(k)];
                    run(at, at + 1);
                }
            };
            return run_in_turn(threads, count, run_ordered, fixed);
        }
        case LoopSchedule::Kind::fixed:
            break;
    }
    base::parallel_for(threads, threads, [&](std::int64_t thread) {
        const std::int64_t first = std::min(thread * share, count);
        if (first < count) run(first, std::min(first + share, count));
    });
}

}  // namespace hocket::kernel
