// SPDX-License-Identifier: BSD-3-Clause
// An open store as one process sees it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "comm/agree.hpp"
#include "comm/call.hpp"
#include "hocket/store.hpp"
#include "store/lock.hpp"
#include "store/mark.hpp"
#include "zarr/tree.hpp"

namespace hocket::store {

struct Session {
    Comm comm;
    std::string path, mode;
    std::shared_ptr<zarr::Tree> tree;
    std::shared_ptr<Lock> lock;  // on process 0, while the store may be written
    bool closed = false;
    /// For a checkpoint: files are synchronised to the disk when written, and nothing is marked,
    /// because no other job reads there.
    bool saving = false;
    /// On process 0 of a save, until its checkpoint is in its place: the path, and the old one.
    std::shared_ptr<Lock> path_lock = {}, old_lock = {};
    std::int64_t writers_a_node = 0;                      // as process 0 has it; 0: not measured
    std::vector<std::weak_ptr<comm::Call>> started = {};  // reads and writes, in their order
    Mark mark = {};
    std::set<std::string> steps = {};  // names that steps of flows write or read

    bool writes() const { return mode != "r"; }
    bool first() const { return comm.rank() == 0; }
};

/// The fault of this process, if `check` throws.
comm::Fault fault_of(const std::function<void()>& check);

/// Begins a collective call: takes its position now; the engine polls it.
std::shared_ptr<Operation> begin(const std::string& text, comm::Protocol<> protocol);

/// Runs an action on process 0 that fails on all processes or on none. `text`: the call, equal on
/// all. `check` runs on every process before, `act` on process 0 after; all get the text that it
/// returns.
std::string on_first(const Comm& comm, const std::string& text, const std::function<void()>& check,
                     const std::function<std::string()>& act, Deadline deadline);

/// @throws Error for a store that was closed, or is read-only.
void require_open(const Session& session);
void require_writable(const Session& session);

}  // namespace hocket::store
