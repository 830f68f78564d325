// SPDX-License-Identifier: BSD-3-Clause
// Rounds by leaders. Up to 16 processes of a node report to one of them, their leader. Leaders
// report to leaders of their own, until at most 16 are left, which exchange values directly. One
// leader a node exchanges messages with those of other nodes (between_nodes.cpp). Then leaders pass
// the results down: the fold of all values, or, in a scan, the fold of the values up to each
// process.
#include "team/hierarchical.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "team/fold.hpp"

namespace hocket::team {

using comm::Protocol;
using Places = std::vector<std::size_t>;

FlagPair& flags_with(const Round& round, std::size_t member) {
    return *round.group->members[member].flags;
}

void check_mismatch(const Round& round, const PartialResult& partial) {
    if (partial.mismatch && groups_disagree(*round.group, *partial.mismatch))
        throw_mismatch(round, *partial.mismatch);
}

void check_sender(const Round& round, std::size_t member, std::uint64_t header) {
    if (header == round.header.packed()) return;
    const Group& group = *round.group;
    throw_mismatch(round,
                   {static_cast<std::uint64_t>(group.process(member)), header,
                    static_cast<std::uint64_t>(group.process(group.me)), round.header.packed()});
}

namespace {

/// The folds of consecutive nodes, cyclically, as folds of blocks: a block has a power of two of
/// nodes, and begins at a multiple of its size. So all processes fold alike, with whichever node
/// they begin, and the operation need not be commutative.
class Blocks {
  public:
    Blocks(Fold fold, std::size_t nodes) : fold_(fold), nodes_(nodes) {}

    void append(std::size_t first, std::size_t count, std::uint64_t fold) {
        while (!blocks_.empty()) {
            const Block& last = blocks_.back();
            if (last.count != count || last.first + count != first || last.first % (2 * count) != 0)
                break;
            first = last.first;
            count *= 2;
            fold = fold_(last.fold, fold);
            blocks_.pop_back();
        }
        blocks_.push_back({first, count, fold});
    }
    void append(const Blocks& next) {
        for (const Block& each : next.blocks_) append(each.first, each.count, each.fold);
    }
    /// Appends `count` nodes from that one on, whose blocks wrote themselves.
    void append(std::size_t first, std::size_t count, Unpacker& in) {
        while (count > 0) {
            const std::size_t most = std::bit_floor(std::min(count, nodes_ - first));
            const std::size_t size = first == 0 ? most : std::min(most, first & (~first + 1));
            append(first, size, in.word());
            first = (first + size) % nodes_;
            count -= size;
        }
    }
    void write(Packer& out) const {
        for (const Block& each : blocks_) out.word(each.fold);
    }

    /// The blocks before that node, from node 0 on. These hold all nodes, and begin with it.
    Blocks before(std::size_t node) const {
        Blocks out(fold_, nodes_);
        for (const Block& each : blocks_)
            if (each.first < node) out.blocks_.push_back(each);
        return out;
    }
    /// All nodes in order from node 0 on.
    Blocks ordered(std::size_t node) const {
        Blocks out = before(node);
        for (const Block& each : blocks_)
            if (each.first >= node) out.append(each.first, each.count, each.fold);
        return out;
    }
    std::uint64_t fold() const {
        std::uint64_t all = blocks_[0].fold;
        for (std::size_t i = 1; i < blocks_.size(); ++i) all = fold_(all, blocks_[i].fold);
        return all;
    }

  private:
    struct Block {
        std::size_t first, count;
        std::uint64_t fold;
    };
    Fold fold_;
    std::size_t nodes_;
    std::vector<Block> blocks_;
};

/// The folds of a power of two of nodes, which doubles with each exchange, and, for other numbers
/// of nodes, of as many as the number of all leaves when divided by that power.
class FoldedNodes final : public NodeValues {
  public:
    FoldedNodes(const Round& round, std::uint64_t mine)
        : fold_(fold_of(round.header.op, round.header.type)),
          nodes_(round.group->nodes.size()),
          me_(round.group->my_node),
          mine_(mine),
          power_(fold_, nodes_),
          rest_(fold_, nodes_) {
        power_.append(me_, 1, mine);
    }
    void write(std::size_t count, Packer& out) const override {
        if (count == size_) power_.write(out);
        if ((nodes_ & size_) != 0) rest_.write(out);
    }
    void append(std::size_t count, Unpacker& in) override {
        const std::size_t next = (me_ + size_) % nodes_;
        const Blocks mine = power_;
        if (count == size_) power_.append(next, size_, in);
        if ((nodes_ & size_) != 0) {
            Blocks grown = mine;
            grown.append(next, nodes_ % size_, in);
            rest_ = std::move(grown);
        }
        size_ *= 2;
    }
    /// Of all nodes; in a scan, of the nodes up to this one, and before it.
    void settle(PartialResult& partial, bool scan) const {
        const Blocks& all = std::has_single_bit(nodes_) ? power_ : rest_;
        if (!scan) {
            partial.value = all.ordered(me_).fold();
            return;
        }
        Blocks upto = all.before(me_);
        if (me_ > 0) partial.before = upto.fold();
        upto.append(me_, 1, mine_);
        partial.value = upto.fold();
    }

