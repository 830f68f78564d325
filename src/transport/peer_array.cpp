// SPDX-License-Identifier: BSD-3-Clause
#include "transport/peer_array.hpp"

#include <unistd.h>

#include <algorithm>
#include <string>

#include "base/log.hpp"
#include "base/platform.hpp"
#include "hocket/memory.hpp"
#include "transport/channel_use.hpp"

namespace hocket::transport {

using shm::Payload;
using shm::SharedAddress;

Payload payload_of(std::uint64_t flag, const SharedAddress& address) {
    const auto word = [](std::int64_t number) { return static_cast<std::uint64_t>(number); };
    return {flag, word(address.process), word(address.file), word(address.inode),
            word(address.offset)};
}

SharedAddress address_in(const Payload& words) {
    const auto number = [&](std::size_t i) { return static_cast<std::int64_t>(words[i]); };
    return {number(1), number(2), number(3), number(4)};
}

SharedAddress published_address(const Message& message, const void* data) {
    if (!message.dense) return {};
    const std::byte* const array = static_cast<const std::byte*>(data) + message.array_offset;
    const SharedAddress address = shm::shared_address_of(array);
    return address ? address : shm::cma_address_of(array);
}

namespace {

PeerArray found(const Payload& words, const Message& message, bool sending) {
    const SharedAddress address = address_in(words);
    if (!shm::is_cma_address(address)) return {shm::map(address), {}, {}};
    // A process that sends to itself: an address of its own, which lives as long as the transfer.
    if (address.process == platform::process_id())
        return {{std::shared_ptr<void>(), reinterpret_cast<std::byte*>(address.offset)}, {}, {}};
    if (!shm::cma_permitted(address)) return {};
    const std::int64_t runs = message.parts().runs(), count = message.count;
    const std::int64_t rings =
        count * std::min<std::int64_t>(message.bytes, slot_size * ring_slots);
    if (shm::cma_pays(message.bytes, runs, rings)) return {nullptr, address, nullptr};
    const auto runs_there = [&] {
        return message.cut(sending ? Chunks::Kind::unpacking : Chunks::Kind::packing).runs();
    };
    if (shm::packed_cma_pays(message.bytes, runs, runs_there, count, rings))
        return {nullptr, address, allocate(message.parts().largest())};
    return {};
}

void log_access(const PeerArray& there, const Message& message) {
    std::string text = "a message of " + std::to_string(message.bytes) + " bytes in " +
                       std::to_string(message.parts().runs()) + " runs within the node: ";
    if (there.mapped != nullptr)
        text += "this process has mapped the other's array, so one copy";
    else if (there.buffer != nullptr)
        text += "the kernel copies across processes by way of a buffer, as runs are short here";
    else if (there.address)
        text += "the kernel copies across processes";
    else
        text +=
            "this process cannot open the other's array, or copies across processes do not "
            "pay for such runs: if the other end cannot either, through a ring of buffers";
    log::write(LogLevel::debug, text);
}

}  // namespace

PeerArray find_peer_array(const Payload& words, const Message& message, bool sending) {
    PeerArray there = found(words, message, sending);
    if (log::enabled(LogLevel::debug)) log_access(there, message);
    return there;
}

const std::byte* PeerArray::fetch(std::uint64_t part, const Message& message) const {
    if (mapped != nullptr) return mapped.get();
    const bool there = message.cut(Chunks::Kind::packing).cross(part, buffer.get(), address, false);
    return there ? buffer.get() : nullptr;
}

const Chunks& PeerArray::from_fetched(const Message& message) const {
    return mapped != nullptr ? message.parts() : message.cut(Chunks::Kind::unpacking);
}

namespace {

// False if the other process has ended.
bool copy(std::uint64_t part, const Message& message, std::byte* here, const PeerArray& there,
          bool sending) {
    const kernel::Stores stores = stores_for(message.bytes, message.bytes_of_many);
    if (!sending && there.fetches()) {
        const std::byte* const from = there.fetch(part, message);
        if (from == nullptr) return false;
        there.from_fetched(message).run(part, from, here, stores);
        return true;
    }
    if (there.mapped != nullptr) {
        message.parts().run(part, here, there.mapped.get(), stores);
        return true;
    }
    if (there.buffer == nullptr) return message.parts().cross(part, here, there.address, sending);
    message.cut(Chunks::Kind::packing).run(part, here, there.buffer.get(), kernel::Stores::cached);
    return message.cut(Chunks::Kind::unpacking)
        .cross(part, there.buffer.get(), there.address, sending);
}

}  // namespace

bool copy_chunk(shm::Channel& channel, const shm::ChannelCounters& counters, const Message& message,
                std::byte* here, const PeerArray& there, bool sending) {
    const std::uint64_t first = counters.parts, end = first + message.parts().size();
    const std::uint64_t part = channel.claim(end);
    if (part == end) return false;
    // No chunk of an ended process ever completes: the wait detects its end.
    if (or_abort(channel, counters,
                 [&] { return copy(part - first, message, here, there, sending); }))
        channel.finish();
    return true;
}

}  // namespace hocket::transport
