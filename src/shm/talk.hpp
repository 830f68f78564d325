// SPDX-License-Identifier: BSD-3-Clause
// A conversation of two processes that say equally many things to each other.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "shm/cell.hpp"

namespace hocket::shm {

/// One side of it. Neither says anything before it has heard what the other said last, which is
/// more than the rule of cell.hpp asks for. They speak at once (`say`, then `heard`), or one asks
/// so, and the other answers: it says nothing before it was `asked`.
template <template <class> class Atomic>
struct BasicTalk {
    BasicVoice<Atomic>* out = nullptr;
    const BasicVoice<Atomic>* in = nullptr;
    std::uint64_t said = 0;

    void say(const Words& words, std::size_t count) { out->say(++said, words, count); }
    bool heard() const { return in->heard(said); }
    /// Of what was heard.
    Words words(std::size_t count) const { return in->words(said, count); }
    std::uint64_t word(std::size_t index) const { return in->word(said, index); }

    bool asked() const { return in->heard(said + 1); }
    Words question(std::size_t count) const { return in->words(said + 1, count); }
};

using Talk = BasicTalk<std::atomic>;

}  // namespace hocket::shm
