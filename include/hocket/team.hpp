// SPDX-License-Identifier: BSD-3-Clause
// Teams: synchronous aggregate operations of any subset of processes, as in Dietz, Chung, Mattox:
// "A Parallel Processing Support Library Based On Synchronized Aggregate Communication" (PAPERS).
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "hocket/comm.hpp"
#include "hocket/mask.hpp"
#include "hocket/operation.hpp"

namespace hocket {

namespace team {

/// The types of values in Table 1 of the paper.
enum class Type : std::uint8_t {
    boolean,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
    float32,
    float64
};
inline constexpr int types = 11;

/// All operations that communicate. bcast_put and bcast_get are one operation.
enum class Op : std::uint8_t {
    wait,
    waitvec,
    any,
    all,
    putget,
    gather,
    bcast,
    reduce_add,
    reduce_mul,
    reduce_min,
    reduce_max,
    reduce_and,
    reduce_or,
    scan_add,
    scan_mul,
    scan_min,
    scan_max,
    scan_and,
    scan_or,
    rank,
    vote_count,
    vote,
    match_count,
    match,
    reduce,
    start  ///< for `refuse`: an operation that cannot be started
};

template <class T>
constexpr std::optional<Type> type_of() {
    if constexpr (std::is_same_v<T, bool>) return Type::boolean;
    if constexpr (std::is_same_v<T, float>) return Type::float32;
    if constexpr (std::is_same_v<T, double>) return Type::float64;
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool> && sizeof(T) <= 8) {
        constexpr auto first = std::is_signed_v<T> ? Type::int8 : Type::uint8;
        return static_cast<Type>(static_cast<int>(first) +
                                 std::countr_zero(static_cast<unsigned>(sizeof(T))));
    }
    return std::nullopt;
}

/// The types of values: bool, integers of 8 to 64 bits, float, double.
template <class T>
concept Value = type_of<T>()
.has_value();

/// The bits of a value as hocket transports them; bits beyond its size are 0.
template <class T>
std::uint64_t bits_of(T value) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof value);
    return bits;
}
template <class T>
T value_of(std::uint64_t bits) {
    T value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

/// The request of one process.
struct Call {
    Op op = Op::wait;
    Type type = Type::boolean;
    std::uint64_t bits = 0;  ///< the value
    int process = 0;         ///< the source of a putget, or the process that a vote is for
};

/// The size limit in bytes of a value of `Team::reduce`.
inline constexpr std::size_t longest_value = 56;

class Root;  // the implementation: src/team
struct Group;
class Pending;

}  // namespace team

struct TeamOptions {
    int narrow = 0;       ///< the number of low bits of an unsigned value that take part; 0: all
    Deadline deadline{};  ///< ends the wait; the operation goes on
    /// False: a scan or a putget is no barrier, if all of the team share memory. A process waits
    /// only for those whose values it takes, and may be 16 calls ahead of those that take its
    /// values. An error of such a call breaks the root team.
    bool barrier = true;
};

/// A started operation, and its result.
class TeamResult {
  public:
    explicit TeamResult(std::shared_ptr<team::Pending> pending) : pending_(std::move(pending)) {}
    /// The operation, to poll, to wait for, or for a flow.
    std::shared_ptr<Operation> operation() const;
    /// Whether the operation has completed. Never waits.
    bool test() const;
    /// @throws Error before completion; the error of the operation.
    std::uint64_t bits() const;
    template <team::Value T>
    T value() const {
        return team::value_of<T>(bits());
    }

  private:
    handle::Shared<team::Pending, "TeamResult"> pending_;
};

/// A group of processes that perform operations together. Masks, sources, votes and results number
/// processes as in the root team. Every operation that communicates is a barrier of its team
/// (unless TeamOptions::barrier is false), and all processes of the team make the same call. Teams
/// that share two processes or more call their operations in the same order.
///
/// Team is a handle: copies name the same team. All operations that communicate throw MismatchError
/// if processes call different operations, types or teams; Error for invalid arguments on any
/// process, which the message names; Error if a process has left; DeadlineError; PeerLostError.
class Team {
  public:
    /// The root team: all processes of a communicator. Collective.
    explicit Team(const Comm& comm, const Deadline& deadline = {});

