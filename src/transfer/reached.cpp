// SPDX-License-Identifier: BSD-3-Clause
#include "transfer/reached.hpp"

#include <unistd.h>

#include <exception>

#include "transfer/near.hpp"

namespace hocket::transfer {

using node::Place;
using node::Words;

Words words_of(std::uint64_t flag, const Place& place) {
    const auto word = [](std::int64_t number) { return static_cast<std::uint64_t>(number); };
    return {flag, word(place.process), word(place.file), word(place.inode), word(place.offset)};
}

Place place_in(const Words& words) {
    const auto number = [&](std::size_t i) { return static_cast<std::int64_t>(words[i]); };
    return {number(1), number(2), number(3), number(4)};
}

Place told_of(const NearMessage& message, const void* data) {
    if (!message.dense) return {};
    const Place place = node::place_of(data);
    return place ? place : node::foreign_place(data);
}

Reached reach(const Words& words, const NearMessage& message) {
    const Place place = place_in(words);
    if (!node::is_foreign(place)) return {node::map(place), {}};
    // A process that sends to itself: an address of its own, which lives as long as the transfer.
    if (place.process == getpid())
        return {{std::shared_ptr<void>(), reinterpret_cast<std::byte*>(place.offset)}, {}};
    if (!node::reaches(place) || !node::crossing_pays(message.bytes(), message.parts.runs()))
        return {};
    return {nullptr, place};
}

bool copy_a_part(node::Lane& lane, const node::Progress& progress, const NearMessage& message,
                 std::byte* here, const Reached& there, node::Crossing::Way way) {
    const std::uint64_t first = progress.parts, end = first + message.parts.size();
    const std::uint64_t part = lane.claim(end);
    if (part == end) return false;
    const bool reading = way == node::Crossing::Way::read;
    try {
        // Of a process that is gone no part is ever finished: the wait finds out that it is gone.
        if (there.mapped == nullptr && !message.parts.cross(part - first, here, there.foreign, way))
            return true;
        if (there.mapped != nullptr)
            message.parts.run(part - first, reading ? there.mapped.get() : here,
                              reading ? here : there.mapped.get(), stores_for(message.bytes()));
    } catch (const std::exception& error) {
        lane.break_off(progress.use, error.what());
        lane.finish();
        throw;
    }
    lane.finish();
    return true;
}

}  // namespace hocket::transfer
