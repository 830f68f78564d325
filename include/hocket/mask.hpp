// SPDX-License-Identifier: BSD-3-Clause
// Masks: sets of processes of a team, one bit a process.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace hocket {

/// A set of processes: process p is bit p % 64 of word p / 64.
class Mask {
  public:
    Mask() = default;
    /// A set of the processes 0 to 63.
    explicit Mask(std::uint64_t bits) : low_(bits) {}
    explicit Mask(std::span<const std::uint64_t> words);

    void add(int process);
    bool contains(int process) const {
        return process >= 0 && (word(static_cast<std::size_t>(process) / 64) >>
                                    (static_cast<unsigned>(process) % 64) &
                                1U) != 0;
    }
    int count() const;
    /// Calls `visit(process)` for each process, in increasing order.
    template <class Visit>
    void each(Visit visit) const {
        for (std::size_t index = 0; index <= high_.size(); ++index)
            for (std::uint64_t left = word(index); left != 0; left &= left - 1)
                visit(static_cast<int>(index * 64) + std::countr_zero(left));
    }
    /// In increasing order.
    std::vector<int> processes() const;
    /// At least one word. If there are several, the last is not 0.
    std::vector<std::uint64_t> words() const;
    std::uint64_t hash() const;
    std::string text() const;  ///< "{0, 2, 5}"

    friend bool operator==(const Mask&, const Mask&) = default;

  private:
    std::uint64_t word(std::size_t index) const {
        return index == 0 ? low_ : index <= high_.size() ? high_[index - 1] : 0;
    }
    std::uint64_t low_ = 0;            // most masks need no more, and so no memory
    std::vector<std::uint64_t> high_;  // the last one is not 0
};

}  // namespace hocket
