// SPDX-License-Identifier: BSD-3-Clause
// What the two ends of a lane tell each other of their arrays, and how either gets at the other's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>

#include "shm/foreign.hpp"
#include "shm/lane.hpp"
#include "shm/sharing.hpp"
#include "transport/message.hpp"

namespace hocket::transport {

// A saying is a flag and a place.
inline constexpr std::size_t words_said = 5;
inline constexpr std::uint64_t reads = 1;     // the receiver reaches the sender's array
inline constexpr std::uint64_t discards = 2;  // it takes none of the elements
shm::Words words_of(std::uint64_t flag, const shm::Place& place);
shm::Place place_in(const shm::Words& words);

/// What an end tells the other of its array: nothing where its elements are not as in a dense one.
shm::Place told_of(const Message& message, const void* data);

/// The other end's array, as far as this process gets at it.
struct Reached {
    std::shared_ptr<std::byte> mapped;
    shm::Place foreign;                 // else, through the kernel
    std::shared_ptr<std::byte> buffer;  // and through this, of a part, where that is better

    explicit operator bool() const { return mapped != nullptr || foreign; }

    /// A part of what is read, where it can be copied from by loads: in the whole array, if that is
    /// mapped, or packed in the buffer until the next one is asked for. Nothing if the other
    /// process is not there any more. @throws Error as shm::Crossing.
    const std::byte* fetch(std::uint64_t part, const Message& message) const;
    bool fetches() const { return mapped != nullptr || buffer != nullptr; }
    /// The copies from what is fetched into this end's array.
    const Parts& from_fetched(const Message& message) const;
};
/// Where the other end has said its array lies, for who would copy from it or to it.
Reached reach(const shm::Words& words, const Message& message, shm::Crossing::Way way);

/// Does what is left of a part that was taken and counts it as finished; an error breaks the lane's
/// use first.
template <class Work>
auto or_break(shm::Lane& lane, const shm::Progress& progress, const Work& work) {
    try {
        return work();
    } catch (const std::exception& error) {
        lane.break_off(progress.use, error.what());
        lane.finish();
        throw;
    }
}

/// Takes one part that nobody has and copies it between this end's array and the other's; false if
/// there is none left. An error breaks the lane's use before the part counts as finished.
bool copy_a_part(shm::Lane& lane, const shm::Progress& progress, const Message& message,
                 std::byte* here, const Reached& there, shm::Crossing::Way way);

}  // namespace hocket::transport
