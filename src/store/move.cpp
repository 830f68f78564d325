// SPDX-License-Identifier: BSD-3-Clause
// Arrays to files and back, in rounds: a transfer between the array's layout and that of the boxes
// which writers (or readers) have in this round, before or after their files.
#include "store/move.hpp"

#include <algorithm>
#include <numeric>
#include <optional>

#include "base/text.hpp"
#include "comm/deferred_call.hpp"
#include "comm/engine.hpp"
#include "comm/state.hpp"
#include "hocket/memory.hpp"
#include "store/rounds.hpp"
#include "store/session.hpp"
#include "transfer/executor.hpp"
#include "zarr/chunks.hpp"

namespace hocket::store {
namespace {

constexpr std::int64_t usual_buffer = std::int64_t{256} << 20;

std::vector<int> ranks(std::int64_t count) {
    std::vector<int> out(static_cast<std::size_t>(count));
    std::iota(out.begin(), out.end(), 0);
    return out;
}

// One call on this process.
class Mover {
  public:
    Mover(Move move, const zarr::Metadata& metadata, const IndexBox& region)
        : move_(std::move(move)),
          metadata_(metadata),
          region_(region),
          rounds_(metadata, region, wanted_writers(), buffer()) {
        const std::int64_t processes = move_.session->comm.size();
        for (std::int64_t w = 0; w < rounds_.writers(); ++w) {
            writers_.push_back(static_cast<int>(w * processes / rounds_.writers()));
            if (writers_.back() == move_.session->comm.rank()) mine_ = w;
        }
        if (mine_ >= 0) memory_ = allocate(rounds_.largest());
    }

    const Rounds& rounds() const { return rounds_; }
    const comm::Fault& fault() const { return fault_; }

    /// Of this round; made on every process alike.
    transfer::Route route(comm::Link& link, int tag, std::int64_t number) const {
        // Messages take as much as the boxes do, and what they need at least.
        const std::int64_t messages = std::max(buffer(), std::int64_t{2} << 20);
        transfer::Route route{&link,   ranks(move_.array.layout().size()), writers_, tag, number,
                              messages};
        if (!move_.writing) std::swap(route.source, route.destination);
        return route;
    }
    std::shared_ptr<const transfer::Schedule> work(std::int64_t round) {
        std::vector<IndexBox> boxes;
        for (std::int64_t w = 0; w < rounds_.writers(); ++w)
            boxes.push_back(zarr::relative(rounds_.box(w, round), region_.start));
        box_ = mine_ < 0 ? IndexBox{} : rounds_.box(mine_, round);
        const Layout files = Layout::boxes(zarr::extents_of(region_), boxes);
        const Shape strides = dense_strides(zarr::extents_of(box_), metadata_.type.size);
        const transfer::LocalView at_files{mine_, strides, true};
        const transfer::LocalView at_array = transfer::local_view_of(move_.array);
        plan::Options options;
        options.itemsize = metadata_.type.size;
        options.strategy = "direct";
        options.axes = move_.options.axes;
        options.partial = !move_.writing;
        const std::int64_t processes = move_.array.layout().size();
        if (move_.writing) {
            for (const int rank : writers_) options.overlap.push_back(rank < processes ? rank : -1);
        } else {
            options.overlap.assign(static_cast<std::size_t>(processes), -1);
            for (std::size_t w = 0; w < writers_.size(); ++w)
                if (writers_[w] < processes)
                    options.overlap[static_cast<std::size_t>(writers_[w])] =
                        static_cast<std::int64_t>(w);
        }
        const Plan plan(move_.writing ? move_.array.layout() : files,
                        move_.writing ? files : move_.array.layout(), std::move(options));
        return std::make_shared<const transfer::Schedule>(transfer::plan_schedule(
            plan, move_.writing ? at_array : at_files, move_.writing ? at_files : at_array));
    }
    std::byte* buffer_data() const { return memory_.get(); }

    /// Nothing is thrown: whatever goes wrong here, the transfers go on, and all hear of it at
    /// their end.
    void use_files(std::int64_t round) {
        if (mine_ < 0 || fault_) return;
        fault_ = fault_of([&] { move_.writing ? put(round) : get(); });
        if (fault_) writer_.reset();
    }

