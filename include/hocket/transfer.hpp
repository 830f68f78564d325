// SPDX-License-Identifier: BSD-3-Clause
// Arrays moving between layouts over the processes of one communicator.
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

/// Seconds that this process spent in the six steps of a transfer (Foster et al., "Double
/// Standards", section 4).
struct Profile {
    double inquiry = 0;     ///< learning the layouts
    double call = 0;        ///< crossing the language binding, staging foreign memory
    double descriptor = 0;  ///< exchanging and comparing descriptors, with the waiting in it
    double schedule = 0;    ///< computing this process's part, or finding it in the cache
    double pack = 0;        ///< copying into message buffers, and what stays on the process
    double move = 0;        ///< messages under way, and unpacking them

    Profile& operator+=(const Profile& other);
};

struct RedistributeOptions {
    std::vector<std::int64_t> axes;  ///< the result is transpose(source, axes); empty: none
    std::string strategy = "auto";
    Deadline deadline;
    std::shared_ptr<Profile> profile;  ///< gets this call's seconds added
    /// Bytes that this process may spend on buffers beside the arrays: 2 MiB or more. None:
    /// HOCKET_MAX_BUFFER, else 256 MiB. The processes need not say the same.
    std::optional<std::int64_t> max_buffer;
    /// Of scatter and gather: where the elements of the whole array lie, in bytes; empty: dense and
    /// row-major.
    Shape whole_strides;
};

/// Copies `source` into `destination`, which has a layout of its own. Collective over the
/// communicator that both name. Process r of either layout is rank r.
/// @throws MismatchError on every process if the calls differ between processes, or for arrays that
///         do not fit each other (shape, dtype); nothing has moved then.
/// @throws DeadlineError
void redistribute(const Array& source, const Array& destination,
                  const RedistributeOptions& options = {});

/// The same, started: it goes on in every wait, and a flow's step that communicates may return it.
/// Until it is done the source must not change and the destination must not be touched; both are
/// kept alive. Collective, in the order of the calls. The options' deadline does not count.
std::shared_ptr<Operation> iredistribute(const Array& source, const Array& destination,
                                         const RedistributeOptions& options = {});

/// A plan ready to run, again and again, with any arrays of its two layouts: CDT's init, exec and
/// free (Foster, Kohr, Krishnaiyer and Choudhary, "A Data Transfer Library for Communicating
/// Data-Parallel Tasks", section 2.1) within one program, as MPI's persistent collectives are (MPI
/// 4.1, section 6.13). Several may be under way at once. A handle: copies name the same transfer.
class Transfer {
  public:
    /// Agrees on the layouts, makes the plan and connects the processes. Collective over `comm`;
    /// process r of either layout is rank r. Without a `dtype` the arrays of the first start settle
    /// it, by an agreement of all processes; from then on no start takes one.
    /// @throws LayoutError, MismatchError, Error on every process, whichever of them has wrong
    /// arguments; DeadlineError.
    Transfer(const Layout& source, const Layout& destination, const std::optional<DType>& dtype,
             const Comm& comm, const RedistributeOptions& options = {});

    /// Starts to copy `source` into `destination`, which may be other arrays each time; every
    /// process must start the transfer, in the same order. Until it is done the source must not
    /// change and the destination must not be touched; both are kept alive.
    /// @throws MismatchError for an array of another layout, type or communicator; Error for a
    /// destination that may not be written, overlaps itself or shares memory with the source. The
    /// processes that receive from this one learn that instead of elements: their wait raises it.
    /// All others finish, and the transfer can be started again.
    /// @throws Error if it was freed or is under way; nothing is started then.
    void start(const Array& source, const Array& destination);
    /// Takes the place of a start that this process cannot make, since it has no arrays to name:
    /// throws the error, and processes that receive from this one learn it. `kind`: the error's
    /// class, as for hocket::refuse.
    [[noreturn]] void refuse(const std::string& kind, const std::string& message);
    /// Until the arrays may be used again on this process. @throws DeadlineError, which ends the
    /// wait, not the transfer; what another process's start was refused with; Error if it was never
    /// started.
    void wait(Deadline deadline = {});
    /// Whether they may be, without waiting. @throws as wait does.
    bool test();
    /// `start` and `wait`.
    void operator()(const Array& source, const Array& destination, Deadline deadline = {}) {
        start(source, destination);
        wait(deadline);
    }
    /// Lets go of the plan and its buffers. Local. @throws Error while it is under way, and the
    /// second time.
    void free();

    /// The last start as an operation, which a flow's step may return. @throws Error if there is
    /// none.
    std::shared_ptr<Operation> operation() const;
    /// A start that begins when it is first polled, as a flow does when the step's turn has come
    /// (Flow::transfer). Dropped before, it is refused.
    std::shared_ptr<Operation> start_later(const Array& source, const Array& destination) const;
    /// The same for every copy, and for no other transfer: an address, for Region.
    const void* identity() const { return state_.get(); }

    class State;

  private:
    std::shared_ptr<State> state_;
};

/// The whole array on process `root`: `whole` is read or written there only, and may be
/// nullptr elsewhere. Collective. Where a deadline ends the wait the operation goes on: `keep` is
/// held until it is done, and without it `whole` must live as long.
void scatter(const void* whole, const Array& destination, int root = 0,
             const RedistributeOptions& options = {}, std::shared_ptr<const void> keep = {});
void gather(const Array& source, void* whole, int root = 0, const RedistributeOptions& options = {},
            std::shared_ptr<const void> keep = {});

/// Process `root`'s text, on every process. Collective. @throws on every process Error if there is
/// no such process, and what any of them refuses.
std::string tell(const Comm& comm, const std::string& text, int root, Deadline deadline = {});

/// The layout of each process's own part: a box of indices each (Layout::boxes), or a list of
/// row-major element numbers in the order of its local array (Layout::elements). Collective; rank r
/// is process r, and every process learns every part. `shape`: empty: the least that holds all
/// parts, of one dimension for lists.
/// @throws LayoutError on every process, for parts that Layout::boxes or elements refuse, and where
///         processes give parts or shapes that do not fit each other; DeadlineError.
Layout layout_from_local(const Comm& comm, const IndexBox& part, const Shape& shape = {},
                         Deadline deadline = {});
Layout layout_from_local(const Comm& comm, std::span<const std::int64_t> elements,
                         const Shape& shape = {}, Deadline deadline = {});

/// How often a plan was found in the cache of plans, and how often it had to be made.
struct PlanCacheCounts {
    std::int64_t found, made, kept;
};
PlanCacheCounts plan_cache_counts();

/// The short messages that this process has sent and received so far to agree on calls: statements,
/// envelopes, answers and outcomes, but no data. In a send or a receive of a task of S processes to
/// or from one of R, none sends or receives more than 1 + ceil(max(log2 S, log2 R)). Up to
/// 16 processes of a task that share memory need none among themselves.
struct DescriptorCounts {
    std::int64_t sent, received;
};
DescriptorCounts descriptor_counts();

/// The messages with data that this process has started to send and to receive so far, by MPI or
/// over shared memory: those of the plans' steps. What stays on its process is none.
struct TransferCounts {
    std::int64_t sent, received;
};
TransferCounts transfer_counts();

}  // namespace hocket
