// SPDX-License-Identifier: BSD-3-Clause
#include "task/exchange.hpp"

#include <algorithm>

#include "base/pack.hpp"
#include "comm/engine.hpp"
#include "task/answer.hpp"
#include "transfer/check.hpp"
#include "transfer/run.hpp"

namespace hocket::task {
namespace {

using comm::Fault;
using comm::Protocol;
using comm::Statement;
using comm::until;
using comm::When;
using Found = std::shared_ptr<std::optional<Status>>;
using All = std::shared_ptr<Tasks::State>;
using Me = std::shared_ptr<Member>;

Envelope envelope_of(const Member& me, const Array& array, int tag, std::int64_t send) {
    return {me.task, tag, send, array.layout().text(), array.dtype().name, array.dtype().size, {}};
}

Status status_of(const Tasks::State& all, const Envelope& envelope) {
    return {envelope.source, all.names[static_cast<std::size_t>(envelope.source)], envelope.tag,
            Layout::parse(envelope.layout), DType{envelope.dtype, envelope.itemsize}};
}

transfer::Route route_of(const Tasks::State& all, const Tags& tags, int source, int destination,
                         std::int64_t send) {
    return {all.link.get(), all.ranks[static_cast<std::size_t>(source)],
            all.ranks[static_cast<std::size_t>(destination)], tags.data(source, send)};
}

Protocol<> send(All all, Me me, Sending sending, int tree_tag, std::int64_t ticket, Found found) {
    const double start = comm::Engine::instance().seconds();
    Statement mine;
    mine.fault = sending.fault;
    if (!mine.fault) {
        mine.sound = Packer().number(sending.destination).number(sending.tag).take();
        mine.text = "send(" + sending.array->dtype().name + " " + sending.array->layout().text() +
                    " to " + task_text(*all, sending.destination) + ", " + tag_text(sending.tag) +
                    ")";
    }
    Statement said = co_await comm::collect(me->group, tree_tag, std::move(mine));
    std::string heard;
    if (me->group.lowest()) {
        When my_turn([&] { return me->sends.is_next(ticket); });
        co_await until(my_turn);
        if (said.fault) {
            // A call that is wrong on every process never was one. One that is wrong on some is
            // awaited by the receiver, who gets the error in its place.
            if (!said.everywhere && !said.sound.empty()) {
                Unpacker in(said.sound);
                const int to = static_cast<int>(in.number()), tag = static_cast<int>(in.number());
                const Envelope envelope{me->task, tag, ticket, "", "", 0, said.fault};
                Protocol<> post = comm::send_text(*all->link, envelope.packed(), me->lowest_of(to),
                                                  me->tags.envelope(to));
                me->sends.pass();
                co_await post;
            } else {
                me->sends.pass();
            }
            heard = Answer{said.fault, {}}.packed();
        } else {
            const int there = me->lowest_of(sending.destination);
            Envelope envelope = envelope_of(*me, *sending.array, sending.tag, ticket);
            Protocol<> post = comm::send_text(*all->link, envelope.packed(), there,
                                              me->tags.envelope(sending.destination));
            me->sends.pass();
            co_await post;
            comm::Letter reply =
                co_await comm::receive_text(*all->link, there, me->tags.reply(me->task, ticket));
            heard = std::move(reply.text);
        }
    }
    const std::string outcome = co_await comm::spread(me->group, tree_tag, std::move(heard));
    const Answer answer = Answer::unpacked(outcome);
    const double agreed = comm::Engine::instance().seconds();
    all->profile->descriptor += agreed - start;
    if (answer.fault) answer.fault.raise();

    const Array& array = *sending.array;
    const transfer::Place here = transfer::place_on(array), nowhere;
    plan::Options options;
    options.itemsize = array.dtype().size;
    const auto work = transfer::cached_work(
        array.layout(), Layout::parse(answer.other.layout), options, here, nowhere);
    all->profile->schedule += comm::Engine::instance().seconds() - agreed;
    transfer::Route route = route_of(*all, me->tags, me->task, sending.destination, ticket);
    co_await transfer::run(work, array.data(), nullptr, std::move(route), all->profile);
    *found = Status{me->task, me->name(), sending.tag, array.layout(), array.dtype()};
}

// On the lowest process: waits for the message that this receive is to have.
Protocol<Answer> match(All all, Me me, const Receiving& receiving, std::int64_t ticket,
                       Statement said) {
    When my_turn([&] { return me->receives.is_next(ticket); });
    co_await until(my_turn);
    if (said.fault &&
        (said.everywhere || said.sound.empty())) {  // the message waits for a better call
        me->receives.pass();
        Answer refused{std::move(said.fault), {}};
        co_return refused;
    }
    Unpacker in(said.sound);  // this process's own arguments may be what is wrong
    Wanted wanted;
    wanted.source = static_cast<int>(in.number());
    wanted.tag = static_cast<int>(in.number());
    me->matcher.post(wanted);
    me->receives.pass();
    When matched([&] {
        me->matcher.pump();
        return wanted.found || receiving.deadline.passed();
    });
    co_await until(matched);
    if (!wanted.found) {
        me->matcher.withdraw(wanted);
        Answer late;
        late.fault = {"DeadlineError",
                      "task '" + me->name() + "' gave up its receive from " +
                          task_text(*all, receiving.source) + " with " + tag_text(receiving.tag) +
                          " after " + seconds_text(receiving.deadline) +
                          ": nothing was sent; receive again, or give a longer timeout"};
        co_return late;
    }
    const Envelope& envelope = *wanted.found;
    if (envelope.fault) {
        Fault told = envelope.fault;
        told.message = task_text(*all, envelope.source) + " could not send: " + told.message;
        Answer refused{std::move(told), {}};
        co_return refused;
    }
    if (said.fault) {
        Fault told = said.fault;
        told.message = "task '" + me->name() + "' could not receive: " + told.message;
        const Answer to_sender{std::move(told), envelope};
        co_await comm::send_text(*all->link, to_sender.packed(), me->lowest_of(envelope.source),
                                 me->tags.reply(envelope.source, envelope.send));
        Answer refused{std::move(said.fault), {}};
        co_return refused;
    }
    Answer answer{mismatch(*all, envelope, me->task, *receiving.array, receiving.tag), envelope};
    const Answer to_sender{answer.fault, envelope_of(*me, *receiving.array, envelope.tag, 0)};
    co_await comm::send_text(*all->link, to_sender.packed(), me->lowest_of(envelope.source),
                             me->tags.reply(envelope.source, envelope.send));
    co_return answer;
}

Protocol<> receive(All all, Me me, Receiving receiving, int tree_tag, std::int64_t ticket,
                   Found found) {
    const double start = comm::Engine::instance().seconds();
    Statement mine;
    mine.fault = receiving.fault;
    if (!mine.fault) {
        mine.sound = Packer().number(receiving.source).number(receiving.tag).take();
        mine.text = "recv(" + receiving.array->dtype().name + " " +
                    receiving.array->layout().text() + " from " +
                    task_text(*all, receiving.source) + ", " + tag_text(receiving.tag) + ")";
    }
    Statement said = co_await comm::collect(me->group, tree_tag, std::move(mine));
    std::string heard;
    if (me->group.lowest()) {
        const Answer matched = co_await match(all, me, receiving, ticket, std::move(said));
        heard = matched.packed();
    }
    const std::string outcome = co_await comm::spread(me->group, tree_tag, std::move(heard));
    const Answer answer = Answer::unpacked(outcome);
    const double agreed = comm::Engine::instance().seconds();
    all->profile->descriptor += agreed - start;
    if (answer.fault) answer.fault.raise();

    const Array& array = *receiving.array;
    const Envelope& envelope = answer.other;
    const transfer::Place nowhere, here = transfer::place_on(array);
    plan::Options options;
    options.itemsize = array.dtype().size;
    const auto work = transfer::cached_work(Layout::parse(envelope.layout), array.layout(),
                                                    options, nowhere, here);
    all->profile->schedule += comm::Engine::instance().seconds() - agreed;
    transfer::Route route = route_of(*all, me->tags, envelope.source, me->task, envelope.send);
    co_await transfer::run(work, nullptr, array.data(), std::move(route), all->profile);
    *found = status_of(*all, envelope);
}

Protocol<> probe(All all, Me me, Probing probing, int tree_tag, std::int64_t ticket, Found found) {
    Statement mine;
    mine.fault = probing.fault;
    mine.text = "probe(" + task_text(*all, probing.source) + ", " + tag_text(probing.tag) + ")";
    Statement said = co_await comm::collect(me->group, tree_tag, std::move(mine));
    Answer heard;
    if (me->group.lowest()) {
        When my_turn([&] { return me->receives.is_next(ticket); });
        co_await until(my_turn);
        me->matcher.pump();
        Wanted wanted{probing.source, probing.tag, false, {}};
        heard.fault = said.fault;
        if (!said.fault) me->matcher.post(wanted);
        me->receives.pass();
        When matched([&] {
            me->matcher.pump();
            return said.fault || wanted.found || !probing.wait || probing.deadline.passed();
        });
        co_await until(matched);
        if (wanted.found)
            heard.other = *wanted.found;
        else
            me->matcher.withdraw(wanted);
    }
    const std::string outcome = co_await comm::spread(me->group, tree_tag, heard.packed());
    const Answer answer = Answer::unpacked(outcome);
    if (answer.fault) answer.fault.raise();
    if (answer.other.fault) answer.other.fault.raise();  // of a send that failed
    if (!answer.other.layout.empty()) {
        *found = status_of(*all, answer.other);
    } else if (probing.wait) {
        throw DeadlineError("task '" + me->name() + "' gave up its probe for a message from " +
                            task_text(*all, probing.source) + " with " + tag_text(probing.tag) +
                            " after " + seconds_text(probing.deadline) + ": nothing was sent");
    }
}

Protocol<> first(Me me, std::vector<std::shared_ptr<comm::Call>> calls, Deadline deadline,
                 int tree_tag, std::shared_ptr<std::int64_t> index) {
    if (me->group.lowest()) {
        When any([&] {
            *index = std::find_if(calls.begin(), calls.end(),
                                  [](const auto& call) { return call->ended(); }) -
                     calls.begin();
            return *index < static_cast<std::int64_t>(calls.size()) || deadline.passed();
        });
        co_await until(any);
    }
    const std::string outcome =
        co_await comm::spread(me->group, tree_tag, Packer().number(*index).take());
    *index = Unpacker(outcome).number();
    if (*index == static_cast<std::int64_t>(calls.size()))
        throw DeadlineError("none of " + std::to_string(calls.size()) + " requests of task '" +
                            me->name() + "' was done within " + seconds_text(deadline));
}

Protocol<> decision(Me me, int tree_tag, std::shared_ptr<std::int64_t> number) {
    const std::string outcome =
        co_await comm::spread(me->group, tree_tag, Packer().number(*number).take());
    *number = Unpacker(outcome).number();
}

std::shared_ptr<Pending> start(Me me, Found found, Protocol<> protocol, std::string text) {
    auto call = std::make_shared<comm::Call>(std::move(protocol), std::move(text));
    comm::Engine::instance().add(call);
    return std::make_shared<Pending>(Pending{std::move(me), std::move(found), std::move(call)});
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
                    member.name() + "'; make it with the task's communicator: comm=w.comm"};
    return receiving ? transfer::fault_in_writing(array) : Fault{};
}

std::shared_ptr<Pending> start_send(All all, Me me, Sending sending) {
    auto found = std::make_shared<std::optional<Status>>();
    std::string text = "task '" + me->name() + "' sends " + array_text(sending.array) + " to " +
                       task_text(*all, sending.destination) + " with " + tag_text(sending.tag);
    const int tag = next_tree_tag(*me);
    const std::int64_t ticket = me->sends.ticket();
    return start(me, found, send(std::move(all), me, std::move(sending), tag, ticket, found),
                 std::move(text));
}

std::shared_ptr<Pending> start_receive(All all, Me me, Receiving receiving) {
    auto found = std::make_shared<std::optional<Status>>();
    std::string text = "task '" + me->name() + "' receives " + array_text(receiving.array) +
                       " from " + task_text(*all, receiving.source) + " with " +
                       tag_text(receiving.tag);
    const int tag = next_tree_tag(*me);
    const std::int64_t ticket = me->receives.ticket();
    return start(me, found, receive(std::move(all), me, std::move(receiving), tag, ticket, found),
                 std::move(text));
}

std::shared_ptr<Pending> start_probe(All all, Me me, Probing probing) {
    auto found = std::make_shared<std::optional<Status>>();
    std::string text = "task '" + me->name() + "' probes for a message from " +
                       task_text(*all, probing.source) + " with " + tag_text(probing.tag);
    const int tree_tag = next_tree_tag(*me);
    const std::int64_t ticket = me->receives.ticket();
    return start(me, found, probe(std::move(all), me, std::move(probing), tree_tag, ticket, found),
                 std::move(text));
}

std::int64_t first_done(Me me, std::vector<std::shared_ptr<comm::Call>> calls, Deadline deadline) {
    auto index = std::make_shared<std::int64_t>(0);
    std::string text = "any of these: ";
    for (const auto& call : calls) text += call->text() + "; ";
    std::shared_ptr<Pending> pending;
    {
        const comm::Turn turn;
        const int tag = next_tree_tag(*me);
        pending =
            start(me, nullptr, first(me, std::move(calls), deadline, tag, index), std::move(text));
    }
    wait(*pending->call);
    return *index;
}

std::int64_t decide(Me me, std::int64_t number, Deadline deadline) {
    auto decided = std::make_shared<std::int64_t>(number);
    std::shared_ptr<Pending> pending;
    {
        const comm::Turn turn;
        const int tag = next_tree_tag(*me);
        pending = start(me, nullptr, decision(me, tag, decided),
                        "task '" + me->name() + "' waits for its lowest process's word");
    }
    wait(*pending->call, deadline);
    return *decided;
}

}  // namespace hocket::task
