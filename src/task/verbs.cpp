// SPDX-License-Identifier: BSD-3-Clause
// The program's interface: the verbs of Tasks, and requests.
#include "base/platform.hpp"
#include "base/text.hpp"
#include "base/trace.hpp"
#include "comm/engine.hpp"
#include "comm/loss_detector.hpp"
#include "hocket/binding.hpp"
#include "hocket/task.hpp"
#include "task/collectives.hpp"
#include "task/exchange.hpp"
#include "task/member.hpp"
#include "task/verb.hpp"
#include "transfer/check.hpp"

namespace hocket {

namespace {

using task::finish_or_break;
using task::the_verb;
using task::Verb;
using task::verbs;
using task::with_grace;

// Waits for both, even if one fails, so that neither goes on after an error.
Status finish_both(task::Pending& out, task::Pending& in, const Deadline& deadline, int to,
                   int from) {
    std::exception_ptr failed;
    try {
        finish_or_break(out, deadline, to);
    } catch (const Error&) {
        failed = std::current_exception();
    }
    std::optional<Status> status;
    try {
        status = finish_or_break(in, with_grace(deadline), from);
    } catch (const Error&) {
        if (!failed) throw;  // otherwise the send's error, which came first, is more informative
    }
    if (failed) std::rethrow_exception(failed);
    return *status;
}

std::shared_ptr<comm::StartGate> gate_if(bool later) {
    return later ? std::make_shared<comm::StartGate>() : nullptr;
}

comm::Fault fault_of_all(const task::Member& me, std::span<const Array> arrays, bool receiving) {
    if (arrays.empty())
        return {"Error", std::string("there is no array to ") +
                             (receiving ? "receive into" : "send") +
                             " in an empty list; give one array or more"};
    for (std::size_t i = 0; i < arrays.size(); ++i) {
        comm::Fault fault = task::fault_of(me, arrays[i], receiving);
        if (!fault) continue;
        if (arrays.size() > 1)
            fault.message = "number " + std::to_string(i) + " of the " +
                            std::to_string(arrays.size()) + " arrays: " + fault.message;
        return fault;
    }
    if (!receiving || arrays.size() < 2) return {};
    if (const auto pair = transfer::sharing_memory(arrays))
        return {"Error", "numbers " + std::to_string(pair->first) + " and " +
                             std::to_string(pair->second) + " of the " +
                             std::to_string(arrays.size()) +
                             " arrays to receive into share memory; give each its own"};
    return {};
}

std::span<const Array> only(const Array& array) {
    return {&array, 1};
}

// Some verbs block until the other task has acted. A wildcard receive can block if any task shares
// no process with this one.
void require_apart(const Tasks::State& all, const task::Member& me, int other, const Verb& verb) {
    if (!verb.waits) return;
    const std::string instead =
        std::string("i") + verb.name + (verb.sends ? "" : " with isend") + ", or sendrecv";
    if (other != any_source) return all.require_apart(me.task, other, verb.name, instead);
    for (int task = 0; task < static_cast<int>(all.names.size()); ++task)
        if (!all.share_process(me.task, task)) return;
    throw Error(std::string(verb.name) + ": task '" + me.name() +
                "' shares a process with every task, so no task can send meanwhile; use " +
                instead);
}

bool names_one(const TaskId& source) {
    return !std::holds_alternative<int>(source) || std::get<int>(source) != any_source;
}

// The task of a receive or probe, or any_source. @throws Error for an invalid task or tag.
int source_of(const Tasks::State& all, const TaskId& source, int tag, const Verb& verb) {
    const int from = names_one(source) ? all.index(source) : any_source;
    if (tag < any_tag)
        throw Error(std::string(verb.name) + ": tag is " + std::to_string(tag) +
                    "; give a tag of 0 or more, or any_tag");
    return from;
}

// @throws Error for a deferred start of a blocking call.
void require_now(const MessageOptions& options, const Verb& verb) {
    if (options.later && verb.waits)
        throw Error(std::string(verb.name) + ": it waits, so it cannot begin later; use i" +
                    verb.name);
}

}  // namespace

Tasks::Tasks(std::shared_ptr<State> state, std::shared_ptr<task::Member> speaker)
    : state_(std::move(state)), speaker_(state_.pointer(), speaker.get()) {}

task::Member& Tasks::speaker(const char* verb) const {
    while (state_->next) {
        const auto next = state_->next;
        speaker_ = task::Me(next, next->mine.begin()->second.get());
        state_ = next;
    }
    if (speaker_) return *speaker_;
    std::vector<std::string> mine;
    for (const auto& [task, member] : state_->mine) mine.push_back(member->name());
    throw Error(std::string(verb) + ": this process is in several tasks (" +
                text::quoted_list(mine) + "); name the task that makes the call, as w.task('" +
                mine[0] + "')." + verb + ", in C and Fortran by the handle of hocket_tasks_task");
}

const std::optional<std::string>& Tasks::name() const {
    static const std::optional<std::string> none;
    return state_.pointer() && speaker_ ? speaker_->shown_name : none;
}
int Tasks::rank() const {
    return speaker("rank").task;
}
int Tasks::size() const {
    return static_cast<int>(state_->names.size());
}
const std::vector<std::string>& Tasks::names() const {
    return state_->names;
}
Comm Tasks::comm() const {
    return speaker("comm").comm;
}

Tasks Tasks::task(const TaskId& id) const {
    const int index = state_->index(id);
    const auto it = state_->mine.find(index);
    if (it == state_->mine.end())
        throw Error("this process is not in task '" +
                    state_->names[static_cast<std::size_t>(index)] +
                    "', so it cannot make calls for it");
    return {state_, it->second};
}

Request Tasks::start_send(std::span<const Array> arrays, const TaskId& destination,
                          const Verb& verb, const MessageOptions& options, comm::Fault fault) {
    if (verb.waits || (verb.sends && verb.receives)) comm::require_may_block(verb.name);
    task::Member& me = speaker(verb.name);
    task::RequestedOptions requested{options.strategy, options.stages, options.pieces, {}};
    const int tag = options.tag.value_or(0);
    int to = -1;
    if (!fault) {
        try {
            require_now(options, verb);
            to = state_->index(destination);
            if (tag < 0)
                throw Error(std::string(verb.name) + ": tag is " + std::to_string(tag) +
                            "; a tag that is sent is 0 or more");
            require_apart(*state_, me, to, verb);
            me.require_intact(to, verb.name);
            requested.check(arrays.size());
            requested.model = task::model_text(requested);
            fault = fault_of_all(me, arrays, false);
        } catch (const Error&) {
            fault = comm::Fault::current();
        }
    }
    const comm::EngineLock engine_lock;
    task::MessageCall sending{true, task::descriptors_of(arrays), to, tag, std::move(fault)};
    sending.requested = std::move(requested);
    sending.gate = gate_if(options.later && !verb.waits);
    return Request(
        task::start_message(state_, speaker_, std::move(sending), {arrays.begin(), arrays.end()}));
}

Request Tasks::start_receive(std::span<const Array> arrays, const TaskId& source, const Verb& verb,
                             const MessageOptions& options, comm::Fault fault) {
    if (verb.waits || (verb.sends && verb.receives)) comm::require_may_block(verb.name);
    task::Member& me = speaker(verb.name);
    const task::RequestedOptions requested{options.strategy, options.stages, options.pieces, {}};
    const int tag = options.tag.value_or(any_tag);
    int from = any_source;
    if (!fault) {
        try {
            require_now(options, verb);
            from = source_of(*state_, source, tag, verb);
            require_apart(*state_, me, from, verb);
            if (from >= 0) me.require_intact(from, verb.name);
            requested.check(arrays.size());
            fault = fault_of_all(me, arrays, true);
        } catch (const Error&) {
            fault = comm::Fault::current();
        }
    }
    const comm::EngineLock engine_lock;
    task::MessageCall receiving{false, task::descriptors_of(arrays), from, tag, std::move(fault)};
    if (&verb != &the_verb("irecv")) receiving.deadline = options.deadline;
    receiving.requested = requested;
    receiving.gate = gate_if(options.later && !verb.waits);
    return Request(task::start_message(state_, speaker_, std::move(receiving),
                                       {arrays.begin(), arrays.end()}));
}

void Tasks::send(std::span<const Array> arrays, const TaskId& destination,
                 const MessageOptions& options) {
    Request request = start_send(arrays, destination, the_verb("send"), options, {});
    finish_or_break(*request.pending(), options.deadline, state_->find(destination));
}

Status Tasks::recv(std::span<const Array> arrays, const TaskId& source,
                   const MessageOptions& options) {
    Request request = start_receive(arrays, source, the_verb("recv"), options, {});
    const bool pair = names_one(source) && options.tag.value_or(any_tag) != any_tag;
    return finish_or_break(*request.pending(), with_grace(options.deadline),
                           pair ? state_->find(source) : any_source);
}

Request Tasks::isend(std::span<const Array> arrays, const TaskId& destination,
                     const MessageOptions& options) {
    return start_send(arrays, destination, the_verb("isend"), options, {});
}

Request Tasks::irecv(std::span<const Array> arrays, const TaskId& source,
                     const MessageOptions& options) {
    return start_receive(arrays, source, the_verb("irecv"), options, {});
}

Status Tasks::sendrecv(std::span<const Array> sent, const TaskId& destination,
                       std::span<const Array> received, const TaskId& source,
                       const SendrecvOptions& options) {
    const Deadline& deadline = options.deadline;
    Request out =
        start_send(sent, destination, the_verb("sendrecv"), {.tag = options.send_tag}, {});
    Request in = start_receive(received, source, the_verb("sendrecv"),
                               {.tag = options.receive_tag, .deadline = deadline}, {});
    const bool pair = names_one(source) && options.receive_tag != any_tag;
    return finish_both(*out.pending(), *in.pending(), deadline, state_->find(destination),
                       pair ? state_->find(source) : any_source);
}

void Tasks::send(const Array& array, const TaskId& destination, const MessageOptions& options) {
    send(only(array), destination, options);
}
Status Tasks::recv(const Array& array, const TaskId& source, const MessageOptions& options) {
    return recv(only(array), source, options);
}
Request Tasks::isend(const Array& array, const TaskId& destination, const MessageOptions& options) {
    return isend(only(array), destination, options);
}
Request Tasks::irecv(const Array& array, const TaskId& source, const MessageOptions& options) {
    return irecv(only(array), source, options);
}
Status Tasks::sendrecv(const Array& sent, const TaskId& destination, const Array& received,
                       const TaskId& source, const SendrecvOptions& options) {
    return sendrecv(only(sent), destination, only(received), source, options);
}

Status Tasks::probe(const TaskId& source, int tag, Deadline deadline) {
    return *look(source, tag, the_verb("probe"), deadline, {});
}

std::optional<Status> Tasks::iprobe(const TaskId& source, int tag, Deadline deadline) {
    return look(source, tag, the_verb("iprobe"), deadline, {});
}

std::optional<Status> Tasks::look(const TaskId& source, int tag, const Verb& verb,
                                  const Deadline& deadline, comm::Fault fault) {
    const task::Member& me = speaker(verb.name);
    int from = any_source;
    if (!fault) {
        try {
            from = source_of(*state_, source, tag, verb);
            require_apart(*state_, me, from, verb);
        } catch (const Error&) {
            fault = comm::Fault::current();
        }
    }
    std::shared_ptr<task::Pending> pending;
    {
        const comm::EngineLock engine_lock;
        // A program that probes in a loop must let its own operations progress, too, because the
        // answer may depend on them.
        comm::Engine::instance().progress_once();
        task::MessageCall probing{false, {}, from, tag, std::move(fault)};
        probing.deadline = deadline;
        pending = task::start_probe(state_, speaker_, std::move(probing), verb.waits);
    }
    wait(*pending->call, with_grace(deadline));
    if (!*pending->found) comm::check_losses(*pending->call);
    return *pending->found;
}

void Binding::refuse(Tasks& tasks, const std::string& name, const std::string& kind,
                     const std::string& message, Deadline deadline) {
    const Verb* const found = task::find_verb(name);
    if (found == nullptr) {
        std::vector<std::string> known;
        for (const Verb& each : verbs) known.emplace_back(each.name);
        throw Error("there is no verb '" + name + "'; give one of " + text::quoted_list(known));
    }
    const Verb& verb = *found;
    const comm::Fault fault{kind, message.empty() ? "no reason was given" : message};
    if (&verb == &the_verb("collective")) {
        task::Collective call;
        call.fault = fault;
        tasks.collective(std::move(call), nullptr, "a collective call", deadline);
    }
    if (verb.prepares) return refuse_init(tasks, verb.sends, any_source, 0, kind, fault.message);
    Request out, in;
    if (verb.sends) out = tasks.start_send({}, -1, verb, {}, fault);
    if (verb.receives)
        in = tasks.start_receive({}, any_source, verb, {.tag = 0, .deadline = deadline}, fault);
    if (verb.sends && verb.receives) {
        finish_both(*out.pending(), *in.pending(), deadline, any_source, any_source);
    } else if (verb.sends || verb.receives) {
        task::finish(verb.sends ? *out.pending() : *in.pending(), deadline);
    } else {
        tasks.look(any_source, any_tag, verb, deadline, fault);
    }
}

void Binding::refuse_init(Tasks& tasks, bool sending, const TaskId& other, int tag,
                          const std::string& kind, const std::string& message) {
    // The others get the fault from the preparation, which goes on after this error.
    const comm::Fault fault{kind, message};
    tasks.init_persistent(sending, other, tag, fault);
    fault.raise();
}

Profile Tasks::profile() const {
    return *state_->profile;
}
void Binding::add_to_profile(Tasks& tasks, const Profile& more) {
    *tasks.state_->profile += more;
    const double now = platform::seconds();
    if (more.call > 0) trace::record("call", now - more.call, now);
}

}  // namespace hocket
