// SPDX-License-Identifier: BSD-3-Clause
// HPF's definitions element by element, with none of the library's algebra.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "hocket/layout.hpp"
#include "layout/form.hpp"

namespace oracle {

using hocket::Shape;
using hocket::layout::Format;
using hocket::layout::Subscript;

inline Shape unflatten(std::int64_t flat, const Shape& shape) {
    Shape index(shape.size());
    for (std::size_t d = shape.size(); d-- > 0; flat /= shape[d]) index[d] = flat % shape[d];
    return index;
}

inline std::int64_t product(const Shape& shape) {
    std::int64_t result = 1;
    for (const std::int64_t n : shape) result *= n;
    return result;
}

/// An array aligned with a template, as it was written.
struct Case {
    Shape shape;
    std::vector<Subscript> alignment;
    hocket::layout::Template base;

    hocket::Layout layout() const {
        return hocket::Layout(std::make_shared<const hocket::layout::Form>(
            hocket::layout::make_form(shape, alignment, hocket::layout::make_form(base))));
    }

    std::int64_t size() const {
        std::int64_t size = 1;
        for (const std::int64_t p : base.procs) size *= p;
        return size;
    }

    /// Whether the process at that place of the grid holds the element.
    bool holds(const Shape& at, const Shape& index) const {
        std::size_t g = 0;
        const auto copies = [&](std::size_t position) {
            for (const std::int64_t r : base.replicate)
                if (r == static_cast<std::int64_t>(position)) return true;
            return false;
        };
        for (std::size_t d = 0; d < base.shape.size(); ++d) {
            if (base.formats[d].kind == Format::Kind::whole) continue;
            while (copies(g)) ++g;
            const std::int64_t p = base.procs[g], n = base.shape[d], mine = at[g++];
            const Subscript& s = alignment[d];
            const auto owner = [&](std::int64_t position) {
                if (base.formats[d].kind == Format::Kind::block)
                    return position /
                           (base.formats[d].size ? base.formats[d].size : (n + p - 1) / p);
                return position / (base.formats[d].size ? base.formats[d].size : 1) % p;
            };
            bool here = false;
            if (s.kind == Subscript::Kind::any)  // a copy with every position of the template
                for (std::int64_t position = 0; position < n; ++position)
                    here = here || owner(position) == mine;
            else if (s.kind == Subscript::Kind::constant)
                here = owner(s.offset) == mine;
            else
                here = owner(s.stride * index[static_cast<std::size_t>(s.dimension)] + s.offset) ==
                       mine;
            if (!here) return false;
        }
        return true;
    }

    /// The flat global numbers of what a process holds, in local order.
    std::vector<std::int64_t> local(std::int64_t rank) const {
        std::vector<std::int64_t> result;
        const Shape at = unflatten(rank, base.procs);
        Shape index(shape.size());
        for (std::int64_t flat = 0; flat < product(shape); ++flat) {
            if (holds(at, index)) result.push_back(flat);
            for (std::size_t d = shape.size(); d-- > 0 && ++index[d] == shape[d];) index[d] = 0;
        }
        return result;
    }
};

/// A layout, and what each process must hold: flat global numbers in local order.
struct Model {
    hocket::Layout layout;
    std::vector<std::vector<std::int64_t>> held;

    const Shape& shape() const { return layout.shape(); }
    std::int64_t size() const { return static_cast<std::int64_t>(held.size()); }
    bool complete() const {
        std::vector<bool> seen(static_cast<std::size_t>(product(shape())), false);
        for (const auto& each : held)
            for (const std::int64_t flat : each) seen[static_cast<std::size_t>(flat)] = true;
        return std::find(seen.begin(), seen.end(), false) == seen.end();
    }

    static Model of(const Case& written) {
        Model model{written.layout(), {}};
        for (std::int64_t r = 0; r < written.size(); ++r) model.held.push_back(written.local(r));
        return model;
    }

    Model section(const std::vector<hocket::Slice>& slices) const {
        Model result{layout.section(slices), {}};
        Shape kept;
        for (const hocket::Slice& s : slices)
            if (s.keep) kept.push_back(s.count);
        for (const auto& each : held) {
            std::vector<std::int64_t>& own = result.held.emplace_back();
            Shape index(kept.size());
            for (std::int64_t flat = 0; flat < product(kept); ++flat) {
                std::int64_t there = 0;
                std::size_t next = 0;
                for (std::size_t d = 0; d < slices.size(); ++d)
                    there = there * shape()[d] + slices[d].first +
                            (slices[d].keep ? slices[d].step * index[next++] : 0);
                if (std::binary_search(each.begin(), each.end(), there)) own.push_back(flat);
                for (std::size_t d = kept.size(); d-- > 0 && ++index[d] == kept[d];) index[d] = 0;
            }
        }
        return result;
    }

    Model relabeled(const Shape& ranks, std::int64_t size) const {
        Model result{layout.relabeled(ranks, size), {}};
        result.held.resize(static_cast<std::size_t>(size));
        for (std::size_t r = 0; r < held.size(); ++r)
            result.held[static_cast<std::size_t>(ranks[r])] = held[r];
        return result;
    }
};

class Random {
  public:
    explicit Random(unsigned seed) : engine_(seed) {}
    std::int64_t between(std::int64_t low, std::int64_t high) {
        return std::uniform_int_distribution<std::int64_t>(low, high)(engine_);
    }
    bool chance(int percent) { return between(1, 100) <= percent; }