  private:
    std::int64_t buffer() const { return move_.options.max_buffer.value_or(usual_buffer); }
    std::int64_t wanted_writers() const {
        const std::int64_t processes = move_.session->comm.size();
        const std::int64_t wanted = move_.options.writers;
        if (wanted < 0 || wanted > processes)
            throw Error(std::to_string(wanted) + " processes cannot write: give 1 to " +
                        std::to_string(processes) + ", as many as there are");
        return wanted == 0 ? processes : wanted;
    }
    zarr::Memory memory() const {
        return {memory_.get(), dense_strides(zarr::extents_of(box_), metadata_.type.size)};
    }
    void get() {
        zarr::read_box(move_.session->tree->folder(), move_.name, metadata_, box_, memory());
    }
    void put(std::int64_t round) {
        const zarr::Folder& folder = move_.session->tree->folder();
        const bool sync = move_.session->saving || move_.appending;
        if (rounds_.parts() == 1) {
            zarr::write_box(folder, move_.name, metadata_, region_, box_, memory(), sync);
            return;
        }
        if (round % rounds_.parts() == 0) {
            if (!rounds_.takes(mine_, round)) return;
            writer_.emplace(folder, move_.name, metadata_, rounds_.file(mine_, round), region_);
        }
        if (!writer_) return;
        if (!zarr::is_empty(box_)) writer_->put(box_, memory());
        if (round % rounds_.parts() != rounds_.parts() - 1) return;
        writer_->finish(sync);
        writer_.reset();
    }

