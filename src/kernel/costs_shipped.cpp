// SPDX-License-Identifier: BSD-3-Clause
// The costs and distances of the processors that hocket has been measured on.
#include <algorithm>

#include "kernel/costs.hpp"
#include "kernel/cpu.hpp"

namespace hocket::kernel {
namespace {

constexpr std::int64_t KiB = 1024;

/// One core of an Intel Sapphire Rapids. Its last level is slow, so a buffer beyond the second one
/// costs much.
PassCosts sapphire_rapids() {
    return {
        .processor = "Intel Sapphire Rapids",
        .cache = 2048 * KiB,
        .scattered = {{1, 151.3},
                      {8, 20.05},
                      {32, 5.99},
                      {64, 3.64},
                      {128, 2.47},
                      {256, 1.89},
                      {512, 1.59},
                      {1024, 1.27},
                      {2048, 0.98},
                      {4096, 0.82},
                      {8192, 0.74},
                      {16384, 0.69}},
        .buffered = {{16 * KiB, 1.0},
                     {246 * KiB, 1.05},
                     {512 * KiB, 1.25},
                     {819 * KiB, 1.47},
                     {1300 * KiB, 2.03},
                     {2048 * KiB, 2.9},
                     {4096 * KiB, 4.2},
                     {8192 * KiB, 5.5},
                     {16384 * KiB, 6.8},
                     {32768 * KiB, 8.1}},
        .ringed = {{16 * KiB, 0.98}, {400 * KiB, 1.08}},
        .turned = {{16, 16.5}, {64, 4.73}, {256, 1.81}, {512, 1.32}, {1024, 1.08}, {2288, 1.05}},
        .swapped_in_cache = 1.03,
        .swapped_past = 1.4,
        .swapped_apart = 1.4,  // not measured, and not used there
        .vast_steps = 0.001,   // not measured
        .distances = {.past_panel = 2048 * KiB, .near_cache = 48 * KiB, .abreast = 16 * KiB}};
}

}  // namespace

/// One core of an AMD Zen 3, whose second level holds 512 KiB and whose last level is near: panels
/// of 1 or 2 MiB cost hardly more than those that the second level holds. It takes most of the time
/// for the lines of short blocks, however early they are prefetched.
PassCosts PassCosts::zen3() {
    return {.processor = "AMD Zen 3",
            .cache = 512 * KiB,
            .scattered = {{1, 120.0},
                          {8, 15.0},
                          {16, 6.9},
                          {32, 4.0},
                          {64, 2.0},
                          {128, 1.75},
                          {192, 1.55},
                          {320, 1.25},
                          {448, 1.15},
                          {960, 0.98},
                          {1984, 0.77},
                          {4032, 0.65},
                          {8128, 0.6},
                          {16320, 0.57}},
            .buffered = {{2 * KiB, 1.3},
                         {5 * KiB, 0.9},
                         {16 * KiB, 0.86},
                         {64 * KiB, 0.86},
                         {128 * KiB, 0.9},
                         {256 * KiB, 1.0},
                         {400 * KiB, 1.05},
                         {1000 * KiB, 1.08},
                         {2000 * KiB, 1.15},
                         {3000 * KiB, 1.25},
                         {4000 * KiB, 1.4},
                         {12000 * KiB, 2.6}},
            .ringed = {{24 * KiB, 0.7},
                       {88 * KiB, 0.8},
                       {184 * KiB, 0.8},
                       {1000 * KiB, 0.87},
                       {1600 * KiB, 0.96}},
            .turned = {{16, 17.0},
                       {32, 6.3},
                       {64, 2.75},
                       {128, 1.55},
                       {288, 1.1},
                       {544, 1.05},
                       {1056, 1.05},
                       {2272, 1.02}},
            .shifted = {{128, 1.4}, {192, 1.25}, {256, 1.3}, {320, 1.3}, {384, 1.3}},
            .tiled = {{128, 1.2},
                      {192, 1.05},
                      {256, 0.98},
                      {320, 0.95},
                      {384, 0.93},
                      {1600, 0.85},
                      {1912, 0.92},
                      {2408, 1.0}},
            .swapped_in_cache = 1.1,
            .swapped_past = 1.2,
            .swapped_apart = 1.22,
            .moved = 0.55,
            .apart = 100,
            .wide_panel = 0.35,
            .slab_steps = 1.0,
            .copy_steps = 2.0,
            .ring_start = 1.4,
            .ring_waiting = 0.95,
            .ring_crowded = 0.18,
            .ring_parts = 60,
            .ring_steps = 80,
            .vast_steps = 200,
            // The last level is near: smaller copies past the caches take up to 2 times as long,
            // larger ones 0.7 to 1.2 times. (Measured.)
            .distances = {.short_ahead = 8 * KiB,
                          .short_block = 1 * KiB,
                          .ring_panel = 1536 * KiB,
                          .ring_row = KiB / 2,
                          .long_panel = 160 * KiB,
                          .pair_tile = 72 * KiB,
                          .fetched_tile = 72 * KiB,
                          .copy_piece = 256,
                          .streamed_copy = 12288 * KiB}};
}

/// One core of an AMD Zen 5, whose last level is near. It stores whole cache lines without reading
/// them first, so that streaming stores save nothing. (Measured with one and two threads.)
PassCosts PassCosts::zen5() {
    return {.processor = "AMD Zen 5",
            .cache = 1024 * KiB,
            .scattered = {{1, 92.0},
                          {8, 11.5},
                          {16, 5.6},
                          {32, 2.96},
                          {64, 1.5},
                          {128, 1.05},
                          {192, 0.9},
                          {320, 0.82},
                          {960, 0.79},
                          {1984, 0.72},
                          {4032, 0.68},
                          {16320, 0.7}},
            .buffered = {{2 * KiB, 1.72},
                         {5 * KiB, 1.02},
                         {16 * KiB, 0.86},
                         {64 * KiB, 1.07},
                         {128 * KiB, 1.3},
                         {256 * KiB, 1.4},
                         {400 * KiB, 1.55},
                         {600 * KiB, 1.65},
                         {1000 * KiB, 1.75},
                         {4000 * KiB, 2.2},
                         {24000 * KiB, 2.5}},
            .ringed = {{24 * KiB, 0.7}, {184 * KiB, 0.7}},
            .turned = {{16, 26.0},
                       {32, 7.2},
                       {64, 2.63},
                       {128, 1.29},
                       {288, 0.91},
                       {544, 0.9},
                       {1600, 0.95},
                       {2272, 1.1}},
            .shifted = {{128, 1.48}, {192, 0.95}, {256, 0.84}, {320, 0.87}, {384, 0.85}},
            .tiled = {{128, 1.48}, {192, 0.95}, {256, 0.84}, {320, 0.87}, {384, 0.85}},
            .swapped_in_cache = 0.95,
            .swapped_past = 1.52,
            .swapped_apart = 1.1,
            .moved = 0.6,    // not measured: that of a loop that reads and writes in order
            .apart = 0.001,  // nothing
            .distances = {.short_ahead = 8 * KiB,
                          .long_ahead = 8 * KiB,
                          .ring_ahead = 24 * KiB,
                          .past_panel = 1024 * KiB,
                          .near_cache = 48 * KiB,
                          .abreast = 16 * KiB,
                          .streaming = Streaming::conflicting,
                          .fetching = Fetching::first_level}};
}

PassCosts PassCosts::shipped() {
    const Processor processor = this_processor();
    const bool amd = processor.maker == Processor::Maker::amd;
    // Zen 3: of its servers, whose last level holds 32 MiB.
    constexpr int end_of_servers = 0x10, zen3_family = 0x19;
    const bool measured =
        amd ? processor.zen5() || (processor.zen3() && processor.model < end_of_servers)
            : processor.maker == Processor::Maker::intel &&
                  (processor.model == 0x8f || processor.model == 0xcf);
    const bool older = processor.zen3() || processor.family < zen3_family;
    PassCosts costs = !amd ? sapphire_rapids() : older ? zen3() : zen5();
    if (!measured) {
        if (amd) {  // its own are of that core alone
            costs.distances = {};
            costs.apart = PassCosts{}.apart;
            costs.wide_panel = PassCosts{}.wide_panel;
            costs.slab_steps = PassCosts{}.slab_steps;
            costs.copy_steps = PassCosts{}.copy_steps;
            std::erase_if(costs.tiled, [](const auto& point) { return point.first > KiB; });
            costs.vast_steps = sapphire_rapids().vast_steps;
        }
        costs.distances.streaming = Streaming::all;
        constexpr std::int64_t most = 16384 * KiB;
        costs.distances.past_panel = std::min(least_streamed_bytes() / 2, most);
        if (const std::int64_t cache = first_level_cache(); cache > 0)
            costs.distances.near_cache = cache;
    }
    costs.origin = "those of " + costs.processor +
                   (measured ? "" : ", which may differ here: measure with hocket calibrate");
    return costs;
}

}  // namespace hocket::kernel
