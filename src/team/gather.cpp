// SPDX-License-Identifier: BSD-3-Clause
// Gathers all values to every process of several nodes: up to the leaders of the nodes, between the
// leaders, and down again.
#include <algorithm>

#include "team/hierarchical.hpp"

namespace hocket::team {
namespace {

using comm::Protocol;
using Data = std::vector<std::uint64_t>;
using Places = std::vector<std::size_t>;

/// The values of consecutive members of a node, and the signature of their calls.
struct Batch {
    PartialResult partial;
    Data values;
};

shm::Payload cell_of(const Data& data, std::size_t at) {
    shm::Payload cell{};
    const std::size_t count = std::min(shm::payload_words, data.size() - at);
    std::copy_n(data.begin() + static_cast<std::ptrdiff_t>(at), count, cell.begin());
    return cell;
}

/// Sends a batch to the leader, one payload at a time; the leader asks for each payload but the
/// first. The leader may answer any of them with a mismatch.
Protocol<> pass(Round& round, std::size_t leader, const Batch& batch) {
    FlagPair& flags = flags_with(round, leader);
    const shm::Payload first = batch.partial.packed();
    Data data(first.begin(), first.begin() + (batch.partial.mismatch ? mismatch_words : 1));
    if (!batch.partial.mismatch) data.insert(data.end(), batch.values.begin(), batch.values.end());
    for (std::size_t at = 0; at < data.size(); at += shm::payload_words) {
        if (at > 0) {
            PeerWait wanted(round, leader, [&flags] { return flags.observed(); });
            co_await comm::until(wanted);
            if (flags.payload_word(0) == mismatch_marker) co_return;
        }
        flags.publish(cell_of(data, at), shm::payload_words);
    }
}

/// Receives `count` values from a member that this process leads, and appends them to `mine`.
Protocol<> take(Round& round, std::size_t member, std::size_t count, Batch& mine) {
    FlagPair& flags = flags_with(round, member);
    for (std::size_t from = 1, left = count;; from = 0) {
        PeerWait requested(round, member, [&flags] { return flags.requested(); });
        co_await comm::until(requested);
        const shm::Payload cell = flags.request_payload(shm::payload_words);
        if (from > 0) {
            PartialResult observed{member, cell[0]};
            if (cell[0] == mismatch_marker) observed.mismatch = mismatch_in(cell);
            mine.partial = combined(round, {mine.partial, observed});
            check_mismatch(round, mine.partial);
            if (mine.partial.mismatch) co_return;
        }
        const std::size_t here = std::min(left, shm::payload_words - from);
        const auto* const values = cell.data() + from;
        mine.values.insert(mine.values.end(), values, values + here);
        left -= here;
        if (left == 0) co_return;
        flags.publish({round.header.packed()}, 1);
    }
}

/// Sends the values of the whole group, or a mismatch, to a member that this process leads. The
/// member asks for each payload.
Protocol<> answer(Round& round, std::size_t member, const Data& data) {
    FlagPair& flags = flags_with(round, member);
    for (std::size_t at = 0; at < data.size(); at += shm::payload_words) {
        PeerWait requested(round, member, [&flags] { return flags.requested(); });
        co_await comm::until(requested);
        flags.publish(cell_of(data, at), shm::payload_words);
        if (data[0] == mismatch_marker) co_return;
    }
}

Protocol<Data> receive_values(Round& round, std::size_t leader, std::size_t words) {
    FlagPair& flags = flags_with(round, leader);
    Data data;
    for (;;) {
        PeerWait answered(round, leader, [&flags] { return flags.observed(); });
        co_await comm::until(answered);
        const std::size_t count = std::min(shm::payload_words, words - data.size());
        const shm::Payload published = flags.payload(count);
        data.insert(data.end(), published.begin(),
                    published.begin() + static_cast<std::ptrdiff_t>(count));
        // Otherwise the leader answers with a mismatch.
        if (data[0] != round.header.packed() || data.size() == words) co_return data;
        flags.publish({round.header.packed()}, 1);
    }
}

/// The values of all members of consecutive nodes.
class GatheredNodes final : public NodeValues {
  public:
    GatheredNodes(const Round& round, const Data& mine) : group_(*round.group), values_(mine) {
        for (std::size_t i = 0; i < group_.nodes.size(); ++i)
            ends_.push_back((i == 0 ? 0 : ends_.back()) + node(i).size() * round.value.size());
    }
    void write(std::size_t count, Packer& out) const override {
        for (std::size_t i = 0; i < ends_[count - 1]; ++i) out.word(values_[i]);
    }
    void append(std::size_t count, Unpacker& in) override {
        count_ += count;
        while (values_.size() < ends_[count_ - 1]) values_.push_back(in.word());
    }
    /// Writes the values in the order of the members.
    void write(std::uint64_t* out, std::size_t words) const {
        auto from = values_.begin();
        for (std::size_t i = 0; i < ends_.size(); ++i)
            for (const std::size_t member : node(i))
                for (std::size_t word = 0; word < words; ++word)
                    out[member * words + word] = *from++;
    }

  private:
    const Places& node(std::size_t i) const {
        return group_.nodes[(group_.my_node + i) % group_.nodes.size()];
    }
    const Group& group_;
    std::size_t count_ = 1;
    Data values_;
    Places ends_;  // of the values of each node
};

/// The values of the whole group from all nodes, after the header or a mismatch.
Protocol<Data> all_of(Round& round, Batch mine, std::size_t words) {
    GatheredNodes nodes(round, mine.values);
    co_await between_nodes(round, mine.partial, nodes);
    Data data(mismatch_words + round.group->size() * words, 0);
    const shm::Payload head = mine.partial.packed();
    std::copy_n(head.begin(), mine.partial.mismatch ? mismatch_words : 1, data.begin());
    if (!mine.partial.mismatch) nodes.write(data.data() + mismatch_words, words);
    co_return data;
}

}  // namespace

Protocol<> gather(Round& round) {
    const Group& group = *round.group;
    const std::size_t words = round.value.size();
    const Places& here = group.nodes[group.my_node];
    const auto at =
        static_cast<std::size_t>(std::find(here.begin(), here.end(), group.me) - here.begin());
    Batch mine{{group.me, round.header.packed()}, round.value};
    // First the processes that this one leads, then the leaders that it leads, each with the values
    // of `step` processes, and so on.
    std::size_t step = 1;
    for (; step < here.size() && at % (step * max_fan_in) == 0; step *= max_fan_in)
        for (std::size_t i = at + step; i < std::min(at + step * max_fan_in, here.size());
             i += step)
            co_await take(round, here[i], std::min(step, here.size() - i) * words, mine);
    Data data;
    const std::size_t sender = here[at == 0 ? 0 : at / (step * max_fan_in) * (step * max_fan_in)];
    if (at == 0) {
        data = co_await all_of(round, mine, words);
    } else {
        co_await pass(round, sender, mine);
        data = co_await receive_values(round, sender, mismatch_words + group.size() * words);
    }
    while (step > 1) {
        step /= max_fan_in;
        for (std::size_t i = at + step; i < std::min(at + step * max_fan_in, here.size());
             i += step)
            co_await answer(round, here[i], data);
    }
    if (data[0] == mismatch_marker) throw_mismatch(round, mismatch_in(data));
    check_sender(round, sender, data[0]);
    round.values.assign(data.begin() + mismatch_words, data.end());
}

}  // namespace hocket::team
