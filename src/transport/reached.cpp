// SPDX-License-Identifier: BSD-3-Clause
#include "transport/reached.hpp"

#include <unistd.h>

#include <string>

#include "base/log.hpp"
#include "hocket/memory.hpp"

namespace hocket::transport {

using shm::Place;
using shm::Words;

Words words_of(std::uint64_t flag, const Place& place) {
    const auto word = [](std::int64_t number) { return static_cast<std::uint64_t>(number); };
    return {flag, word(place.process), word(place.file), word(place.inode), word(place.offset)};
}

Place place_in(const Words& words) {
    const auto number = [&](std::size_t i) { return static_cast<std::int64_t>(words[i]); };
    return {number(1), number(2), number(3), number(4)};
}

Place told_of(const Message& message, const void* data) {
    if (!message.dense) return {};
    const Place place = shm::place_of(data);
    return place ? place : shm::foreign_place(data);
}

namespace {

Reached found(const Words& words, const Message& message, shm::Crossing::Way way) {
    const Place place = place_in(words);
    if (!shm::is_foreign(place)) return {shm::map(place), {}, {}};
    // A process that sends to itself: an address of its own, which lives as long as the transfer.
    if (place.process == getpid())
        return {{std::shared_ptr<void>(), reinterpret_cast<std::byte*>(place.offset)}, {}, {}};
    if (!shm::reaches(place)) return {};
    const bool reading = way == shm::Crossing::Way::read;
    const auto runs_there = [&] {
        return message.cut(reading ? Parts::Kind::packing : Parts::Kind::unpacking).runs();
    };
    switch (shm::passage(message.bytes, message.parts().runs(), runs_there)) {
        case shm::Passage::direct:
            return {nullptr, place, nullptr};
        case shm::Passage::packed:
            return {nullptr, place, allocate(message.parts().largest())};
        case shm::Passage::none:
            break;
    }
    return {};
}

void tell(const Reached& there, const Message& message) {
    std::string text = "a message of " + std::to_string(message.bytes) + " bytes in " +
                       std::to_string(message.parts().runs()) + " runs within the node: ";
    if (there.mapped != nullptr)
        text += "this process has mapped the other's array, so one copy";
    else if (there.buffer != nullptr)
        text += "the kernel copies across processes by way of a buffer, as runs are short here";
    else if (there.foreign)
        text += "the kernel copies across processes";
    else
        text +=
            "this process cannot open the other's array, or copies across processes do not "
            "pay for such runs: if the other end cannot either, through a ring of buffers";
    log::tell(LogLevel::debug, text);
}

}  // namespace

Reached reach(const Words& words, const Message& message, shm::Crossing::Way way) {
    Reached there = found(words, message, way);
    if (log::wanted(LogLevel::debug)) tell(there, message);
    return there;
}

const std::byte* Reached::fetch(std::uint64_t part, const Message& message) const {
    if (mapped != nullptr) return mapped.get();
    const bool there = message.cut(Parts::Kind::packing)
                           .cross(part, buffer.get(), foreign, shm::Crossing::Way::read);
    return there ? buffer.get() : nullptr;
}

const Parts& Reached::from_fetched(const Message& message) const {
    return mapped != nullptr ? message.parts() : message.cut(Parts::Kind::unpacking);
}

namespace {

// False if the other process is not there any more.
bool copy(std::uint64_t part, const Message& message, std::byte* here, const Reached& there,
          shm::Crossing::Way way) {
    const kernel::Stores stores = stores_for(message.bytes);
    if (way == shm::Crossing::Way::read && there.fetches()) {
        const std::byte* const from = there.fetch(part, message);
        if (from == nullptr) return false;
        there.from_fetched(message).run(part, from, here, stores);
        return true;
    }
    if (there.mapped != nullptr) {
        message.parts().run(part, here, there.mapped.get(), stores);
        return true;
    }
    if (there.buffer == nullptr) return message.parts().cross(part, here, there.foreign, way);
    message.cut(Parts::Kind::packing).run(part, here, there.buffer.get(), kernel::Stores::cached);
    return message.cut(Parts::Kind::unpacking).cross(part, there.buffer.get(), there.foreign, way);
}

}  // namespace

bool copy_a_part(shm::Lane& lane, const shm::Progress& progress, const Message& message,
                 std::byte* here, const Reached& there, shm::Crossing::Way way) {
    const std::uint64_t first = progress.parts, end = first + message.parts().size();
    const std::uint64_t part = lane.claim(end);
    if (part == end) return false;
    // Of a process that is gone no part is ever finished: the wait finds out that it is gone.
    if (or_break(lane, progress, [&] { return copy(part - first, message, here, there, way); }))
        lane.finish();
    return true;
}

}  // namespace hocket::transport
