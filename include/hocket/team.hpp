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

/// The types of values, as Table 1 of the paper has them.
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

/// All operations that communicate. A broadcast is one, of those that put and those that get.
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
    start  ///< of what cannot be started; only ever refused
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

/// What an operation may be given as a value: bool, integers of 8 to 64 bits, float, double.
template <class T>
concept Value = type_of<T>()
.has_value();

/// A value as the bits that travel; those beyond its size are 0.
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

/// What one process asks for.
struct Call {
    Op op = Op::wait;
    Type type = Type::boolean;
    std::uint64_t bits = 0;  ///< the value
    int process = 0;         ///< putget's source, or whom a vote is for
};

/// The longest value of `Team::reduce`, bytes.
inline constexpr std::size_t longest_value = 56;

class Root;  // what stands behind a team: src/team
struct Group;
class Pending;

}  // namespace team

struct TeamOptions {
    int narrow = 0;     ///< only the low bits of an unsigned value take part, so many; 0: all
    Deadline deadline;  ///< of the wait; the operation itself goes on
};

/// An operation that was started, and its result once it is done.
class TeamResult {
  public:
    explicit TeamResult(std::shared_ptr<team::Pending> pending) : pending_(std::move(pending)) {}
    /// To poll, to wait for, or to give to a flow.
    std::shared_ptr<Operation> operation() const;
    /// Whether it has ended. Never waits.
    bool test() const;
    /// @throws Error before it has ended; what it threw.
    std::uint64_t bits() const;
    template <team::Value T>
    T value() const {
        return team::value_of<T>(bits());
    }

  private:
    std::shared_ptr<team::Pending> pending_;
};

/// Processes that do operations together. They are numbered as in the root team everywhere: in
/// masks, sources, votes and results. Every operation that communicates is a barrier of its team,
/// all of whose processes make the same call. Teams that share two processes or more use their
/// common operations in the same order.
///
/// A copy is another handle on the same team. All that communicate throw MismatchError where
/// processes call different operations, types or teams; Error where one's arguments cannot be (it
/// is named), and where a process has left; DeadlineError; PeerLostError.
class Team {
  public:
    /// The root team: all processes of a communicator. Collective.
    explicit Team(const Comm& comm, const Deadline& deadline = {});

    /// A team of these processes of the root team. No communication. @throws Error unless this
    /// process is one of them, and all exist.
    Team enqueue(const Mask& mask) const;

    int process() const;         ///< my number, as in the root team
    int size() const;            ///< processes in the root team
    const Mask& mask() const;    ///< the processes of this team
    int population() const;      ///< how many they are
    int enumerate() const;       ///< how many of them have lower numbers than mine
    int select_first() const;    ///< the lowest of them
    int select_one() const;      ///< one of them, the same on all
    bool shares_memory() const;  ///< all of them are on one node, and need no messages

    void wait(const TeamOptions& options = {}) const { run({team::Op::wait}, options); }
    /// Who has a true flag.
    Mask waitvec(bool flag, const TeamOptions& options = {}) const {
        return run_mask({team::Op::waitvec, team::Type::boolean, flag ? 1U : 0U}, options);
    }
    bool any(bool flag, const TeamOptions& options = {}) const {
        return run({team::Op::any, team::Type::boolean, flag ? 1U : 0U}, options) != 0;
    }
    bool all(bool flag, const TeamOptions& options = {}) const {
        return run({team::Op::all, team::Type::boolean, flag ? 1U : 0U}, options) != 0;
    }

    /// Puts `value`, gives that of process `source`.
    template <team::Value T>
    T putget(T value, int source, const TeamOptions& options = {}) const {
        return typed(team::Op::putget, value, options, source);
    }
    /// values[p]: that of process p, for the processes of this team; the rest stays as it is.
    /// @throws Error unless there is a place for each process of the root team.
    template <team::Value T>
    void gather(T value, std::span<T> values, const TeamOptions& options = {}) const {
        run_gather(*team::type_of<T>(), team::bits_of(value), values.data(), values.size(),
                   options);
    }
    /// What all that put have put, their bits joined by or; 0 if none did.
    template <team::Value T>
    T bcast_put(T value, const TeamOptions& options = {}) const {
        return typed(team::Op::bcast, value, options);
    }
    template <team::Value T>
    T bcast_get(const TeamOptions& options = {}) const {
        return typed(team::Op::bcast, T{}, options);
    }

    /// Integers wrap; bool adds as or and multiplies as and; NaN wins in min and max. The same bits
    /// everywhere. @throws Error for `and` and `or` of floating-point numbers.
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
    /// Of the processes up to this one, itself included.
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
    /// How many processes have a lower value, or the same one and a lower number. NaN is highest.
    template <team::Value T>
    int rank(T value, const TeamOptions& options = {}) const {
        return static_cast<int>(
            run({team::Op::rank, *team::type_of<T>(), team::bits_of(value)}, options));
    }

    /// How many voted for me; who did. @throws Error for a process that is not of this team.
    int vote_count(int process, const TeamOptions& options = {}) const {
        return static_cast<int>(
            run({team::Op::vote_count, team::Type::int32, 0, process}, options));
    }
    Mask vote(int process, const TeamOptions& options = {}) const {
        return run_mask({team::Op::vote, team::Type::int32, 0, process}, options);
    }
    /// How many have the value that I have, I included; who has.
    template <team::Value T>
    int match_count(T value, const TeamOptions& options = {}) const {
        return static_cast<int>(
            run({team::Op::match_count, *team::type_of<T>(), team::bits_of(value)}, options));
    }
    template <team::Value T>
    Mask match(T value, const TeamOptions& options = {}) const {
        return run_mask({team::Op::match, *team::type_of<T>(), team::bits_of(value)}, options);
    }

    /// The values of all, folded from the lowest process's on: fold(fold(v0, v1), v2) …
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
    /// `values` gets `bytes` bytes of each process of this team, in order.
    /// @throws Error for more than 56 bytes, and none.
    void gather_bytes(const void* value, std::size_t bytes, void* values,
                      const TeamOptions& options = {}) const;

    /// Starts an operation whose result is one value, or none (wait).
    TeamResult start(const team::Call& call, const TeamOptions& options = {}) const;

    /// Leaves the root team and all of its subsets; whoever waits for this process then hears of
    /// it, with the code. Later calls here throw.
    void exit(int code) const;
    /// Prints the message, leaves, and ends the waits of all other processes of the root team.
    void error(const std::string& message) const;
    /// What stands behind a team, as a team.
    Team(std::shared_ptr<team::Root> root, std::shared_ptr<const team::Group> group);

  private:
    friend struct Binding;
    // The operations without their types.
    std::uint64_t run(const team::Call& call, const TeamOptions& options = {}) const;
    Mask run_mask(const team::Call& call, const TeamOptions& options = {}) const;
    void run_gather(team::Type type, std::uint64_t bits, void* values, std::size_t places,
                    const TeamOptions& options = {}) const;
    // Takes part as one whose arguments cannot be; the error names this process elsewhere.
    [[noreturn]] void refuse(team::Op op, const std::string& message) const;
    template <class T>
    T typed(team::Op op, T value, const TeamOptions& options, int process = 0) const {
        return team::value_of<T>(
            run({op, *team::type_of<T>(), team::bits_of(value), process}, options));
    }
    std::shared_ptr<team::Root> root_;
    std::shared_ptr<const team::Group> group_;
};

}  // namespace hocket
