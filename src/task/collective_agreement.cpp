// SPDX-License-Identifier: BSD-3-Clause
#include "task/collective_agreement.hpp"

#include <algorithm>

#include "base/pack.hpp"
#include "base/text.hpp"
#include "task/reply.hpp"

namespace hocket::task {
namespace {

using Kind = Collective::Kind;

// Long layouts travel as digests. A process that gathers contributions learns from their beginnings
// whether all processes know all layouts.
std::string packed(const Contribution& brought) {
    Packer out, item;
    KnownLayouts named(KnownLayouts::unlimited);
    keep(named, brought.descriptors);
    keep(named, brought.results);
    item.text(brought.call);
    brought.fault.pack(item);
    pack(item, brought.descriptors, named);
    pack(item, brought.results, named);
    pack(out, brought.offer);
    pack(out, named.offer());
    return out.text(item.take()).take();
}

// The digests in contributions that some process does not offer.
std::vector<std::string> unknown_among(const std::string& contributions) {
    const auto without = [](std::vector<std::string>& from, const std::vector<std::string>& in,
                            bool those) {
        std::erase_if(from, [&](const std::string& digest) {
            return (std::find(in.begin(), in.end(), digest) != in.end()) == those;
        });
    };
    std::vector<std::string> named, offered;
    bool first = true;
    for (Unpacker in(contributions); !in.empty(); first = false) {
        const std::vector<std::string> offer = unpack_texts(in), digests = unpack_texts(in);
        static_cast<void>(in.text());
        named.insert(named.end(), digests.begin(), digests.end());
        if (first) offered = offer;
        without(offered, offer, false);
    }
    without(named, offered, true);
    return named;
}

// The outcome of the agreement for all processes: contributions, and the layouts that they need.
std::string packed(const std::string& contributions, const std::string& layouts) {
    return Packer().number(0).text(contributions).text(layouts).take();
}

std::string packed_fault(comm::Fault fault) {
    Contribution only;
    only.fault = std::move(fault);
    return packed(packed(only), "");
}

std::vector<Contribution> unpacked(const std::string& outcome, KnownLayouts known) {
    Unpacker whole(outcome);
    static_cast<void>(whole.number());
    const std::string contributions = whole.text(), layouts = whole.text();
    for (Unpacker in(layouts); !in.empty();) static_cast<void>(known.unpack(in));
    std::vector<Contribution> all;
    for (Unpacker in(contributions); !in.empty();) {
        static_cast<void>(unpack_texts(in));
        static_cast<void>(unpack_texts(in));
        const std::string item = in.text();
        Unpacker each(item);
        Contribution& made = all.emplace_back();
        made.call = each.text();
        made.fault = comm::Fault::unpacked(each);
        made.descriptors = unpack_descriptors(each, known);
        made.results = unpack_descriptors(each, known);
    }
    if (all.empty())
        throw Error(
            "a collective call between tasks has no outcome; do all processes run the same "
            "version of hocket?");
    return all;
}

bool alike(const ArrayDescriptor& a, const ArrayDescriptor& b) {
    return a.dtype == b.dtype && a.itemsize == b.itemsize && a.value().shape() == b.value().shape();
}

// On one process, which has the contributions of all tasks.
comm::Fault fault_among(const Tasks::State& all, const std::vector<Contribution>& brought,
                        Kind kind, int root) {
    if (brought.size() != all.names.size())
        throw Error(std::to_string(brought.size()) + " tasks take part in a collective call of " +
                    std::to_string(all.names.size()) +
                    "; do all processes run the same version of hocket?");
    for (std::size_t t = 0; t < brought.size(); ++t)
        if (brought[t].fault)
            return {brought[t].fault.kind, "task '" + all.names[t] + "' cannot take part in a " +
                                               "collective call: " + brought[t].fault.message};
    for (std::size_t t = 0; t < brought.size(); ++t) {
        const int task = static_cast<int>(t);
        if (comm::Fault fault = fault_in_sizes(all, task, brought[t].descriptors)) return fault;
        if (comm::Fault fault = fault_in_sizes(all, task, brought[t].results)) return fault;
    }
    for (std::size_t t = 1; t < brought.size(); ++t)
        if (brought[t].call != brought[0].call)
            return {"MismatchError", "task '" + all.names[0] + "' calls " + brought[0].call +
                                         ", but task '" + all.names[t] + "' calls " +
                                         brought[t].call + "; make the same call in all tasks"};
    if (kind != Kind::gather) return {};
    const auto& results = brought[static_cast<std::size_t>(root)].results;
    const std::string& name = all.names[static_cast<std::size_t>(root)];
    if (results.size() != brought.size())
        return {"MismatchError", "gather: the root, task '" + name + "', gives " +
                                     std::to_string(results.size()) + " arrays, but there are " +
                                     std::to_string(brought.size()) +
                                     " tasks; give one array a task"};
    for (std::size_t t = 0; t < results.size(); ++t)
        if (!alike(brought[t].descriptors.at(0), results[t]))
            return {"MismatchError", "gather: task '" + all.names[t] + "' gives " +
                                         brought[t].descriptors[0].text() +
                                         ", but the root, task '" + name + "', receives it into " +
                                         results[t].text() + "; make shape and dtype match"};
    return {};
}

}  // namespace

std::string text_of(const Tasks::State& all, const Collective& call) {
    constexpr const char* names[] = {"barrier", "bcast", "reduce", "allreduce", "gather"};
    std::string out = std::string(names[static_cast<std::size_t>(call.kind)]) + "(";
    // Arrays of a gather may differ from task to task.
    if (call.array && call.kind != Kind::gather)
        out += array_text(call.array->dtype().name, call.array->layout().shape()) + ", ";
    if (!call.op.empty()) out += "op='" + call.op + "', ";
    const bool rooted = call.kind != Kind::barrier && call.kind != Kind::allreduce;
    if (rooted) out += "root='" + all.names[static_cast<std::size_t>(call.root)] + "', ";
    if (out.ends_with(", ")) out.resize(out.size() - 2);
    return out + ")";
}

namespace {

// A deadline is that of one task only.
comm::Fault fault_for_others(const comm::Fault& fault) {
    return fault.kind == "DeadlineError" ? comm::Fault{"Error", fault.message} : fault;
}

// The error if a blocking call of another task has ended early: that task is out of step.
comm::Fault departed(Member& me) {
    me.matcher.pump();
    for (int other = 0; other < static_cast<int>(me.all->names.size()); ++other)
        if (const Envelope* departure = me.matcher.departure_of(other)) return departure->fault;
    return {};
}

// The error of this task, whose wait has ended before the call.
comm::Fault fault_of_wait(const Member& me, const Collective& call) {
    const std::string gave_up = "task '" + me.name() + "' gave up " + text_of(*me.all, call);
    constexpr const char* advice = "; set tasks up anew";
    if (!call.deadline.passed()) return {"Error", gave_up + ": it was interrupted" + advice};
    return {"DeadlineError", gave_up + " after " + text::seconds(call.deadline.timeout()) + advice};
}

// Texts go up the tree of the lowest processes. A process that finds a reason to end the call sends
// it in place of its text, and waits for nothing more. Returns the texts of some tasks, or the
// reason.
comm::Protocol<comm::CallSignature> gather_up(const comm::Group& lowest, Member& me,
                                              const Collective& call, std::string mine, int tag) {
    comm::CallSignature all{call.out_of_step ? call.fault : departed(me), std::move(mine), {}};
    const int size = lowest.size();
    int bit = 1;
    for (; !all.fault && (lowest.index & bit) == 0 && lowest.index + bit < size; bit <<= 1) {
        const int child = lowest.rank_of(lowest.index + bit);
        const std::function<bool()> over = [&] {
            all.fault = *call.given_up ? fault_of_wait(me, call) : departed(me);
            return static_cast<bool>(all.fault);
        };
        const auto message = co_await comm::receive_text(*lowest.link, child, tag, over);
        if (!message) break;
        Unpacker in(message->text);
        all.fault = comm::Fault::unpacked(in);
        all.text += in.text();
    }
    if (lowest.lowest()) co_return all;
    const int parent = lowest.rank_of(lowest.index & (lowest.index - 1));
    Packer out;
    fault_for_others(all.fault).pack(out);
    co_await comm::send_text(*lowest.link, out.text(all.text).take(), parent, tag);
    co_return all;
}

// From the lowest of all directly to the others: a process that has ended its call relays nothing.
comm::Protocol<std::string> hand_down(const comm::Group& lowest, Member& me, std::string outcome,
                                      int tag) {
    if (lowest.lowest()) {
        comm::Requests requests;
        for (int member = 1; member < lowest.size(); ++member)
            lowest.link->send_text(requests, outcome, lowest.rank_of(member), tag);
        co_await comm::until(requests);
        co_return outcome;
    }
    const std::function<bool()> gone = [&] {
        me.matcher.pump();
        return me.matcher.departure_of(0) != nullptr;
    };
    auto message = co_await comm::receive_text(*lowest.link, lowest.rank_of(0), tag, gone);
    if (!message) co_return packed_fault(me.matcher.departure_of(0)->fault);
    co_return std::move(message->text);
}

// The outcome for this task of a call that cannot be; the lowest of all tells the others.
comm::Protocol<std::string> end_call(const comm::Group& lowest, Member& me,
                                     const comm::Fault& fault, int tag) {
    std::string outcome = packed_fault(fault_for_others(fault));
    if (lowest.lowest()) static_cast<void>(co_await hand_down(lowest, me, std::move(outcome), tag));
    co_return packed_fault(fault);
}

// Runs on the lowest processes of all tasks, and returns the outcome. If some process lacks a
// layout, the lowest of all requests it in a second round. Invariant: the call happens in all tasks
// or in none, because the lowest of all decides alone, and a process whose contribution has left
// waits for its decision.
comm::Protocol<std::string> meet(All all, Me me, const Collective& call, const Contribution& mine,
                                 const KnownLayouts& known, int meeting_tag) {
    comm::Group lowest{all->link.get(), {}, me->task};
    for (const auto& ranks : all->ranks) lowest.members.push_back(ranks[0]);
    const auto outcome_of = [&](const std::string& contributions, const std::string& layouts) {
        std::string outcome = packed(contributions, layouts);
        comm::Fault fault;
        try {
            fault = fault_among(*all, unpacked(outcome, known), call.kind, call.root);
        } catch (const std::exception&) {
            fault = comm::Fault::current();
        }
        return fault ? packed_fault(std::move(fault)) : outcome;
    };
    comm::CallSignature brought = co_await gather_up(lowest, *me, call, packed(mine), meeting_tag);
    if (brought.fault) co_return co_await end_call(lowest, *me, brought.fault, meeting_tag);
    std::string outcome;
    if (lowest.lowest()) {
        try {
            const std::vector<std::string> unknown = unknown_among(brought.text);
            Packer request;
            pack(request.number(1), unknown);
            outcome = unknown.empty() ? outcome_of(brought.text, "") : request.take();
        } catch (const std::exception&) {
            outcome = packed_fault(comm::Fault::current());
        }
    }
    outcome = co_await hand_down(lowest, *me, std::move(outcome), meeting_tag);
    Unpacker in(outcome);
    if (in.number() == 0) co_return outcome;
    KnownLayouts own(KnownLayouts::unlimited);
    keep(own, mine.descriptors);
    keep(own, mine.results);
    std::string layouts = own.whole(unpack_texts(in));
    comm::CallSignature needed =
        co_await gather_up(lowest, *me, call, std::move(layouts), meeting_tag);
    if (needed.fault) co_return co_await end_call(lowest, *me, needed.fault, meeting_tag);
    outcome.clear();
    if (lowest.lowest()) outcome = outcome_of(brought.text, needed.text);
    outcome = co_await hand_down(lowest, *me, std::move(outcome), meeting_tag);
    co_return outcome;
}

}  // namespace

comm::Protocol<std::vector<Contribution>> gather_contributions(All all, Me me,
                                                               const Collective& call, int tree_tag,
                                                               int meeting_tag) {
    Contribution mine;
    comm::CallSignature signature;
    signature.fault = call.fault;
    if (!call.fault) {
        mine.call = text_of(*all, call);
        if (call.array) mine.descriptors.push_back(ArrayDescriptor::of(*call.array));
        mine.results = descriptors_of(call.results);
        signature.text = mine.call;
        for (const auto* descriptors : {&mine.descriptors, &mine.results})
            for (const ArrayDescriptor& form : *descriptors) signature.text += ", " + form.text();
    }
    const KnownLayouts offered = me->outcomes.recent(KnownLayouts::usual);
    signature.offer = offered.offer();
    signature = co_await comm::collect(me->group, tree_tag, std::move(signature));
    std::string outcome;
    if (me->group.lowest()) {
        if (signature.fault) mine = {};
        mine.fault = signature.fault;
        mine.offer = signature.offer;
        try {
            std::string agreed = co_await meet(all, me, call, mine, offered, meeting_tag);
            // All processes of a task get its own error.
            if (*call.given_up && unpacked(agreed, offered)[0].fault)
                agreed = packed_fault(fault_of_wait(*me, call));
            outcome = std::move(agreed);
        } catch (const std::exception&) {  // only this process of its task has noticed
            outcome = packed_fault(comm::Fault::current());
        }
    }
    outcome = co_await comm::broadcast(me->group, tree_tag, std::move(outcome));
    std::vector<Contribution> brought = unpacked(outcome, offered);
    if (brought[0].fault) brought[0].fault.raise();
    for (const Contribution& each : brought) {
        keep(me->outcomes, each.descriptors);
        keep(me->outcomes, each.results);
    }
    co_return brought;
}

}  // namespace hocket::task
