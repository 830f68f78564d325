// SPDX-License-Identifier: BSD-3-Clause
// The contiguous runs of a copy, for callers that move them by other means than loads and stores.
#pragma once

#include <cstdint>
#include <vector>

#include "hocket/kernel.hpp"

namespace hocket::kernel {

class RunsOf {
  public:
    explicit RunsOf(const Copy& copy) : copy_(&copy) {}

    std::int64_t count() const {
        std::int64_t runs = copy_->bytes_ > 0 ? 1 : 0;
        for (const auto& loop : copy_->loops_) runs *= loop.extent;
        return runs;
    }
    std::int64_t bytes() const { return copy_->run_; }  ///< of each
    /// The position of the first run on both sides, and the loops over the runs, outermost first.
    std::int64_t source_first() const { return copy_->source_first_; }
    std::int64_t destination_first() const { return copy_->destination_first_; }
    const std::vector<Loop>& loops() const { return copy_->loops_; }
    /// Calls function(source offset, destination offset, bytes) for each run.
    template <class Function>
    void each(Function&& function) const {
        const auto& loops = copy_->loops_;
        std::vector<std::int64_t> at(loops.size(), 0);
        std::int64_t source = copy_->source_first_, destination = copy_->destination_first_;
        for (std::int64_t left = count(); left > 0; --left) {
            function(source, destination, copy_->run_);
            for (std::size_t d = loops.size(); d-- > 0;) {
                source += loops[d].source;
                destination += loops[d].destination;
                if (++at[d] < loops[d].extent) break;
                source -= loops[d].source * loops[d].extent;
                destination -= loops[d].destination * loops[d].extent;
                at[d] = 0;
            }
        }
    }

  private:
    const Copy* copy_;
};

}  // namespace hocket::kernel
