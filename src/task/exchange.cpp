// SPDX-License-Identifier: BSD-3-Clause
#include "task/exchange.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <span>

#include "base/at_end.hpp"
#include "base/text.hpp"
#include "comm/engine.hpp"
#include "task/byte_order.hpp"
#include "task/early_elements.hpp"
#include "task/reply.hpp"
#include "transfer/check.hpp"
#include "transfer/executor.hpp"

namespace hocket::task {
namespace {

using comm::CallSignature;
using comm::until;
using comm::When;
using Found = std::shared_ptr<std::optional<Status>>;
using Pieces = std::shared_ptr<std::optional<Cut>>;

Status status_of(const Tasks::State& all, const Envelope& envelope) {
    const ArrayDescriptor& form = envelope.descriptors.at(0);
    Status status{envelope.source, all.names[static_cast<std::size_t>(envelope.source)],
                  envelope.tag, form.value(), DType{form.dtype, form.itemsize}};
    for (const auto& more : std::span(envelope.descriptors).subspan(1))
        status.further.push_back({more.value(), DType{more.dtype, more.itemsize}});
    return status;
}

transport::Route route_of(const Tasks::State& all, const Tags& tags, int source, int destination,
                          std::int64_t send) {
    return {all.link.get(),
            all.ranks[static_cast<std::size_t>(source)],
            all.ranks[static_cast<std::size_t>(destination)],
            tags.data(source, send),
            send,
            0,
            tags.among(Side::source, source, send),
            tags.among(Side::destination, source, send)};
}

// Waits until the call may begin, if its start is deferred.
Protocol<> pass(MessageCall& call) {
    if (call.gate == nullptr) co_return;
    When opened([&] { return call.gate->open; });
    co_await until(opened);
    if (call.fault) co_return;
    call.fault = call.gate->fault;
    call.abandoned = static_cast<bool>(call.fault);
}

// This task's arrays and the other's layouts, in the order of their transfer. MPI keeps the order
// of messages with one source and tag, so both sides know the array and the piece of each message.
Protocol<> move(const std::vector<Array>& arrays, const Envelope& met, bool sending,
                transport::Route route, transfer::Stopwatch& watch, Pieces pieces) {
    std::span<const std::byte> early;
    if (came_early(arrays, met)) {
        early = std::as_bytes(std::span(*met.elements));
        route.early = early;
    }
    for (std::size_t i = 0; i < arrays.size(); ++i) {
        const Layout& other = met.descriptors.at(i).value();
        const Layout& own = arrays[i].layout();
        route.number_bytes = number_bytes(arrays[i].dtype().name, arrays[i].dtype().size);
        const Cut cut(sending ? own : other, sending ? other : own,
                      std::max<std::int64_t>(met.requested.pieces, 1));
        if (arrays.size() == 1) *pieces = cut;
        for (std::int64_t piece = 0; piece < cut.count(); ++piece) {
            std::optional<Array> part;
            if (cut.count() > 1) part = cut.array_of(arrays[i], piece);
            const Array& array = part ? *part : arrays[i];
            const transfer::LocalView here = transfer::local_view_of(array), nowhere;
            const Layout there = cut.layout_of(other, piece);
            const plan::Options options = options_of(array, met.requested);
            const auto work =
                sending ? transfer::cached_schedule(array.layout(), there, options, here, nowhere)
                        : transfer::cached_schedule(there, array.layout(), options, nowhere, here);
            watch.lap(&Profile::schedule);
            co_await transfer::run(work, sending ? array.data() : nullptr,
                                   sending ? nullptr : array.data(), route, watch);
            if (route.early) {
                for (const auto& message : work->receives)
                    early = early.subspan(static_cast<std::size_t>(message.bytes));
                route.early = early;
            }
            if (*pieces) (*pieces)->done = piece + 1;
        }
    }
}

Protocol<> exchange(All all, Me me, MessageCall call, std::vector<Array> arrays, int tree_tag,
                    std::int64_t ticket, Found found, Pieces pieces) {
    const bool sends = call.sends;
    const int other = call.other, tag = call.tag;
    co_await pass(call);
    transfer::Stopwatch watch(all->profile, track_of(!sends     ? "recv"
                                                     : call.end ? "close"
                                                                : "send",
                                                     *all, call, arrays));
    call.elements = elements_for_envelope(*all, *me, call, arrays);
    if (call.elements) watch.lap(&Profile::pack);
    const Envelope met = co_await rendezvous(all, me, std::move(call), tree_tag, ticket, watch);
    if (arrays.empty()) {  // the end of a stream
        *found = Status{me->task, me->name(), tag, Layout({0}, "(*)"), DType{"", 0}};
        co_return;
    }
    if (sends && one_process_each(*all, me->task, other)) note_layouts(*me, other, arrays, met);
    transport::Route route = sends ? route_of(*all, me->tags, me->task, other, ticket)
                                   : route_of(*all, me->tags, met.source, me->task, met.send);
    co_await move(arrays, met, sends, std::move(route), watch, std::move(pieces));
    if (!sends) {
        *found = status_of(*all, met);
        co_return;
    }
    Status status{me->task, me->name(), tag, arrays[0].layout(), arrays[0].dtype()};
    for (const auto& more : std::span(arrays).subspan(1))
        status.further.push_back({more.layout(), more.dtype()});
    *found = std::move(status);
}

// On the lowest process: what the next matching receive would find.
Protocol<Envelope> look(All all, Me me, const MessageCall& probing, bool wait, std::int64_t ticket,
                        Fault fault) {
    When my_turn([&] { return me->next_receive == ticket; });
    co_await until(my_turn);
    PostedReceive wanted{probing.other, probing.tag, "", false, {}};
    const base::AtEnd withdrawal([&] { me->matcher.withdraw(wanted); });
    if (!fault) me->matcher.post(wanted);
    ++me->next_receive;
    When matched([&] {
        me->matcher.pump();
        if (!wanted.found) all->need_sender(me->task, wanted.source);
        return fault || wanted.found || !wait || probing.deadline.passed();
    });
    co_await until(matched);
    if (wanted.found && wanted.found->fault) fault = fault_of_sender(*all, *wanted.found);
    Envelope outcome;
    if (wanted.found && !wanted.found->fault) outcome = *wanted.found;
    outcome.fault = std::move(fault);
    co_return outcome;
}

Protocol<> probe(All all, Me me, MessageCall probing, bool wait, int tree_tag, std::int64_t ticket,
                 Found found) {
    CallSignature mine;
    mine.fault = probing.fault;
    mine.text = "probe(" + task_text(*all, probing.other) + ", " + tag_text(probing.tag) + ")";
    const KnownLayouts offered = me->outcomes.recent();
    mine.offer = offered.offer();
    CallSignature signature = co_await comm::collect(me->group, tree_tag, std::move(mine));
    const KnownLayouts of_all(signature.offer);
    Envelope found_here;
    if (me->group.lowest()) {
        try {
            Envelope seen =
                co_await look(all, me, probing, wait, ticket, std::move(signature.fault));
            found_here = std::move(seen);
        } catch (const std::exception&) {  // only this process of its task has noticed
            found_here.fault = Fault::current();
        }
    }
    const std::string outcome =
        co_await comm::broadcast(me->group, tree_tag, packed_reply(found_here, of_all));
    const Envelope answer = unpacked_reply(outcome, offered);
    keep(me->outcomes, answer.descriptors);
    if (answer.fault) answer.fault.raise();
    if (!answer.descriptors.empty()) {
        *found = status_of(*all, answer);
    } else if (wait) {
        throw DeadlineError("task '" + me->name() + "' gave up its probe for a message from " +
                            task_text(*all, probing.other) + " with " + tag_text(probing.tag) +
                            " after " + text::seconds(probing.deadline.timeout()) +
                            ": nothing was sent" + me->silence_text(probing.other));
    }
}

using Text = std::function<std::string()>;

// The description of a send or a receive for messages. It does not keep arrays or tasks alive.
Text text_of(const Member& me, const MessageCall& call, const std::vector<Array>& arrays) {
    std::optional<Layout> layout;
    if (arrays.size() == 1) layout = arrays[0].layout();
    return [name = me.name(), verb = call.sends ? "sends" : "receives", count = arrays.size(),
            layout = std::move(layout), dtype = arrays.empty() ? "" : arrays[0].dtype().name,
            direction = call.direction(), there = task_text(*me.all, call.other),
            stream = call.stream, tag = call.tag] {
        return "task '" + name + "' " + verb + " " +
               (layout ? array_text(dtype, layout->shape()) : array_text(count)) + " " + direction +
               " " + there + " " + match_text(stream, tag);
    };
}

std::shared_ptr<Pending> start(Me me, Found found, Protocol<> protocol, Text text,
                               Pieces pieces = nullptr,
                               std::shared_ptr<comm::StartGate> gate = nullptr) {
    auto call = std::make_shared<comm::Call>(std::move(protocol), std::move(text));
    auto pending = std::make_shared<Pending>(Pending{std::move(me), std::move(found), call, nullptr,
                                                     nullptr, nullptr, std::move(pieces)});
    if (gate == nullptr)
        comm::Engine::instance().add(call);
    else
        pending->later = std::make_shared<comm::DeferredCall>(call, std::move(gate));
    return pending;
}

int next_tree_tag(Member& me) {
    return me.tags.tree(me.task, me.calls++);
}

}  // namespace

Fault fault_of(const Member& member, const Array& array, bool receiving) {
    const int size = member.group.size();
    if (array.comm().size() != size || array.comm().rank() != member.group.index)
        return {"LayoutError",
                "the array lies over a communicator of " + std::to_string(array.comm().size()) +
                    " processes, not over the " + std::to_string(size) + " of task '" +
                    member.name() +
                    "'; make it with the task's communicator: w.comm, in C and Fortran that of "
                    "hocket_tasks_comm"};
    if (member.all->link->mixes_orders())
        if (Fault fault = fault_in_type(array.dtype())) return fault;
    return receiving ? transfer::fault_in_writing(array) : Fault{};
}

std::shared_ptr<Pending> start_message(All all, Me me, MessageCall call,
                                       std::vector<Array> arrays) {
    auto found = std::make_shared<std::optional<Status>>();
    auto pieces = std::make_shared<std::optional<Cut>>();
    Text text = text_of(*me, call, arrays);
    const int tag = next_tree_tag(*me);
    const std::int64_t ticket = (call.sends ? me->sends : me->receives)++;
    const auto gate = call.gate;
    const auto given_up = call.sends ? nullptr : std::make_shared<bool>(false);
    call.given_up = given_up;
    auto pending = start(me, found,
                         exchange(std::move(all), me, std::move(call), std::move(arrays), tag,
                                  ticket, found, pieces),
                         std::move(text), pieces, gate);
    pending->given_up = given_up;
    return pending;
}

std::shared_ptr<Pending> start_probe(All all, Me me, MessageCall probing, bool wait) {
    auto found = std::make_shared<std::optional<Status>>();
    std::string text = "task '" + me->name() + "' probes for a message from " +
                       task_text(*all, probing.other) + " with " + tag_text(probing.tag);
    const int tree_tag = next_tree_tag(*me);
    const std::int64_t ticket = me->receives++;
    return start(me, found,
                 probe(std::move(all), me, std::move(probing), wait, tree_tag, ticket, found),
                 [text = std::move(text)] { return text; });
}

}  // namespace hocket::task
