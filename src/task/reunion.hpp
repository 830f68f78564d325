// SPDX-License-Identifier: BSD-3-Clause
// Jobs that meet again after one of them was lost.
#pragma once

#include <memory>
#include <string>

#include "hocket/task.hpp"

namespace hocket::task {

class Reunion {
  public:
    virtual ~Reunion() = default;
    /// The tasks of both jobs, anew. `why`: the loss. Collective over this process's job.
    /// @throws on every process: PeerLostError if the other job does not come back in time;
    /// DeadlineError.
    virtual std::shared_ptr<Tasks::State> meet_again(const std::string& why,
                                                     const Deadline& deadline) = 0;
};

}  // namespace hocket::task
