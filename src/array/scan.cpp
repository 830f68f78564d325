// SPDX-License-Identifier: BSD-3-Clause
// Prefix and suffix operations: first local, then combined with the results of earlier processes.
#include <cstring>

#include "array/layouts.hpp"
#include "array/local.hpp"
#include "array/numbers.hpp"

namespace hocket {
namespace {

using namespace array;

struct Extents {
    std::int64_t outer = 1, length = 1, inner = 1;
};

Extents extents_of(const Array& array, std::size_t dim) {
    const Shape& shape = array.local_shape();
    if (array.layout().is_indexed()) return {1, count_of(array), 1};
    const auto at = shape.begin() + static_cast<std::ptrdiff_t>(dim);
    return {elements_of({shape.begin(), at}), *at, elements_of({at + 1, shape.end()})};
}

class Scan {
  public:
    /// `segments`: one value an element, or none; a line restarts where the value changes.
    Scan(Combine op, const DType& dtype, const ComputeOptions& options, const Extents& lines,
         std::vector<std::uint8_t> segments)
        : loops_(fold_loops(op, dtype)),
          options_(options),
          lines_(lines),
          row_(static_cast<std::size_t>(lines.inner * loops_.itemsize)),
          segments_(std::move(segments)) {}

    /// Scans lines within this process; `totals`: the combination of each line's last segment.
    void within(std::byte* data, std::byte* totals) const {
        std::vector<std::byte> next(row_);
        loops_.fill(totals, lines_.outer * lines_.inner);
        for (std::int64_t k = 0; k < lines_.outer; ++k) {
            std::byte* const total = totals + static_cast<std::size_t>(k) * row_;
            for (std::int64_t each = 0; each < lines_.length; ++each) {
                std::byte* const own = data + row_of(k, each) * row_;
                for (const std::size_t i : restarts(k, each)) loops_.fill(at(total, i), 1);
                if (options_.exclusive) {
                    std::memcpy(next.data(), own, row_);
                    std::memcpy(own, total, row_);
                    loops_.combine(total, next.data(), lines_.inner);
                } else {
                    loops_.combine(total, own, lines_.inner);
                    std::memcpy(own, total, row_);
                }
            }
        }
    }

    /// Combines each line's elements with `before`, up to the end of its first segment.
    void after(std::byte* data, const std::byte* before) const {
        std::vector<std::byte> sum(row_), first(row_);
        const bool whole = segments_.empty();
        for (std::int64_t k = 0; k < lines_.outer; ++k) {
            std::memcpy(first.data(), before + static_cast<std::size_t>(k) * row_, row_);
            std::vector<bool> open(static_cast<std::size_t>(lines_.inner), true);
            for (std::int64_t each = 0; each < lines_.length; ++each) {
                std::byte* const own = data + row_of(k, each) * row_;
                for (const std::size_t i : restarts(k, each)) open[i] = false;
                std::memcpy(sum.data(), first.data(), row_);
                loops_.combine(sum.data(), own, lines_.inner);
                if (whole) std::memcpy(own, sum.data(), row_);
                for (std::size_t i = 0; !whole && i < open.size(); ++i)
                    if (open[i]) std::memcpy(at(own, i), at(sum.data(), i), item());
            }
        }
    }

    /// The combination of each line's elements on the processes before this one, as far as they
    /// are in the segment of the line's first element here. Collective.
    std::vector<std::byte> before(const Comm& comm, const std::byte* totals,
                                  Deadline deadline) const {
        const std::int64_t count = lines_.outer * lines_.inner;
        const auto lines = static_cast<std::size_t>(count);
        const auto bytes = static_cast<std::int64_t>(lines * item());
        const auto all = allgather(comm, totals, bytes, deadline);
        const std::vector<Edge> mine = edges();
        const auto around = allgather(
            comm, mine.data(), static_cast<std::int64_t>(mine.size() * sizeof(Edge)), deadline);
        std::vector<std::byte> found(lines * item());
        std::vector<Edge> last(lines);
        loops_.fill(found.data(), count);
        for (int k = 0; k < comm.size(); ++k) {
            const int rank = options_.suffix ? comm.size() - 1 - k : k;
            const auto* const theirs = reinterpret_cast<const Edge*>(around.data()) +
                                       static_cast<std::size_t>(rank) * lines;
            const bool here = rank == comm.rank();
            for (std::size_t i = 0; i < lines; ++i) {
                if (!theirs[i].filled) continue;
                if (last[i].filled && last[i].last != theirs[i].first)
                    loops_.fill(at(found.data(), i), 1);
                if (here) continue;
                if (theirs[i].changes) loops_.fill(at(found.data(), i), 1);
                last[i] = theirs[i];
                loops_.combine(at(found.data(), i),
                               all.data() + (static_cast<std::size_t>(rank) * lines + i) * item(),
                               1);
            }
            if (here) break;
        }
        return found;
    }

    /// The identity where the mask is false.
    void leave_out(std::byte* data, const std::vector<std::uint8_t>& mask) const {
        for (std::size_t k = 0; k < mask.size(); ++k)
            if (mask[k] == 0) loops_.fill(at(data, k), 1);
    }