  private:
    Fold fold_;
    std::size_t nodes_, me_, size_ = 1;
    std::uint64_t mine_;
    Blocks power_, rest_;
};

/// Combines the partial results of all nodes into the result of this node.
Protocol<> settle_between_nodes(Round& round, PartialResult& partial) {
    if (round.value.empty()) {
        NodeValues none;
        co_await between_nodes(round, partial, none);
        co_return;
    }
    FoldedNodes folds(round, partial.value);
    co_await between_nodes(round, partial, folds);
    if (!partial.mismatch) folds.settle(partial, scans(round.header.op));
}

/// Turns this process's partial result into its result. `participants`, in order, are the processes
/// of the node that take part, including this one.
Protocol<> settle(Round& round, Places participants, PartialResult& partial) {
    const Group& group = *round.group;
    if (group.nodes.size() == 1 && participants.size() <= max_fan_in) {
        const shm::Payload cell = partial.packed();
        for (const std::size_t member : participants)
            if (member != group.me) flags_with(round, member).publish(cell, PartialResult::words);
        std::vector<PartialResult> published;
        std::size_t at = 0;
        for (const std::size_t member : participants) {
            if (member == group.me) {
                at = published.size();
                published.push_back(partial);
                continue;
            }
            FlagPair& flags = flags_with(round, member);
            PeerWait come(round, member, [&flags] { return flags.observed(); });
            co_await comm::until(come);
            published.push_back(
                PartialResult::unpacked(member, flags.payload(PartialResult::words)));
            check_mismatch(round, combined(round, {partial, published.back()}));
        }
        partial = answers_of(round, published, combined(round, published))[at];
        co_return;
    }
    if (participants.size() == 1) {
        co_await settle_between_nodes(round, partial);
        co_return;
    }
    const auto at = static_cast<std::size_t>(
        std::find(participants.begin(), participants.end(), group.me) - participants.begin());
    const std::size_t first = at / max_fan_in * max_fan_in,
                      end = std::min(first + max_fan_in, participants.size());
    if (at != first) {
        FlagPair& flags = flags_with(round, participants[first]);
        flags.publish(partial.packed(), PartialResult::words);
        PeerWait answered(round, participants[first], [&flags] { return flags.observed(); });
        co_await comm::until(answered);
        partial = PartialResult::unpacked(participants[first], flags.payload(PartialResult::words));
        co_return;
    }
    std::vector<PartialResult> published{partial};
    for (std::size_t i = first + 1; i < end; ++i) {
        FlagPair& flags = flags_with(round, participants[i]);
        PeerWait requested(round, participants[i], [&flags] { return flags.requested(); });
        co_await comm::until(requested);
        published.push_back(
            PartialResult::unpacked(participants[i], flags.request_payload(PartialResult::words)));
        check_mismatch(round, combined(round, {partial, published.back()}));
    }
    PartialResult all = combined(round, published);
    Places leaders;
    for (std::size_t i = 0; i < participants.size(); i += max_fan_in)
        leaders.push_back(participants[i]);
    co_await settle(round, std::move(leaders), all);
    const std::vector<PartialResult> answers = answers_of(round, published, all);
    for (std::size_t i = first + 1; i < end; ++i)
        flags_with(round, participants[i])
            .publish(answers[i - first].packed(), PartialResult::words);
    partial = answers[0];
}

}  // namespace

comm::Protocol<> hierarchical_round(Round& round) {
    if (round.all) {
        co_await gather(round);
        co_return;
    }
    PartialResult partial{round.group->me, round.header.packed(),
                          round.value.empty() ? 0 : round.value[0]};
    co_await settle(round, round.group->nodes[round.group->my_node], partial);
    if (partial.mismatch) throw_mismatch(round, *partial.mismatch);
    check_sender(round, partial.member, partial.header);
    round.result = partial.value;
}

}  // namespace hocket::team
