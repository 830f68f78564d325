// SPDX-License-Identifier: BSD-3-Clause
// Moves arrays to files and back: checks and agreements before and after.
#include "store/move.hpp"

#include <algorithm>
#include <numeric>
#include <optional>

#include "base/numbering.hpp"
#include "base/text.hpp"
#include "comm/deferred_call.hpp"
#include "comm/engine.hpp"
#include "comm/state.hpp"
#include "kernel/convert.hpp"
#include "store/mover.hpp"
#include "store/session.hpp"
#include "zarr/hdf5.hpp"

namespace hocket::store {
namespace {

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
        throw Error("there is no region from " + text::numbers(region.start) + " to " +
                    text::tuple(region.stop) +
                    (text::first_index() == 0 ? " (indices from 0, without the last ones) in '"
                                              : " (indices from 1, with the last ones) in '") +
                    move.name + "' of shape " + text::tuple(metadata.shape));
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
        throw LayoutError("the order of dimensions is no permutation of the " +
                          std::to_string(straight.size()) + " dimensions of '" + move.name +
                          "'; name each of them once");
    for (const std::int64_t axis : axes) out.push_back(straight[static_cast<std::size_t>(axis)]);
    return out;
}

void check_type(const Move& move, const std::string& stored) {
    const std::string& asked = move.options.dtype;
    const std::string& has = move.array.dtype().name;
    if (move.writing && !asked.empty())
        throw Error("a write converts no elements, and dtype is " + asked +
                    "; leave it out, and give an array of type " + stored);
    if (has != (asked.empty() ? stored : asked))
        throw MismatchError("'" + move.name + "' is stored as " + stored +
                            (asked.empty() ? "" : ", dtype is " + asked) + ", and the array has " +
                            has +
                            (move.writing ? "; make both of one type"
                                          : "; make both of one type, or give the array's as "
                                            "dtype, to convert the elements"));
    if (has != stored && !kernel::converts(stored, has))
        throw MismatchError("hocket converts no " + stored + " to " + has +
                            ", only bool, integers of 8 to 64 bits, float16 to float64, complex64 "
                            "and complex128; leave dtype out");
}

void check_array(const Move& move, const zarr::Metadata& metadata, const IndexBox& region) {
    const Session& session = *move.session;
    if (!(move.array.comm() == session.comm))
        throw MismatchError("the array and the store '" + session.path +
                            "' are on different communicators; make both on the same one");
    check_type(move, metadata.described(move.name).dtype);
    const Shape wanted = turned(zarr::extents_of(region), move);
    if (move.array.layout().shape() != wanted)
        throw MismatchError("the array has shape " + text::tuple(move.array.layout().shape()) +
                            ", and the region of '" + move.name + "' has " + text::tuple(wanted) +
                            "; make both alike");
    if (!move.writing && !move.array.writable())
        throw Error("the array is read-only; give one that may be written");
    // Every process finds a gap here, before any element moves.
    std::string stars = "(";
    for (std::size_t d = 0; d < wanted.size(); ++d) stars += d == 0 ? "*" : ", *";
    plan::Options options;
    options.itemsize = metadata.type.size;
    options.strategy = "direct";
    if (move.writing)
        static_cast<void>(Plan(move.array.layout(), Layout(wanted, stars + ")"), options));
}

// A write in the mark, on process 0: a failed one, unless `complete` is called.
class MarkedWrite {
  public:
    explicit MarkedWrite(const Move& move, const IndexBox& region)
        : session_(move.session), number_(session_->mark.begin(move.name, region)) {}
    ~MarkedWrite() {
        if (!session_->closed) session_->mark.fail(*session_->tree, number_);
    }
    MarkedWrite(const MarkedWrite&) = delete;
    MarkedWrite& operator=(const MarkedWrite&) = delete;
    void complete() { session_->mark.complete(number_); }