  private:
    // The segments at both ends of a line's part.
    struct Edge {
        bool filled = false, changes = false;
        std::uint8_t first = 0, last = 0;
    };

    std::size_t item() const { return static_cast<std::size_t>(loops_.itemsize); }
    std::byte* at(std::byte* data, std::size_t element) const { return data + element * item(); }
    // The number of a row of elements: the `each`-th of a line in the order of the scan.
    std::size_t row_of(std::int64_t k, std::int64_t each) const {
        return static_cast<std::size_t>(k * lines_.length +
                                        (options_.suffix ? lines_.length - 1 - each : each));
    }
    const std::uint8_t* segments(std::int64_t k, std::int64_t each) const {
        return segments_.data() + row_of(k, each) * static_cast<std::size_t>(lines_.inner);
    }
    // The places in a row at which a segment begins behind another.
    std::vector<std::size_t> restarts(std::int64_t k, std::int64_t each) const {
        std::vector<std::size_t> found;
        if (segments_.empty() || each == 0) return found;
        const std::uint8_t* const own = segments(k, each);
        const std::uint8_t* const earlier = segments(k, each - 1);
        for (std::size_t i = 0; i < static_cast<std::size_t>(lines_.inner); ++i)
            if (own[i] != earlier[i]) found.push_back(i);
        return found;
    }
    std::vector<Edge> edges() const {
        const auto inner = static_cast<std::size_t>(lines_.inner);
        std::vector<Edge> found(static_cast<std::size_t>(lines_.outer) * inner);
        for (std::int64_t k = 0; k < lines_.outer && lines_.length > 0; ++k) {
            Edge* const row = found.data() + static_cast<std::size_t>(k) * inner;
            for (std::size_t i = 0; i < inner; ++i) {
                row[i].filled = true;
                if (segments_.empty()) continue;
                row[i].first = segments(k, 0)[i];
                row[i].last = segments(k, lines_.length - 1)[i];
            }
            for (std::int64_t each = 1; each < lines_.length; ++each)
                for (const std::size_t i : restarts(k, each)) row[i].changes = true;
        }
        return found;
    }

    FoldLoops loops_;
    const ComputeOptions& options_;
    Extents lines_;
    std::size_t row_;
    std::vector<std::uint8_t> segments_;
};

// The layout for a scan along `dim`: the array's own if lines are whole; one with whole lines, if
// there are enough; else consecutive parts, one a process.
Layout scan_layout(const Layout& layout, std::optional<std::size_t> dim, std::int64_t size) {
    const Shape& shape = layout.shape();
    if (!dim) return flat(shape, size);
    if (is_local(layout, *dim)) return layout;
    for (std::size_t d = 0; d < shape.size(); ++d)
        if (d != *dim && shape[d] >= size) return balanced(shape, size, static_cast<long>(d));
    return balanced(shape, size, static_cast<long>(*dim));
}

}  // namespace

Array scan(const Array& array, Combine op, const ComputeOptions& options) {
    const Deadline deadline = options.deadline;
    const Comm& comm = array.comm();
    agree(comm, "scan(" + said(array) + ", " + name_of(op) + said(options) + ")", deadline, [&] {
        require_dim(array, options);
        require_own_mask(array, options);
        if (options.segment) {
            require_comm(array, *options.segment);
            require_truths(*options.segment, "segment");
            require_shape(array, *options.segment, "segment");
        }
        static_cast<void>(fold_loops(op, array.dtype()));
    });
    const Array source = in_order(array, options);
    std::optional<std::size_t> dim;
    if (options.dim) dim = dim_in_order(array, options);
    const Layout layout = scan_layout(source.layout(), dim, comm.size());
    const Array result = Array::empty(layout, array.dtype(), comm);
    copy(source, result, deadline);
    const bool here = count_of(result) > 0;
    const bool whole = dim && is_local(layout, *dim);
    Shape rest = source.layout().shape();
    if (dim) rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(*dim));
    const std::int64_t lines = dim ? elements_of(rest) : 1;
    const Extents extents = here ? extents_of(result, dim.value_or(0)) : Extents{lines, 0, 1};
    const auto flags = [&](const Array& of) {
        return truths(to(in_order(of, options), layout, deadline));
    };
    std::vector<std::uint8_t> segments;
    if (options.segment) segments = flags(*options.segment);
    const Scan scan(op, array.dtype(), options, extents, std::move(segments));
    auto* const data = static_cast<std::byte*>(result.data());
    if (options.mask) scan.leave_out(data, flags(*options.mask));

    std::vector<std::byte> totals(
        static_cast<std::size_t>(extents.outer * extents.inner * array.dtype().size));
    scan.within(data, totals.data());
    if (!whole && elements_of(source.layout().shape()) > 0) {
        const auto before = scan.before(comm, totals.data(), deadline);
        if (here) scan.after(data, before.data());
    }
    return out_of_order(to(result, source.layout(), deadline), options, array.layout());
}

}  // namespace hocket
