// SPDX-License-Identifier: BSD-3-Clause
// What each process does at an agreed poll.
#include <algorithm>
#include <numeric>

#include "comm/interrupts.hpp"
#include "hocket/kernel.hpp"
#include "layout/form.hpp"
#include "net/boxes.hpp"
#include "port/host.hpp"
#include "port/state.hpp"

namespace hocket::port {
namespace {

// Sends a part, which nobody else holds any more.
comm::Protocol<> send_part(std::shared_ptr<State> /*keep*/, comm::Link& link, Part part, int slot) {
    comm::Requests requests;
    link.send(requests, part.data.get(), static_cast<std::int64_t>(part.bytes), 0,
              State::elements + slot);
    co_await comm::until(requests);
}

bool is_whole(const Layout& layout, const std::vector<Slice>& slices) {
    const Shape& shape = layout.shape();
    if (slices.size() != shape.size()) return false;
    for (std::size_t d = 0; d < slices.size(); ++d) {
        const Slice& each = slices[d];
        if (!each.keep || each.first != 0 || each.step != 1 || each.count != shape[d]) return false;
    }
    return true;
}

std::shared_ptr<const ListedSection> listed(State& state, const Layout& layout,
                                            const std::vector<Slice>& slices,
                                            std::int64_t process) {
    state.last_section_at = comm::coarse_seconds();
    const auto& last = state.last_section;
    const auto equal = [](const Slice& a, const Slice& b) {
        return a.first == b.first && a.count == b.count && a.step == b.step && a.keep == b.keep;
    };
    if (last && &last->of.form() == &layout.form() &&
        std::equal(slices.begin(), slices.end(), last->slices.begin(), last->slices.end(), equal))
        return last;
    if (!is_whole(layout, slices)) {
        std::vector<std::int64_t> places;
        if (process >= 0) places = layout.section_places(slices, process)[0];
        return state.last_section = std::make_shared<const ListedSection>(
                   ListedSection{layout, slices, layout.section(slices), std::move(places)});
    }
    const auto elements = process >= 0 ? layout.local_elements(process) : 0;
    std::vector<std::int64_t> places(static_cast<std::size_t>(elements));
    std::iota(places.begin(), places.end(), 0);
    return state.last_section = std::make_shared<const ListedSection>(
               ListedSection{layout, slices, layout, std::move(places)});
}

Part copied(State& state, const Array& array, const std::vector<Slice>& slices,
            const Layout& section, bool maps) {
    const std::int64_t process = array.process(), itemsize = array.dtype().size;
    const auto bytes = static_cast<std::size_t>(section.local_elements(process) * itemsize);
    Part part = maps ? state.host->lent_memories().part(bytes) : private_part(bytes);
    if (!array.layout().is_indexed()) {
        // Lists of indices would need as many bytes as an array of one dimension.
        const auto slices_here = array.layout().section_slices(slices, process);
        if (const auto box = net::box_of(slices_here, array.strides())) {
            const auto* const from = static_cast<const std::byte*>(array.data()) + box->first;
            kernel::Copy(box->extents, itemsize, box->strides, net::dense(box->extents, itemsize))
                .run(from, part.data.get());
            return part;
        }
    }
    net::pack(state.places(array, slices), itemsize, array.data(), array.strides(),
              part.data.get());
    return part;
}

}  // namespace

Layout State::section(const Array& array, const std::vector<Slice>& slices) {
    const Layout& layout = array.layout();
    return layout.is_indexed() ? listed(*this, layout, slices, array.process())->section
                               : layout.section(slices);
}

net::IndexLists State::places(const Array& array, const std::vector<Slice>& slices) {
    const Layout& layout = array.layout();
    if (layout.is_indexed()) return {listed(*this, layout, slices, array.process())->places};
    return layout.section_places(slices, array.process());
}

bool sends_part(const Layout& section, std::int64_t process) {
    if (section.local_elements(process) == 0) return false;
    if (section.is_indexed()) return true;  // lists may share some elements only
    const auto indices = section.form().sets(process);
    Shape first;
    for (const layout::IndexSet& set : indices) first.push_back(set.element(0));
    const std::int64_t owner = section.owner(first);
    // Equal copies are given once; boxes that overlap are given whole.
    return owner == process || section.form().sets(owner) != indices;
}

void State::free_unused(double now) {
    constexpr double unused = 15;  // seconds
    if (last_section && now - last_section_at > unused) last_section.reset();
    if (host) host->lent_memories().free_unused(now);
}

OwnParts carry_out(State& state, const Batch& batch) {
    for (const auto& [name, value] : batch.changes)
        if (const auto parameter = state.parameter(name)) *parameter = value;
    OwnParts own;
    for (const auto& [name, slices, slot, maps] : batch.sections) {
        own.emplace_back();
        const Array* const array = state.array(name);
        if (array == nullptr || array->process() < 0) continue;
        Part part;
        try {
            const Layout section = state.section(*array, slices);
            if (sends_part(section, array->process()))
                part = copied(state, *array, slices, section, maps);
        } catch (const LayoutError&) {
            continue;  // the array was replaced meanwhile: process 0 tells who asked
        }
        if (!part.data) continue;
        if (state.first()) {
            own.back() = std::move(part);
            continue;
        }
        auto call = std::make_shared<comm::Call>(
            send_part(state.shared_from_this(), *state.link, part, slot),
            "a section for an observer");
        state.sending.remove_if([](const auto& earlier) { return earlier->ended(); });
        state.sending.push_back(call);
        State::begin(call);
    }
    return own;
}

}  // namespace hocket::port
