// SPDX-License-Identifier: BSD-3-Clause
#include "task/collective_agreement.hpp"

#include "base/pack.hpp"

namespace hocket::task {
namespace {

using Kind = Collective::Kind;

std::string packed(const Contribution& brought) {
    Packer out, item;
    item.text(brought.call).text(brought.fault.kind).text(brought.fault.message);
    KnownLayouts within;
    pack(item, brought.descriptors, within);
    pack(item, brought.results, within);
    return out.text(item.take()).take();  // as one text, so that several can follow each other
}

std::vector<Contribution> unpacked(const std::string& bytes) {
    std::vector<Contribution> all;
    for (Unpacker in(bytes); !in.empty();) {
        const std::string item = in.text();
        Unpacker each(item);
        Contribution& made = all.emplace_back();
        made.call = each.text();
        made.fault.kind = each.text();
        made.fault.message = each.text();
        KnownLayouts within;
        made.descriptors = unpack_descriptors(each, within);
        made.results = unpack_descriptors(each, within);
    }
    return all;
}

bool alike(const ArrayDescriptor& a, const ArrayDescriptor& b) {
    return a.dtype == b.dtype && a.itemsize == b.itemsize && a.value().shape() == b.value().shape();
}

// On one process, which has the contributions of all tasks.
comm::Fault fault_among(const Tasks::State& all, const std::vector<Contribution>& brought,
                        Kind kind, int root) {
    for (std::size_t t = 0; t < brought.size(); ++t)
        if (brought[t].fault)
            return {brought[t].fault.kind, "task '" + all.names[t] + "' cannot take part in a " +
                                               "collective call: " + brought[t].fault.message};
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

// The lowest processes of all tasks; what each brings, or what is wrong.
comm::Protocol<std::string> meet(All all, Me me, const Collective& call, const Contribution& mine,
                                 int meeting_tag) {
    comm::Group lowest{all->link.get(), {}, me->task};
    for (const auto& ranks : all->ranks) lowest.members.push_back(ranks[0]);
    comm::Merge append = [](std::string a, std::string b) { return a + b; };
    std::string outcome =
        co_await comm::reduce(lowest, meeting_tag, packed(mine), std::move(append));
    if (lowest.lowest()) {
        std::vector<Contribution> outcome_text = unpacked(outcome);
        outcome_text[0].fault = fault_among(*all, outcome_text, call.kind, call.root);
        if (outcome_text[0].fault) outcome = packed(outcome_text[0]);
    }
    outcome = co_await comm::broadcast(lowest, meeting_tag, std::move(outcome));
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
    signature = co_await comm::collect(me->group, tree_tag, std::move(signature));
    std::string outcome;
    if (me->group.lowest()) {
        mine.fault = signature.fault;
        try {
            std::string said = co_await meet(all, me, call, mine, meeting_tag);
            outcome = std::move(said);
        } catch (const PeerLostError&) {  // only this process of its task may have noticed
            mine.fault = comm::Fault::current();
            outcome = packed(mine);
        }
    }
    outcome = co_await comm::broadcast(me->group, tree_tag, std::move(outcome));
    std::vector<Contribution> brought = unpacked(outcome);
    if (brought[0].fault) brought[0].fault.raise();
    co_return brought;
}

}  // namespace hocket::task