    Shape shape(std::size_t dimensions) {
        static constexpr std::int64_t most[] = {1, 70, 16, 8, 5, 4};
        Shape result;
        for (std::size_t d = 0; d < dimensions; ++d)
            result.push_back(chance(3) ? 0 : between(1, most[dimensions]));
        return result;
    }

    /// A layout of an array of that shape over at most about 24 processes.
    Case layout(const Shape& shape, bool may_align) {
        Case result;
        result.shape = shape;
        std::vector<int> order;
        for (std::size_t d = 0; d < shape.size(); ++d) order.push_back(static_cast<int>(d));
        const bool align = may_align && chance(60);
        if (align) std::shuffle(order.begin(), order.end(), engine_);
        for (const int d : order) {
            const std::int64_t n = shape[static_cast<std::size_t>(d)];
            Subscript s{Subscript::Kind::index, d, 1, 0, 0};
            std::int64_t extent = n;
            if (align) {
                if (chance(15)) continue;  // this dimension is not in the template
                if (chance(20)) add(result, between(1, 6), chance(50));
                if (n > 0) {
                    s.stride = between(1, 4) * (chance(40) ? -1 : 1);
                    const std::int64_t reach = s.stride * (n - 1);
                    s.offset = (reach < 0 ? -reach : 0) + between(0, 3);
                    extent = std::max(s.offset, s.offset + reach) + 1 + between(0, 3);
                }
            }
            result.base.shape.push_back(extent);
            result.alignment.push_back(s);
        }
        if (align && chance(20)) add(result, between(1, 6), true);
        std::int64_t size = 1;
        const auto processes = [&] {
            const std::int64_t p = between(1, std::min<std::int64_t>(5, 24 / size));
            size *= p;
            return p;
        };
        const auto maybe_copies = [&] {
            if (!chance(12)) return;
            result.base.replicate.push_back(static_cast<std::int64_t>(result.base.procs.size()));
            result.base.procs.push_back(processes());
        };
        for (const std::int64_t n : result.base.shape) {
            maybe_copies();
            Format format;
            const std::int64_t kind = between(0, 4);
            if (kind == 0) {
                result.base.formats.push_back(format);
                continue;
            }
            const std::int64_t p = processes();
            format.kind = kind <= 2 ? Format::Kind::block : Format::Kind::cyclic;
            if (kind == 2) format.size = (n + p - 1) / p + between(0, 2);
            if (kind == 4) format.size = between(1, 5);
            result.base.procs.push_back(p);
            result.base.formats.push_back(format);
        }
        maybe_copies();
        return result;
    }

    /// Explicit segments, in any order, some touching, with gaps or without.
    Model indexed(const Shape& shape, bool gaps) {
        const std::int64_t elements = product(shape);
        std::vector<std::vector<hocket::Segment>> lists(static_cast<std::size_t>(between(1, 6)));
        std::vector<std::vector<std::int64_t>> held(lists.size());
        for (std::int64_t first = 0; first < elements;) {
            const std::int64_t length = between(0, std::min<std::int64_t>(9, elements - first));
            if (!gaps || chance(80)) {
                const auto r = static_cast<std::size_t>(
                    between(0, static_cast<std::int64_t>(lists.size()) - 1));
                lists[r].push_back({first, length});
                for (std::int64_t i = 0; i < length; ++i) held[r].push_back(first + i);
            }
            first += length;
        }
        for (auto& list : lists) std::shuffle(list.begin(), list.end(), engine_);
        return {hocket::Layout::indexed(shape, lists), held};
    }

    /// Any layout of an array of that shape.
    Model model(const Shape& shape, bool gaps) {
        if (chance(15)) return maybe_relabeled(indexed(shape, gaps));
        if (!chance(25) || shape.size() > 3) return maybe_relabeled(Model::of(layout(shape, true)));
        Shape larger;
        std::vector<hocket::Slice> slices;
        const auto drop = [&] {
            larger.push_back(between(1, 4));
            slices.push_back({between(0, larger.back() - 1), 1, 1, false});
        };
        for (const std::int64_t n : shape) {
            if (chance(20)) drop();
            hocket::Slice s{between(0, 2), n, between(1, 3), true};
            std::int64_t last = s.first + s.step * std::max<std::int64_t>(n - 1, 0);
            larger.push_back(last + 1 + between(0, 2));
            if (chance(40)) {
                std::swap(s.first, last);
                s.step = -s.step;
            }
            slices.push_back(s);
        }
        if (chance(20)) drop();
        if (chance(15)) return indexed(larger, gaps).section(slices);
        return maybe_relabeled(Model::of(layout(larger, true)).section(slices));
    }

    std::mt19937& engine() { return engine_; }

  private:
    Model maybe_relabeled(Model model) {
        if (!chance(20)) return model;
        const std::int64_t size = model.size() + between(0, 3);
        Shape ranks;
        for (std::int64_t r = 0; r < size; ++r) ranks.push_back(r);
        std::shuffle(ranks.begin(), ranks.end(), engine_);
        ranks.resize(model.held.size());
        return model.relabeled(ranks, size);
    }

    /// A template dimension that no array dimension is aligned with.
    void add(Case& result, std::int64_t extent, bool any) {
        Subscript s;
        s.kind = any ? Subscript::Kind::any : Subscript::Kind::constant;
        s.offset = any ? 0 : between(0, extent - 1);
        s.count = any ? extent : 0;
        result.base.shape.push_back(extent);
        result.alignment.push_back(s);
    }

    std::mt19937 engine_;
};

}  // namespace oracle
