// SPDX-License-Identifier: BSD-3-Clause
// Creation of a root team, and departures of its processes.
#include "team/root.hpp"

#include <algorithm>
#include <cmath>

#include "base/pack.hpp"
#include "base/platform.hpp"
#include "comm/engine.hpp"
#include "shm/liveness.hpp"
#include "shm/peer_registry.hpp"
#include "team/fold.hpp"
#include "team/round.hpp"

namespace hocket::team {

Root::Root(int me, int size) : me_(me), size_(size), links_(static_cast<std::size_t>(size)) {}

Root::Root(int me, const std::vector<Arena>& arenas) : Root(me, static_cast<int>(arenas.size())) {
    slot_ = static_cast<std::size_t>(me);
    arena_ = std::make_unique<Arena>(arenas[slot_]);
    node_.resize(arenas.size(), 0);
    for (int process = 0; process < size_; ++process) in_node_.push_back(process);
    for (const int process : in_node_)
        if (process != me) add_member(process, arenas[static_cast<std::size_t>(process)]);
}

// Notes a process that shares this memory.
void Root::add_member(int process, Arena arena) {
    MemberLink& other = links_[static_cast<std::size_t>(process)];
    const auto slot = static_cast<std::size_t>(
        std::find(in_node_.begin(), in_node_.end(), process) - in_node_.begin());
    other.arena = std::move(arena);
    other.flags.out = &arena_->slot(slot).flag;
    other.flags.in = &other.arena->slot(slot_).flag;
    other.stream.mine = &arena_->slot(slot).stream;
    other.stream.other = &other.arena->slot(slot_).stream;
}

Root::~Root() {
    notice_receive_.reset();
    if (!arena_) return;
    if (!over_) arena_->notice().publish(MemberState::left, "has freed it");
    for (auto& other : links_)
        if (other.arena) other.arena->slot(slot_).left.store(1, std::memory_order_release);
    Arena::free_when_unused(std::move(arena_), slot_);
}

namespace {

std::string packed(int rank, const shm::SharedAddress& member) {
    return Packer()
        .number(rank)
        .number(member.process)
        .number(member.file)
        .number(member.inode)
        .number(member.offset)
        .take();
}

}  // namespace

comm::Protocol<> open(std::shared_ptr<Root> root, int tag) {
    comm::State& state = root->comm_->state();
    co_await state.open();
    comm::Link& shared = state.link();
    const auto in_node = [&](int a) { return !platform::simulated && shared.in_node(a); };
    // Each process knows the processes of its own node; together they determine all nodes.
    for (int rank = 0; rank < root->size_; ++rank) {
        if (rank == root->me_) root->slot_ = root->in_node_.size();
        if (rank == root->me_ || in_node(rank)) root->in_node_.push_back(rank);
    }
    comm::CallSignature mine{{}, "Team()", {}};
    // One process chooses the tags, because another may have refused to make a team before.
    if (root->me_ == 0) mine.payload = std::to_string(state.next_lasting_tags());
    try {
        root->arena_ = std::make_unique<Arena>(root->in_node_.size());
    } catch (const Error&) {
        mine.fault = comm::Fault::current();
    }
    const comm::Group everyone = comm::Group::whole(shared);
    const std::string tags = co_await comm::agree(everyone, tag, mine);
    root->tags_ = std::stoi(tags);

    // The lowest process of a node is the node's number.
    std::string published = Packer()
                                .number(root->in_node_.front())
                                .text(packed(root->me_, root->arena_->member()))
                                .take();
    published = co_await comm::reduce(
        everyone, tag, published,
        [](const std::string& low, const std::string& high) { return low + high; });
    published = co_await comm::broadcast(everyone, tag, std::move(published));
    root->node_.resize(static_cast<std::size_t>(root->size_));
    std::vector<shm::SharedAddress> members_given(static_cast<std::size_t>(root->size_));
    for (Unpacker in(published); !in.empty();) {
        const auto node = static_cast<int>(in.number());
        const std::string entry = in.text();
        Unpacker words(entry);
        const auto rank = static_cast<std::size_t>(words.number());
        root->node_[rank] = node;
        members_given[rank] = {words.number(), words.number(), words.number(), words.number()};
    }
    try {
        for (const int rank : root->in_node_) {
            if (rank == root->me_) continue;
            root->add_member(rank, Arena::mapped(members_given[static_cast<std::size_t>(rank)],
                                                 root->in_node_.size()));
        }
    } catch (const Error&) {
        mine.fault = comm::Fault::current();
    }
    co_await comm::agree(everyone, tag, mine);
    const bool apart = std::any_of(root->node_.begin(), root->node_.end(),
                                   [&](int node) { return node != root->node_[0]; });
    if (!apart) co_return;
    root->link_ = co_await state.lasting_link();
    // From one process's clock and its identity, so that no two teams have the same number.
    const std::string mine_now =
        Packer()
            .number(shm::own_identity().process << 40U ^ std::llround(platform::seconds() * 1e9))
            .take();
    const std::string chosen = co_await comm::broadcast(everyone, tag, mine_now);
    root->number_ = Unpacker(chosen).number();
}

std::shared_ptr<Root> Root::make(const Comm& comm, const Deadline& deadline) {
    const std::shared_ptr<Root> root(new Root(comm.rank(), comm.size()));
    root->comm_ = comm;
    std::shared_ptr<comm::Call> call;
    {
        const comm::EngineLock engine_lock;
        call = std::make_shared<comm::Call>(open(root, comm.state().next_tag()), "Team()");
        comm::Engine::instance().add(call);
    }
    wait(*call, deadline);
    return root;
}

std::shared_ptr<const Group> Root::everyone() {
    Mask all;
    for (int process = 0; process < size_; ++process) all.add(process);
    return group(all);
}

std::shared_ptr<const Group> Root::group(const Mask& mask) {
    const std::uint64_t hash = mask.hash();
    if (auto known = groups_.find(mask, hash)) return known;
    const auto refused = [&](const std::string& why) {
        throw Error("enqueue: the mask " + mask.text() + why);
    };
    const auto count = static_cast<std::size_t>(mask.count());
    if (count == 0) refused(" is empty; name the processes of the team, this one among them");
    if (!mask.contains(me_))
        refused(" lacks process " + std::to_string(me_) +
                ", which asks for it; only members make a team");
    auto made = std::make_shared<Group>(mask, count);
    made->hash = static_cast<std::uint32_t>(hash ^ hash >> 32U);
    std::size_t member = 0;
    mask.each([&](int process) {
        if (process >= size_)
            refused(" names process " + std::to_string(process) + ", but the root team has " +
                    std::to_string(size_) + ", numbered from 0");
        const auto index = static_cast<std::size_t>(process);
        if (process == me_) made->me = member;
        made->in_node &= node_[index] == node_[static_cast<std::size_t>(me_)];
        FlagPair& flags = links_[index].flags;
        made->members[member++] = {flags.out == nullptr ? nullptr : &flags, process};
    });
    if (!made->in_node || count > max_fan_in) made->part(node_);
    groups_.keep(made, hash);
    return made;
}

namespace {

// The notice of a leaving process, for a process of another node.
comm::Protocol<> notify(std::shared_ptr<Root> root, std::string words, int to) {
    co_await comm::send_text(root->link(), std::move(words), to, root->notice_tag());
}

}  // namespace

void Root::leave(MemberState state, const std::string& words) {
    if (arena_->notice().read() == MemberState::here) arena_->notice().publish(state, words);
    if (!over_ && state != MemberState::broken)
        over_ = comm::Fault{"Error", "this process " + words +
                                         ", and cannot use it any more; make "
                                         "another team"};
    if (!link_) return;
    const comm::EngineLock engine_lock(comm::EngineLock::waiting);
    for (int process = 0; process < size_; ++process) {
        if (node_[static_cast<std::size_t>(process)] == node_[static_cast<std::size_t>(me_)])
            continue;
        Packer out;
        out.number(number_).number(static_cast<std::int64_t>(state)).text(words);
        auto call = std::make_shared<comm::Call>(notify(shared_from_this(), out.take(), process),
                                                 "the notice that a process leaves its team");
        comm::Engine::instance().add(call);
        try {
            call->poll();
        } catch (const Error&) {
            continue;  // that process has ended
        }
    }
}

// Receives notices from processes of other nodes.
void Root::poll_notices() {
    if (!link_) return;
    for (;;) {
        if (!notice_receive_)
            notice_receive_.emplace(comm::receive_text(*link_, comm::any_source, notice_tag()));
        if (!notice_receive_->poll()) return;
        const comm::TextMessage notice = notice_receive_->take();
        notice_receive_.reset();
        Unpacker in(notice.text);
        if (in.number() != number_) continue;
        MemberLink& other = links_[static_cast<std::size_t>(notice.from)];
        other.state = static_cast<MemberState>(in.number());
        other.words = in.text();
    }
}

MemberState Root::state_of(int process, std::string& words) {
    const MemberLink& other = links_[static_cast<std::size_t>(process)];
    if (other.arena) return const_cast<Arena&>(*other.arena).notice().read(words);
    words = other.words;
    return other.state;
}

std::string Root::name_of(int process) const {
    if (!comm_) return "";
    return shm::names_of_peers({comm_->state().link().process(process)});
}

std::optional<Departure> Root::absent(const Group& group, int awaited, bool direct) {
    poll_notices();
    std::optional<Departure> found, broken;
    for (int process = 0; process < size_; ++process) {
        if (process == me_) continue;
        std::string words;
        const MemberState state = state_of(process, words);
        if (state == MemberState::here) continue;
        if (state == MemberState::ended_all)
            abort_team({"Error", "process " + std::to_string(process) + " of the team " + words});
        if (!group.mask.contains(process)) continue;
        if (state == MemberState::broken) {
            const std::size_t end = words.find(' ');
            if (!broken || process == awaited)
                broken = Departure{process, words,
                                   comm::Fault{words.substr(0, end), words.substr(end + 1)}};
            continue;
        }
        // This round does not need a process that has already published to all.
        const MemberLink& other = links_[static_cast<std::size_t>(process)];
        if (direct && process != awaited && other.flags.observed()) continue;
        if (!found || process == awaited) found = Departure{process, words, {}};
    }
    return broken ? broken : found;
}

void Root::abort_team(const comm::Fault& fault) {
    if (!over_) {
        over_ = comm::Fault{fault.kind, fault.message + "; the team is broken since: make another"};
        leave(MemberState::broken, fault.kind + " " + fault.message);
    }
    fault.raise();
}

void Root::throw_mismatch(const Mismatch& mismatch, bool groups_disagree) {
    const Header low = Header::unpacked(mismatch.low), high = Header::unpacked(mismatch.high);
    if (groups_disagree) {
        // If a process has ended or aborted the team, its incomplete round is the cause of the
        // mismatch.
        if (const auto departure = absent(*everyone(), -1, false); departure && departure->broke)
            abort_team(departure->broke);
        abort_team({"MismatchError", mismatch.text()});
    }
    if (low.refused || high.refused) throw Error(mismatch.text());
    throw MismatchError(mismatch.text());
}

}  // namespace hocket::team
