// SPDX-License-Identifier: BSD-3-Clause
#include "array/exchange.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>
#include <optional>

#include "hocket/binding.hpp"
#include "layout/owners.hpp"

namespace hocket::array {
namespace {

std::size_t index_of(std::int64_t value) {
    return static_cast<std::size_t>(value);
}

// counts[p * size + q]: the records from process p to process q. Collective.
std::vector<std::int64_t> all_counts(const Comm& comm, std::span<const std::int64_t> to,
                                     Deadline deadline) {
    const std::size_t size = index_of(comm.size());
    std::vector<std::int64_t> mine(size, 0), all(size * size);
    for (const std::int64_t process : to) ++mine[index_of(process)];
    const auto gathered =
        allgather(comm, mine.data(), static_cast<std::int64_t>(size * sizeof mine[0]), deadline);
    std::memcpy(all.data(), gathered.data(), gathered.size());
    return all;
}

// The most records of so many bytes that a process receives at a time.
std::int64_t most_records(std::int64_t bytes) {
    return std::max<std::int64_t>(1, within_buffers(std::int64_t{64} << 20) / bytes);
}

}  // namespace

// Numbers of records: first all that process 0 sends, ordered by destination, then all of process
// 1, ….
Exchange::Exchange(const Comm& comm, std::span<const std::int64_t> to, Deadline deadline)
    : comm_(comm), deadline_(deadline), sent_({0}, "(*)"), received_({0}, "(*)") {
    const std::size_t size = index_of(comm.size()), rank = index_of(comm.rank());
    const auto matrix = all_counts(comm, to, deadline);
    std::vector<std::vector<Segment>> sent(size), received(size);
    std::int64_t total = 0;
    std::vector<std::int64_t> arriving(size, 0);
    for (std::size_t p = 0; p < size; ++p) {
        const std::int64_t first = total;
        for (std::size_t q = 0; q < size; ++q) {
            const std::int64_t count = matrix[p * size + q];
            if (count > 0) received[q].push_back({total, count});
            total += count;
            arriving[q] += count;
        }
        most_sent_ = std::max(most_sent_, total - first);
        if (total > first) sent[p].push_back({first, total - first});
    }
    most_arriving_ = std::ranges::max(arriving);
    sent_ = Layout::indexed({total}, sent);
    received_ = Layout::indexed({total}, received);
    std::vector<std::int64_t> next(size, 0);
    for (std::size_t q = 1; q < size; ++q) next[q] = next[q - 1] + matrix[rank * size + q - 1];
    for (std::size_t p = 0; p < size; ++p) {
        counts_.push_back(matrix[p * size + rank]);
        arriving_ += counts_.back();
    }
    place_.reserve(to.size());
    for (const std::int64_t process : to) place_.push_back(next[index_of(process)]++);
}

Records Exchange::send(const std::byte* records, std::int64_t bytes) const {
    const DType record = record_of(bytes);
    const Array sorted = Array::empty(sent_, record, comm_);
    auto* const into = static_cast<std::byte*>(sorted.data());
    with_size(bytes, [&](auto each) {
        for (std::size_t k = 0; k < place_.size(); ++k)
            std::memcpy(into + index_of(place_[k]) * each, records + k * each, each);
    });
    const Array result = copied(sorted, received_, deadline_);
    return {std::const_pointer_cast<std::byte>(
                std::static_pointer_cast<const std::byte>(result.keep())),
            arriving_};
}

Array Exchange::answers(std::int64_t bytes) const {
    return Array::empty(received_, record_of(bytes), comm_);
}

void Exchange::answer(const Array& answers, void* into) const {
    const Array sorted = copied(answers, sent_, deadline_);
    const auto* const from = static_cast<const std::byte*>(sorted.data());
    with_size(answers.dtype().size, [&](auto each) {
        for (std::size_t k = 0; k < place_.size(); ++k)
            std::memcpy(static_cast<std::byte*>(into) + k * each, from + index_of(place_[k]) * each,
                        each);
    });
}

void fetch(const Array& array, std::span<const std::int64_t> numbers, void* values,
           Deadline deadline) {
    auto* const result = static_cast<std::byte*>(values);
    const std::int64_t size = array.dtype().size;
    {
        std::vector<std::int64_t> processes(numbers.size()), offsets(numbers.size());
        layout::locate(array.layout(), numbers, processes.data(), offsets.data());
        const Exchange exchange(array.comm(), processes, deadline);
        if (exchange.most_sent() <= 1 ||
            exchange.most_arriving() <= most_records(2 * size + std::int64_t{sizeof offsets[0]})) {
            const Records asked = exchange.send(reinterpret_cast<const std::byte*>(offsets.data()),
                                                sizeof offsets[0]);
            const Dense elements(array);
            const Array found = exchange.answers(size);
            const auto* const wanted = reinterpret_cast<const std::int64_t*>(asked.data.get());
            auto* const into = static_cast<std::byte*>(found.data());
            with_size(size, [&](auto each) {
                for (std::size_t k = 0; k < index_of(asked.count); ++k)
                    std::memcpy(into + k * each, elements.data() + index_of(wanted[k]) * each,
                                each);
            });
            exchange.answer(found, result);
            return;
        }
    }
    const std::size_t half = numbers.size() / 2;
    fetch(array, numbers.first(half), result, deadline);
    fetch(array, numbers.subspan(half), result + half * index_of(size), deadline);
}

namespace {

struct Heading {
    std::int64_t offset, turn;
};

Delivered delivered(const Exchange& exchange, std::span<const std::int64_t> offsets,
                    const std::byte* values, std::int64_t bytes,
                    std::span<const std::int64_t> turns) {
    const std::size_t size = index_of(bytes), each = sizeof(Heading) + size;
    std::vector<std::byte> records(offsets.size() * each);
    for (std::size_t k = 0; k < offsets.size(); ++k) {
        const Heading heading{offsets[k], turns[k]};
        std::memcpy(records.data() + k * each, &heading, sizeof heading);
        std::memcpy(records.data() + k * each + sizeof heading, values + k * size, size);
    }
    const Records arrived = exchange.send(records.data(), static_cast<std::int64_t>(each));
    std::vector<Heading> headings(index_of(arrived.count));
    for (std::size_t k = 0; k < headings.size(); ++k)
        std::memcpy(&headings[k], arrived.data.get() + k * each, sizeof(Heading));
    std::vector<std::size_t> order(headings.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto earlier = [&](std::size_t a, std::size_t b) {
        return headings[a].turn < headings[b].turn;
    };
    if (!std::is_sorted(order.begin(), order.end(), earlier))
        std::stable_sort(order.begin(), order.end(), earlier);
    Delivered found;
    found.offsets.reserve(order.size());
    found.values.resize(order.size() * size);
    for (std::size_t k = 0; k < order.size(); ++k) {
        found.offsets.push_back(headings[order[k]].offset);
        std::memcpy(found.values.data() + k * size,
                    arrived.data.get() + order[k] * each + sizeof(Heading), size);
    }
    return found;
}

// In the middle of all processes' turns; nothing if there is only one turn. Collective.
std::optional<std::int64_t> middle_turn(const Comm& comm, std::span<const std::int64_t> turns,
                                        Deadline deadline) {
    using Limits = std::numeric_limits<std::int64_t>;
    const std::int64_t ends[]{turns.empty() ? Limits::max() : std::ranges::min(turns),
                              turns.empty() ? Limits::min() : std::ranges::max(turns)};
    const auto gathered = allgather(comm, ends, sizeof ends, deadline);
    const std::span all(reinterpret_cast<const std::int64_t*>(gathered.data()),
                        2 * index_of(comm.size()));
    std::int64_t low = Limits::max(), high = Limits::min();
    for (std::size_t k = 0; k < all.size(); k += 2) {
        low = std::min(low, all[k]);
        high = std::max(high, all[k + 1]);
    }
    if (low >= high) return {};
    return low + (high - low) / 2 + 1;
}

}  // namespace

Delivered deliver(const Comm& comm, const Layout& layout, std::span<const std::int64_t> numbers,
                  const void* values, std::int64_t bytes, std::span<const std::int64_t> turns,
                  Deadline deadline) {
    std::vector<std::int64_t> processes(numbers.size()), offsets(numbers.size());
    layout::locate(layout, numbers, processes.data(), offsets.data());
    const Exchange exchange(comm, processes, deadline);
    return delivered(exchange, offsets, static_cast<const std::byte*>(values), bytes, turns);
}

void store(const Array& array, std::span<const std::int64_t> numbers, const void* values,
           std::span<const std::int64_t> turns, Deadline deadline) {
    const auto* const from = static_cast<const std::byte*>(values);
    const std::size_t size = index_of(array.dtype().size);
    std::optional<std::int64_t> middle;
    {
        std::vector<std::int64_t> processes(numbers.size()), offsets(numbers.size());
        layout::locate(array.layout(), numbers, processes.data(), offsets.data());
        const Exchange exchange(array.comm(), processes, deadline);
        const auto each = static_cast<std::int64_t>(3 * (sizeof(Heading) + size));
        if (exchange.most_arriving() > most_records(each))
            middle = middle_turn(array.comm(), turns, deadline);
        if (!middle) {
            const Delivered came = delivered(exchange, offsets, from, array.dtype().size, turns);
            const LocalElements elements(array);
            with_size(array.dtype().size, [&](auto bytes) {
                for (std::size_t k = 0; k < came.offsets.size(); ++k)
                    std::memcpy(elements.at(came.offsets[k]), came.values.data() + k * bytes,
                                bytes);
            });
            return;
        }
    }
    // The later turns last, so that their values stay.
    for (const bool later : {false, true}) {
        std::vector<std::int64_t> some_numbers, some_turns;
        std::vector<std::byte> some_values;
        for (std::size_t k = 0; k < numbers.size(); ++k) {
            if ((turns[k] >= *middle) != later) continue;
            some_numbers.push_back(numbers[k]);
            some_turns.push_back(turns[k]);
            some_values.insert(some_values.end(), from + k * size, from + (k + 1) * size);
        }
        store(array, some_numbers, some_values.data(), some_turns, deadline);
    }
}

}  // namespace hocket::array

void hocket::Binding::locate(const Layout& layout, std::span<const std::int64_t> numbers,
                             std::int64_t* owners, std::int64_t* offsets) {
    layout::locate(layout, numbers, owners, offsets);
}

std::shared_ptr<const std::byte> hocket::Binding::allgather(const Comm& comm,
                                                            const std::string& call,
                                                            const void* mine, std::int64_t bytes) {
    return array::allgather(comm, call, mine, bytes, Deadline::in({}));
}

std::pair<std::shared_ptr<std::byte>, std::vector<std::int64_t>> hocket::Binding::exchange(
    const Comm& comm, std::span<const std::int64_t> to, const void* records, std::int64_t bytes) {
    const array::Exchange exchange(comm, to, Deadline::in({}));
    auto arrived = exchange.send(static_cast<const std::byte*>(records), bytes);
    return {std::move(arrived.data), exchange.counts()};
}

void hocket::Binding::fetch(const Array& array, std::span<const std::int64_t> numbers,
                            void* values) {
    array::fetch(array, numbers, values, Deadline::in({}));
}

void hocket::Binding::store(const Array& array, std::span<const std::int64_t> numbers,
                            const void* values, std::span<const std::int64_t> turns) {
    array::store(array, numbers, values, turns, Deadline::in({}));
}
