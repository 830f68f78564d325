// SPDX-License-Identifier: BSD-3-Clause
// Flows: graphs of steps that compute or communicate. A program inserts steps in sequential order;
// a step runs as soon as the data that it reads and writes allow (Marjanovic, Labarta, Ayguade and
// Valero, "Effective Communication and Computation Overlap with Hybrid MPI/SMPSs").
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

/// The threads that start and poll the operations of communication steps.
enum class Agent {
    automatic,      ///< `between_steps` if the flow has as many workers as cores, else `thread`
    between_steps,  ///< the workers between two steps, and a thread in `wait`
    thread          ///< a separate thread; requires MPI_THREAD_SERIALIZED at least
};

struct FlowOptions {
    /// The number of threads that run steps. The inserting thread counts as one of them. None:
    /// HOCKET_THREADS, else the cores of this process.
    std::optional<int> workers = {};
    /// The largest number of unfinished steps. An insertion beyond this number first helps to run
    /// steps.
    std::int64_t window = 8192;
    Agent agent = Agent::automatic;
    /// After each step, check whether it has written data that it only declared to read (an Error
    /// names the step and the data). Steps then run one at a time, and hocket reads their inputs
    /// twice more.
    bool check = false;
    /// Record the steps, for `dot` and `svg`.
    bool record = false;
    /// Threads that hocket's kernels use in a step, unless the caller sets a number. The further
    /// threads are idle workers of the flow, which join between two steps of their own. So a kernel
    /// never has more threads than the flow has workers.
    int threads = 1;
};

struct StepOptions {
    int priority = 0;  ///< the ready step with the highest priority runs first
    std::string name = {};
    int threads = 0;  ///< threads of kernels in this step; 0: FlowOptions::threads
};

/// A step has failed. The exception of the step is nested in this one (std::rethrow_if_nested).
class StepError : public Error, public std::nested_exception {
  public:
    StepError(std::string where, const std::string& words, std::string step,
              std::exception_ptr cause)
        : Error(where + " failed: " + words),
          where_(std::move(where)),
          words_(words),
          step_(std::move(step)),
          cause_(std::move(cause)) {}
    const std::string& step() const { return step_; }  ///< the name of the step, else its number
    /// "step 'update'", or "step 'outer': step 'inner'" for a step of a step.
    const std::string& where() const { return where_; }
    const std::string& words() const { return words_; }  ///< the message of the step's exception
    const std::exception_ptr& cause() const { return cause_; }

  private:
    std::string where_, words_, step_;
    std::exception_ptr cause_;
};

/// A program of steps. Its result equals that of the steps run one after the other in the order of
/// insertion. A step begins after all earlier steps that write its inputs, and after all earlier
/// steps that read or write its outputs. A step may insert nested steps into the same flow. Nested
/// steps are ordered among themselves, and the outer step ends with the last of them.
///
/// Only one thread at a time may insert steps. A step that throws stops all steps that depend on
/// it; `wait` throws its error.
class Flow {
  public:
    /// @throws Error for fewer than one worker or thread, and for a window of less than one step;
    ///         Error if MPI does not allow a thread of the flow to communicate.
    explicit Flow(const FlowOptions& options = {});
    /// Runs all inserted steps to their end, and prints an error that no `wait` has thrown. If an
    /// exception unwinds the stack, the destructor stops the steps that have not begun. A step must
    /// not destroy its own flow.
    ~Flow();
    Flow(const Flow&) = delete;
    Flow& operator=(const Flow&) = delete;

    /// Inserts a step that computes: `function()`, or `function(flow::Here&)`, on any worker.
    /// Everything that the function refers to must live until the step has run.
    ///
    /// The function may be a coroutine (Coroutine<>): at each `co_await` the step gives its worker
    /// back, and any worker continues the step once the awaited operation has ended. The step
    /// neither commutes nor reduces. Processes that call collective operations in such steps must
    /// order them alike, by the steps' accesses.
    template <class Function>
    void task(Function&& function, std::initializer_list<Access> accesses,
              StepOptions options = {}) {
        task(std::forward<Function>(function), all(accesses), std::move(options));
    }
    template <class Function>
    void task(Function&& function, std::span<const Access> accesses, StepOptions options = {}) {
        insert(flow::Body(std::forward<Function>(function)), accesses, std::move(options), false);
    }

    /// Inserts a step whose function blocks: in hocket's own calls (`Request::wait`, `Tasks::recv`,
    /// …), and in functions of MPI if the program is linked with libhocket-mpi: `MPI_Recv`,
    /// `MPI_Wait`, `MPI_Allreduce`, …, in C, C++ or Fortran. The function runs on a stack of its
    /// own. While a call waits, the worker runs other steps; the step goes on in the same worker.
    /// Collective calls of MPI in these steps begin in the order of insertion, which must be the
    /// same on all processes. The step neither commutes nor reduces. `function()` is copied.
    template <class Function>
    void blocking_task(Function&& function, std::initializer_list<Access> accesses,
                       StepOptions options = {}) {
        blocking_task(std::forward<Function>(function), all(accesses), std::move(options));
    }
    template <class Function>
    void blocking_task(Function&& function, std::span<const Access> accesses,
                       StepOptions options = {}) {
        task([rest = flow::on_own_stack(std::forward<Function>(function))] { return rest; },
             accesses, std::move(options));
    }