    Move move_;
    zarr::Metadata metadata_;
    IndexBox region_;
    Rounds rounds_;
    std::vector<int> writers_;  // their ranks
    std::int64_t mine_ = -1;    // my number among them
    std::shared_ptr<std::byte> memory_;
    IndexBox box_;
    std::optional<zarr::FileWriter> writer_;
    comm::Fault fault_;
};

IndexBox region_of(const Move& move, const zarr::Metadata& metadata) {
    IndexBox whole = zarr::whole_of(metadata.shape);
    if (!move.options.region) return whole;
    const IndexBox& region = *move.options.region;
    const std::size_t dimensions = metadata.shape.size();
    bool fits = region.start.size() == dimensions && region.stop.size() == dimensions;
    for (std::size_t d = 0; fits && d < dimensions; ++d)
        fits = 0 <= region.start[d] && region.start[d] <= region.stop[d] &&
               region.stop[d] <= metadata.shape[d];
    if (!fits)
        throw Error("there is no region from " + text::tuple(region.start) + " to " +
                    text::tuple(region.stop) + " in '" + move.name + "' of shape " +
                    text::tuple(metadata.shape));
    return region;
}

// The shape of the result of a read.
Shape turned(const Shape& straight, const Move& move) {
    const Shape& axes = move.options.axes;
    if (axes.empty()) return straight;
    Shape sorted = axes, all(straight.size()), out;
    std::sort(sorted.begin(), sorted.end());
    std::iota(all.begin(), all.end(), 0);
    if (sorted != all)
        throw LayoutError("axes " + text::tuple(axes) + " are no permutation of the " +
                          std::to_string(straight.size()) + " dimensions of '" + move.name + "'");
    for (const std::int64_t axis : axes) out.push_back(straight[static_cast<std::size_t>(axis)]);
    return out;
}

void check_array(const Move& move, const zarr::Metadata& metadata, const IndexBox& region) {
    const Session& session = *move.session;
    if (!(move.array.comm() == session.comm))
        throw MismatchError("the array and the store '" + session.path +
                            "' are on different communicators; make both on the same one");
    const std::string stored = metadata.described(move.name).dtype;
    if (move.array.dtype().name != stored)
        throw MismatchError("'" + move.name + "' is stored as " + stored + ", and the array has " +
                            move.array.dtype().name + "; make both of one type");
    const Shape wanted = turned(zarr::extents_of(region), move);
    if (move.array.layout().shape() != wanted)
        throw MismatchError("the array has shape " + text::tuple(move.array.layout().shape()) +
                            ", and the region of '" + move.name + "' has " + text::tuple(wanted) +
                            "; make both alike");
    if (!move.writing && !move.array.writable())
        throw Error("the array is read-only; give one that may be written");
    // Every process finds a gap here, before anything moves.
    std::string stars = "(";
    for (std::size_t d = 0; d < wanted.size(); ++d) stars += d == 0 ? "*" : ", *";
    plan::Options options;
    options.itemsize = metadata.type.size;
    options.strategy = "direct";
    if (move.writing)
        static_cast<void>(Plan(move.array.layout(), Layout(wanted, stars + ")"), options));
}

void mark(const Move& move) {
    move.session->tree->folder().replace_text(
        zarr::mark_name, this_process() + ", which began to write '" + move.name + "'", true);
}

// The shape becomes visible once all elements are there.
void show(const Move& move, const zarr::Metadata& metadata) {
    const zarr::Folder& folder = move.session->tree->folder();
    folder.replace_text(move.name + "/zarr.json", zarr::text_of(metadata), true);
    zarr::Tree after = *move.session->tree;
    after.set(move.name, metadata);
    folder.replace_text("zarr.json", after.root_text(), true);
}

comm::Protocol<> run(Move move, int tag, std::int64_t number,
                     std::shared_ptr<const comm::StartGate> gate, std::string text) {
    const auto session = move.session;
    comm::CallSignature mine;
    mine.text = text;
    mine.fault = gate->fault;
    std::optional<Mover> mover;
    zarr::Metadata metadata;
    if (!mine.fault)
        mine.fault = fault_of([&] {
            move.writing ? require_writable(*session) : require_open(*session);
            metadata = session->tree->metadata(move.name);
            if (move.appending) grow(move, metadata);
            const IndexBox region = region_of(move, metadata);
            check_array(move, metadata, region);
            mover.emplace(move, metadata, region);
            const bool marks = move.writing && !session->marked && !session->saving;
            if (marks && session->first() && !move.appending) mark(move);
        });
    co_await session->comm.state().open();
    comm::Link& link = session->comm.state().link();
    const comm::Group all = comm::Group::whole(link);
    co_await comm::agree(all, tag, std::move(mine));
    if (move.writing && !move.appending && !session->saving) session->marked = true;
    transfer::Stopwatch watch(nullptr);
    for (std::int64_t round = 0; round < mover->rounds().count(); ++round) {
        const auto work = mover->work(round);
        if (!move.writing) mover->use_files(round);
        auto route = mover->route(link, tag, number + round);
        void* const array = move.array.data();
        void* const files = mover->buffer_data();
        co_await transfer::run(work, move.writing ? array : files, move.writing ? files : array,
                               std::move(route), watch);
        if (move.writing) mover->use_files(round);
    }
    comm::CallSignature last;
    last.text = text;
    last.fault = mover->fault();
    mover.reset();
    co_await comm::agree(all, tag, std::move(last));
    if (!move.appending) co_return;
    comm::CallSignature shown;
    shown.text = text;
    if (session->first()) shown.fault = fault_of([&] { show(move, metadata); });
    co_await comm::agree(all, tag, std::move(shown));
    session->tree->set(move.name, metadata);
}

}  // namespace

void grow(Move& move, zarr::Metadata& metadata) {
    const Shape& shape = move.array.layout().shape();
    if (metadata.shape.empty() || shape.empty())
        throw Error("'" + move.name + "' has no dimension to append along");
    IndexBox region = zarr::whole_of(metadata.shape);
    region.start[0] = metadata.shape[0];
    metadata.shape[0] += shape[0];
    region.stop[0] = metadata.shape[0];
    move.options.region = region;
}

std::shared_ptr<Operation> start(Move move, bool later) {
    const char* const verb = move.appending ? "append" : move.writing ? "write" : "read";
    std::string text = std::string(verb) + "('" + move.name + "', " + move.array.dtype().name +
                       " " + move.array.layout().text().substr(0, 200) + ")";
    if (move.options.region)
        text += " of " + text::tuple(move.options.region->start) + " to " +
                text::tuple(move.options.region->stop);
    const comm::EngineLock engine_lock;
    comm::State& state = move.session->comm.state();
    auto gate = std::make_shared<comm::StartGate>();
    gate->open = !later;
    const int tag = state.next_tag();
    auto call = std::make_shared<comm::Call>(
        run(std::move(move), tag, state.tags_issued(), gate, text), text);
    if (later) return std::make_shared<comm::DeferredCall>(std::move(call), std::move(gate));
    comm::Engine::instance().add(call);
    return call;
}

}  // namespace hocket::store
