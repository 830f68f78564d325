// SPDX-License-Identifier: BSD-3-Clause
// The addresses of arrays that the two ends of a channel exchange, and each end's access to the
// other's array.
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

// A payload is a flag and an address.
inline constexpr std::size_t address_words = 5;
inline constexpr std::uint64_t reads = 1;     // the receiver can access the sender's array
inline constexpr std::uint64_t discards = 2;  // it takes none of the elements
shm::Payload payload_of(std::uint64_t flag, const shm::SharedAddress& address);
shm::SharedAddress address_in(const shm::Payload& words);

/// The address of this end's array for the other end; nothing if its elements are not those of a
/// dense one.
shm::SharedAddress published_address(const Message& message, const void* data);

/// The other end's array, as far as this process can access it.
struct PeerArray {
    std::shared_ptr<std::byte> mapped;
    shm::SharedAddress address;         // else, through the kernel
    std::shared_ptr<std::byte> buffer;  // and through this buffer, for a chunk, if that is faster

    explicit operator bool() const { return mapped != nullptr || address; }

    /// The address of a chunk for loads: in the whole array, if that is mapped, or packed in the
    /// buffer until the next call. Nothing if the other process has ended. @throws Error as
    /// shm::cma_copy.
    const std::byte* fetch(std::uint64_t part, const Message& message) const;
    bool fetches() const { return mapped != nullptr || buffer != nullptr; }
    /// The copies from the fetched chunk into this end's array.
    const Chunks& from_fetched(const Message& message) const;
};
/// Finds the other end's array by its published address, for an end that copies.
PeerArray find_peer_array(const shm::Payload& words, const Message& message, bool sending);

/// Finishes the work on a taken chunk, and counts the chunk; an error first aborts the use of the
/// channel.
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

/// Takes one free chunk and copies it between this end's array and the other's; false if there is
/// none left. An error aborts the use of the channel before the chunk counts as finished.
bool copy_chunk(shm::Channel& channel, const shm::ChannelCounters& counters, const Message& message,
                std::byte* here, const PeerArray& there, bool sending);

}  // namespace hocket::transport
