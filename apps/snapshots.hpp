// SPDX-License-Identifier: BSD-3-Clause
// Snapshots of one block of a solver: a store with an array for each of some steps. A later run
// continues from the last one, on any number of processes.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "hocket/flow.hpp"
#include "hocket/store.hpp"

namespace apps {

class Snapshots {
  public:
    /// None, if `folder` is "". Collective over `comm`.
    Snapshots(const std::string& folder, std::size_t block, std::int64_t every,
              const hocket::Comm& comm);

    /// Whether the solution after this step is stored.
    bool wants(std::int64_t step) const { return store_ && every_ > 0 && step % every_ == 0; }
    /// Makes the arrays for the steps after `first` up to `last`.
    void prepare(std::int64_t first, std::int64_t last, const hocket::Layout& layout);
    /// Inserts a step into the flow that writes the solution.
    void write(hocket::Flow& flow, std::int64_t step, const hocket::Array& solution);
    /// The snapshots up to this step are complete.
    void complete(std::int64_t step);
    void close();

  private:
    std::shared_ptr<hocket::Store> store_;
    std::int64_t every_ = 0, last_ = 0;
};

/// The last step of which the snapshots of all blocks are complete. A killed run may have completed
/// later ones of some blocks.
std::int64_t last_step(const std::string& folder, std::size_t blocks);
/// Reads the snapshot of a block into `solution`.
void restore(const std::string& folder, std::size_t block, std::int64_t step,
             const hocket::Array& solution);

}  // namespace apps
