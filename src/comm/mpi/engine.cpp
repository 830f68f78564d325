// SPDX-License-Identifier: BSD-3-Clause
#include "comm/engine.hpp"

#include <mpi.h>

#include <algorithm>
#include <utility>

#include "base/platform.hpp"
#include "comm/fork.hpp"
#include "comm/interrupts.hpp"
#include "comm/mpi/handle.hpp"

namespace hocket::comm {

namespace {

constexpr double between_mpi = 1e-3;  // seconds
constexpr int unused_tag = 32767;     // the highest that each MPI has

const char* const has_ended = "MPI has ended: nothing can be communicated after MPI_Finalize";

// Whether this thread may, by MPI's thread level.
bool may_communicate(int level) {
    if (level < 0 || level >= MPI_THREAD_SERIALIZED || platform::simulated || !running())
        return true;
    int main_thread = 0;
    MPI_Is_thread_main(&main_thread);
    return main_thread != 0;
}

}  // namespace

bool running() {
    int initialized = 0, finalized = 0;
    MPI_Initialized(&initialized);
    MPI_Finalized(&finalized);
    return initialized != 0 && finalized == 0;
}

void require_running() {
    if (running()) return;
    int initialized = 0;
    MPI_Initialized(&initialized);
    throw Error(initialized != 0
                    ? has_ended
                    : "MPI is not running yet: call MPI_Init or MPI_Init_thread first");
}

void require_not_ended() {
    if (Engine::instance().ended()) throw Error(has_ended);
}

Engine& Engine::instance() {
    // Never destroyed: operations may outlive static destructors, and MPI may be gone by then.
    static Engine* const engine = new Engine;
    return *engine;
}

Engine::Engine() : cores_(platform::cores()) {}

void Engine::add(std::shared_ptr<Operation> operation) {
    operations_.push_back(std::move(operation));
}

void Engine::post(std::shared_ptr<Operation> operation) {
    const std::lock_guard lock(posting_);
    posted_.push_back(std::move(operation));
    any_posted_ = true;
}

void Engine::post_background(std::shared_ptr<Operation> operation) {
    const std::lock_guard lock(posting_);
    posted_background_.push_back(std::move(operation));
    any_posted_ = true;
}

bool Engine::only_awaited() const {
    const auto others = std::count_if(operations_.begin(), operations_.end(),
                                      [](const auto& each) { return each != nullptr; });
    return others <= 1 && !any_posted_ && background_.empty() && flows_ == 0 &&
           waiter_.load() == std::this_thread::get_id();
}

void Engine::remove(const Operation& operation) {
    const auto it = std::find_if(operations_.begin(), operations_.end(),
                                 [&](const auto& each) { return each.get() == &operation; });
    if (it == operations_.end()) return;
    *it = nullptr;
    if (!progressing_) operations_.erase(it);
}

void Engine::progress() {
    count_poll();
    if (progressing_) return;
    progressing_ = true;
    if (any_posted_) {
        const std::lock_guard lock(posting_);
        any_posted_ = false;
        for (auto& operation : posted_) operations_.push_back(std::move(operation));
        posted_.clear();
        for (auto& operation : posted_background_) background_.push_back(std::move(operation));
        posted_background_.clear();
    }
    // By index: an operation may start others while it is polled.
    for (std::size_t i = 0; i < operations_.size(); ++i) {
        const auto operation = operations_[i];
        if (operation == nullptr) continue;
        bool done = false;
        try {
            done = operation->poll();
        } catch (...) {
            done = true;  // the operation keeps it for its owner
        }
        if (done) operations_[i] = nullptr;
    }
    std::erase(operations_, nullptr);
    if (!background_.empty()) progress_background();
    progressing_ = false;
}

void Engine::progress_mpi() {
    if (platform::simulated || !running() || !may_communicate(thread_level())) return;
    int come = 0;
    // A probe of MPI_COMM_SELF would progress nothing under MPICH.
    MPI_Iprobe(MPI_ANY_SOURCE, unused_tag, MPI_COMM_WORLD, &come, MPI_STATUS_IGNORE);
}

std::string Engine::lost_processes() {
    if (platform::simulated || !running() || !may_communicate(thread_level())) return "";
    return vendor::lost_processes();
}

void Engine::progress_once() {
    progress();
    const double now = coarse_seconds();
    if (now < next_mpi_) return;
    next_mpi_ = now + between_mpi;
    progress_mpi();
}

// One in turn, and a fraction of many, so that a loop's garbage is freed as fast as it is made.
void Engine::progress_background() {
    constexpr std::size_t share = 16;
    for (auto polls = 1 + background_.size() / share; polls > 0 && !background_.empty(); --polls) {
        next_background_ = (next_background_ + 1) % background_.size();
        bool done = false;
        try {
            done = background_[next_background_]->poll();
        } catch (...) {
            done = true;
        }
        if (done)
            background_.erase(background_.begin() + static_cast<std::ptrdiff_t>(next_background_));
    }
}

double Engine::seconds() const {
    return platform::seconds() - outside_;
}

// While no operation is under way, the time between a program's calls is not measured, because two
// readings of the clock would be a large part of the shortest calls. Operations start and end only
// inside calls, so a call begins with those of the last call's end.
void Engine::enter() {
    if (inside_++ == 0 && !operations_.empty()) outside_ += platform::seconds() - left_at_;
}

void Engine::leave() {
    if (--inside_ == 0 && !operations_.empty()) left_at_ = platform::seconds();
}

void Engine::add_node_processes(int processes) {
    neighbours_ = std::max(neighbours_, processes);
}

std::unique_lock<std::recursive_mutex> Engine::try_turn() {
    if (forked() || !may_communicate(thread_level())) return {};
    return {mutex_, std::try_to_lock};
}

bool Engine::try_progress() {
    const auto lock = try_turn();
    if (!lock.owns_lock()) return false;
    enter();
    progress_once();
    leave();
    return true;
}

void Engine::soon(std::shared_ptr<Operation> operation) {
    if (!running() || forked()) return;
    const auto lock = try_turn();
    if (!lock.owns_lock()) {
        post_background(std::move(operation));
        return;
    }
    try {
        static_cast<void>(operation->poll());
    } catch (const std::exception&) {
        return;  // the interpreter has ended, and observes nothing
    }
}

int Engine::thread_level() {
    if (level_ < 0 && running()) {
        int level = 0;
        MPI_Query_thread(&level);
        level_ = level;
    }
    return level_;
}

bool Engine::several_threads_may_communicate() {
    return thread_level() < 0 || level_ >= MPI_THREAD_SERIALIZED;
}

namespace {

thread_local std::string unblocked_step;

void require_may_communicate(int level) {
    if (!may_communicate(level))
        throw Error(
            "this thread may not communicate: MPI was started with a thread level below "
            "MPI_THREAD_SERIALIZED, where only the main thread may; call from the main thread, or "
            "start MPI with MPI_Init_thread(…, MPI_THREAD_MULTIPLE, …)");
}

}  // namespace

EngineLock::EngineLock() : engine_(Engine::instance()) {
    require_no_fork();
    require_not_ended();
    require_may_communicate(engine_.thread_level());
    const std::thread::id waiter = engine_.waiter_;
    // Without MPI, threads take turns.
    if (engine_.level_ >= 0 && engine_.level_ < MPI_THREAD_MULTIPLE && engine_.flows_ == 0 &&
        waiter != std::thread::id() && waiter != std::this_thread::get_id())
        throw Error(
            "two threads communicate at the same time, but MPI was started below "
            "MPI_THREAD_MULTIPLE; let one thread communicate at a time, or start MPI with "
            "MPI_Init_thread(…, MPI_THREAD_MULTIPLE, …)");
    lock_before_interpreter(engine_.mutex_).release();
    engine_.enter();
}

EngineLock::EngineLock(Waiting) : engine_(Engine::instance()) {
    if (forked()) return;  // perhaps within another thread's turn, which never ends here
    lock_before_interpreter(engine_.mutex_).release();
    engine_.enter();
}

EngineLock::~EngineLock() {
    if (forked()) return;
    engine_.leave();
    engine_.mutex_.unlock();
}

NonBlockingScope::NonBlockingScope(std::string step)
    : before_(std::exchange(unblocked_step, std::move(step))) {}

NonBlockingScope::~NonBlockingScope() {
    unblocked_step = std::move(before_);
}

bool must_not_block() {
    return !unblocked_step.empty();
}

void require_may_block(const std::string& what) {
    if (unblocked_step.empty()) return;
    throw Error(unblocked_step + " communicates, and blocks in: " + what +
                "; such a step only starts operations: use isend, irecv, …, and give what they "
                "return back to the flow");
}

Waiter::Waiter() : outermost_(false) {
    auto& waiter = Engine::instance().waiter_;
    std::thread::id nobody;
    outermost_ = waiter.compare_exchange_strong(nobody, std::this_thread::get_id());
    const std::lock_guard lock(Engine::instance().mutex_);
    Engine::instance().enter();
}

Waiter::~Waiter() {
    {
        const std::lock_guard lock(Engine::instance().mutex_);
        Engine::instance().leave();
    }
    if (outermost_) Engine::instance().waiter_ = std::thread::id();
}

}  // namespace hocket::comm
