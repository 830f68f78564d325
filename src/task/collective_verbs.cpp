// SPDX-License-Identifier: BSD-3-Clause
// The program's interface: collective calls between tasks.
#include "comm/engine.hpp"
#include "hocket/task.hpp"
#include "task/collectives.hpp"

namespace hocket {
namespace {

using task::Collective;
using Kind = Collective::Kind;

// All tasks must block in the call at once. Every process knows whether two tasks share a process,
// so all raise without communication.
void require_apart(const Tasks::State& all, const char* verb) {
    for (int a = 0; a < static_cast<int>(all.names.size()); ++a)
        for (int b = 0; b < a; ++b) all.require_apart(b, a, verb, "isend and irecv, or sendrecv");
}

// If a wait ends before its call does, this task is out of step with all others, and says so.
void finish(task::Pending& pending, const Tasks::State& all, const Deadline& deadline) {
    const auto part = [&](const char* why) {
        for (int other = 0; other < static_cast<int>(all.names.size()); ++other)
            if (other != pending.member->task) pending.member->break_pair(other, why);
        const comm::EngineLock engine_lock;
        *pending.given_up = true;
        comm::Engine::instance().progress();
    };
    try {
        wait(*pending.call, deadline);
    } catch (const DeadlineError& error) {
        part(error.what());
        throw;
    } catch (...) {
        if (!pending.call->ended()) part("interrupted");
        throw;
    }
}

}  // namespace

void Tasks::collective(task::Collective call, const TaskId* root, const char* verb,
                       const Deadline& deadline) {
    comm::require_may_block(verb);
    task::Member& me = speaker(verb);
    require_apart(*state_, verb);
    try {
        for (int other = 0; other < size(); ++other)
            if (other != me.task) me.require_intact(other, verb);
    } catch (const Error&) {  // the other tasks, which may be in step, get it, too
        call.fault = comm::Fault::current();
        call.out_of_step = true;
    }
    if (!call.fault) {
        try {
            if (root != nullptr) call.root = state_->index(*root);
            // Only the root reads these arrays.
            const bool rooted = call.kind == Kind::reduce || call.kind == Kind::gather;
            if (rooted && me.task != call.root) call.results.clear();
            call.fault = task::fault_of(me, call);
        } catch (const Error&) {
            call.fault = comm::Fault::current();
        }
    }
    call.deadline = deadline;
    std::shared_ptr<task::Pending> pending;
    {
        const comm::EngineLock engine_lock;
        pending = task::start_collective(state_, speaker_, std::move(call));
    }
    finish(*pending, *state_, deadline);
}

void Tasks::bcast(const Array& array, const TaskId& root, Deadline deadline) {
    Collective call;
    call.kind = Kind::bcast;
    call.array = array;
    collective(std::move(call), &root, "bcast", deadline);
}

void Tasks::reduce(const Array& array, const Array* result, const std::string& op,
                   const TaskId& root, Deadline deadline) {
    Collective call;
    call.kind = Kind::reduce;
    call.array = array;
    if (result != nullptr) call.results.push_back(*result);
    call.op = op;
    collective(std::move(call), &root, "reduce", deadline);
}

void Tasks::allreduce(const Array& array, const Array& result, const std::string& op,
                      Deadline deadline) {
    Collective call;
    call.kind = Kind::allreduce;
    call.array = array;
    call.results.push_back(result);
    call.op = op;
    collective(std::move(call), nullptr, "allreduce", deadline);
}

void Tasks::gather(const Array& array, std::span<const Array> results, const TaskId& root,
                   Deadline deadline) {
    Collective call;
    call.kind = Kind::gather;
    call.array = array;
    call.results.assign(results.begin(), results.end());
    collective(std::move(call), &root, "gather", deadline);
}

void Tasks::barrier(Deadline deadline) {
    collective({}, nullptr, "barrier", deadline);
}

}  // namespace hocket
