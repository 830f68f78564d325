// SPDX-License-Identifier: BSD-3-Clause
#include "comm/requests.hpp"

#include <mpi.h>

#include <utility>

#include "comm/engine.hpp"
#include "comm/mpi/handle.hpp"
#include "comm/vendor.hpp"

namespace hocket::comm {

Requests::Requests() = default;

Requests::Batch& Requests::batch() {
    if (batch_ == nullptr) batch_ = std::make_unique<Batch>();
    return *batch_;
}

Requests::~Requests() {
    // Only after an error are messages left. Their buffers are about to be freed, so an open
    // receive must not write to them.
    if (pending_ == 0) return;
    const EngineLock engine_lock(EngineLock::waiting);  // usually held already, by the thread that
                                                        // polls the failed operation
    cancel_on_endpoints();
    if (batch_ == nullptr || !running()) return;
    for (const auto& link : batch_->links) link->given_up = true;
    for (auto& request : batch_->requests) {
        if (request == MPI_REQUEST_NULL) continue;
        MPI_Cancel(&request);
        MPI_Request_free(&request);
    }
}

void Requests::added() {
    batch_->group.push_back(group_);
    count();
}

std::span<const std::size_t> Requests::newly_done() {
    done_.clear();
    empty_.clear();
    if (pending_ == 0) return done_;
    if (!on_endpoints_.empty()) {
        poll_endpoints();
        if (pending_ == on_endpoints_.size()) return done_;
    }
    auto& [links, requests, group, processes, indices, statuses, seen, texts] = *batch_;
    const int count = vendor::test_some(requests, indices, seen, lengths_ ? &statuses : nullptr);
    for (int i = 0; i < count; ++i) {
        const std::size_t of =
            group[static_cast<std::size_t>(indices[static_cast<std::size_t>(i)])];
        end_of(of);
        if (!lengths_) continue;
        int bytes = 0;
        check(MPI_Get_count(&statuses[static_cast<std::size_t>(i)], MPI_BYTE, &bytes),
              "MPI_Get_count");
        if (bytes == 0) empty_.push_back(of);
    }
    // MPI visits all its arguments, complete ones too: remove them before they are the majority.
    if (pending_ - on_endpoints_.size() <= requests.size() / 2) {
        std::size_t kept = 0;
        for (std::size_t i = 0; i < requests.size(); ++i) {
            if (requests[i] == MPI_REQUEST_NULL) continue;
            requests[kept] = requests[i];
            processes[kept] = processes[i];
            group[kept++] = group[i];
        }
        requests.resize(kept);
        processes.resize(kept);
        seen = kept;
        group.resize(kept);
    }
    if (AwaitedPeers* const needs = AwaitedPeers::collecting())
        for (std::size_t i = 0; i < requests.size(); ++i)
            if (requests[i] != MPI_REQUEST_NULL) needs->add_any({processes[i]});
    return done_;
}

}  // namespace hocket::comm
