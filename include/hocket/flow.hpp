// SPDX-License-Identifier: BSD-3-Clause
// Flows: steps that compute or communicate, inserted in the order of a sequential program, and run
// as soon as what they read and write allows (Marjanovic, Labarta, Ayguade and Valero, "Effective
// Communication and Computation Overlap with Hybrid MPI/SMPSs").
#pragma once

#include <cstdint>
#include <exception>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hocket/flow_body.hpp"
#include "hocket/operation.hpp"
#include "hocket/region.hpp"

namespace hocket {

namespace flow {
struct State;  // src/flow/state.hpp
}

/// Who starts and polls the operations of communication steps.
enum class Agent {
    automatic,      ///< `between_steps` where the workers are as many as the cores, else `thread`
    between_steps,  ///< the workers, between two steps, and whoever waits
    thread          ///< a thread of its own; MPI must allow it: MPI_THREAD_SERIALIZED at least
};

struct FlowOptions {
    /// Threads that run steps; the one that inserts and waits is the first of them.
    /// None: HOCKET_THREADS, else the cores of this process.
    std::optional<int> workers;
    /// So many unfinished steps are the most: an insertion beyond helps to run them first.
    std::int64_t window = 8192;
    Agent agent = Agent::automatic;
    /// After every step, look whether it has written what it only declared to read (an Error that
    /// names both). Steps run one at a time then, and all that they read is read twice more.
    bool check = false;
    /// Keep what ran, for `dot` and `svg`.
    bool record = false;
    /// Threads that hocket's kernels use in a step where the caller does not say. Beyond the one
    /// that runs the step they are workers of the flow, who join between two steps of theirs; so
    /// there are no more of them than workers.
    int threads = 1;
};

struct StepOptions {
    int priority = 0;  ///< of steps that may run, one with the highest runs first
    std::string name = {};
    int threads = 0;  ///< that kernels in it use; 0: as many as the flow says
};

/// A step has failed. What it threw is nested in this (std::rethrow_if_nested).
class StepError : public Error, public std::nested_exception {
  public:
    StepError(std::string where, const std::string& words, std::string step,
              std::exception_ptr cause)
        : Error(where + " failed: " + words),
          where_(std::move(where)),
          words_(words),
          step_(std::move(step)),
          cause_(std::move(cause)) {}
    const std::string& step() const { return step_; }  ///< its name, else its number
    /// "step 'update'", or "step 'outer': step 'inner'" for a step of a step.
    const std::string& where() const { return where_; }
    const std::string& words() const { return words_; }  ///< what it threw says
    const std::exception_ptr& cause() const { return cause_; }

  private:
    std::string where_, words_, step_;
    std::exception_ptr cause_;
};

/// A program of steps. The result is that of its steps run one after the other in the order of
/// insertion: a step begins once all earlier ones have ended that write what it reads, or touch
/// what it writes. Inside a step, the same flow takes steps of the step (nested ones), which are
/// ordered among themselves, and belong to it: it ends with the last of them.
///
/// One thread at a time inserts. A step that throws stops all that depend on it; `wait` throws.
class Flow {
  public:
    /// @throws Error for fewer workers or threads than one, and a window of less than one step; and
    /// where MPI does not let a thread of the flow's communicate.
    explicit Flow(const FlowOptions& options = {});
    /// Runs what was inserted to its end, and prints an error that nobody waited for. Where it
    /// unwinds for an exception, it stops what has not begun. Not in a step of its own.
    ~Flow();
    Flow(const Flow&) = delete;
    Flow& operator=(const Flow&) = delete;

    /// A step that computes: `function()`, or `function(flow::Here&)`, on any worker. What it
    /// refers to must live until it has run.
    template <class Function>
    void task(Function&& function, std::initializer_list<Access> accesses,
              StepOptions options = {}) {
        task(std::forward<Function>(function), all(accesses), std::move(options));
    }
    template <class Function>
    void task(Function&& function, std::span<const Access> accesses, StepOptions options = {}) {
        insert(flow::Body(std::forward<Function>(function)), accesses, std::move(options), false);
    }

    /// A step that communicates: its function starts operations without blocking, and gives
    /// nothing, one (unique_ptr or shared_ptr), or a vector of shared ones; it ends when they all
    /// have. Any number is under way at a time, so that no order of sends and receives that is
    /// right for blocking calls can deadlock. Only one thread at a time calls these functions.
    template <class Function>
    void comm(Function&& function, std::initializer_list<Access> accesses,
              StepOptions options = {}) {
        comm(std::forward<Function>(function), all(accesses), std::move(options));
    }
    template <class Function>
    void comm(Function&& function, std::span<const Access> accesses, StepOptions options = {}) {
        insert(flow::Body(std::forward<Function>(function)), accesses, std::move(options), true);
    }

    /// A send (receive) between tasks, `tasks` being a Tasks: reads (writes) the array. It takes
    /// its place among the calls of its task now, so that messages keep the order of the program,
    /// and begins when the array is ready. Collective over the task, as isend is.
    template <class Tasks, StridedArray A, class Id>
    void send(Tasks& tasks, const A& array, const Id& destination, int tag = 0,
              StepOptions options = {}) {
        start_later(tasks.isend(array, destination, {.tag = tag, .later = true}), reads(array),
                    std::move(options), "send");
    }
    template <class Tasks, StridedArray A, class Id>
    void recv(Tasks& tasks, const A& array, const Id& source, int tag = 0,
              StepOptions options = {}) {
        start_later(tasks.irecv(array, source, {.tag = tag, .later = true}), writes(array),
                    std::move(options), "recv");
    }

