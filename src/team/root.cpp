// SPDX-License-Identifier: BSD-3-Clause
// How a root team is made, and how its processes leave it.
#include "team/root.hpp"

#include <algorithm>
#include <cmath>

#include "base/pack.hpp"
#include "base/port.hpp"
#include "comm/engine.hpp"
#include "shm/alive.hpp"
#include "team/fold.hpp"
#include "team/round.hpp"

namespace hocket::team {

Root::Root(int me, int size) : me_(me), size_(size), others_(static_cast<std::size_t>(size)) {}

Root::Root(int me, const std::vector<Arena>& arenas) : Root(me, static_cast<int>(arenas.size())) {
    seat_ = static_cast<std::size_t>(me);
    arena_ = std::make_unique<Arena>(arenas[seat_]);
    node_.resize(arenas.size(), 0);
    for (int process = 0; process < size_; ++process) near_.push_back(process);
    for (const int process : near_)
        if (process != me) meet(process, arenas[static_cast<std::size_t>(process)]);
}

// One that shares this memory with me.
void Root::meet(int process, Arena arena) {
    Other& other = others_[static_cast<std::size_t>(process)];
    const auto seat =
        static_cast<std::size_t>(std::find(near_.begin(), near_.end(), process) - near_.begin());
    other.arena = std::move(arena);
    other.talk.out = &arena_->seat(seat).voice;
    other.talk.in = &other.arena->seat(seat_).voice;
}

Root::~Root() {
    listening_.reset();
    if (!arena_) return;
    if (!over_) arena_->board().say(Standing::left, "has let go of it");
    for (auto& other : others_)
        if (other.arena) other.arena->seat(seat_).left.store(1, std::memory_order_release);
    Arena::retire(std::move(arena_), seat_);
}

namespace {

std::string packed(int rank, const shm::Place& place) {
    return Packer()
        .number(rank)
        .number(place.process)
        .number(place.file)
        .number(place.inode)
        .number(place.offset)
        .take();
}

}  // namespace

comm::Protocol<> open(std::shared_ptr<Root> root, int tag) {
    comm::State& state = root->comm_->state();
    co_await state.open();
    comm::Link& shared = state.link();
    const auto near = [&](int a) { return !port::simulated && shared.near(a); };
    // Every process alone sees who is near itself; together they know what is apart.
    for (int rank = 0; rank < root->size_; ++rank) {
        if (rank == root->me_) root->seat_ = root->near_.size();
        if (rank == root->me_ || near(rank)) root->near_.push_back(rank);
    }
    comm::Statement mine{{}, "Team()", {}};
    // One process chooses the tags: another may have refused to make a team before.
    if (root->me_ == 0) mine.sound = std::to_string(state.next_lasting_tags());
    try {
        root->arena_ = std::make_unique<Arena>(root->near_.size());
    } catch (const Error&) {
        mine.fault = comm::Fault::current();
    }
    const comm::Group everyone = comm::Group::whole(shared);
    const std::string tags = co_await comm::agree(everyone, tag, mine);
    root->tags_ = std::stoi(tags);

    // The lowest of those who share memory stands for them.
    std::string said =
        Packer().number(root->near_.front()).text(packed(root->me_, root->arena_->place())).take();
    said = co_await comm::fold(
        everyone, tag, said,
        [](const std::string& low, const std::string& high) { return low + high; });
    said = co_await comm::spread(everyone, tag, std::move(said));
    root->node_.resize(static_cast<std::size_t>(root->size_));
    std::vector<shm::Place> places(static_cast<std::size_t>(root->size_));
    for (Unpacker in(said); !in.empty();) {
        const auto node = static_cast<int>(in.number());
        const std::string entry = in.text();
        Unpacker words(entry);
        const auto rank = static_cast<std::size_t>(words.number());
        root->node_[rank] = node;
        places[rank] = {words.number(), words.number(), words.number(), words.number()};
    }
    try {
        for (const int rank : root->near_) {
            if (rank == root->me_) continue;
            root->meet(rank,
                       Arena::mapped(places[static_cast<std::size_t>(rank)], root->near_.size()));
        }
    } catch (const Error&) {
        mine.fault = comm::Fault::current();
    }
    co_await comm::agree(everyone, tag, mine);
    const bool apart = std::any_of(root->node_.begin(), root->node_.end(),
                                   [&](int node) { return node != root->node_[0]; });
    if (!apart) co_return;
    root->link_ = co_await state.lasting_link();
    // Of one process's clock, and its own: no two teams have the same.
    const std::string mine_now =
        Packer().number(shm::myself().process << 40U ^ std::llround(port::seconds() * 1e9)).take();
    const std::string chosen = co_await comm::spread(everyone, tag, mine_now);
    root->number_ = Unpacker(chosen).number();
}

std::shared_ptr<Root> Root::make(const Comm& comm, const Deadline& deadline) {
    const std::shared_ptr<Root> root(new Root(comm.rank(), comm.size()));
    root->comm_ = comm;
    std::shared_ptr<comm::Call> call;
    {
        const comm::Turn turn;
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
    std::size_t place = 0;
    mask.each([&](int process) {
        if (process >= size_)
            refused(" names process " + std::to_string(process) + ", but the root team has " +
                    std::to_string(size_) + ", numbered from 0");
        const auto index = static_cast<std::size_t>(process);
        if (process == me_) made->me = place;
        made->near &= node_[index] == node_[static_cast<std::size_t>(me_)];
        Talk& talk = others_[index].talk;
        made->members[place++] = {talk.out == nullptr ? nullptr : &talk, process};
    });
    if (!made->near || count > fan) made->part(node_);
    groups_.keep(made, hash);
    return made;
}

namespace {

// The notice of a process that leaves, to one that shares no memory with it.
comm::Protocol<> notify(std::shared_ptr<Root> root, std::string words, int to) {
    co_await comm::send_text(root->link(), std::move(words), to, root->notice_tag());
}

}  // namespace

void Root::leave(Standing standing, const std::string& words) {
    if (arena_->board().read() == Standing::here) arena_->board().say(standing, words);
    if (!over_ && standing != Standing::broken)
        over_ = comm::Fault{"Error", "this process " + words +
                                         ", and cannot use it any more; make "
                                         "another team"};
    if (!link_) return;
    const comm::Turn turn(comm::Turn::waiting);
    for (int process = 0; process < size_; ++process) {
        if (node_[static_cast<std::size_t>(process)] == node_[static_cast<std::size_t>(me_)])
            continue;
        Packer out;
        out.number(number_).number(static_cast<std::int64_t>(standing)).text(words);
        auto call = std::make_shared<comm::Call>(notify(shared_from_this(), out.take(), process),
                                                 "the notice that a process leaves its team");
        comm::Engine::instance().add(call);
        try {
            call->poll();
        } catch (const Error&) {
            continue;  // nobody there to hear it
        }
    }
}

// Notices that came from processes that share no memory with me.
void Root::listen() {
    if (!link_) return;
    for (;;) {
        if (!listening_)
            listening_.emplace(comm::receive_text(*link_, comm::any_source, notice_tag()));
        if (!listening_->poll()) return;
        const comm::Letter letter = listening_->take();
        listening_.reset();
        Unpacker in(letter.text);
        if (in.number() != number_) continue;
        Other& other = others_[static_cast<std::size_t>(letter.from)];
        other.standing = static_cast<Standing>(in.number());
        other.words = in.text();
    }
}

Standing Root::standing_of(int process, std::string& words) {
    const Other& other = others_[static_cast<std::size_t>(process)];
    if (other.arena) return const_cast<Arena&>(*other.arena).board().read(words);
    words = other.words;
    return other.standing;
}

std::optional<Absence> Root::absent(const Group& group, int awaited, bool direct) {
    listen();
    std::optional<Absence> found, broken;
    for (int process = 0; process < size_; ++process) {
        if (process == me_) continue;
        std::string words;
        const Standing standing = standing_of(process, words);
        if (standing == Standing::here) continue;
        if (standing == Standing::ended_all)
            break_up({"Error", "process " + std::to_string(process) + " of the team " + words});
        if (!group.mask.contains(process)) continue;
        if (standing == Standing::broken) {
            const std::size_t end = words.find(' ');
            if (!broken || process == awaited)
                broken = Absence{process, words,
                                 comm::Fault{words.substr(0, end), words.substr(end + 1)}};
            continue;
        }
        // One that has spoken to all is needed no more.
        const Other& other = others_[static_cast<std::size_t>(process)];
        if (direct && process != awaited && other.talk.heard()) continue;
        if (!found || process == awaited) found = Absence{process, words, {}};
    }
    return broken ? broken : found;
}

void Root::break_up(const comm::Fault& fault) {
    if (!over_) {
        over_ = comm::Fault{fault.kind, fault.message + "; the team is broken since: make another"};
        leave(Standing::broken, fault.kind + " " + fault.message);
    }
    fault.raise();
}

void Root::judge(const Quarrel& quarrel, bool parted) {
    const Header low = Header::unpacked(quarrel.low), high = Header::unpacked(quarrel.high);
    if (parted) {
        // Those who have ended or broken the team left things half said: that is the reason then.
        if (const auto absence = absent(*everyone(), -1, false); absence && absence->broke)
            break_up(absence->broke);
        break_up({"MismatchError", quarrel.text()});
    }
    if (low.refused || high.refused) throw Error(quarrel.text());
    throw MismatchError(quarrel.text());
}

}  // namespace hocket::team