  private:
    std::shared_ptr<Session> session_;
    std::int64_t number_;
};

// The shape becomes visible after all elements are stored.
void show(const Move& move, const zarr::Metadata& metadata) {
    const zarr::Folder& folder = move.session->tree->folder();
    if (!move.name.empty())
        folder.replace_text(move.name + "/zarr.json", zarr::text_of(metadata), true);
    zarr::Tree after = *move.session->tree;
    after.set(move.name, metadata);
    folder.replace_text("zarr.json", after.root_text(), true);
}

// Appends to an HDF5 file: a new shape is visible at once there, so this is a write after it. The
// mark stands until the store is closed, and longer if the write fails.
comm::Protocol<> grow_hdf5(Move& move, const comm::Group& all, int tag, std::string text,
                           comm::Fault fault, std::optional<MarkedWrite>& marked) {
    const auto session = move.session;
    comm::CallSignature checked, grown;
    checked.text = grown.text = text;
    checked.fault = std::move(fault);
    zarr::Metadata metadata;
    if (!checked.fault)
        checked.fault = fault_of([&] {
            require_writable(*session);
            metadata = session->tree->metadata(move.name);
            grow(move, metadata);
            check_array(move, metadata, *move.options.region);
        });
    co_await comm::agree(all, tag, std::move(checked));
    if (session->first())
        grown.fault = fault_of([&] {
            session->mark.announce(*session->tree, move.name, *move.options.region);
            zarr::hdf5::extend(session->tree->file_to_write(), move.name, metadata.shape[0]);
            marked.emplace(move, *move.options.region);
            grown.payload = session->tree->read_again();
        });
    const std::string told = co_await comm::agree(all, tag, std::move(grown));
    session->tree->renew(told);
    move.appending = false;
}

comm::Protocol<> run(Move move, int tag, std::int64_t number,
                     std::shared_ptr<const comm::StartGate> gate, std::string text) {
    const auto session = move.session;
    co_await session->comm.state().open();
    comm::Link& link = session->comm.state().link();
    const comm::Group all = comm::Group::whole(link);
    std::optional<MarkedWrite> marked;
    if (move.appending && session->tree && session->tree->place().is_hdf5())
        co_await grow_hdf5(move, all, tag, text, gate->fault, marked);
    comm::CallSignature mine;
    mine.text = text;
    mine.fault = gate->fault;
    const bool marks = move.writing && !move.appending && !session->saving && session->first();
    std::optional<Mover> mover;
    zarr::Metadata metadata;
    IndexBox region;
    if (!mine.fault)
        mine.fault = fault_of([&] {
            move.writing ? require_writable(*session) : require_open(*session);
            metadata = session->tree->metadata(move.name);
            if (move.appending) grow(move, metadata);
            region = region_of(move, metadata);
            check_array(move, metadata, region);
            mover.emplace(move, metadata, region);
            if (marks) session->mark.announce(*session->tree, move.name, region);
        });
    co_await comm::agree(all, tag, std::move(mine));
    if (marks && !marked) marked.emplace(move, region);
    co_await mover->run(link, tag, number);
    comm::CallSignature last;
    last.text = text;
    last.fault = mover->fault();
    mover.reset();
    co_await comm::agree(all, tag, std::move(last));
    if (marked) marked->complete();
    if (!move.appending) co_return;
    comm::CallSignature shown;
    shown.text = text;
    if (session->first()) shown.fault = fault_of([&] { show(move, metadata); });
    co_await comm::agree(all, tag, std::move(shown));
    session->tree->set(move.name, metadata);
}

}  // namespace

void grow(Move& move, zarr::Metadata& metadata) {
    if (metadata.one_file || (metadata.dataset && !metadata.dataset->chunked))
        throw Error("'" + move.name +
                    "' cannot grow, as its elements are contiguous in one file; append to a store "
                    "of Zarr, or to an array of an HDF5 file that has chunks");
    const Shape& shape = move.array.layout().shape();
    if (metadata.shape.empty() || shape.empty())
        throw Error("'" + move.name + "' has no dimension to append along");
    IndexBox region = zarr::whole_of(metadata.shape);
    region.start[0] = metadata.shape[0];
    metadata.shape[0] += shape[0];
    if (const std::string why = zarr::contradiction_of(metadata); !why.empty())
        throw Error("'" + move.name + "' cannot grow by " + std::to_string(shape[0]) + ": " + why);
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
    const auto session = move.session;
    comm::State& state = session->comm.state();
    auto gate = std::make_shared<comm::StartGate>();
    gate->open = !later;
    const int tag = state.next_tag();
    auto call = std::make_shared<comm::Call>(
        run(std::move(move), tag, state.tags_issued(), gate, text), text);
    if (later) return std::make_shared<comm::DeferredCall>(std::move(call), std::move(gate));
    comm::Engine::instance().add(call);
    std::erase_if(session->started, [](const auto& each) { return each.expired(); });
    session->started.push_back(call);
    return call;
}

}  // namespace hocket::store