    /// A team of these processes of the root team. Does not communicate. @throws Error for a mask
    /// without this process, or with processes that do not exist.
    Team enqueue(const Mask& mask) const;

    int process() const;         ///< this process's number in the root team
    int size() const;            ///< number of processes of the root team
    const Mask& mask() const;    ///< the processes of this team
    int population() const;      ///< number of processes of this team
    int enumerate() const;       ///< number of processes of this team with lower numbers than this
                                 ///< process
    int select_first() const;    ///< the lowest process of this team
    int select_one() const;      ///< one process of this team, the same on all
    bool shares_memory() const;  ///< whether all are on one node, so that operations need no MPI
                                 ///< messages

    void wait(const TeamOptions& options = {}) const { run({team::Op::wait}, options); }
    /// The processes whose flag is true.
    Mask waitvec(bool flag, const TeamOptions& options = {}) const {
        return run_mask({team::Op::waitvec, team::Type::boolean, flag ? 1U : 0U}, options);
    }
    bool any(bool flag, const TeamOptions& options = {}) const {
        return run({team::Op::any, team::Type::boolean, flag ? 1U : 0U}, options) != 0;
    }
    bool all(bool flag, const TeamOptions& options = {}) const {
        return run({team::Op::all, team::Type::boolean, flag ? 1U : 0U}, options) != 0;
    }

    /// Puts `value`, and returns the value of process `source`.
    template <team::Value T>
    T putget(T value, int source, const TeamOptions& options = {}) const {
        return typed(team::Op::putget, value, options, source);
    }
    /// Sets values[p] to the value of process p, for each process of this team; other entries keep
    /// their values.
    /// @throws Error unless `values` has one entry for each process of the root team.
    template <team::Value T>
    void gather(T value, std::span<T> values, const TeamOptions& options = {}) const {
        run_gather(*team::type_of<T>(), team::bits_of(value), values.data(), values.size(),
                   options);
    }
    /// The values of all processes that put, combined by bitwise or; 0 if none puts.
    template <team::Value T>
    T bcast_put(T value, const TeamOptions& options = {}) const {
        return typed(team::Op::bcast, value, options);
    }
    template <team::Value T>
    T bcast_get(const TeamOptions& options = {}) const {
        return typed(team::Op::bcast, T{}, options);
    }

    /// Reductions. Integers wrap; bool adds as or and multiplies as and; NaN wins in min and max.
    /// Every process gets the same bits. @throws Error for `and` and `or` of floating-point
    /// numbers.
    template <team::Value T>
    T reduce_add(T value, const TeamOptions& options = {}) const {
        return typed(team::Op::reduce_add, value, options);
    }
    template <team::Value T>
    T reduce_mul(T value, const TeamOptions& options = {}) const {
        return typed(team::Op::reduce_mul, value, options);
    }
    template <team::Value T>
    T reduce_min(T value, const TeamOptions& options = {}) const {
        return typed(team::Op::reduce_min, value, options);
    }
    template <team::Value T>
    T reduce_max(T value, const TeamOptions& options = {}) const {
        return typed(team::Op::reduce_max, value, options);
    }
    template <team::Value T>
    T reduce_and(T value, const TeamOptions& options = {}) const {
        return typed(team::Op::reduce_and, value, options);
    }
    template <team::Value T>
    T reduce_or(T value, const TeamOptions& options = {}) const {
        return typed(team::Op::reduce_or, value, options);
    }
    /// Inclusive scans: over the processes up to this one.
    template <team::Value T>
    T scan_add(T value, const TeamOptions& options = {}) const {
        return typed(team::Op::scan_add, value, options);
    }
    template <team::Value T>
    T scan_mul(T value, const TeamOptions& options = {}) const {
        return typed(team::Op::scan_mul, value, options);
    }
    template <team::Value T>
    T scan_min(T value, const TeamOptions& options = {}) const {
        return typed(team::Op::scan_min, value, options);
    }
    template <team::Value T>
    T scan_max(T value, const TeamOptions& options = {}) const {
        return typed(team::Op::scan_max, value, options);
    }
    template <team::Value T>
    T scan_and(T value, const TeamOptions& options = {}) const {
        return typed(team::Op::scan_and, value, options);
    }
    template <team::Value T>
    T scan_or(T value, const TeamOptions& options = {}) const {
        return typed(team::Op::scan_or, value, options);
    }
    /// The number of processes with a lower value, or with an equal value and a lower number. NaN
    /// is the highest value.
    template <team::Value T>
    int rank(T value, const TeamOptions& options = {}) const {
        return static_cast<int>(
            run({team::Op::rank, *team::type_of<T>(), team::bits_of(value)}, options));
    }

