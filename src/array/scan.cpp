// SPDX-License-Identifier: BSD-3-Clause
// Prefix and suffix operations: first local, then combined with the results of earlier processes.
#include <cstring>

#include "array/layouts.hpp"
#include "array/local.hpp"
#include "array/numbers.hpp"
#include "layout/form.hpp"

namespace hocket {
namespace {

using namespace array;

struct Extents {
    std::int64_t outer = 1, length = 1, inner = 1;
    std::int64_t row() const { return inner; }
};

Extents extents_of(const Array& array, std::size_t dim) {
    const Shape& shape = array.local_shape();
    if (array.layout().is_indexed()) return {1, count_of(array), 1};
    const auto at = shape.begin() + static_cast<std::ptrdiff_t>(dim);
    return {elements_of({shape.begin(), at}), *at, elements_of({at + 1, shape.end()})};
}

class Scan {
  public:
    Scan(Combine op, const DType& dtype, const ComputeOptions& options)
        : loops_(fold_loops(op, dtype)), options_(options) {}

    /// Scans lines within this process; `totals`: the combination of each whole line.
    void within(std::byte* data, const Extents& lines, std::byte* totals) const {
        const auto row = static_cast<std::size_t>(lines.inner * loops_.itemsize);
        std::vector<std::byte> next(row);
        loops_.fill(totals, lines.outer * lines.inner);
        for (std::int64_t k = 0; k < lines.outer; ++k) {
            std::byte* const total = totals + static_cast<std::size_t>(k) * row;
            for (std::int64_t each = 0; each < lines.length; ++each) {
                const std::int64_t at = options_.suffix ? lines.length - 1 - each : each;
                std::byte* const own = data + static_cast<std::size_t>(k * lines.length + at) * row;
                if (options_.exclusive) {
                    std::memcpy(next.data(), own, row);
                    std::memcpy(own, total, row);
                    loops_.combine(total, next.data(), lines.inner);
                } else {
                    loops_.combine(total, own, lines.inner);
                    std::memcpy(own, total, row);
                }
            }
        }
    }

    /// Combines all elements of each line with `before`.
    void after(std::byte* data, const Extents& lines, const std::byte* before) const {
        const auto row = static_cast<std::size_t>(lines.inner * loops_.itemsize);
        std::vector<std::byte> sum(row);
        for (std::int64_t k = 0; k < lines.outer * lines.length; ++k) {
            std::byte* const own = data + static_cast<std::size_t>(k) * row;
            std::memcpy(sum.data(), before + static_cast<std::size_t>(k / lines.length) * row, row);
            loops_.combine(sum.data(), own, lines.inner);
            std::memcpy(own, sum.data(), row);
        }
    }

    /// The combined totals of the processes on one side of this one. Collective.
    std::vector<std::byte> before(const Comm& comm, const std::byte* totals, std::int64_t count,
                                  Deadline deadline) const {
        const auto bytes = static_cast<std::size_t>(count * loops_.itemsize);
        const auto all = allgather(comm, totals, static_cast<std::int64_t>(bytes), deadline);
        std::vector<std::byte> found(bytes);
        loops_.fill(found.data(), count);
        for (int k = 0; k < comm.size(); ++k) {
            const int rank = options_.suffix ? comm.size() - 1 - k : k;
            if (rank == comm.rank()) break;
            loops_.combine(found.data(), all.data() + static_cast<std::size_t>(rank) * bytes,
                           count);
        }
        return found;
    }

    /// The identity where the mask is false.
    void leave_out(std::byte* data, const std::vector<std::uint8_t>& mask) const {
        for (std::size_t k = 0; k < mask.size(); ++k)
            if (mask[k] == 0) loops_.fill(data + k * static_cast<std::size_t>(loops_.itemsize), 1);
    }

  private:
    FoldLoops loops_;
    const ComputeOptions& options_;
};

// Whether each process holds whole lines.
bool is_local(const Layout& layout, std::size_t dim) {
    return layout.form().gridded() && parts_along(layout, dim).size() <= 1;
}

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
    const Comm comm = array.comm();
    agree(comm, "scan(" + said(array) + ", " + name_of(op) + said(options) + ")", deadline, [&] {
        require_dim(array, options);
        require_own_mask(array, options);
        static_cast<void>(fold_loops(op, array.dtype()));
    });
    const Array source = in_order(array, options);
    std::optional<std::size_t> dim;
    if (options.dim) dim = dim_in_order(array, options);
    const Layout layout = scan_layout(source.layout(), dim, comm.size());
    const Array result = Array::empty(layout, array.dtype(), comm);
    copy(source, result, deadline);
    const Scan scan(op, array.dtype(), options);
    auto* const data = static_cast<std::byte*>(result.data());
    if (options.mask)
        scan.leave_out(data, truths(to(in_order(*options.mask, options), layout, deadline)));

    const bool here = count_of(result) > 0;
    const bool whole = dim && is_local(layout, *dim);
    Shape rest = source.layout().shape();
    if (dim) rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(*dim));
    const std::int64_t lines = dim ? elements_of(rest) : 1;
    const Extents extents = here ? extents_of(result, dim.value_or(0)) : Extents{lines, 0, 1};
    std::vector<std::byte> totals(
        static_cast<std::size_t>(extents.outer * extents.inner * array.dtype().size));
    scan.within(data, extents, totals.data());
    if (!whole && elements_of(source.layout().shape()) > 0) {
        const auto before = scan.before(comm, totals.data(), lines, deadline);
        if (here) scan.after(data, extents, before.data());
    }
    return out_of_order(to(result, source.layout(), deadline), options, array.layout());
}

}  // namespace hocket
