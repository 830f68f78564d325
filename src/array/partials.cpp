// SPDX-License-Identifier: BSD-3-Clause
#include "array/partials.hpp"

#include <algorithm>
#include <cstring>

#include "array/exchange.hpp"
#include "array/layouts.hpp"
#include "base/pack.hpp"
#include "hocket/binding.hpp"
#include "layout/binary.hpp"
#include "layout/form.hpp"
#include "layout/owners.hpp"
#include "transfer/lru_cache.hpp"

namespace hocket::array {
namespace {

// The most bytes that every process gathers of all, rather than only those that it needs.
constexpr std::int64_t few = std::int64_t{1} << 18;

Partials made(const Layout& layout, const std::vector<std::size_t>& dims, std::int64_t process) {
    Partials found{without(layout, dims), {}, 0, {}, {}, {}};
    std::vector<std::vector<std::int64_t>> along;
    std::size_t count = 1;
    for (const std::size_t dim : dims) {
        along.push_back(parts_along(layout, dim));
        count *= along.back().size();
    }
    std::vector<std::int64_t> at(dims.size());
    for (std::size_t k = 0; k < count; ++k) {
        std::size_t rest = k;
        for (std::size_t d = dims.size(); d-- > 0; rest /= along[d].size())
            at[d] = along[d][rest % along[d].size()];
        found.parts.push_back(without(layout, dims, at));
    }
    for (std::int64_t r = 0; r < layout.size(); ++r) {
        Shape shape = layout.local_shape(r);
        for (const std::size_t dim : dims) shape[dim] = std::min<std::int64_t>(shape[dim], 1);
        found.most = std::max(found.most, elements_of(shape));
    }
    if (found.most * layout.size() > few || found.are_results()) return found;
    const auto wanted = numbers(found.target, process);
    found.owners.resize(count * wanted.size());
    found.offsets.resize(found.owners.size());
    for (std::size_t k = 0; k < count; ++k) {
        std::int64_t* const owners = found.owners.data() + k * wanted.size();
        std::int64_t* const offsets = found.offsets.data() + k * wanted.size();
        layout::locate(found.parts[k], wanted, owners, offsets);
        bool in_order = !wanted.empty();
        for (std::size_t i = 0; i < wanted.size(); ++i)
            in_order = in_order && owners[i] == owners[0] && offsets[i] == static_cast<long>(i);
        found.sole_owners.push_back(in_order ? owners[0] : -1);
    }
    return found;
}

}  // namespace

std::shared_ptr<const Partials> partials_of(const Layout& layout,
                                            const std::vector<std::size_t>& dims,
                                            std::int64_t process) {
    static auto* const kept = new transfer::LruCache<Partials>;
    Packer key(256);
    key.text(layout::key_of(layout.form())).number(process);
    for (const std::size_t dim : dims) key.number(static_cast<std::int64_t>(dim));
    return kept->find_or_make(key.take(),
                              [&](const std::string&) { return made(layout, dims, process); });
}

bool collect(const Partials& partials, std::int64_t bytes, const Comm& comm, Deadline deadline,
             const std::function<bool(std::byte* memory, std::size_t size)>& fill,
             const std::function<void(const std::byte* values)>& take, const std::string& call) {
    const auto held = [&](const Layout& layout) {
        return comm.rank() < layout.size() ? layout.local_elements(comm.rank()) : 0;
    };
    const auto each_size = static_cast<std::size_t>(bytes);
    std::size_t own = 0;  // bytes of this process's partial results
    for (const Layout& part : partials.parts)
        own = std::max(own, static_cast<std::size_t>(held(part)) * each_size);
    const auto count = static_cast<std::size_t>(held(partials.target));
    const std::int64_t length = 8 + partials.most * bytes;  // the first byte: whether it is valid
    if (!partials.are_results() && length * comm.size() <= few) {
        Row row(comm, length);
        std::memset(row.data(), 0, 8);
        row.data()[0] = std::byte{fill(row.data() + 8, own)};
        const auto all = row.gather(call, deadline);
        const std::byte* const rows = all.get();
        for (int rank = 0; rank < comm.size(); ++rank)
            if (rows[rank * length] == std::byte{0}) return false;
        std::vector<std::byte> values;
        for (std::size_t k = 0; k < partials.parts.size(); ++k) {
            if (partials.sole_owners[k] >= 0) {
                take(rows + partials.sole_owners[k] * length + 8);
                continue;
            }
            const std::int64_t* const owners = partials.owners.data() + k * count;
            const std::int64_t* const offsets = partials.offsets.data() + k * count;
            values.resize(count * each_size);
            with_size(bytes, [&](auto each) {
                for (std::size_t i = 0; i < count; ++i)
                    std::memcpy(values.data() + i * each,
                                rows + owners[i] * length + 8 + offsets[i] * bytes, each);
            });
            take(values.data());
        }
        return true;
    }
    std::vector<std::byte> mine(own);
    const bool valid = fill(mine.data(), own);
    if (partials.are_results()) {
        if (valid) take(mine.data());
        return valid;
    }
    const auto all = allgather(comm, call, &valid, sizeof valid, deadline);
    const std::byte* const of_all = all.get();
    if (std::find(of_all, of_all + comm.size(), std::byte{0}) != of_all + comm.size()) return false;
    for (const Layout& part : partials.parts) {
        const Array moved = Array::empty(part, record_of(bytes), comm);
        if (held(part) > 0)
            std::memcpy(moved.data(), mine.data(),
                        static_cast<std::size_t>(held(part)) * each_size);
        take(static_cast<const std::byte*>(to(moved, partials.target, deadline).data()));
    }
    return true;
}

}  // namespace hocket::array

void hocket::Binding::collect(
    const std::string& call, const Layout& layout, const std::vector<std::int64_t>& dims,
    const Comm& comm, const void* mine, std::int64_t bytes,
    const std::function<void(const std::byte* values, std::int64_t count)>& take) {
    const std::int64_t process = comm.rank() < layout.size() ? comm.rank() : -1;
    const auto partials = array::partials_of(layout, {dims.begin(), dims.end()}, process);
    const std::int64_t count = process < 0 ? 0 : partials->target.local_elements(process);
    if (partials->are_results()) return take(static_cast<const std::byte*>(mine), count);
    const auto fill = [&](std::byte* memory, std::size_t size) {
        if (size > 0) std::memcpy(memory, mine, size);
        return true;
    };
    array::collect(
        *partials, bytes, comm, Deadline::in({}), fill,
        [&](const std::byte* values) { take(values, count); }, call);
}
