// SPDX-License-Identifier: BSD-3-Clause
// MPI's messages keep what links promise.
#include <gtest/gtest.h>

#include "comm/state.hpp"
#include "hocket/comm.hpp"
#include "unit/comm/conformance.hpp"

namespace hocket::comm::testing {
namespace {

/// A process and itself, by MPI.
struct ByMpi {
    ByMpi() {
        State& state = Comm::self().state();
        finish(state.open());
        link_ = finish(state.new_link());
        link_->set_nodes(nullptr);  // texts go by MPI, too
    }
    Link& a() { return *link_; }
    Link& b() { return *link_; }
    static int rank_of_a() { return 0; }
    static int rank_of_b() { return 0; }
    OwnedLink link_;
};

struct ByQueue : ByMpi {
    ByQueue() { link_->queue_texts(); }
};

INSTANTIATE_TYPED_TEST_SUITE_P(Mpi, LinkConformance, ::testing::Types<ByMpi>);
INSTANTIATE_TYPED_TEST_SUITE_P(Queue, LinkConformance, ::testing::Types<ByQueue>);

}  // namespace
}  // namespace hocket::comm::testing
