// SPDX-License-Identifier: BSD-3-Clause
// Measures what passes over an array in place cost on this processor, and the best distances.
#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <utility>
#include <vector>

#include "hocket/kernel.hpp"
#include "kernel/costs.hpp"
#include "kernel/cpu.hpp"
#include "kernel/meter.hpp"
#include "kernel/move_cycles.hpp"
#include "kernel/moved_rows.hpp"
#include "kernel/panels.hpp"
#include "kernel/ringed_tiles.hpp"
#include "kernel/shifted_tiles.hpp"
#include "kernel/square.hpp"
#include "kernel/stream.hpp"
#include "kernel/timed_passes.hpp"

namespace hocket::kernel {
namespace {

/// The mean of matrices of several shapes: some distances between rows make the memory twice as
/// slow.
double measure_scattered(const Meter& meter, std::int64_t block) {
    constexpr std::array<double, 4> shapes{0.3, 0.7, 1.3, 3.1};
    double sum = 0;
    for (const double aspect : shapes) {
        const std::int64_t blocks = array_bytes / block;
        const auto rows =
            static_cast<std::int64_t>(std::sqrt(static_cast<double>(blocks) * aspect));
        const std::array<std::int64_t, 2> shape{rows, blocks / rows}, axes{1, 0};
        const Permutation permutation = make_permutation(shape, axes, block);
        sum += meter.cost(rows * shape[1] * block, [&](std::byte* array) {
            move_cycles(array, permutation, BlockPositions::dense(block),
                        {.threads = 1, .schedule = {}});
        });
    }
    return sum / static_cast<double>(shapes.size());
}

/// From rows of three blocks to rows of seven, each with a number more.
double measure_moved(const Meter& meter) {
    constexpr std::int64_t block = 8000, few = 3, more = 7, row = few * block + timed_unit;
    const MovedRows rows{.from = {block, few, row},
                         .to = {block, more, more * block + timed_unit},
                         .count = array_bytes / row * few};
    return meter.cost(rows.count * block, [&](std::byte* array) { rows.run(array, 1); });
}

double measure_shifted(const Meter& meter, std::int64_t side) {
    ShiftedTiles tiles{
        .rows = 1, .columns = 4000 / side * side + 1, .unit = timed_unit, .side = side};
    tiles.rows += (array_bytes / (tiles.columns * timed_unit) - 1) / side * side;
    return meter.cost(tiles.bytes(), [&](std::byte* array) { tiles.make_blocks(array, 1); });
}

/// So much more a pass costs than another; what is not measurable stays above 0.
double more(const Meter& meter, const TimedPass& pass, const TimedPass& than) {
    return std::max(meter.difference(pass, than), 0.001);
}

void measure_weights(const Meter& meter, PassCosts& costs) {
    constexpr std::int64_t side = 32, columns = 4000, short_columns = 960, odd = 35;
    constexpr double block = side * timed_unit;
    const TimedPass usual = tiles_of(side, columns / side * side);
    // In a band of four tiles one waits in a buffer, and nothing prefetches the first.
    constexpr std::int64_t few = 4;
    constexpr double not_fetched = 1.0, copied = 0.7, both = few / (not_fetched + copied);
    const double ends = both * more(meter, tiles_of(side, few * side), usual);
    costs.ring_start = not_fetched * ends;
    costs.ring_waiting = copied * ends;
    const RingedTiles long_rows{
        .rows = 2 * side, .columns = short_columns, .unit = timed_unit, .side = 2 * side};
    if (long_rows.crowded() > 0)
        costs.ring_crowded =
            more(meter, tiles_of(2 * side, short_columns), usual) / long_rows.crowded();
    costs.ring_parts = odd * timed_unit * more(meter, tiles_of(odd, columns / odd * odd), usual);
    const std::int64_t whole = columns / side * side;
    costs.ring_steps =
        block * more(meter, steps_of(side, whole, true), steps_of(side, whole, false));
    constexpr std::int64_t deep = 320, long_block = 4032, rows = 300;
    const auto cycles = [](std::vector<std::int64_t> shape, std::int64_t of_block) {
        const std::int64_t blocks = shape[0] * shape[1] * (shape.size() > 2 ? shape[2] : 1);
        const std::vector<std::int64_t> axes =
            shape.size() > 2 ? std::vector<std::int64_t>{2, 1, 0} : std::vector<std::int64_t>{1, 0};
        return TimedPass{blocks * of_block, [moved = make_permutation(shape, axes, of_block),
                                             of_block](std::byte* array) {
                             move_cycles(array, moved, BlockPositions::dense(of_block),
                                         {.threads = 1, .schedule = {}});
                         }};
    };
    const std::int64_t blocks = array_bytes / deep;
    costs.apart = deep * more(meter, cycles({60, 70, blocks / 60 / 70}, deep),
                              cycles({600, blocks / 600}, deep));
    const Meter::Memory vast = Meter::memory(least_vast);
    TimedPass far = cycles({least_vast / long_block / rows, rows}, long_block);
    far.run = [run = std::move(far.run), at = vast.get()](std::byte*) { run(at); };
    costs.vast_steps =
        long_block * more(meter, far, cycles({array_bytes / long_block / rows, rows}, long_block));
    constexpr std::int64_t wide = 203, KiB = 1024, few_rows = Panels::few_rows;
    costs.wide_panel = more(meter, panels_of(wide, 600 * KiB, Rings::none),
                            panels_of(few_rows, 600 * KiB, Rings::none));
    const TimedPass in_buffer = panels_of(few_rows, 60 * KiB, Rings::none);
    costs.slab_steps = timed_unit * more(meter, slabs_of({96, 80}), in_buffer);
    costs.copy_steps = timed_unit * more(meter, slabs_of({16, 12, 40}), in_buffer);
}

/// Tiles beyond the first-level cache, without the part of their cost that `ring_crowded` tells.
std::pair<std::int64_t, double> long_tiles(const Meter& meter, std::int64_t side,
                                           const PassCosts& costs) {
    constexpr std::int64_t columns = 4008;  // an odd number of lines: rows share no set
    const RingedTiles tiles{.rows = side, .columns = columns, .unit = timed_unit, .side = side};
    const double crowded = costs.ring_crowded * tiles.crowded();
    return {tiles.block(), std::max(meter.cost(tiles_of(side, columns)) - crowded, 0.1)};
}

double measure_squares(const Meter& meter, std::int64_t side) {
    Squares squares{.side = side, .unit = timed_unit, .pitch = side * timed_unit, .inner_step = 0};
    squares.outer = array_bytes / (side * side * timed_unit);
    return meter.cost(squares.outer * side * side * timed_unit,
                      [&](std::byte* array) { squares.transpose(array, 1); });
}

/// A copy that reverses the dimensions.
double measure_copy(const Meter& meter, std::vector<std::int64_t> shape) {
    std::vector<std::int64_t> source(shape.size()), destination(shape.size());
    std::int64_t bytes = timed_unit, reversed = timed_unit;
    for (std::size_t d = 0; d < shape.size(); ++d) {
        const std::size_t last = shape.size() - 1 - d;
        source[last] = std::exchange(bytes, bytes * shape[last]);
        destination[d] = std::exchange(reversed, reversed * shape[d]);
    }
    const Copy copy(shape, timed_unit, source, destination);
    return meter.cost(bytes, [&](std::byte* array) { copy.run(array, meter.other()); });
}

/// The kernels use these distances as long as it lives.
class Trial {
  public:
    explicit Trial(const Distances& trial) : trial_(trial) { try_distances(&trial_); }
    ~Trial() { try_distances(nullptr); }
    Trial(const Trial&) = delete;
    Trial& operator=(const Trial&) = delete;

