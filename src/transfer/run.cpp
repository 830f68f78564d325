// SPDX-License-Identifier: BSD-3-Clause
#include "transfer/run.hpp"

#include "base/port.hpp"
#include "base/trace.hpp"
#include "hocket/memory.hpp"

namespace hocket::transfer {
namespace {

/// Adds the time from its making, or the last lap, to one of the profile's steps.
class Stopwatch {
  public:
    void lap(double& seconds, const char* name) {
        const double now = port::seconds();
        seconds += now - last_;
        trace::record(name, last_, now);
        last_ = now;
    }

  private:
    double last_ = port::seconds();
};

std::byte* at(void* base, std::int64_t offset) {
    return static_cast<std::byte*>(base) + offset;
}
const std::byte* at(const void* base, std::int64_t offset) {
    return static_cast<const std::byte*>(base) + offset;
}

}  // namespace

comm::Protocol<> run(std::shared_ptr<const Work> work, const void* source, void* destination,
                     comm::Link& link, int tag, std::shared_ptr<const Maps> maps,
                     std::shared_ptr<Profile> profile) {
    Profile unused;
    Profile& times = profile != nullptr ? *profile : unused;
    Stopwatch watch;
    const auto send_buffer = work->send_buffer > 0 ? allocate(work->send_buffer) : nullptr;
    const auto receive_buffer = work->receive_buffer > 0 ? allocate(work->receive_buffer) : nullptr;

    comm::Requests receives, sends;
    for (std::size_t i = 0; i < work->receives.size(); ++i) {
        const auto& message = work->receives[i];
        receives.begin_group(i);
        std::byte* to = message.in_place ? at(destination, message.pieces[0].array_offset)
                                         : receive_buffer.get() + message.buffer_offset;
        link.receive(receives, to, message.bytes,
                     maps->source[static_cast<std::size_t>(message.peer)], tag);
    }
    const auto unpack_what_came = [&] {
        const auto come = receives.newly_done();
        for (const auto i : come) {
            const auto& message = work->receives[i];
            if (message.in_place) continue;
            for (const auto& piece : message.pieces)
                piece.copy.run(receive_buffer.get() + piece.buffer_offset,
                               at(destination, piece.array_offset));
        }
        return !come.empty();
    };
    watch.lap(times.move, "post receives");

    for (const auto& message : work->sends) {
        const void* from = send_buffer.get() + message.buffer_offset;
        if (message.in_place) {
            from = at(source, message.pieces[0].array_offset);
        } else {
            for (const auto& piece : message.pieces)
                piece.copy.run(at(source, piece.array_offset),
                               send_buffer.get() + piece.buffer_offset);
            watch.lap(times.pack, "pack");
        }
        link.send(sends, from, message.bytes,
                  maps->destination[static_cast<std::size_t>(message.peer)], tag);
        unpack_what_came();
        watch.lap(times.move, "send");
    }
    for (const auto& local : work->copies) {
        local.copy.run(at(source, local.source_offset), at(destination, local.destination_offset));
        watch.lap(times.pack, "copy what stays");
        unpack_what_came();
        sends.newly_done();
        watch.lap(times.move, "unpack");
    }
    while (!receives.all_done()) {
        comm::When something([&] { return unpack_what_came() || receives.all_done(); });
        co_await comm::until(something);
    }
    co_await comm::until(sends);
    watch.lap(times.move, "move");
}

}  // namespace hocket::transfer
