// SPDX-License-Identifier: BSD-3-Clause
// An open store as one process sees it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "comm/agree.hpp"
#include "comm/call.hpp"
#include "hocket/store.hpp"
#include "store/lock.hpp"
#include "zarr/tree.hpp"

namespace hocket::store {

struct Session {
    Comm comm;
    std::string path, mode;
    std::shared_ptr<zarr::Tree> tree;
    std::shared_ptr<Lock> lock;  // on process 0, while it may be written
    bool marked = false;         // on all: somebody has begun to write
    bool closed = false;
    /// Of a checkpoint: files are put on the disk as they are written, and nothing is marked, as
    /// nobody else looks there.
    bool saving = false;

    bool writes() const { return mode != "r"; }
    bool first() const { return comm.rank() == 0; }
};

/// What is wrong on this process, if `check` throws.
comm::Fault fault_of(const std::function<void()>& check);

/// A collective call: takes its place now, and is polled by the engine from now on.
std::shared_ptr<Operation> begin(const std::string& text, comm::Protocol<> protocol);

/// Something that process 0 does, and that fails on all or on none. `text`: the call, equal on all.
/// `check` runs on every process before, `act` on process 0 after; it gives what all are told.
std::string on_first(const Comm& comm, const std::string& text, const std::function<void()>& check,
                     const std::function<std::string()>& act, Deadline deadline);

/// @throws Error for a store that was closed, or that is only read.
void require_open(const Session& session);
void require_writable(const Session& session);

}  // namespace hocket::store