    /// Halo::exchange as a step: reads the array within `halo`, a Halo, and writes its border, so
    /// that steps that only read the array run meanwhile. Collective over the array's communicator,
    /// in the order of the program.
    template <class Halo>
    void exchange(const Halo& halo, StepOptions options = {}) {
        const auto& array = halo.array();
        std::vector<Access> accesses{reads(array)};
        for (auto& side : border(halo.data(), halo.local_shape(), array.strides(),
                                 array.dtype().size, halo.width()))
            accesses.push_back(writes(std::move(side)));
        if (options.name.empty()) options.name = "exchange";
        comm([operation = halo.iexchange(true)] { return operation; },
             std::span<const Access>(accesses), std::move(options));
    }

    /// Transfer::start and wait as a step: reads `source` and writes `destination`, which
    /// `transfer`, a Transfer, copies. Steps of one transfer run one after the other. Collective
    /// over its communicator, in the order of the program.
    template <class Transfer, StridedArray A>
    void transfer(const Transfer& transfer, const A& source, const A& destination,
                  StepOptions options = {}) {
        if (options.name.empty()) options.name = "transfer";
        comm([operation = transfer.start_later(source, destination)] { return operation; },
             {reads(source), writes(destination), updates(Region(transfer.identity(), 1))},
             std::move(options));
    }

    /// Store::write as a step: reads the array. Collective over its communicator, in the order of
    /// the program, whenever the step begins.
    template <class Store, StridedArray A>
    void write(Store& store, const std::string& name, const A& array, StepOptions options = {}) {
        if (options.name.empty()) options.name = "write " + name;
        const std::vector<Access> accesses{reads(array)};
        comm([operation = store.write_later(name, array)] { return operation; },
             std::span<const Access>(accesses), std::move(options));
    }

    /// Until all steps so far have ended; the calling thread helps. Inside a step: its own steps.
    /// @throws StepError for the first step, in the order of insertion, that has failed, after all
    /// others have ended: the flow can be used again; DeadlineError; Error in a step of another
    /// flow, if steps of this one wait for it: none of them could end.
    void wait(Deadline deadline = {});
    /// Until all steps so far that touch any byte of the region have ended, so that the program
    /// may use and change it. @throws StepError if one of them has failed or was stopped, leaving
    /// it to `wait`, too; DeadlineError; Error inside a step, which waits for its own steps only,
    /// if steps outside of it that were inserted before it still change the region: they may wait
    /// for this very step. One that declares to read the region begins after them. And as `wait`.
    void wait_on(const Region& region, Deadline deadline = {});
    /// Nothing that has not begun will. `wait` then returns once what runs has ended. Operations
    /// under way are left to later waits.
    void cancel();
    /// For a step that computes for long, now and then: communication goes on, where that is the
    /// workers' business, and steps of a higher priority that may run do so now, in this thread,
    /// before this one goes on. So none of them may block until something that comes of this one.
    /// Outside of the flow's steps communication goes on, and nothing else.
    void give_way();
    /// Runs what was inserted to its end, as the destructor does, and ends the flow's threads.
    /// Whoever waits runs alone what is inserted later. Not in a step of its own.
    void close() noexcept;

    int workers() const;
    /// Whether the agent is a thread of its own.
    bool agent_thread() const;
    /// Steps inserted so far, nested ones included.
    std::int64_t steps() const;
    /// The flow whose step this thread runs, or that was entered (`Inside`); nullptr: none.
    static Flow* current();
    /// Makes the flow the current one of this thread, for annotated functions (`step`). Where
    /// several overlap, the current one is that entered last of those that have not ended.
    class Inside {
      public:
        explicit Inside(Flow& flow);
        ~Inside();
        Inside(const Inside&) = delete;
        Inside& operator=(const Inside&) = delete;

      private:
        Flow* before_;
        Inside* below_;
        Inside* above_ = nullptr;
    };

    /// The graph of a recording flow in Graphviz's language: its steps, and what each waited for.
    /// @throws Error if the flow does not record.
    std::string dot() const;
    /// The same as a picture: steps on the worker that ran them, over time, with dependences.
    std::string svg() const;

    /// The body of a step, ready made: what `task` and `comm` come down to.
    void insert(flow::Body body, std::span<const Access> accesses, StepOptions options,
                bool communicates);

  private:
    template <class Request>
    void start_later(Request request, Access access, StepOptions options, const char* name) {
        if (options.name.empty()) options.name = name;
        comm(
            [request = std::move(request)]() mutable {
                request.start();
                return request.operation();
            },
            {std::move(access)}, std::move(options));
    }
    static std::span<const Access> all(std::initializer_list<Access> accesses) {
        return {accesses.begin(), accesses.size()};
    }
    std::shared_ptr<flow::State> state_;
    int exceptions_;
};

}  // namespace hocket
