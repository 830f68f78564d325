// SPDX-License-Identifier: BSD-3-Clause
#include "array/divide.hpp"

#include <algorithm>

#include "array/local.hpp"
#include "hocket/binding.hpp"

namespace hocket::array {
namespace {

// The most keys that a process picks for one cut, and the most places that it sends, in a round.
constexpr std::size_t most_picks = 32, most_places = 4096;

// Narrows each cut to fewer and fewer rows of each process. In a round, each process picks some of
// its rows there, equally spaced, and all count the rows before them.
// Invariants: all processes have the same object. The cuts in [low, high] of each process include
// the wanted ones; low and high are the same numbers of rows as some key divides on all processes.
class Cuts {
  public:
    Cuts(std::span<const std::int64_t> counts, std::span<const std::int64_t> wanted, bool together)
        : wanted_(wanted), size_(counts.size()), together_(together) {
        low_.resize(size_ * wanted.size());
        for (const std::int64_t count : counts) high_.insert(high_.end(), wanted.size(), count);
        for (std::size_t cut = 0; cut < wanted.size(); ++cut) {
            settle(cut);
            if (is_open(cut)) open_.push_back(cut);
        }
    }

    const std::vector<std::size_t>& open() const { return open_; }
    const std::vector<std::int64_t>& found() const { return low_; }
    std::size_t picks() const {
        return std::clamp<std::size_t>(most_places / (open_.size() * size_), 2, most_picks);
    }

    // The rows that this process picks for a cut.
    std::vector<std::int64_t> picked(std::size_t process, std::size_t cut) const {
        const std::int64_t first = low_[at(process, cut)], rows = high_[at(process, cut)] - first;
        const std::int64_t count = std::min<std::int64_t>(rows, static_cast<std::int64_t>(picks()));
        std::vector<std::int64_t> found;
        for (std::int64_t k = 0; k < count; ++k)
            found.push_back(first + (2 * k + 1) * rows / (2 * count));
        return found;
    }

    // A key with so many rows of each process before it, and with its equals.
    void narrow(std::size_t cut, std::span<const std::int64_t> before,
                std::span<const std::int64_t> with_equals) {
        if (!is_open(cut)) return;
        const auto sum = [](std::span<const std::int64_t> rows) {
            std::int64_t all = 0;
            for (const std::int64_t each : rows) all += each;
            return all;
        };
        const std::int64_t wanted = wanted_[cut];
        std::int64_t of_equals = wanted - sum(before);
        const bool is_after = sum(with_equals) < wanted;  // the cut
        for (std::size_t process = 0; process < size_; ++process) {
            std::int64_t& low = low_[at(process, cut)];
            std::int64_t& high = high_[at(process, cut)];
            if (is_after) {
                low = std::max(low, with_equals[process]);
            } else if (of_equals < 0) {
                high = std::min(high, before[process]);
            } else {
                const std::int64_t equals = with_equals[process] - before[process];
                const std::int64_t taken = together_ ? 0 : std::min(of_equals, equals);
                low = high = before[process] + taken;
                if (!together_) of_equals -= taken;
            }
        }
    }

    void end_round() {
        for (const std::size_t cut : open_) settle(cut);
        std::erase_if(open_, [&](std::size_t cut) { return !is_open(cut); });
    }

  private:
    std::size_t at(std::size_t process, std::size_t cut) const {
        return process * wanted_.size() + cut;
    }
    bool is_open(std::size_t cut) const {
        for (std::size_t process = 0; process < size_; ++process)
            if (low_[at(process, cut)] < high_[at(process, cut)]) return true;
        return false;
    }
    // Closes a cut at one of its bounds if that has the wanted number of rows.
    void settle(std::size_t cut) {
        std::int64_t lows = 0, highs = 0;
        for (std::size_t process = 0; process < size_; ++process) {
            lows += low_[at(process, cut)];
            highs += high_[at(process, cut)];
        }
        for (std::size_t process = 0; process < size_; ++process) {
            if (lows == wanted_[cut])
                high_[at(process, cut)] = low_[at(process, cut)];
            else if (highs == wanted_[cut])
                low_[at(process, cut)] = high_[at(process, cut)];
        }
    }

    std::span<const std::int64_t> wanted_;
    std::size_t size_;
    bool together_;
    std::vector<std::int64_t> low_, high_;
    std::vector<std::size_t> open_;
};

}  // namespace

std::vector<std::int64_t> divide(const Comm& comm, const SortedRows& rows,
                                 std::span<const std::int64_t> counts,
                                 std::span<const std::int64_t> wanted, bool together,
                                 Deadline deadline) {
    const std::size_t size = counts.size(), rank = static_cast<std::size_t>(comm.rank()),
                      bytes = static_cast<std::size_t>(rows.bytes);
    Cuts cuts(counts, wanted, together);
    while (!cuts.open().empty()) {
        const std::size_t each = cuts.picks() * cuts.open().size() * bytes;
        std::vector<std::byte> mine(each);
        std::vector<std::size_t> owners;  // of each key: the cut for which it was picked
        std::vector<std::int64_t> own;
        std::vector<std::size_t> lengths(size, 0);
        for (std::size_t process = 0; process < size; ++process) {
            for (const std::size_t cut : cuts.open()) {
                const auto picked = cuts.picked(process, cut);
                owners.insert(owners.end(), picked.size(), cut);
                lengths[process] += picked.size() * bytes;
                if (process == rank) own.insert(own.end(), picked.begin(), picked.end());
            }
        }
        if (!own.empty()) rows.pick(own, mine.data());
        const auto gathered =
            allgather(comm, mine.data(), static_cast<std::int64_t>(each), deadline);
        std::vector<std::byte> keys;
        for (std::size_t process = 0; process < size; ++process) {
            const auto first = gathered.begin() + static_cast<std::ptrdiff_t>(process * each);
            keys.insert(keys.end(), first, first + static_cast<std::ptrdiff_t>(lengths[process]));
        }
        const std::size_t count = owners.size();
        std::vector<std::int64_t> places(2 * count);
        rows.place(keys.data(), std::span(places).first(count), std::span(places).last(count));
        const auto everywhere =
            allgather(comm, places.data(),
                      static_cast<std::int64_t>(places.size() * sizeof places[0]), deadline);
        const auto* const all = reinterpret_cast<const std::int64_t*>(everywhere.data());
        std::vector<std::int64_t> before(size), with_equals(size);
        for (std::size_t k = 0; k < count; ++k) {
            for (std::size_t process = 0; process < size; ++process) {
                before[process] = all[process * 2 * count + k];
                with_equals[process] = all[process * 2 * count + count + k];
            }
            cuts.narrow(owners[k], before, with_equals);
        }
        cuts.end_round();
    }
    return cuts.found();
}

}  // namespace hocket::array

std::vector<std::int64_t> hocket::Binding::divide(
    const Comm& comm, std::int64_t bytes,
    const std::function<void(std::span<const std::int64_t>, std::byte*)>& pick,
    const std::function<void(const std::byte*, std::span<std::int64_t>, std::span<std::int64_t>)>&
        place,
    std::span<const std::int64_t> counts, std::span<const std::int64_t> wanted, bool together) {
    return array::divide(comm, {bytes, pick, place}, counts, wanted, together, {});
}
