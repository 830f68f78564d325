// SPDX-License-Identifier: BSD-3-Clause
#include "hocket/team.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>

#include "comm/engine.hpp"
#include "comm/polled.hpp"
#include "hocket/binding.hpp"
#include "team/fold.hpp"
#include "team/pending.hpp"
#include "team/root.hpp"
#include "team/small_vector.hpp"

namespace hocket {

using team::Call;
using team::Header;
using team::Op;
using team::Type;

namespace {

// Values of this many processes need no allocation.
using Values = team::SmallVector<std::uint64_t, 64>;

bool can_skip_barrier(Op op) {
    return op == Op::putget || team::scans(op);
}

bool has_one_result(Op op) {
    constexpr Op several[] = {Op::waitvec, Op::gather, Op::vote, Op::match, Op::reduce, Op::start};
    return std::find(std::begin(several), std::end(several), op) == std::end(several);
}

bool speaks_of_process(Op op) {
    return op == Op::putget || op == Op::vote || op == Op::vote_count;
}

}  // namespace

Team::Team(const Comm& comm, const Deadline& deadline)
    : root_(team::Root::make(comm, deadline)), group_(root_->everyone()) {}

Team::Team(std::shared_ptr<team::Root> root, std::shared_ptr<const team::Group> group)
    : root_(std::move(root)), group_(std::move(group)) {}

Team Team::enqueue(const Mask& mask) const {
    return {root_, root_->group(mask)};
}

int Team::process() const {
    return root_->me();
}
int Team::size() const {
    return root_->size();
}
const Mask& Team::mask() const {
    return group_->mask;
}
int Team::population() const {
    return static_cast<int>(group_->size());
}
int Team::enumerate() const {
    return static_cast<int>(group_->me);
}
int Team::select_first() const {
    return group_->process(0);
}
int Team::select_one() const {
    return select_first();
}
bool Team::shares_memory() const {
    return group_->in_node;
}

namespace {

// The error of a call; empty if it is correct.
std::string wrong(const team::Group& group, const Call& call, const TeamOptions& options) {
    const int narrow = options.narrow;
    if (!options.barrier && !can_skip_barrier(call.op))
        return "only scans and putget can do without a barrier";
    if (speaks_of_process(call.op) && !group.mask.contains(call.process)) {
        const char* what = call.op == Op::putget ? "the source" : "the vote";
        return std::string(what) + " is process " + std::to_string(call.process) +
               ", which is not one of the team " + group.mask.text();
    }
    const bool folds = call.op >= Op::reduce_add && call.op <= Op::scan_or;
    if (folds && team::fold_of(call.op, call.type) == nullptr)
        return std::string("there is no bitwise fold of ") + team::name_of(call.type) +
               "; use an integer type or bool";
    if (narrow != 0) {
        const int width = team::bits_in(call.type);
        if (call.type < Type::uint8 || call.type > Type::uint64)
            return std::string("bits=") + std::to_string(narrow) + " of " +
                   team::name_of(call.type) + ": only unsigned integers are moved in part";
        if (narrow < 1 || narrow > width)
            return "bits=" + std::to_string(narrow) + " of " + team::name_of(call.type) +
                   ", which has 1 to " + std::to_string(width);
    }
    return "";
}

struct Prepared {
    Header header;
    std::uint64_t bits = 0;
    std::size_t source = 0;  // as for result_of
};

Prepared prepared(const Team& team, const team::Group& group, const Call& call,
                  const TeamOptions& options) {
    if (const std::string why = wrong(group, call, options); !why.empty())
        Binding::refuse(team, call.op, std::string(team::name_of(call.op)) + ": " + why,
                        options.barrier);
    Prepared out;
    out.header.op = call.op;
    out.header.type = call.type;
    out.header.narrow = options.narrow;
    out.header.bytes = call.op == Op::wait ? 0 : 8;
    out.header.group = group.hash;
    out.bits = call.bits;
    if (options.narrow != 0 && options.narrow < 64)
        out.bits &= (std::uint64_t{1} << static_cast<unsigned>(options.narrow)) - 1;
    if (call.op == Op::vote || call.op == Op::vote_count)
        out.bits = static_cast<std::uint64_t>(call.process);
    if (call.op == Op::waitvec && !team::takes_all(group, call.op)) out.bits <<= group.me;
    if (call.op == Op::putget) out.source = group.member_of(call.process);
    if (call.op == Op::vote_count) out.source = static_cast<std::size_t>(group.process(group.me));
    return out;
}

}  // namespace

std::uint64_t Team::run(const Call& call, const TeamOptions& options) const {
    const Prepared ready = prepared(*this, *group_, call, options);
    if (!options.barrier && group_->in_node)
        return root_->pass(group_, ready.header, ready.bits, ready.source, options.deadline);
    if (!team::takes_all(*group_, call.op))
        return root_->fold(group_, ready.header, ready.bits, options.deadline);
    Values values(group_->size());
    root_->exchange(group_, ready.header, &ready.bits, 1, values.data(), options.deadline);
    return team::result_of(call.op, call.type, values, group_->me, ready.source);
}

Mask Team::run_mask(const Call& call, const TeamOptions& options) const {
    const Prepared ready = prepared(*this, *group_, call, options);
    Mask found;
    if (!team::takes_all(*group_, call.op)) {  // a waitvec, whose flags are bits of a word
        std::uint64_t left = root_->fold(group_, ready.header, ready.bits, options.deadline);
        for (; left != 0; left &= left - 1)
            found.add(group_->process(static_cast<std::size_t>(std::countr_zero(left))));
        return found;
    }
    Values values(group_->size());
    root_->exchange(group_, ready.header, &ready.bits, 1, values.data(), options.deadline);
    for (std::size_t member = 0; member < group_->size(); ++member)
        if (team::chosen(call.op, call.type, values.data()[member], ready.bits, root_->me()))
            found.add(group_->process(member));
    return found;
}

void Team::run_gather(Type type, std::uint64_t bits, void* into, std::size_t members_given,
                      const TeamOptions& options) const {
    if (members_given < static_cast<std::size_t>(root_->size()))
        refuse(Op::gather, "gather: there are " + std::to_string(members_given) +
                               " places for the values of the " + std::to_string(root_->size()) +
                               " processes of the root team; give as many");
    const Prepared ready = prepared(*this, *group_, {Op::gather, type, bits}, options);
    Values values(group_->size());
    root_->exchange(group_, ready.header, &ready.bits, 1, values.data(), options.deadline);
    const auto size = static_cast<std::size_t>(std::max(team::bits_in(type), 8)) / 8;
    for (std::size_t member = 0; member < group_->size(); ++member)
        std::memcpy(static_cast<std::byte*>(into) +
                        static_cast<std::size_t>(group_->process(member)) * size,
                    values.data() + member, size);
}

namespace {

std::shared_ptr<team::Round> second_round(const std::shared_ptr<const team::Group>& group,
                                          const Header& header, const std::uint64_t* value) {
    auto round = std::make_shared<team::Round>();
    round->group = group;
    round->header = header;
    round->all = true;
    round->value.assign(1, *value);
    return round;
}

}  // namespace

void Team::gather_bytes(const void* value, std::size_t bytes, void* into,
                        const TeamOptions& options) const {
    if (bytes == 0 || bytes > team::longest_value)
        refuse(Op::reduce, "a value of " + std::to_string(bytes) + " bytes; one has 1 to " +
                               std::to_string(team::longest_value));
    Header header;
    header.op = Op::reduce;
    header.bytes = bytes;
    header.group = group_->hash;
    std::array<std::uint64_t, shm::payload_words> mine{};
    std::memcpy(mine.data(), value, bytes);
    // A payload has one word for the header, so the longest values take a second round.
    constexpr std::size_t most = shm::payload_words - 1;
    const std::size_t words = (bytes + 7) / 8, first = std::min(words, most);
    std::vector<std::uint64_t> head(group_->size() * first), tail;
    const auto second = [&] { root_->start(second_round(group_, header, mine.data() + most)); };
    root_->exchange(group_, header, mine.data(), first, head.data(), options.deadline,
                    words > most ? std::function<void()>(second) : nullptr);
    if (words > most) {
        tail.resize(group_->size());
        root_->exchange(group_, header, mine.data() + most, 1, tail.data(), options.deadline);
    }
    for (std::size_t member = 0; member < group_->size(); ++member) {
        auto* to = static_cast<std::byte*>(into) + member * bytes;
        std::memcpy(to, head.data() + member * first, std::min(bytes, first * 8));
        if (words > most) std::memcpy(to + most * 8, tail.data() + member, bytes - most * 8);
    }
}

TeamResult Team::start(const Call& call, const TeamOptions& options) const {
    if (!options.barrier) refuse(call.op, "a started operation is a barrier", false);
    if (!has_one_result(call.op))
        refuse(call.op, std::string(team::name_of(call.op)) +
                            ": the result of a started operation is one value; call it without "
                            "starting it");
    const Prepared ready = prepared(*this, *group_, call, options);
    root_->require_whole();
    auto pending = std::make_shared<team::Pending>();
    pending->round = std::make_shared<team::Round>();
    team::Round& round = *pending->round;
    round.group = group_;
    round.header = ready.header;
    round.value.assign(ready.header.bytes == 0 ? 0 : 1, ready.bits);
    round.all = team::takes_all(*group_, call.op);
    pending->source = ready.source;
    pending->call = root_->start(pending->round);
    return TeamResult(std::move(pending));
}

void Team::exit(int code) const {
    root_->require_whole();
    root_->leave(team::MemberState::left, "has left it with code " + std::to_string(code));
}

void Team::error(const std::string& message) const {
    root_->require_whole();
    std::fprintf(stderr, "hocket: process %d of the team: %s\n", process(), message.c_str());
    std::fflush(stderr);
    root_->leave(team::MemberState::ended_all, "has ended it with an error: " + message);
}

// Seconds in which the other processes must make a call that this process refuses; after that it
// raises its error without them.
static constexpr double refusal_seconds = 10;

void Team::refuse(Op op, const std::string& message, bool barrier) const {
    root_->require_whole();
    // Without a barrier the others need not wait for this process, so that it cannot end the call
    // together with them.
    if (!barrier && can_skip_barrier(op) && group_->in_node) root_->abort_team({"Error", message});
    auto round = std::make_shared<team::Round>();
    round->group = group_;
    round->header.op = op;
    round->header.refused = true;
    round->header.group = group_->hash;
    round->all = team::takes_all(*group_, op);
    const auto call = root_->start(round);
    // Only this process's polls end earlier rounds and pass on other processes' values, and it may
    // call MPI next. So it stays until the round has ended, as in correct calls.
    try {
        hocket::wait(*call, Deadline::in(refusal_seconds));
    } catch (const Error&) {
        throw Error(message);  // the round's own says less, as the deadline's does
    }
    throw Error(message);
}

std::shared_ptr<Operation> TeamResult::operation() const {
    return comm::polled(pending_->call);
}

bool TeamResult::test() const {
    const comm::EngineLock engine_lock;
    comm::Engine::instance().progress_once();
    return pending_->call->ended();
}

std::uint64_t TeamResult::bits() const {
    const comm::EngineLock engine_lock(comm::EngineLock::waiting);
    if (!pending_->call->ended())
        throw Error(pending_->call->text() + " is not done; wait for it first");
    pending_->call->poll();  // throws its error
    const team::Round& round = *pending_->round;
    if (!round.all) return round.result;
    return team::result_of(round.header.op, round.header.type, round.values, round.group->me,
                           pending_->source);
}

void Binding::refuse(const Team& team, team::Op op, const std::string& message, bool barrier) {
    team.refuse(op, message, barrier);
}
std::uint64_t Binding::run(const Team& team, const team::Call& call, const TeamOptions& options) {
    return team.run(call, options);
}
Mask Binding::run_mask(const Team& team, const team::Call& call, const TeamOptions& options) {
    return team.run_mask(call, options);
}
void Binding::run_gather(const Team& team, team::Type type, std::uint64_t bits, void* values,
                         std::size_t members_given, const TeamOptions& options) {
    team.run_gather(type, bits, values, members_given, options);
}

}  // namespace hocket
