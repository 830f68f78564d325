// SPDX-License-Identifier: BSD-3-Clause
#include "task/early_elements.hpp"

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

// Within a node the elements take no message of their own. Processes of other jobs may run another
// version.
bool may_be_early(const Tasks::State& all, int source, int destination) {
    const std::vector<int>&from = all.ranks[static_cast<std::size_t>(source)],
          &to = all.ranks[static_cast<std::size_t>(destination)];
    return !platform::simulated && from.size() == 1 && to.size() == 1 && from[0] != to[0] &&
           !all.link->in_node(to[0]) && all.link->endpoint(to[0]) == nullptr;
}

std::int64_t bytes_of(const std::string& text) {
    return static_cast<std::int64_t>(text.size());
}

}  // namespace

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
        !may_be_early(all, me.task, call.other))
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

bool came_early(const std::vector<Array>& arrays, const Envelope& met) {
    if (!met.elements || met.requested.pieces > 1 || met.requested.strategy != "direct")
        return false;
    // By their keys: equal layouts may list their elements in other orders.
    for (std::size_t i = 0; i < arrays.size(); ++i)
        if (layout::key_of(arrays[i].layout().form()) !=
            layout::key_of(met.descriptors.at(i).value().form()))
            return false;
    return true;
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