    /// Inserts a step that communicates. Its function starts operations without blocking and
    /// returns nothing, one operation (unique_ptr or shared_ptr), or a vector of shared ones. The
    /// step ends when all of them have ended. Any number of these steps may be under way, so that
    /// an order of sends and receives that is right for blocking calls cannot deadlock. Only one
    /// thread at a time calls these functions. A coroutine's parts between two waits run there,
    /// too, and must not block.
    template <class Function>
    void comm(Function&& function, std::initializer_list<Access> accesses,
              StepOptions options = {}) {
        comm(std::forward<Function>(function), all(accesses), std::move(options));
    }
    template <class Function>
    void comm(Function&& function, std::span<const Access> accesses, StepOptions options = {}) {
        insert(flow::Body(std::forward<Function>(function)), accesses, std::move(options), true);
    }

    /// Inserts a send (receive) between tasks, which reads (writes) the array. `tasks` is a Tasks.
    /// The call takes its position among the calls of its task at insertion, so that messages keep
    /// the order of the program; it begins when the array is ready. Collective over the task, as
    /// isend is.
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

    /// Inserts Halo::exchange, which reads the array within `halo` and writes its border. Steps
    /// that only read the array may run at the same time. Collective over the array's communicator,
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

    /// Inserts Transfer::start and wait as one step, which reads `source` and writes `destination`.
    /// Steps of one transfer run one after the other. Collective over its communicator, in the
    /// order of the program.
    template <class Transfer, StridedArray A>
    void transfer(const Transfer& transfer, const A& source, const A& destination,
                  StepOptions options = {}) {
        if (options.name.empty()) options.name = "transfer";
        comm([operation = transfer.start_later(source, destination)] { return operation; },
             {reads(source), writes(destination), updates(Region(transfer.identity(), 1))},
             std::move(options));
    }

    /// Inserts Store::write (read), which reads (writes) the array, and writes (reads) the stored
    /// one. Collective over its communicator, in the order of the program, at any time that the
    /// step begins.
    template <class Store, StridedArray A>
    void write(Store& store, const std::string& name, const A& array, StepOptions options = {}) {
        if (options.name.empty()) options.name = "write " + name;
        comm([operation = store.write_later(name, array)] { return operation; },
             {reads(array), writes(Region(store.identity(name), 1))}, std::move(options));
    }
    template <class Store, StridedArray A>
    void read(Store& store, const std::string& name, const A& array, StepOptions options = {}) {
        if (options.name.empty()) options.name = "read " + name;
        comm([operation = store.read_later(name, array)] { return operation; },
             {writes(array), reads(Region(store.identity(name), 1))}, std::move(options));
    }

    /// Waits until all steps inserted so far have ended; the calling thread runs steps meanwhile.
    /// In a step: waits for its nested steps. While other threads run all of them, it runs no other
    /// step, which might take longer.
    /// @throws StepError for the first step in the order of insertion that has failed, after all
    ///         others have ended; the flow can be used again. DeadlineError. Error in a step of
    ///         another flow for whose end steps of this flow wait, because none of them could end.
    void wait(Deadline deadline = {});
    /// Waits until all steps inserted so far that touch any byte of the region have ended, so that
    /// the program may use and change it. @throws StepError if one of them has failed or was
    /// stopped (`wait` throws it again); DeadlineError. In a step, this call waits for nested steps
    /// only. @throws Error there if earlier steps outside of it still change the region, because
    /// they may wait for this very step; a step that declares to read the region begins after them.
    /// @throws as `wait` otherwise.
    void wait_on(const Region& region, Deadline deadline = {});
    /// Stops all steps that have not begun. `wait` then returns once the running steps have ended.
    /// Later waits complete the operations under way.
    void cancel();
    /// For steps that compute for long: lets communication progress (if the workers do that), and
    /// runs ready steps of a higher priority in this thread, before this step goes on. These steps
    /// must not block on a result of this one. Outside of the flow's steps, this call only lets
    /// communication progress.
    void give_way();
    /// Runs all inserted steps to their end, as the destructor does, and ends the flow's threads.
    /// Steps inserted later run in the thread that waits. A step must not close its own flow.
    void close() noexcept;

    int workers() const;
    /// Whether a separate thread polls the operations.
    bool agent_thread() const;
    /// Steps inserted so far, nested ones included.
    std::int64_t steps() const;
    /// The flow whose step this thread runs, or that the program entered (`Inside`); nullptr: none.
    static Flow* current();
    /// Makes the flow the current one of this thread, for annotated functions (`step`). If several
    /// overlap, the one entered last that has not ended is current.
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

    /// The graph of a recording flow in Graphviz's language: the steps and their dependences.
    /// @throws Error if the flow does not record.
    std::string dot() const;
    /// A picture of a recording flow: the steps of each worker over time, with dependences.
    std::string svg() const;

    /// Inserts a step whose body is ready: `task` and `comm` call this function.
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
