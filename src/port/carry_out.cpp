// SPDX-License-Identifier: BSD-3-Clause
// What each process does at an agreed poll.
#include <atomic>

#include "comm/interrupts.hpp"
#include "layout/form.hpp"
#include "net/boxes.hpp"
#include "port/state.hpp"

namespace hocket::port {
namespace {

// Sends a part, which nobody else holds any more.
comm::Protocol<> send_part(std::shared_ptr<State> /*keep*/, comm::Link& link,
                           std::shared_ptr<const net::Bytes> part) {
    comm::Requests requests;
    link.send(requests, part->data(), static_cast<std::int64_t>(part->size()), 0, State::elements);
    co_await comm::until(requests);
}

std::shared_ptr<const net::Bytes> copied(State& state, const Array& array,
                                         const std::vector<Slice>& slices, const Layout& section) {
    const std::int64_t process = array.process(), itemsize = array.dtype().size;
    const auto bytes = static_cast<std::size_t>(section.local_elements(process) * itemsize);
    auto& part = state.last_part;
    if (!part || part.use_count() > 1 || part->size() != bytes)
        part = std::make_shared<net::Bytes>(bytes);
    // The thread that sent the last part read it before it let it go (use_count is relaxed).
    std::atomic_thread_fence(std::memory_order_acquire);
    state.last_part_at = comm::coarse_seconds();
    net::pack(array.layout().section_places(slices, process), itemsize, array.data(),
              array.strides(), part->data());
    return part;
}

}  // namespace

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

void State::free_last_part(double now) {
    constexpr double unused = 5;  // seconds
    if (last_part && now - last_part_at > unused) last_part.reset();
}

OwnParts carry_out(State& state, const Batch& batch) {
    for (const auto& [name, value] : batch.changes)
        if (const auto parameter = state.parameter(name)) *parameter = value;
    OwnParts own;
    for (const auto& [name, slices] : batch.sections) {
        own.emplace_back();
        const Array* const array = state.array(name);
        if (array == nullptr || array->process() < 0) continue;
        std::shared_ptr<const net::Bytes> part;
        try {
            const Layout section = array->layout().section(slices);
            if (sends_part(section, array->process()))
                part = copied(state, *array, slices, section);
        } catch (const LayoutError&) {
            continue;  // the array was replaced meanwhile: process 0 tells who asked
        }
        if (!part) continue;
        if (state.first()) {
            own.back() = std::move(part);
            continue;
        }
        auto call = std::make_shared<comm::Call>(
            send_part(state.shared_from_this(), *state.link, part), "a section for an observer");
        state.sending.remove_if([](const auto& earlier) { return earlier->ended(); });
        state.sending.push_back(call);
        State::begin(call);
    }
    return own;
}

}  // namespace hocket::port
