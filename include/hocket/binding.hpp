// SPDX-License-Identifier: BSD-3-Clause
// For authors of bindings to other languages. Programs in C++ do not need this header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "hocket/comm.hpp"
#include "hocket/operation.hpp"

namespace hocket {

class Array;
class Channel;
class Layout;
class Mask;
class Store;
class Tasks;
class Team;
struct Profile;
struct TeamOptions;
namespace team {
enum class Op : std::uint8_t;
enum class Type : std::uint8_t;
struct Call;
}  // namespace team

namespace flow {

/// Whether this thread runs a step with a stack of its own now (on_own_stack).
bool may_pause();
/// In such a step: pauses it until the operation completes, and runs other steps meanwhile. The
/// thread that drives the flow's communication polls the operation, which may be on the step's
/// stack. @throws the error of the operation.
void pause_for(Operation& operation);
#ifdef HOCKET_SIMULATED
/// Whether this thread runs a step that has one of the simulated processors of its process, which
/// are as many as FlowOptions::workers.
bool computes_apart();
/// In such a step: spends so many seconds of the simulated clock, in which other steps go on.
void compute(double seconds);
#endif
/// In such a step: pauses it until all of them that were inserted before it have ended, so that
/// collective operations of MPI begin in the order of insertion.
void await_earlier_blocking_tasks();
/// The step that this thread runs: an address that no other unfinished step has (nullptr: none),
/// and its text.
const void* running_step();
std::string running_step_text();

}  // namespace flow

/// A friend of the public classes: gives bindings access to calls that C++ programs do not need.
struct Binding {
    /// Joins a collective call that this process cannot make because its arguments are wrong. Every
    /// process of the call raises the error, and no data moves. `kind` is the class of the error:
    /// "LayoutError", "MismatchError", "Error".
    static void refuse(const Comm& comm, const std::string& kind, const std::string& message,
                       Deadline deadline = {});
    /// Joins a collective call of a task that this process cannot make. `verb` is the name of the
    /// call ("send", "recv_init", …); "collective" stands for bcast, reduce, allreduce, gather and
    /// barrier.
    /// @throws Error on this process only, for an unknown verb.
    static void refuse(Tasks& tasks, const std::string& verb, const std::string& kind,
                       const std::string& message, Deadline deadline = {});
    /// As `refuse` for "send_init" and "recv_init": the other task gets the error, too.
    static void refuse_init(Tasks& tasks, bool sending, const std::variant<int, std::string>& other,
                            int tag, const std::string& kind, const std::string& message);
    static void refuse(Channel& channel, bool sending, const std::string& kind,
                       const std::string& message, Deadline deadline = {});
    /// Joins a team's operation that this process cannot make. @throws Error with this message
    /// here, and with one that names this process on the others.
    [[noreturn]] static void refuse(const Team& team, team::Op op, const std::string& message,
                                    bool barrier = true);

    /// Runs a team's operation whose type is known only at run time.
    static std::uint64_t run(const Team& team, const team::Call& call, const TeamOptions& options);
    static Mask run_mask(const Team& team, const team::Call& call, const TeamOptions& options);
    static void run_gather(const Team& team, team::Type type, std::uint64_t bits, void* values,
                           std::size_t places, const TeamOptions& options);

    /// One process's part of the first round of a write to a new store, or of a read, without
    /// files and MPI: for benchmarks of large jobs. Returns the elements sent and received.
    static std::pair<std::int64_t, std::int64_t> plan_store(const Layout& layout,
                                                            const std::vector<std::int64_t>& chunks,
                                                            const std::vector<std::int64_t>& shards,
                                                            std::int64_t rank, bool writing);

    /// The number of the first index and dimension in this thread's messages from now on: 0, or 1
    /// in calls from Fortran. Returns the one before.
    static std::int64_t set_first_index(std::int64_t first);

    /// The bytes of a number by its type's name: "float64" has 8. 0: no such type.
    static std::int64_t number_bytes(std::string_view name);

    /// Whether the local array is dense and column-major.
    static bool is_column_major(const Array& array);

    /// One index of each part into which the processes divide a dimension, increasing, of a layout
    /// without boxes and lists.
    static std::vector<std::int64_t> parts_along(const Layout& layout, std::size_t dimension);

    /// The row-major number of one of a process's elements, by its place among them.
    static std::int64_t number_of(const Layout& layout, std::int64_t process, std::int64_t place);

    /// The owner of each row-major element number, and the element's number in the owner's local
    /// array. @throws LayoutError for an element that no process holds.
    static void locate(const Layout& layout, std::span<const std::int64_t> numbers,
                       std::int64_t* owners, std::int64_t* offsets);

