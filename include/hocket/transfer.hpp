// SPDX-License-Identifier: BSD-3-Clause
// Transfers: arrays move between layouts over the processes of one communicator.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hocket/array.hpp"
#include "hocket/operation.hpp"
#include "hocket/plan.hpp"

namespace hocket {

/// The seconds that this process has spent in the six steps of its transfers (Foster et al.,
/// "Double Standards", section 4).
struct Profile {
    double inquiry = 0;     ///< learning the layouts
    double call = 0;        ///< the language binding, and staging of memory that peers cannot read
    double descriptor = 0;  ///< exchanging and comparing descriptors, and waiting for them
    double schedule = 0;    ///< computing this process's part, or finding it in the cache
    double pack = 0;        ///< copying into message buffers, and copying elements that stay on the
                            ///< process
    double move = 0;        ///< messages under way, and unpacking them

    Profile& operator+=(const Profile& other);
};

struct RedistributeOptions {
    std::vector<std::int64_t> axes = {};  ///< the result is transpose(source, axes); empty: none
    std::string strategy = "auto";
    Deadline deadline = {};
    std::shared_ptr<Profile> profile = {};  ///< adds the seconds of this call
    /// The most bytes of buffers beside the arrays: 2 MiB or more. None: HOCKET_MAX_BUFFER, else
    /// 256 MiB. Processes may have different limits.
    std::optional<std::int64_t> max_buffer = {};
    /// For scatter and gather: the strides of the whole array in bytes. Empty: dense and row-major.
    Shape whole_strides = {};
    /// For redistribute and iredistribute: converts numbers if the arrays have different types, as
    /// astype does. Of the two types, the one with fewer bytes travels. The copy of the local
    /// elements in the type that travels is not among the buffers of `max_buffer`.
    bool convert = false;
};

/// Copies `source` into `destination`, which has its own layout. Collective over the communicator
/// of both arrays. Process r of either layout is rank r.
/// @throws MismatchError on every process if the calls differ between processes, or if the arrays
///         differ in shape, or in dtype without `convert`; no element has moved then.
/// @throws DeadlineError
void redistribute(const Array& source, const Array& destination,
                  const RedistributeOptions& options = {});

/// Starts a redistribution. It progresses in every wait, and a communication step of a flow may
/// return it. Until it completes, the program must not change the source nor touch the destination;
/// the operation keeps both alive. Collective, in the order of the calls. Ignores the deadline of
/// `options`.
std::shared_ptr<Operation> iredistribute(
    const Array& source, const Array& destination,
    const RedistributeOptions& options = default_options<RedistributeOptions>);

/// A plan that is ready to run, again and again, with any arrays of its two layouts: CDT's init,
/// exec and free (Foster, Kohr, Krishnaiyer and Choudhary, "A Data Transfer Library for
/// Communicating Data-Parallel Tasks", section 2.1) within one program, like MPI's persistent
/// collectives (MPI 4.1, section 6.13). Several transfers may be under way at once. Transfer is a
/// handle: copies name the same transfer.
class Transfer {
  public:
    /// Agrees on the layouts, makes the plan and connects the processes. Collective over `comm`;
    /// process r of either layout is rank r. Without a `dtype`, all processes agree on the type of
    /// the first start's arrays; later starts need no agreement.
    /// @throws LayoutError, MismatchError or Error on every process if any process has wrong
    ///         arguments; DeadlineError.
    Transfer(const Layout& source, const Layout& destination, const std::optional<DType>& dtype,
             const Comm& comm, const RedistributeOptions& options = {});

    /// Starts to copy `source` into `destination`, which may be other arrays each time. Every
    /// process must start the transfer, in the same order. Until it completes, the program must not
    /// change the source nor touch the destination; the transfer keeps both alive.
    /// @throws MismatchError for an array of another layout, type or communicator; Error for a
    ///         destination that is read-only, overlaps itself or shares memory with the source. The
    ///         receivers of this process get this error in place of elements, and their wait throws
    ///         it. All other processes finish, and the program can start the transfer again.
    /// @throws Error for a transfer that was freed or is under way; nothing starts then.
    void start(const Array& source, const Array& destination);
    /// Replaces a start that this process cannot make because it has no arrays: throws the error
    /// here, and in the wait of its receivers. `kind` is the class of the error, as for
    /// Binding::refuse.
    [[noreturn]] void refuse(const std::string& kind, const std::string& message);
    /// Waits until the program may use the arrays again on this process. @throws DeadlineError,
    /// which ends the wait, not the transfer; the error of a process whose start was refused; Error
    /// if the transfer was never started.
    void wait(Deadline deadline = {});
    /// Whether the program may use the arrays again, without a wait. @throws as wait does.
    bool test();
    /// `start` and `wait`.
    void operator()(const Array& source, const Array& destination, Deadline deadline = {});
    /// Frees the plan and its buffers. Local. @throws Error while the transfer is under way, and
    /// the second time.
    void free();

    /// The last start as an operation, for a step of a flow. @throws Error if there is none.
    std::shared_ptr<Operation> operation() const;
    /// A start that begins at its first poll, for Flow::transfer. If it is dropped before, it
    /// counts as refused.
    std::shared_ptr<Operation> start_later(const Array& source, const Array& destination) const;
    /// An address that all copies of this transfer share, and no other transfer has: for Region.
    const void* identity() const { return &*state_; }

    class State;

  private:
    handle::Shared<State, "Transfer"> state_;
};

/// Copies the whole array from process `root` (scatter) or to it (gather). Only the root reads or
/// writes `whole`, which may be nullptr elsewhere. Collective. After a deadline the operation goes
/// on: it holds `keep` until it completes; without `keep`, `whole` must live as long.
void scatter(const void* whole, const Array& destination, int root = 0,
             const RedistributeOptions& options = {}, std::shared_ptr<const void> keep = {});
void gather(const Array& source, void* whole, int root = 0, const RedistributeOptions& options = {},
            std::shared_ptr<const void> keep = {});

/// The text of process `root`, on every process. Collective. @throws Error on every process if
/// there is no such process, or if any process refuses the call.
std::string tell(const Comm& comm, const std::string& text, int root, Deadline deadline = {});

/// The layout of which each process gives its own part: a box of indices (Layout::boxes), or a list
/// of row-major element numbers in the order of its local array (Layout::elements). Collective;
/// rank r is process r, and every process gets all parts. Empty `shape`: the smallest shape that
/// holds all parts; of one dimension for lists.
/// @throws LayoutError on every process, for parts that Layout::boxes or Layout::elements refuse,
///         and for shapes or parts that contradict each other; DeadlineError.
Layout layout_from_local(const Comm& comm, const IndexBox& part, const Shape& shape = {},
                         Deadline deadline = {});
Layout layout_from_local(const Comm& comm, std::span<const std::int64_t> elements,
                         const Shape& shape = {}, Deadline deadline = {});

/// The numbers of plans found in the cache of plans, and made.
struct PlanCacheCounts {
    std::int64_t found, made, kept;
};
PlanCacheCounts plan_cache_counts();

/// The numbers of messages with data that this process has started to send and to receive so far,
/// over MPI or shared memory: those of the plans' steps. Elements that stay on their process are no
/// message.
struct TransferCounts {
    std::int64_t sent, received;
};
TransferCounts transfer_counts();

}  // namespace hocket
