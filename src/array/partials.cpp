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
#include "transfer/lru_cache.hpp"

namespace hocket::array {
namespace {

// The most bytes that every process gathers of all, rather than only those that it needs.
constexpr std::int64_t few = std::int64_t{1} << 18;

Partials made(const Layout& layout, const std::vector<std::size_t>& dims, std::int64_t process) {
    Partials found{without(layout, dims), {}, 0, {}, {}};
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
    for (std::size_t k = 0; k < count; ++k)
        Binding::locate(found.parts[k], wanted, found.owners.data() + k * wanted.size(),
                        found.offsets.data() + k * wanted.size());
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

bool collect(const Partials& partials, const void* mine, std::int64_t bytes, bool valid,
             const Comm& comm, Deadline deadline,
             const std::function<void(const std::byte* values)>& take) {
    if (partials.are_results()) {
        if (valid) take(static_cast<const std::byte*>(mine));
        return valid;
    }
    const auto size = static_cast<std::size_t>(bytes);
    const auto count = static_cast<std::size_t>(
        comm.rank() < partials.target.size() ? partials.target.local_elements(comm.rank()) : 0);
    const std::int64_t row = 8 + partials.most * bytes;  // the first byte: whether it is valid
    const auto held = [&](const Layout& layout) {
        return comm.rank() < layout.size() ? layout.local_elements(comm.rank()) : 0;
    };
    if (row * comm.size() <= few) {
        std::vector<std::byte> own(static_cast<std::size_t>(row));
        own[0] = std::byte{valid};
        std::int64_t results = 0;
        for (const Layout& part : partials.parts) results = std::max(results, held(part));
        if (results > 0)
            std::memcpy(own.data() + 8, mine, static_cast<std::size_t>(results) * size);
        const Array all = gathered(comm, own.data(), row, deadline);
        const auto* const rows = static_cast<const std::byte*>(all.data());
        for (int rank = 0; rank < comm.size(); ++rank)
            if (rows[rank * row] == std::byte{0}) return false;
        std::vector<std::byte> values(count * size);
        for (std::size_t k = 0; k < partials.parts.size(); ++k) {
            const std::int64_t* const owners = partials.owners.data() + k * count;
            const std::int64_t* const offsets = partials.offsets.data() + k * count;
            with_size(bytes, [&](auto each) {
                for (std::size_t i = 0; i < count; ++i)
                    std::memcpy(values.data() + i * each,
                                rows + owners[i] * row + 8 + offsets[i] * bytes, each);
            });
            take(values.data());
        }
        return true;
    }
    const auto all = allgather(comm, std::int64_t{valid}, deadline);
    if (std::find(all.begin(), all.end(), 0) != all.end()) return false;
    for (const Layout& part : partials.parts) {
        const Array own = Array::empty(part, record_of(bytes), comm);
        if (held(part) > 0)
            std::memcpy(own.data(), mine, static_cast<std::size_t>(held(part)) * size);
        take(static_cast<const std::byte*>(to(own, partials.target, deadline).data()));
    }
    return true;
}

}  // namespace hocket::array

void hocket::Binding::collect(
    const Layout& layout, const std::vector<std::int64_t>& dims, const Comm& comm, const void* mine,
    std::int64_t bytes,
    const std::function<void(const std::byte* values, std::int64_t count)>& take) {
    const std::int64_t process = comm.rank() < layout.size() ? comm.rank() : -1;
    const auto partials = array::partials_of(layout, {dims.begin(), dims.end()}, process);
    const std::int64_t count = process < 0 ? 0 : partials->target.local_elements(process);
    array::collect(*partials, mine, bytes, true, comm, {},
                   [&](const std::byte* values) { take(values, count); });
}