    /// The rows of all processes, of `bytes` bytes each, on every process. Collective. `call` is
    /// for errors of processes that make different calls.
    static std::shared_ptr<const std::byte> allgather(const Comm& comm, const std::string& call,
                                                      const void* mine, std::int64_t bytes);
    /// Sends record k, of `bytes` bytes, to process to[k]. Returns the records that arrive, in the
    /// order of their senders and of one sender in their order, and their number from each process.
    /// Collective.
    static std::pair<std::shared_ptr<std::byte>, std::vector<std::int64_t>> exchange(
        const Comm& comm, std::span<const std::int64_t> to, const void* records,
        std::int64_t bytes);

    /// Divides the sorted rows of all processes, of which each process has counts[process]: for
    /// each process and each of `wanted`, which increase, how many of its rows belong to the first
    /// `wanted` of all. Of equal rows those of lower processes come first; `together` keeps equal
    /// rows together, behind the cut. `pick` writes the keys of this process's rows, of `bytes`
    /// bytes each; `place` finds for each key the number of rows before it, and with its equals.
    /// Collective.
    static std::vector<std::int64_t> divide(
        const Comm& comm, std::int64_t bytes,
        const std::function<void(std::span<const std::int64_t> rows, std::byte* keys)>& pick,
        const std::function<void(const std::byte* keys, std::span<std::int64_t> before,
                                 std::span<std::int64_t> with_equals)>& place,
        std::span<const std::int64_t> counts, std::span<const std::int64_t> wanted, bool together);

    /// The sums of floating-point numbers over these dimensions, exact and rounded once, as
    /// `reduce` computes them; the result has extent 1 there. Collective.
    static Array exact_sum(const Array& array, const std::vector<std::int64_t>& dims);

    /// Whether all, or any, elements of an array of bool are true, on every process. `call`: as of
    /// `allgather`. Collective.
    static bool truth(const Array& array, bool any, const std::string& call);

    /// Brings partial results of a reduction, of `bytes` bytes each, to the processes of its
    /// result. `layout`: of the reduced array, on a grid; `mine`: for each of this process's
    /// elements without `dims`, dense. Calls `take(values, count)` for one part of the dimensions
    /// after the other: dense values of this process's elements in the result. Collective.
    static void collect(
        const std::string& call, const Layout& layout, const std::vector<std::int64_t>& dims,
        const Comm& comm, const void* mine, std::int64_t bytes,
        const std::function<void(const std::byte* values, std::int64_t count)>& take);

    /// hocket::random_integers without checks: `count` integers from `first` on, which has 64 bits
    /// of either sign.
    static void random_integers(const Array& array, std::uint64_t seed, std::uint64_t first,
                                std::uint64_t count);

    /// The elements of these row-major numbers, on whatever processes, of an array without copies.
    /// Collective.
    static void fetch(const Array& array, std::span<const std::int64_t> numbers, void* values);
    /// Writes values to the elements of these numbers, in the order of `turns`, so that the last
    /// one of an element stays. Collective.
    static void store(const Array& array, std::span<const std::int64_t> numbers, const void* values,
                      std::span<const std::int64_t> turns);

    /// The row-major numbers of the elements at which a mask is true, increasing, in even parts.
    /// Collective.
    static Array true_numbers(const Array& mask);
    /// Writes a vector's elements to those of the array at which the mask is true, in order; there
    /// are as many. Collective. @throws LayoutError for another number, on every process.
    static void put(const Array& array, const Array& mask, const Array& vector);

    /// The most bytes of a temporary array: `bytes`, or HOCKET_MAX_BUFFER if that is less.
    static std::int64_t within_buffers(std::int64_t bytes);

    /// The regions of a store that earlier jobs left incomplete are complete, as the caller knows,
    /// so that `Store::close` removes the mark.
    static void forget_unfinished(Store& store);

    /// Adds the seconds that the binding has spent to the six steps of the tasks' transfers.
    static void add_to_profile(Tasks& tasks, const Profile& more);

    /// Sets the deadline of this thread's later calls of bindings that have no timeout. Returns the
    /// one before.
    static Deadline set_deadline(const Deadline& deadline);

    /// Sets the lock of an interpreter (Python's) under which some operations run. A wait releases
    /// this lock while it blocks, because the awaited thread may need the lock to poll an
    /// operation. `let_go` returns the argument of `take_back`, or nullptr if this thread does not
    /// hold the lock. nullptr twice: there is no lock.
    static void set_interpreter_lock(void* (*let_go)(), void (*take_back)(void* held));
};

}  // namespace hocket
