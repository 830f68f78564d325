// SPDX-License-Identifier: BSD-3-Clause
#include "hocket/halo.hpp"

#include <numeric>

#include "base/numbering.hpp"
#include "comm/agree.hpp"
#include "comm/deferred_call.hpp"
#include "comm/engine.hpp"
#include "comm/state.hpp"
#include "halo/halo_plan.hpp"
#include "hocket/memory.hpp"
#include "layout/form.hpp"
#include "transfer/executor.hpp"

namespace hocket {
namespace {

// Begins at its first poll; it has taken its position among the collective calls before.
comm::Protocol<> fill_all(Array array, int tag, std::int64_t number,
                          std::shared_ptr<const comm::StartGate> gate,
                          std::shared_ptr<const halo::HaloPlan> plan, std::byte* data) {
    comm::CallSignature mine;
    mine.text = plan->text;
    mine.fault = gate->fault;
    mine.payload = plan->order == Order::row_major ? "C" : "F";
    const Comm& on = array.comm();
    co_await on.state().open();
    comm::Link& link = on.state().link();
    const std::string order = co_await comm::agree(comm::Group::whole(link), tag, std::move(mine));
    std::vector<int> ranks(static_cast<std::size_t>(link.size()));
    std::iota(ranks.begin(), ranks.end(), 0);
    const transport::Route route{&link, ranks, ranks, tag, number};
    transfer::Stopwatch watch(nullptr);
    const Order agreed = order == "C" ? Order::row_major : Order::column_major;
    for (const auto& phase : plan->schedules(agreed))
        co_await transfer::run(phase, data, data, route, watch);
}

comm::Protocol<> open(Comm on) {
    co_await on.state().open();
}

}  // namespace

Halo::Halo(const Array& array, const Shape& width, const std::vector<bool>& periodic, Order order)
    : state_(std::make_shared<State>(State{
          width,
          halo::bordered_shape(array.layout(), array.process(), array.dtype(), width, periodic),
          array})) {
    State& made = *state_;
    const Layout& layout = array.layout();
    const DType& dtype = array.dtype();
    const bool empty = array.process() < 0 || layout.local_elements(array.process()) == 0;
    std::int64_t bytes = dtype.size;
    for (const std::int64_t extent : made.local_shape) bytes *= extent;
    auto memory = allocate(bytes);
    made.work = std::make_shared<const halo::HaloPlan>(
        halo::halo_plan(layout, array.process(), dtype, width, periodic, order));
    made.edges.resize(width.size());
    if (!empty) {
        const auto sets = layout.form().sets(array.process());
        for (std::size_t d = 0; d < made.edges.size(); ++d) {
            if (!periodic.empty() && periodic[d]) continue;
            const std::int64_t last = sets[d].element(sets[d].count() - 1);
            made.edges[d] = {sets[d].element(0) == 0, last == layout.shape()[d] - 1};
        }
    }
    made.data = memory.get();
    const Shape strides = dense_strides(made.local_shape, dtype.size, order);
    std::int64_t inside = 0;
    for (std::size_t d = 0; d < strides.size() && !empty; ++d) inside += width[d] * strides[d];
    made.array = Array::wrap(memory.get() + inside, layout, dtype, array.comm(), strides, memory);
    if (!empty)
        kernel::Copy(array.local_shape(), dtype.size, array.strides(), strides)
            .run(array.data(), made.array.data());
}

Edges Halo::edges(std::size_t dimension) const {
    const auto& edges = state_->edges;
    if (dimension >= edges.size())
        throw Error("the halo has no dimension " + text::number(dimension) + "; it has " +
                    std::to_string(edges.size()));
    return edges[dimension];
}

std::shared_ptr<Operation> Halo::iexchange(bool later) const {
    const comm::EngineLock engine_lock;
    const auto& [width, shape, array, edges, data, work] = *state_;
    // Now, not later: the duplicate is a collective call on the user's communicator.
    const auto opening = std::make_shared<comm::Call>(open(array.comm()), work->text);
    if (!opening->poll()) comm::Engine::instance().add(opening);
    auto gate = std::make_shared<comm::StartGate>();
    comm::State& state = array.comm().state();
    const int tag = state.next_tag();
    auto call = std::make_shared<comm::Call>(
        fill_all(array, tag, state.tags_issued(), gate, work, static_cast<std::byte*>(data)),
        work->text);
    auto operation = std::make_shared<comm::DeferredCall>(std::move(call), std::move(gate));
    if (!later) comm::Engine::instance().add(operation);
    return operation;
}

void Halo::exchange(Deadline deadline) const {
    wait(*iexchange(), deadline);
}

}  // namespace hocket
