// SPDX-License-Identifier: BSD-3-Clause
#include "task/early_elements.hpp"

#include <algorithm>
#include <utility>

#include "base/platform.hpp"
#include "layout/binary.hpp"
#include "transfer/local_view.hpp"
#include "transfer/schedule.hpp"
#include "transport/early_elements.hpp"

namespace hocket::task {
namespace {

// More elements delay the envelope of a message that the receiver may not want yet.
constexpr std::int64_t longest = 16384;
constexpr std::int64_t most_without_reply = std::int64_t{1} << 20;
constexpr std::size_t most_differing = 64;

std::int64_t bytes_of(const std::string& text) {
    return static_cast<std::int64_t>(text.size());
}

// By their keys: equal layouts may list their elements in other orders.
bool same_layouts(const std::vector<Array>& arrays, const Envelope& met) {
    return std::ranges::equal(
        arrays, met.descriptors, [](const Array& array, const ArrayDescriptor& other) {
            return layout::key_of(array.layout().form()) == layout::key_of(other.value().form());
        });
}

// Of the layout of a message's first array.
std::pair<int, std::string> key_for(int other, const std::vector<Array>& arrays) {
    return {other, layout::key_of(arrays[0].layout().form())};
}

}  // namespace

bool one_process_each(const Tasks::State& all, int mine, int other) {
    const std::vector<int>&here = all.ranks[static_cast<std::size_t>(mine)],
          &there = all.ranks[static_cast<std::size_t>(other)];
    return !platform::simulated && here.size() == 1 && there.size() == 1 && here[0] != there[0] &&
           !all.link->in_node(there[0]) && all.link->endpoint(there[0]) == nullptr;
}

plan::Options options_of(const Array& array, const RequestedOptions& negotiated) {
    plan::Options options;
    options.itemsize = array.dtype().size;
    options.strategy = negotiated.strategy;
    options.stages = negotiated.stages;
    return options;
}

std::shared_ptr<const std::string> elements_for_envelope(const Tasks::State& all, const Member& me,
                                                         const MessageCall& call,
                                                         const std::vector<Array>& arrays) {
    const RequestedOptions& requested = call.requested;
    if (!call.sends || call.fault || arrays.empty() || requested.pieces > 1 ||
        (requested.strategy != "auto" && requested.strategy != "direct") ||
        !one_process_each(all, me.task, call.other) ||
        (!me.differing.empty() && me.differing.contains(key_for(call.other, arrays))))
        return nullptr;
    const auto waiting = me.early_bytes.find(call.other);
    if (waiting != me.early_bytes.end() && waiting->second + longest > most_without_reply)
        return nullptr;
    std::int64_t left = longest;
    for (const Array& array : arrays) {
        left -= transfer::local_bytes(array.layout(), transfer::local_view_of(array),
                                      array.dtype().size);
        if (left < 0) return nullptr;
    }
    std::string elements;
    try {
        for (const Array& array : arrays) {
            plan::Options options = options_of(array, requested);
            options.strategy = "direct";
            const auto work =
                transfer::cached_schedule(array.layout(), array.layout(), options,
                                          transfer::local_view_of(array), transfer::LocalView());
            transport::append_early(elements, *work, static_cast<const std::byte*>(array.data()));
        }
    } catch (const std::exception&) {
        return nullptr;  // the message meets the same error later, and tells the receiver
    }
    return std::make_shared<const std::string>(std::move(elements));
}

void note_layouts(Member& me, int other, const std::vector<Array>& arrays, const Envelope& met) {
    const bool same = same_layouts(arrays, met);
    if (same && me.differing.empty()) return;
    if (same) {
        me.differing.erase(key_for(other, arrays));
    } else {
        if (me.differing.size() == most_differing) me.differing.clear();
        me.differing.insert(key_for(other, arrays));
    }
}

bool came_early(const std::vector<Array>& arrays, const Envelope& met) {
    return met.elements && met.requested.pieces <= 1 && met.requested.strategy == "direct" &&
           same_layouts(arrays, met);
}

ElementsWithoutReply::ElementsWithoutReply(Member& me, int to,
                                           std::shared_ptr<const std::string> elements)
    : me_(me), to_(to) {
    if (!elements) return;
    std::int64_t& under_way = me.early_bytes[to];
    if (under_way + bytes_of(*elements) > most_without_reply) return;
    under_way += bytes_of(*elements);
    elements_ = std::move(elements);
}

ElementsWithoutReply::~ElementsWithoutReply() {
    if (elements_) me_.early_bytes[to_] -= bytes_of(*elements_);
}

}  // namespace hocket::task
