// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "base/pool.hpp"
#include "base/text.hpp"
#include "hocket/kernel.hpp"
#include "kernel/costs.hpp"
#include "kernel/inplace.hpp"
#include "kernel/loop_schedule.hpp"
#include "kernel/permutation.hpp"
#include "kernel/ranges.hpp"
#include "kernel/scratch.hpp"

namespace hocket::kernel {
namespace {

void check_itemsize(std::int64_t itemsize) {
    if (itemsize < 1) throw Error("elements have at least 1 byte, not " + std::to_string(itemsize));
}

int checked_threads(int threads) {
    if (threads < 0)
        throw Error("threads is " + std::to_string(threads) +
                    "; give 1 or more, or 0 for what the process may use");
    return base::resolve_threads(threads);
}

/// The range of bytes of a strided array that is not empty.
struct Reach {
    std::uintptr_t first, last;

    Reach(const void* at, std::span<const std::int64_t> extents, std::int64_t itemsize,
          std::span<const std::int64_t> strides)
        : first(reinterpret_cast<std::uintptr_t>(at)),
          last(first + static_cast<std::uintptr_t>(itemsize)) {
        for (std::size_t d = 0; d < extents.size(); ++d) {
            const std::int64_t far = (extents[d] - 1) * strides[d];
            (far < 0 ? first : last) += static_cast<std::uintptr_t>(far);
        }
    }
    bool gapless(std::int64_t bytes) const {
        return last - first == static_cast<std::uintptr_t>(bytes);
    }
    bool holds_an_end_of(const Reach& other) const {
        return (first <= other.first && other.first < last) ||
               (first < other.last && other.last <= last);
    }
};

/// Refuses certain overlaps. The caller has to ensure that interleaved arrays share no byte,
/// because the test might take longer than the copy.
void check_apart(const void* source, std::span<const std::int64_t> from, const void* destination,
                 std::span<const std::int64_t> to, std::span<const std::int64_t> extents,
                 std::int64_t itemsize, std::int64_t bytes) {
    for (std::size_t d = 0; d < extents.size(); ++d)
        if (extents[d] > 1 && std::abs(to[d]) < itemsize)
            throw Error("elements of the destination overlap each other: dimension " +
                        std::to_string(d) + " has a stride of " + std::to_string(to[d]) +
                        " bytes, and elements " + std::to_string(itemsize) +
                        "; give it strides of its own");
    const Reach read(source, extents, itemsize, from), written(destination, extents, itemsize, to);
    if (source == destination || (read.gapless(bytes) && read.holds_an_end_of(written)) ||
        (written.gapless(bytes) && written.holds_an_end_of(read)))
        throw Error(
            "the destination overlaps the array that is permuted; give other memory, or "
            "use permute_inplace");
}

Resources means_for(const Permutation& permutation, const InplaceOptions& options) {
    Resources means{
        .threads = checked_threads(options.threads), .memory = 0, .method = options.method};
    const std::int64_t array = permutation.batch * permutation.blocks() * permutation.block;
    // Without a cap, a named method may use as much memory as it needs.
    const bool bounded = options.method == "auto";
    means.memory = options.cap.value_or(
        bounded ? array / 100 + means.threads * (std::int64_t{4} << 20) : INT64_MAX);
    if (means.memory < 0)
        throw Error("the cap on extra memory is " + std::to_string(means.memory) +
                    " bytes; give 0 or more");
    // To wake threads takes longer than to permute a small array. A method or schedule that is
    // named gets the threads it asks for.
    if (bounded && options.schedule == "auto" && array < least_shared_bytes) means.threads = 1;
    return means;
}

}  // namespace

void permute(const void* source, std::span<const std::int64_t> shape,
             std::span<const std::int64_t> strides, std::int64_t itemsize,
             std::span<const std::int64_t> axes, void* destination,
             std::span<const std::int64_t> destination_strides, const PermuteOptions& options) {
    check_itemsize(itemsize);
    if (strides.size() != shape.size())
        throw Error("the source has " + std::to_string(shape.size()) + " dimensions and " +
                    std::to_string(strides.size()) + " strides");
    check_permutation(shape, axes, itemsize);
    const LoopSchedule schedule = LoopSchedule::parse(options.schedule);
    std::vector<std::int64_t> extents, from;
    extents.reserve(axes.size());
    from.reserve(axes.size());
    for (const std::int64_t axis : axes) {
        extents.push_back(shape[static_cast<std::size_t>(axis)]);
        from.push_back(strides[static_cast<std::size_t>(axis)]);
    }
    const Copy whole(extents, itemsize, from, destination_strides);
    const int threads = checked_threads(options.threads);
    if (whole.bytes() > 0)
        check_apart(source, from, destination, destination_strides, extents, itemsize,
                    whole.bytes());
    if (schedule.kind == LoopSchedule::Kind::automatic || extents.empty() || whole.bytes() == 0)
        return whole.run(source, destination, threads, options.stores);
    // The paper's loop: iterations of the outermost dimension of the destination.
    std::vector<std::int64_t> slice = extents;
    run_scheduled(
        schedule, threads, extents[0], [](std::int64_t) { return 1; },
        [&](std::int64_t first, std::int64_t last) {
            std::vector<std::int64_t> part = slice;
            part[0] = last - first;
            Copy(part, itemsize, from, destination_strides)
                .run(static_cast<const std::byte*>(source) + first * from[0],
                     static_cast<std::byte*>(destination) + first * destination_strides[0], 1,
                     options.stores);
        });
}

Inplace::Inplace(std::span<const std::int64_t> shape, std::int64_t itemsize,
                 std::span<const std::int64_t> axes, const InplaceOptions& options)
    : permutation_((check_itemsize(itemsize), make_permutation(shape, axes, itemsize))),
      schedule_(LoopSchedule::parse(options.schedule)),
      means_(means_for(permutation_, options)),
      plan_(kept_plan(permutation_, means_)) {}

void Inplace::run(void* array) const {
    // A buffer that an earlier call has left counts, too.
    trim_thread_scratch(Scratch::panel, means_.memory - plan_->memory());
    const Pass pass{.threads = means_.threads, .schedule = schedule_};
    for (const Step& step : plan_->steps) step.run(static_cast<std::byte*>(array), pass);
    trim_thread_scratch(Scratch::panel, 4 << 20);  // what the next call may take without a cap
}

void permute_inplace(void* array, std::span<const std::int64_t> shape, std::int64_t itemsize,
                     std::span<const std::int64_t> axes, const InplaceOptions& options) {
    Inplace(shape, itemsize, axes, options).run(array);
}

std::string explain_permute(std::span<const std::int64_t> shape, std::span<const std::int64_t> axes,
                            std::int64_t itemsize, const InplaceOptions& options) {
    const Inplace inplace(shape, itemsize, axes, options);
    const auto& permutation = inplace.permutation();
    const auto& means = inplace.means();
    const auto& plan = inplace.plan();
    std::string out = "shape " + text::tuple(shape) + " of " + std::to_string(itemsize) +
                      "-byte elements, axes " + text::tuple(axes) + "\n";
    if (permutation.identity()) return out + "nothing moves: memory order stays as it is\n";
    out += "fused: " + permutation.text() + " of blocks of " + std::to_string(permutation.block) +
           " bytes\n";
    for (std::size_t k = 0; k < plan.steps.size(); ++k) {
        char cost[64];
        std::snprintf(cost, sizeof cost, " (cost %.2f)", plan.steps[k].cost);
        out += std::to_string(k + 1) + ". " + plan.steps[k].what + cost + "\n";
    }
    char total[160];
    std::snprintf(total, sizeof total,
                  "total cost %.2f, where 1 reads and writes the array once; %lld bytes beside the "
                  "array on %d threads, of %lld allowed\n",
                  plan.cost(), static_cast<long long>(plan.memory()), means.threads,
                  static_cast<long long>(means.memory));
    return out + total;
}

std::string measure_passes(int repeat) {
    if (repeat < 1) throw Error("repeat is " + std::to_string(repeat) + "; measure once or more");
    return PassCosts::measure(repeat).text();
}

std::string pass_costs_origin() {
    return PassCosts::kept().origin;
}

}  // namespace hocket::kernel
