// SPDX-License-Identifier: BSD-3-Clause
// A way to hand messages to other processes: the interface between the executor and the transports.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "transport/message.hpp"
#include "transport/route.hpp"

namespace hocket::transport {

/// One run of a schedule: its memory, and the progress that executor and transports share.
struct ScheduleRun {
    const std::byte* source = nullptr;
    std::byte* destination = nullptr;
    std::byte* scratch = nullptr;  // the memory of all messages, if not source and destination
    bool refusing = false;         // this process sends no elements of its own, and takes none
    std::uint64_t local_done = 0;  // chunks of local elements
    bool interleaves = false;      // a transport copies local elements together with messages
    /// Receives that completed, and those that arrived without elements, since the executor last
    /// looked. It notes the completed ones only with scratch memory.
    std::vector<std::size_t> received, refused;

    const std::byte* sent_from() const { return scratch != nullptr ? scratch : source; }
    std::byte* received_into() const { return scratch != nullptr ? scratch : destination; }
    /// Whether messages travel without elements. A process that forwards others' elements does so.
    bool withholds() const { return refusing && scratch == nullptr; }
};

/// Carries some messages of a schedule, of one direction or of both. No function of it waits.
class Transport {
  public:
    virtual ~Transport() = default;

    /// Prepares many runs, so that each starts faster; `connected`, when polled, says whether both
    /// ends have done so. @throws Error
    virtual void connect() = 0;
    virtual bool connected() = 0;
    /// Whether only flags and payloads in shared memory serve each run: then `finished` changes
    /// only if `poll` makes progress.
    virtual bool short_only() const { return false; }
    /// Sets messages of the same peers and sizes, for arrays with other strides; between two runs.
    virtual void rebind(const Schedule& schedule) = 0;

    /// Begins a run, and opens all receives; only after the run before is finished. `run` must live
    /// until then.
    virtual void begin(ScheduleRun& run) = 0;
    /// Gives it those of the messages to send that have a number below `end`, in their order.
    virtual void send(std::size_t end) = 0;
    /// Starts the next piece that this process has to pack or send alone. Returns the bytes that it
    /// packed; nothing if there is no piece now.
    virtual std::optional<std::int64_t> start_next() { return std::nullopt; }
    /// Progresses all messages; true if any has progressed.
    /// @throws Error of either end, on both.
    virtual bool poll() = 0;
    /// Whether all receives, and all sends that it was given, are complete.
    virtual bool finished() = 0;
    /// Gives up the run, and sends the reason to other ends that would wait. Touches no memory of
    /// the run afterwards.
    virtual void abort(const std::string& why) = 0;
};

/// The transports that these messages need. `route` must live as long as they; `messages` until the
/// next `rebind`. `most`: bytes of buffers in each direction; one is always possible.
std::vector<std::unique_ptr<Transport>> transports_for(const Schedule& schedule, const Route& route,
                                                       std::int64_t most);

}  // namespace hocket::transport
