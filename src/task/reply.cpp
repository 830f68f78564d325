// SPDX-License-Identifier: BSD-3-Clause
#include "task/reply.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "plan/routing.hpp"
#include "task/member.hpp"
#include "task/pieces.hpp"
#include "transfer/strategy_choice.hpp"
#include "transport/buffers.hpp"

namespace hocket::task {
namespace {

// Whether relays of each piece of the array need at most `most` bytes.
void require_memory(const Layout& from, const Layout& to, const Envelope& sent,
                    const RequestedOptions& requested, std::int64_t most) {
    plan::Options options;
    options.itemsize = std::max<std::int64_t>(sent.descriptors[0].itemsize, 1);
    options.strategy = requested.strategy;
    options.stages = requested.stages;
    const Cut cut(from, to, std::max<std::int64_t>(requested.pieces, 1));
    for (std::int64_t piece = 0; piece < cut.count(); ++piece)
        transfer::require_memory_to_forward(
            Plan(cut.layout_of(from, piece), cut.layout_of(to, piece), options), most);
}

// Negotiates the options of a message, among them the strategy: by either side's option, else by
// the sender's model, which came with the envelope.
void decide_on(const Tasks::State& all, Envelope& sent, const Envelope& receive) {
    try {
        RequestedOptions requested = negotiate(sent.requested, task_text(all, sent.source),
                                               receive.requested, task_text(all, receive.source));
        const Layout &from = sent.descriptors.at(0).value(),
                     &to = receive.descriptors.at(0).value();
        plan::check_stages(plan::strategy_of(requested.strategy), requested.stages, from.size(),
                           to.size());
        if (const auto most = transport::requested_buffers(); most && requested.strategy != "auto")
            require_memory(from, to, sent, requested, *most);
        if (requested.strategy == "auto" && transfer::only_direct(from, to)) {
            requested.strategy = "direct";
        } else if (requested.strategy == "auto") {
            const auto& ranks = all.ranks;
            plan::Options options;
            options.itemsize = std::max<std::int64_t>(sent.descriptors[0].itemsize, 1);
            options.model = plan::Model::parse(requested.model);
            const transport::Route route{all.link.get(),
                                         ranks[static_cast<std::size_t>(sent.source)],
                                         ranks[static_cast<std::size_t>(receive.source)], 0};
            requested.strategy = transfer::choose_strategy(from, to, std::move(options), route);
        }
        requested.model.clear();
        sent.requested = std::move(requested);
    } catch (const std::exception&) {
        sent.fault = comm::Fault::current();
    }
}

}  // namespace

std::string packed_reply(const Envelope& reply, KnownLayouts known) {
    Packer out(typical_bytes);
    reply.pack(out, known);
    return out.take();
}

Envelope unpacked_reply(const std::string& bytes, KnownLayouts known) {
    Unpacker in(bytes);
    return Envelope::unpacked(in, known);
}

Envelope refusal(comm::Fault fault) {
    Envelope reply;
    reply.fault = std::move(fault);
    return reply;
}

std::string task_text(const Tasks::State& all, int task) {
    return task < 0 ? "any task" : "task '" + all.names[static_cast<std::size_t>(task)] + "'";
}
std::string tag_text(int tag) {
    return tag < 0 ? "any tag" : "tag " + std::to_string(tag);
}
std::string match_text(const std::string& stream, int tag) {
    return stream.empty() ? "with " + tag_text(tag) : "on " + stream;
}
std::string array_text(const std::string& dtype, const Shape& shape) {
    return (dtype.empty() ? "an array" : dtype) + " " + text::tuple(shape);
}

std::string array_text(std::size_t arrays) {
    return arrays == 0 ? "an array" : std::to_string(arrays) + " arrays";
}

comm::Fault fault_of_sender(const Tasks::State& all, const Envelope& envelope) {
    comm::Fault fault = envelope.fault;
    if (envelope.unreadable)
        fault.message =
            "a message of " + task_text(all, envelope.source) + " cannot be read: " + fault.message;
    else if (fault.kind != "EndOfStream" && !envelope.departure)
        fault.message = task_text(all, envelope.source) + " could not send: " + fault.message;
    return fault;
}

comm::Fault fault_in_sizes(const Tasks::State& all, int task,
                           const std::vector<ArrayDescriptor>& descriptors) {
    const std::size_t processes = all.ranks[static_cast<std::size_t>(task)].size();
    for (const ArrayDescriptor& each : descriptors)
        if (each.layout && each.layout->size() > static_cast<std::int64_t>(processes))
            return {"Error", "a message of " + task_text(all, task) + ", which has " +
                                 std::to_string(processes) + " processes, names a layout of " +
                                 std::to_string(each.layout->size()) +
                                 "; do all processes run the same version of hocket?"};
    return {};
}

comm::Fault mismatch(const Tasks::State& all, const Envelope& sent, int receiver,
                     const std::vector<ArrayDescriptor>& wanted, int wanted_tag) {
    const auto counted = [](std::size_t n) {
        return std::to_string(n) + (n == 1 ? " array" : " arrays");
    };
    if (comm::Fault fault = fault_in_sizes(all, sent.source, sent.descriptors)) return fault;
    std::string what, from, to;
    if (sent.descriptors.size() != wanted.size()) {
        from = counted(sent.descriptors.size());
        to = counted(wanted.size());
        what = "give as many arrays to receive";
    }
    for (std::size_t i = 0; what.empty() && i < wanted.size(); ++i) {
        const ArrayDescriptor &a = sent.descriptors[i], &b = wanted[i];
        const bool typed = !a.dtype.empty() && !b.dtype.empty();
        if (a.value().shape() == b.value().shape() &&
            (!typed || (a.dtype == b.dtype && a.itemsize == b.itemsize)))
            continue;
        const Shape &shape = a.value().shape(), &wanted_shape = b.value().shape();
        from = array_text(a.dtype, shape);
        to = array_text(b.dtype, wanted_shape);
        if (wanted.size() > 1) from += ", number " + std::to_string(i) + " of its arrays,";
        what = "make the receiving array match in shape and dtype";
    }
    if (what.empty()) return {};
    return {"MismatchError", task_text(all, sent.source) + " cannot send " + from + " to " +
                                 task_text(all, receiver) + ", which receives " + to + " with " +
                                 tag_text(wanted_tag) + " (the message has tag " +
                                 std::to_string(sent.tag) + "); " + what};
}

Envelope reply_to(const Tasks::State& all, Envelope& sent, const Envelope& receive) {
    sent.fault = mismatch(all, sent, receive.source, receive.descriptors, receive.tag);
    if (!sent.fault) decide_on(all, sent, receive);
    Envelope reply = receive;
    reply.tag = sent.tag;
    reply.fault = sent.fault;
    reply.requested = sent.requested;
    return reply;
}

}  // namespace hocket::task
