// SPDX-License-Identifier: BSD-3-Clause
// What the two ends of a lane tell each other of their arrays, and how either gets at the other's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>

#include "shm/channel.hpp"
#include "shm/cma.hpp"
#include "shm/mapping.hpp"
#include "transport/message.hpp"

namespace hocket::transport {

// A saying is a flag and a place.
inline constexpr std::size_t address_words = 5;
inline constexpr std::uint64_t reads = 1;     // the receiver reaches the sender's array
inline constexpr std::uint64_t discards = 2;  // it takes none of the elements
shm::Payload payload_of(std::uint64_t flag, const shm::SharedAddress& place);
shm::SharedAddress place_in(const shm::Payload& words);

/// What an end tells the other of its array: nothing where its elements are not as in a dense one.
shm::SharedAddress published_address(const Message& message, const void* data);

/// The other end's array, as far as this process gets at it.
struct PeerArray {
    std::shared_ptr<std::byte> mapped;
    shm::SharedAddress foreign;         // else, through the kernel
    std::shared_ptr<std::byte> buffer;  // and through this, of a part, where that is better

    explicit operator bool() const { return mapped != nullptr || foreign; }

    /// A part of what is read, where it can be copied from by loads: in the whole array, if that is
    /// mapped, or packed in the buffer until the next one is asked for. Nothing if the other
    /// process is not there any more. @throws Error as shm::CmaTransfer.
    const std::byte* fetch(std::uint64_t part, const Message& message) const;
    bool fetches() const { return mapped != nullptr || buffer != nullptr; }
    /// The copies from what is fetched into this end's array.
    const Chunks& from_fetched(const Message& message) const;
};
/// Where the other end has said its array lies, for who would copy from it or to it.
PeerArray find_peer_array(const shm::Payload& words, const Message& message,
                          shm::CmaTransfer::Direction way);

/// Does what is left of a part that was taken and counts it as finished; an error breaks the lane's
/// use first.
template <class Work>
auto or_abort(shm::Channel& channel, const shm::ChannelCounters& counters, const Work& work) {
    try {
        return work();
    } catch (const std::exception& error) {
        channel.abort_use(counters.use, error.what());
        channel.finish();
        throw;
    }
}

/// Takes one part that nobody has and copies it between this end's array and the other's; false if
/// there is none left. An error breaks the lane's use before the part counts as finished.
bool copy_chunk(shm::Channel& channel, const shm::ChannelCounters& counters, const Message& message,
                std::byte* here, const PeerArray& there, shm::CmaTransfer::Direction way);

}  // namespace hocket::transport