    /// The number of votes for this process; the processes that vote for it. @throws Error for a
    /// vote for a process outside this team.
    int vote_count(int process, const TeamOptions& options = {}) const {
        return static_cast<int>(
            run({team::Op::vote_count, team::Type::int32, 0, process}, options));
    }
    Mask vote(int process, const TeamOptions& options = {}) const {
        return run_mask({team::Op::vote, team::Type::int32, 0, process}, options);
    }
    /// The number of processes with the same value as this one, itself included; these processes.
    template <team::Value T>
    int match_count(T value, const TeamOptions& options = {}) const {
        return static_cast<int>(
            run({team::Op::match_count, *team::type_of<T>(), team::bits_of(value)}, options));
    }
    template <team::Value T>
    Mask match(T value, const TeamOptions& options = {}) const {
        return run_mask({team::Op::match, *team::type_of<T>(), team::bits_of(value)}, options);
    }

    /// Folds the values of all processes, from the lowest on: fold(fold(v0, v1), v2) …
    template <class T, class Fold>
    T reduce(const T& value, Fold fold, const TeamOptions& options = {}) const {
        static_assert(std::is_trivially_copyable_v<T>, "the value's bytes travel");
        static_assert(sizeof(T) <= team::longest_value, "a value has up to 56 bytes");
        const auto count = static_cast<std::size_t>(population());
        std::vector<T> values(count);
        gather_bytes(&value, sizeof value, values.data(), options);
        T result = values[0];
        for (std::size_t i = 1; i < count; ++i) result = fold(result, values[i]);
        return result;
    }
    /// Gathers `bytes` bytes of each process of this team into `values`, in order.
    /// @throws Error for 0 and for more than 56 bytes.
    void gather_bytes(const void* value, std::size_t bytes, void* values,
                      const TeamOptions& options = {}) const;

    /// Starts an operation whose result is one value, or none (wait).
    TeamResult start(const team::Call& call, const TeamOptions& options = {}) const;
    /// `process`: as in team::Call.
    template <team::Value T>
    TeamResult start(team::Op op, T value, int process = 0, const TeamOptions& options = {}) const {
        return start({op, *team::type_of<T>(), team::bits_of(value), process}, options);
    }

    /// Leaves the root team and all of its subsets. Processes that wait for this one get an error
    /// with the code. Later calls on this process throw.
    void exit(int code) const;
    /// Prints the message, leaves, and ends all waits of the other processes of the root team.
    void error(const std::string& message) const;
    /// For hocket's own sources: makes a team of its implementation.
    Team(std::shared_ptr<team::Root> root, std::shared_ptr<const team::Group> group);

  private:
    friend struct Binding;
    // For bindings: an operation by its code.
    std::uint64_t run(const team::Call& call, const TeamOptions& options = {}) const;
    Mask run_mask(const team::Call& call, const TeamOptions& options = {}) const;
    void run_gather(team::Type type, std::uint64_t bits, void* values, std::size_t places,
                    const TeamOptions& options = {}) const;
    // For bindings: joins an operation with invalid arguments. The errors of other processes name
    // this process.
    [[noreturn]] void refuse(team::Op op, const std::string& message, bool barrier = true) const;
    template <class T>
    T typed(team::Op op, T value, const TeamOptions& options, int process = 0) const {
        return team::value_of<T>(
            run({op, *team::type_of<T>(), team::bits_of(value), process}, options));
    }
    handle::Shared<team::Root, "Team"> root_;
    handle::Shared<const team::Group, "Team"> group_;
};

}  // namespace hocket
