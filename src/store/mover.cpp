// SPDX-License-Identifier: BSD-3-Clause
#include "store/mover.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/pool.hpp"
#include "comm/engine.hpp"
#include "comm/state.hpp"
#include "hocket/memory.hpp"
#include "kernel/convert.hpp"
#include "store/session.hpp"
#include "store/usual_writers.hpp"

namespace hocket::store {
namespace {

constexpr std::int64_t usual_buffer = std::int64_t{256} << 20;
// A box is small enough to be cached when its chunks are encoded, and large enough for all threads.
constexpr std::int64_t usual_box = std::int64_t{16} << 20;
// Less work takes less time than starting a thread.
constexpr std::int64_t worth_a_thread = std::int64_t{1} << 20;
// A thread that uses files itself ends no wait meanwhile: these bytes take a disk tens of
// milliseconds, which nobody notices. A usual box has no more.
constexpr std::int64_t most_in_a_poll = usual_box;

std::int64_t buffer_of(const Move& move) {
    return move.options.max_buffer.value_or(usual_buffer);
}

// Holds two boxes if the buffer is large enough. Converted elements may be larger than stored ones.
std::int64_t box_bytes(const Move& move, const zarr::Metadata& metadata) {
    const std::int64_t buffer = buffer_of(move), chunk = metadata.chunk_bytes();
    if (buffer / 2 < chunk) return buffer;
    const std::int64_t larger =
        std::max<std::int64_t>(1, move.array.dtype().size / metadata.type.size);
    return std::max(chunk, std::min(buffer / 2, usual_box) / larger);
}

std::int64_t writers_of(const Move& move, const zarr::Metadata& metadata) {
    const std::int64_t processes = move.session->comm.size();
    const std::int64_t wanted = move.options.writers;
    if (wanted < 0 || wanted > processes)
        throw Error(std::to_string(wanted) + " processes cannot write: give 1 to " +
                    std::to_string(processes) + ", as many as there are");
    // The library of HDF5 has one writer a file.
    const auto& set = metadata.dataset;
    if (move.writing && set && !(set->placed && set->whole)) return 1;
    if (wanted > 0) return wanted;
    const std::int64_t a_node = move.session->writers_a_node;
    if (!move.writing || a_node == 0) return processes;
    return std::min(processes, a_node * count_nodes(move.session->comm.state().link()));
}

// The stored dimensions that the array's layout distributes come first.
std::vector<std::size_t> order_of(const Move& move) {
    const layout::Form& form = move.array.layout().form();
    std::vector<std::size_t> order, rest;
    for (std::size_t k = 0; k < form.shape.size(); ++k) {
        const std::size_t d =
            move.options.axes.empty() ? k : static_cast<std::size_t>(move.options.axes[k]);
        const bool distributed = form.gridded() && k < form.axes.size() && form.axes[k].grid >= 0;
        (distributed ? order : rest).push_back(d);
    }
    order.insert(order.end(), rest.begin(), rest.end());
    if (!form.gridded()) std::sort(order.begin(), order.end());
    return order;
}

std::vector<int> ranks(std::int64_t count) {
    std::vector<int> out(static_cast<std::size_t>(count));
    std::iota(out.begin(), out.end(), 0);
    return out;
}

}  // namespace

Mover::Mover(Move move, const zarr::Metadata& metadata, const IndexBox& region)
    : move_(std::move(move)),
      metadata_(metadata),
      region_(region),
      processes_(move_.session->comm.size()),
      buffers_(buffer_of(move_) / 2 < metadata.chunk_bytes() ? 1 : 2),
      rounds_(metadata, region, writers_of(move_, metadata), box_bytes(move_, metadata),
              order_of(move_)),
      boxes_(rounds_, move_.array.layout(), move_.options.axes, region,
             {processes_, move_.session->comm.rank(), move_.writing}),
      mine_(boxes_.writer_at(move_.session->comm.rank())),
      array_ranks_(ranks(move_.array.layout().size())),
      file_ranks_(ranks(processes_)),
      itemsize_(move_.array.dtype().size),
      converts_(!move_.writing &&
                move_.array.dtype().name != metadata.described(move_.name).dtype) {}

comm::Protocol<> Mover::run(comm::Link& link, int tag, std::int64_t number) {
    return move_.writing ? write_all(link, tag, number) : read_all(link, tag, number);
}

comm::Protocol<> Mover::write_all(comm::Link& link, int tag, std::int64_t number) {
    comm::When idle([this] { return work_.poll(); });
    Step next = rounds_.count() > 0 ? step_of(0) : Step{};
    for (std::int64_t round = 0; round < rounds_.count(); ++round) {
        const Step step = std::exchange(next, {});
        if (buffers_ == 1) co_await comm::until(idle);
        co_await transfer(step, route(link, tag, number + round));
        co_await comm::until(idle);
        if (round + 1 < rounds_.count()) next = step_of(round + 1);
        use_files(step, round, buffers_ == 2 && has_messages(next));
    }
    co_await comm::until(idle);
}

comm::Protocol<> Mover::read_all(comm::Link& link, int tag, std::int64_t number) {
    comm::When idle([this] { return work_.poll(); });
    Step next = rounds_.count() > 0 ? step_of(0) : Step{};
    if (rounds_.count() > 0) use_files(next, 0, false);
    for (std::int64_t round = 0; round < rounds_.count(); ++round) {
        const Step step = std::exchange(next, {});
        co_await comm::until(idle);
        const bool more = round + 1 < rounds_.count();
        if (more) next = step_of(round + 1);
        if (more && buffers_ == 2) use_files(next, round + 1, has_messages(step));
        co_await transfer(step, route(link, tag, number + round));
        if (more && buffers_ == 1) use_files(next, round + 1, false);
    }
    co_await comm::until(idle);
}

bool Mover::has_messages(const Step& step) {
    return step.plan && !(step.plan->sends.empty() && step.plan->receives.empty());
}

comm::Protocol<> Mover::transfer(const Step& step, transport::Route route) {
    transfer::Stopwatch watch(nullptr);
    void* const array = move_.array.data();
    co_await transfer::run(step.plan, move_.writing ? array : step.data,
                           move_.writing ? step.data : array, std::move(route), watch);
}

transport::Route Mover::route(comm::Link& link, int tag, std::int64_t number) const {
    // Messages take as much as the boxes, and at least their minimum.
    const std::int64_t messages = std::max(buffer_of(move_), std::int64_t{2} << 20);
    transport::Route route{&link, array_ranks_, file_ranks_, tag, number, messages};
    if (!move_.writing) std::swap(route.source, route.destination);
    return route;
}

std::byte* Mover::buffer(std::int64_t round) {
    auto& memory = memory_[static_cast<std::size_t>(round % buffers_)];
    if (!memory) memory = allocate(rounds_.largest() / metadata_.type.size * itemsize_);
    return memory.get();
}

Mover::Step Mover::step_of(std::int64_t round) {
    Step step;
    step.box = boxes_.own(round);
    if (const auto first = boxes_.within_part(step.box); first && !converts_) {
        step.in_place = true;
        step.data = static_cast<std::byte*>(move_.array.data());
        step.strides.resize(first->size());
        for (std::size_t k = 0; k < first->size(); ++k) {
            const std::int64_t stride = move_.array.strides()[k];
            const Shape& axes = move_.options.axes;
            step.data += (*first)[k] * stride;
            step.strides[axes.empty() ? k : static_cast<std::size_t>(axes[k])] = stride;
        }
        plan(step, round);
        // With copies, another process may be the sender.
        if (!move_.writing || step.plan->receives.empty()) return step;
        step.in_place = false;
    }
    step.data = zarr::is_empty(step.box) ? nullptr : buffer(round);
    step.strides = dense_strides(zarr::extents_of(step.box), itemsize_);
    plan(step, round);
    return step;
}

void Mover::plan(Step& step, std::int64_t round) const {
    const Layout files = boxes_.layout(round);
    const transfer::LocalView at_files{mine_ < 0 ? -1 : move_.session->comm.rank(), step.strides,
                                       !step.in_place};
    const transfer::LocalView at_array = transfer::local_view_of(move_.array);
    plan::Options options;
    options.itemsize = itemsize_;
    options.strategy = "direct";
    options.axes = move_.options.axes;
    options.same_ranks = true;
    options.partial = true;  // an earlier check has found no gaps
    const Layout& array = move_.array.layout();
    const Plan plan(move_.writing ? array : files, move_.writing ? files : array,
                    std::move(options));
    auto made = std::make_shared<transfer::Schedule>(transfer::plan_schedule(
        plan, move_.writing ? at_array : at_files, move_.writing ? at_files : at_array));
    if (step.in_place) made->local = transport::Chunks();
    step.plan = std::move(made);
}

void Mover::use_files(const Step& step, std::int64_t round, bool beside_messages) {
    if (mine_ < 0 || fault_) return;
    // Chunks are encoded and decoded as wholes; files that get a part are copied as wholes.
    const bool copies = move_.writing && region_ != zarr::whole_of(metadata_.shape);
    const Shape& unit = copies ? metadata_.file : metadata_.chunk;
    const IndexBox units = zarr::tiles_of(step.box, unit);
    const std::int64_t bytes = zarr::is_empty(step.box)
                                   ? 0
                                   : zarr::product_of(zarr::extents_of(units)) *
                                         zarr::product_of(unit) * metadata_.type.size;
    // A second thread would share the core with this one, which polls.
    const bool apart =
        beside_messages || bytes > most_in_a_poll || !comm::Engine::instance().only_awaited();
    work_.start(
        [this, step, round] {
            fault_ = fault_of([&] { move_.writing ? put(step, round) : get(step, round); });
            if (fault_) writer_.reset();
        },
        apart && bytes >= worth_a_thread);
}

// Only a file of Zarr needs more than one box at a time: it is encoded as a whole.
bool Mover::by_boxes() const {
    return rounds_.parts() == 1 || metadata_.one_file || metadata_.dataset;
}

void Mover::get(const Step& step, std::int64_t round) {
    if (!converts_) return read(step, round, {step.data, step.strides});
    const Shape extents = zarr::extents_of(step.box);
    const std::int64_t count = zarr::product_of(extents), size = metadata_.type.size;
    if (!stored_) stored_ = allocate(rounds_.largest());
    read(step, round, {stored_.get(), dense_strides(extents, size)});
    constexpr std::int64_t block = std::int64_t{1} << 16;  // elements
    const std::string from = metadata_.described(move_.name).dtype;
    base::parallel_for(
        base::default_threads(), (count + block - 1) / block, [&](std::int64_t number) {
            const std::int64_t first = number * block;
            kernel::convert(from, stored_.get() + first * size, move_.array.dtype().name,
                            step.data + first * itemsize_, std::min(block, count - first));
        });
}

void Mover::read(const Step& step, std::int64_t round, const zarr::Memory& to) {
    const zarr::Folder& folder = move_.session->tree->folder();
    if (by_boxes()) return zarr::read_box(folder, move_.name, metadata_, step.box, to);
    if (!rounds_.takes(mine_, round) || zarr::is_empty(step.box)) return;
    const Shape file = rounds_.file(mine_, round);
    if (!reader_ || reader_->file_index() != file)
        reader_.emplace(folder, move_.name, metadata_, file);
    reader_->get(step.box, to, base::default_threads());
}

void Mover::put(const Step& step, std::int64_t round) {
    const zarr::Folder& folder = move_.session->tree->folder();
    const zarr::Memory memory{step.data, step.strides};
    const bool sync = move_.session->saving || move_.appending;
    if (by_boxes())
        return zarr::write_box(folder, move_.name, metadata_, region_, step.box, memory, sync);
    if (round % rounds_.parts() == 0) {
        if (!rounds_.takes(mine_, round)) return;
        writer_.emplace(folder, move_.name, metadata_, rounds_.file(mine_, round), region_);
    }
    if (!writer_) return;
    if (!zarr::is_empty(step.box)) writer_->put(step.box, memory);
    if (round % rounds_.parts() != rounds_.parts() - 1) return;
    writer_->finish(sync);
    writer_.reset();
}

}  // namespace hocket::store