  private:
    Distances trial_;
};

/// Keeps the value with the least cost. Another one than the present value has to gain a twentieth,
/// twice: noise alone rarely gives it that.
template <class Value, class Cost>
void choose(Distances& chosen, Value Distances::*which, std::initializer_list<Value> values,
            Cost&& cost) {
    const auto cost_with = [&](Value value) {
        Distances tried = chosen;
        tried.*which = value;
        const Trial trial(tried);
        return cost();
    };
    const Value present = chosen.*which;
    Value best = present;
    double least = 0.95 * cost_with(present);
    for (const Value value : values) {
        const double found = value == present ? INFINITY : cost_with(value);
        if (found >= least) continue;
        best = value;
        least = found;
    }
    if (best != present && cost_with(best) < 0.95 * cost_with(present)) chosen.*which = best;
}

/// Each cache has distances of its own.
void choose_fetching(const Meter& meter, Distances& chosen) {
    const auto cost_of = [&](const Distances& tried) {
        const Trial trial(tried);
        double sum = 0;
        for (const std::int64_t block : {320, 1984, 8128}) sum += measure_scattered(meter, block);
        return sum;
    };
    Distances other{};
    if (chosen.fetching == Fetching::second_level) {
        other = chosen;
        other.fetching = Fetching::first_level;
        other.short_ahead = other.long_ahead = 8 << 10;
        other.ring_ahead = 24 << 10;
    } else {
        other.streaming = chosen.streaming;
    }
    for (int turn = 0; turn < 2; ++turn)
        if (cost_of(other) >= 0.95 * cost_of(chosen)) return;
    chosen = other;
}

Distances measure_distances(const Meter& meter) {
    constexpr std::int64_t KiB = 1024;
    Distances chosen = PassCosts::shipped().distances;
    if (const std::int64_t cache = first_level_cache(); cache > 0) chosen.near_cache = cache;
    choose(chosen, &Distances::abreast, {4 * KiB, 8 * KiB, 16 * KiB}, [&] {
        return meter.cost(array_bytes, [&](std::byte* array) {
            select_stream_copy()(meter.other(), array, array_bytes);
        });
    });
    choose(chosen, &Distances::streaming, {Streaming::all, Streaming::conflicting}, [&] {
        return measure_copy(meter, {3000, 4000});
    });
    choose(chosen, &Distances::streamed_copy, {INT64_C(64), 4096 * KiB, 12288 * KiB}, [&] {
        double sum = 0;
        for (const std::int64_t rows : {500, 800, 1100}) sum += measure_copy(meter, {rows, 1000});
        return sum;
    });
    choose_fetching(meter, chosen);
    choose(chosen, &Distances::copy_piece, {INT64_C(256), INT64_C(512)}, [&] {
        return measure_copy(meter, {3000, 4000});
    });
    choose(chosen, &Distances::copy_ahead, {1 * KiB, 2 * KiB, 4 * KiB, 8 * KiB, 16 * KiB}, [&] {
        return measure_copy(meter, {100, 300, 400});
    });
    const auto scattered_in = [&](std::vector<std::int64_t> blocks) {
        return [&meter, blocks] {
            double sum = 0;
            for (const std::int64_t block : blocks) sum += measure_scattered(meter, block);
            return sum;
        };
    };
    choose(chosen, &Distances::short_ahead, {4 * KiB, 8 * KiB, 16 * KiB, 32 * KiB},
           scattered_in({64, 192}));
    choose(chosen, &Distances::short_block, {KiB / 2, 1 * KiB, 2 * KiB},
           scattered_in({640, 960, 1984}));
    choose(chosen, &Distances::long_ahead, {8 * KiB, 16 * KiB, 64 * KiB, 128 * KiB, 256 * KiB},
           scattered_in({4032, 8128, 16320}));
    choose(chosen, &Distances::paired_block, {3 * KiB, 6 * KiB, 12 * KiB, 64 * KiB},
           scattered_in({4032, 8128, 16320}));
    choose(chosen, &Distances::ring_ahead, {8 * KiB, 16 * KiB, 24 * KiB, 64 * KiB},
           [&] { return meter.cost(panels_of(64, 88 * KiB, Rings::all)); });
    choose(chosen, &Distances::ring_row, {KiB / 2, 16384 * KiB},
           [&] { return meter.cost(panels_of(125, 88 * KiB, Rings::allowed)); });
    choose(chosen, &Distances::ring_panel, {64 * KiB, 1536 * KiB}, [&] {
        return meter.cost(panels_of(200, 500 * KiB, Rings::allowed)) +
               meter.cost(panels_of(200, 1200 * KiB, Rings::allowed));
    });
    choose(chosen, &Distances::long_panel, {160 * KiB, 16384 * KiB}, [&] {
        return meter.cost(panels_of(203, 500 * KiB, Rings::none)) +
               meter.cost(panels_of(203, 1200 * KiB, Rings::none));
    });
    choose(chosen, &Distances::panel_row, {1 * KiB, 2 * KiB, 4 * KiB, 8 * KiB, 16 * KiB},
           [&] { return meter.cost(panels_of(32, 120 * KiB, Rings::none)); });
    choose(chosen, &Distances::past_panel, {512 * KiB, 1024 * KiB, 2048 * KiB, 16384 * KiB}, [&] {
        double sum = 0;
        for (const std::int64_t kib : {600, 1500, 6000})
            sum += meter.cost(panels_of(32, kib * KiB, Rings::none));
        return sum;
    });
    choose(chosen, &Distances::small_tile, {5 * KiB, 10 * KiB, 20 * KiB, 40 * KiB},
           [&] { return measure_squares(meter, 200); });
    const auto squares_of_pairs = [&] { return measure_squares(meter, 1500); };
    choose(chosen, &Distances::pair_tile, {32 * KiB, 72 * KiB, 144 * KiB, 288 * KiB, 576 * KiB},
           squares_of_pairs);
    // Without prefetches or with them: the tiles of pairs keep the size chosen with the present
    // setting.
    choose(chosen, &Distances::fetched_tile, {INT64_C(64), 576 * KiB}, squares_of_pairs);
    return chosen;
}

}  // namespace

PassCosts PassCosts::measure(int repeat) {
    const Meter meter(repeat);
    PassCosts costs;
    costs.distances = measure_distances(meter);
    {
        // On any core, tiles of arrays that are not far go past the caches.
        Distances none_far = costs.distances;
        none_far.far_array = 2 * array_bytes;
        const Trial trial(none_far);
        costs.swapped_past = measure_squares(meter, 2048);
    }
    const Trial trial(costs.distances);
    costs.processor = this_processor().name();
    costs.cache = least_streamed_bytes() / 2;
    for (const std::int64_t block :
         {8, 16, 32, 64, 128, 192, 320, 448, 960, 1984, 4032, 8128, 16320})
        costs.scattered.emplace_back(block, measure_scattered(meter, block));
    costs.scattered.insert(costs.scattered.begin(), {1, 8 * costs.scattered.front().second});
    // Rows whose lengths are no powers of two, as most are: those share sets of the cache.
    for (const std::int64_t kib : {2, 5, 15, 60, 120, 250, 400, 600, 1000, 2000, 4000, 12000}) {
        const std::int64_t width = kib < 60 ? 16 : Panels::few_rows;
        costs.buffered.emplace_back(kib << 10,
                                    meter.cost(panels_of(width, kib << 10, Rings::none)));
    }
    for (const std::int64_t kib : {24, 88, 184, 1000, 1536}) {
        const std::int64_t width = kib < 1000 ? 64 : 200;
        costs.ringed.emplace_back(kib << 10, meter.cost(panels_of(width, kib << 10, Rings::all)));
    }
    for (const std::int64_t side : {16, 24, 32, 40, 48}) {
        costs.shifted.emplace_back(side * timed_unit, measure_shifted(meter, side));
        costs.tiled.emplace_back(side * timed_unit, meter.cost(tiles_of(side, 4000 / side * side)));
    }
    measure_weights(meter, costs);
    for (const std::int64_t side : {128, 200, 240})
        costs.tiled.push_back(long_tiles(meter, side, costs));
    for (const std::int64_t side : {2, 4, 8, 16, 36, 68, 132, 200, 284})
        costs.turned.emplace_back(side * timed_unit, measure_squares(meter, side));
    costs.swapped_in_cache = measure_squares(meter, 1500);
    costs.swapped_apart = measure_squares(meter, 2048);
    costs.moved = measure_moved(meter);
    return costs;
}

}  // namespace hocket::kernel
