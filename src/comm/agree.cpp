// SPDX-License-Identifier: BSD-3-Clause
#include "comm/agree.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "base/pack.hpp"
#include "base/platform.hpp"
#include "hocket/error.hpp"

namespace hocket::comm {
namespace {

// Member i's parent clears its lowest set bit; its children set one bit below that.
int lowest_bit(int index, int size) {
    if (index != 0) return index & -index;
    int bit = 1;
    while (bit < size) bit <<= 1;
    return bit;
}

// Invariant: these bytes stay alike in all versions of hocket, because the first agreement of a
// communicator finds processes of other versions.
struct MemberSignature {
    CallSignature statement;
    int by;       // the lowest member with this fault
    int by_many;  // the number of members with exactly this fault; 0: statements differ

    std::string packed() const {
        Packer out;
        out.number(by).number(by_many);
        statement.fault.pack(out);
        out.text(statement.text)
            .text(statement.payload)
            .number(static_cast<std::int64_t>(statement.offer.size()));
        for (const std::string& value : statement.offer) out.text(value);
        return out.take();
    }
    static MemberSignature unpacked(const std::string& bytes) {
        Unpacker in(bytes);
        MemberSignature signature;
        signature.by = static_cast<int>(in.number());
        signature.by_many = static_cast<int>(in.number());
        signature.statement.fault = Fault::unpacked(in);
        signature.statement.text = in.text();
        signature.statement.payload = in.text();
        for (std::int64_t left = in.number(); left > 0; --left)
            signature.statement.offer.push_back(in.text());
        return signature;
    }
};

std::string name(const MemberSignature& signature, int size) {
    return "process " + std::to_string(signature.by) + " of " + std::to_string(size);
}

MemberSignature merge(MemberSignature a, MemberSignature b, int size, Disagreement disagreement) {
    Fault& fault = a.statement.fault;
    const std::string& text = a.statement.text;
    if (fault && a.by_many > 0 && fault.message == b.statement.fault.message)
        a.by_many += b.by_many;
    std::erase_if(a.statement.offer, [&](const std::string& value) {
        const std::vector<std::string>& others = b.statement.offer;
        return std::find(others.begin(), others.end(), value) == others.end();
    });
    if (a.statement.payload.empty()) a.statement.payload = b.statement.payload;
    if (fault) return a;
    if (b.statement.fault) {
        b.statement.payload = a.statement.payload;
        b.statement.offer = std::move(a.statement.offer);
        return b;
    }
    if (text == b.statement.text) return a;
    fault = {"MismatchError", disagreement(text, name(a, size), b.statement.text, name(b, size))};
    if (fault) a.by_many = 0;
    return a;
}

// As many as a team has without leaders.
constexpr int most_in_node = 16;

// To members [first, end).
Protocol<> send_in_node(const Group& group, int tag, const std::string& text, int first, int end) {
    std::vector<std::uint64_t> sent;
    for (int member = first; member < end; ++member)
        sent.push_back(
            group.link->send_in_node(group.rank_of(member), Link::Purpose::agreement, tag, text));
    for (int member = first; member < end; ++member) {
        const int rank = group.rank_of(member);
        When delivered([&] {
            if (group.link->delivered_in_node(rank, sent[static_cast<std::size_t>(member - first)]))
                return true;
            group.link->need(rank);
            return false;
        });
        co_await until(delivered);
    }
}

Protocol<std::string> receive_in_node(const Group& group, int tag, int member) {
    const int rank = group.rank_of(member);
    std::optional<std::string> text;
    When come([&] {
        text = group.link->receive_in_node(rank, Link::Purpose::agreement, tag);
        if (!text) group.link->need(rank);
        return text.has_value();
    });
    co_await until(come);
    co_return std::move(*text);
}

Protocol<std::string> fold_in_node(const Group& group, int tag, std::string mine, Merge merge) {
    if (!group.lowest()) {
        co_await send_in_node(group, tag, mine, 0, 1);
        co_return std::string();
    }
    for (int member = 1; member < group.size(); ++member) {
        std::string theirs = co_await receive_in_node(group, tag, member);
        mine = merge(std::move(mine), std::move(theirs));
    }
    co_return mine;
}

Protocol<std::string> spread_in_node(const Group& group, int tag, std::string text) {
    if (!group.lowest()) {
        std::string outcome = co_await receive_in_node(group, tag, 0);
        co_return outcome;
    }
    co_await send_in_node(group, tag, text, 1, group.size());
    co_return text;
}

}  // namespace

bool agrees_in_node(const Group& group) {
    if (platform::simulated || group.size() < 2 || group.size() > most_in_node) return false;
    // By nodes, which all processes know alike, not by `in_node`: a process outside of the group
    // asks, too.
    const std::int64_t node = group.link->node(group.rank_of(0));
    for (int member = 0; member < group.size(); ++member)
        if (group.link->node(group.rank_of(member)) != node) return false;
    return node >= 0;
}

Group Group::whole(Link& link) {
    Group group{&link, {}, link.rank()};
    for (int rank = 0; rank < link.size(); ++rank) group.members.push_back(rank);
    return group;
}

Group Group::own(Link& link) {
    Group group{&link, {}, link.rank() - link.first_own()};
    for (int i = 0; i < link.own_size(); ++i) group.members.push_back(link.first_own() + i);
    return group;
}

Protocol<std::string> reduce(Group group, int tag, std::string mine, Merge merge) {
    if (group.goes_in_node)
        co_return co_await fold_in_node(group, tag, std::move(mine), std::move(merge));
    const int size = group.size();
    const int own_bit = lowest_bit(group.index, size);
    for (int bit = 1; bit < own_bit && group.index + bit < size; bit <<= 1) {
        const int child = group.rank_of(group.index + bit);
        TextMessage message = co_await receive_text(*group.link, child, tag);
        mine = merge(std::move(mine), std::move(message.text));
    }
    if (group.lowest()) co_return mine;
    const int parent = group.rank_of(group.index - own_bit);
    co_await send_text(*group.link, std::move(mine), parent, tag);
    co_return std::string();
}

// The usual case, in which the lower member's signature stands for both. The lowest process of a
// node merges all others' signatures, one after the other, and a comparison of bytes takes a
// fraction of the time of a merge.
bool same_statement(std::string_view low, std::string_view high) {
    Unpacker one(low), other(high);
    for (Unpacker* each : {&one, &other}) {
        each->number();  // by
        each->number();  // by_many
        const bool fault = !each->view().empty();
        each->view();
        if (fault) return false;
    }
    if (one.view() != other.view()) return false;
    one.view();
    return other.view().empty() && one.number() == 0 && other.number() == 0;
}

std::string calls_differ(const std::string& low, const std::string& low_name,
                         const std::string& high, const std::string& high_name) {
    return "the processes of one collective call disagree: " + low_name + " calls " + low +
           ", but " + high_name + " calls " + high + "; make the same call everywhere";
}

namespace {

CallSignature outcome_of(const std::string& folded, int size) {
    MemberSignature all = MemberSignature::unpacked(folded);
    auto& fault = all.statement.fault;
    all.statement.everywhere = fault && all.by_many == size;
    if (fault && all.by_many > 0 && all.by_many < size)
        fault.message = name(all, size) + ": " + fault.message;
    return std::move(all.statement);
}

Protocol<CallSignature> collect_by(Group group, int tag, CallSignature mine, Merge merge) {
    const int size = group.size();
    if (size == 1) {
        mine.everywhere = static_cast<bool>(mine.fault);
        co_return mine;
    }
    const MemberSignature own{std::move(mine), group.index, 1};
    const std::string folded = co_await reduce(group, tag, own.packed(), std::move(merge));
    if (!group.lowest()) {
        CallSignature nothing;
        co_return nothing;
    }
    CallSignature all = outcome_of(folded, size);
    co_return all;
}

// Two processes that share memory send their statements to each other, and both merge them: neither
// waits for an outcome. As many texts go each way as by the tree, because later ones of the call
// have the same tag.
Protocol<CallSignature> exchange_two(Group group, int tag, CallSignature mine, Merge merge) {
    const std::string own = MemberSignature{std::move(mine), group.index, 1}.packed();
    const int other = group.rank_of(1 - group.index);
    Requests sent;
    group.link->send_text(sent, own, other, tag);
    TextMessage theirs = co_await receive_text(*group.link, other, tag);
    co_await until(sent);
    CallSignature all =
        outcome_of(group.lowest() ? merge(own, theirs.text) : merge(theirs.text, own), 2);
    co_return all;
}

Protocol<std::string> agree_by(Group group, int tag, CallSignature mine, Merge merge) {
    // Before a communicator's first agreement, no process knows its node: that one uses the tree.
    if (group.size() == 2 && !group.goes_in_node && !platform::simulated &&
        group.link->in_node(group.rank_of(1 - group.index))) {
        CallSignature all = co_await exchange_two(group, tag, std::move(mine), std::move(merge));
        if (all.fault) all.fault.raise();
        co_return std::move(all.payload);
    }
    const CallSignature all = co_await collect_by(group, tag, std::move(mine), std::move(merge));
    Packer out;
    all.fault.pack(out);
    out.text(all.payload);
    const std::string outcome = co_await broadcast(group, tag, out.take());
    Unpacker in(outcome);
    const Fault fault = Fault::unpacked(in);
    if (fault) fault.raise();
    co_return in.text();
}

Merge merge_of(int size, Disagreement disagreement) {
    return [size, disagreement](std::string low, const std::string& high) {
        if (same_statement(low, high)) return low;
        return merge(MemberSignature::unpacked(low), MemberSignature::unpacked(high), size,
                     disagreement)
            .packed();
    };
}

}  // namespace

Protocol<CallSignature> collect(Group group, int tag, CallSignature mine,
                                Disagreement disagreement) {
    Merge merge = merge_of(group.size(), disagreement);
    return collect_by(std::move(group), tag, std::move(mine), std::move(merge));
}

Protocol<std::string> broadcast(Group group, int tag, std::string text) {
    if (group.goes_in_node) co_return co_await spread_in_node(group, tag, std::move(text));
    const int size = group.size();
    const int own_bit = lowest_bit(group.index, size);
    if (!group.lowest()) {
        const int parent = group.rank_of(group.index - own_bit);
        TextMessage message = co_await receive_text(*group.link, parent, tag);
        text = std::move(message.text);
    }
    Requests requests;
    for (int bit = own_bit >> 1; bit > 0; bit >>= 1) {
        if (group.index + bit >= size) continue;
        group.link->send_text(requests, text, group.rank_of(group.index + bit), tag);
    }
    co_await until(requests);
    co_return text;
}

Protocol<std::string> agree(Group group, int tag, CallSignature mine, Disagreement disagreement) {
    Merge merge = merge_of(group.size(), disagreement);
    return agree_by(std::move(group), tag, std::move(mine), std::move(merge));
}

Protocol<std::string> merge_payloads(Group group, int tag, CallSignature mine, Merge merge_two) {
    const int size = group.size();
    return agree_by(
        std::move(group), tag, std::move(mine),
        [size, merge_two = std::move(merge_two)](const std::string& low, const std::string& high) {
            MemberSignature first = MemberSignature::unpacked(low);
            MemberSignature second = MemberSignature::unpacked(high);
            std::string both =
                merge_two(std::move(first.statement.payload), std::move(second.statement.payload));
            first = merge(std::move(first), std::move(second), size, calls_differ);
            first.statement.payload = std::move(both);
            return first.packed();
        });
}

Protocol<std::string> gather(Group group, int tag, CallSignature mine) {
    return merge_payloads(
        std::move(group), tag, std::move(mine),
        [](const std::string& low, const std::string& high) { return low + high; });
}

}  // namespace hocket::comm
