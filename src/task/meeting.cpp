// SPDX-License-Identifier: BSD-3-Clause
#include "task/meeting.hpp"

#include "base/pack.hpp"
#include "base/text.hpp"
#include "plan/schedule.hpp"
#include "task/pieces.hpp"
#include "transfer/choice.hpp"
#include "transport/far.hpp"

namespace hocket::task {
namespace {

using comm::Statement;
using comm::until;
using comm::When;

std::string spelled(const std::vector<Form>& forms) {
    std::string out;
    for (const auto& form : forms)
        out += (out.empty() ? "" : ", ") + form.dtype + " " + form.layout;
    return out;
}

// Said of a call before its direction and tag: which stream it belongs to, if that is not the
// ordinary one.
std::string stream_text(const std::string& stream) {
    return stream.empty() ? "" : " on " + stream;
}

// A call that is wrong on every process, or was not one anywhere: it never was.
bool never_was(const Statement& said) {
    return said.fault && (said.everywhere || said.sound.empty());
}

bool given_up(const Receiving& receiving) {
    return receiving.given_up && *receiving.given_up;
}

// `alone`: nobody compares what a task of one process says.
Statement statement_of(const Tasks::State& all, const Sending& sending, bool alone) {
    Statement mine;
    mine.fault = sending.fault;
    if (mine.fault) return mine;
    mine.sound = Packer().number(sending.destination).number(sending.tag).take();
    if (alone) return mine;
    mine.text = (sending.end ? "close(" : "send(") + spelled(sending.forms) + " to " +
                task_text(all, sending.destination) + ", " + tag_text(sending.tag) +
                sending.wish.text() + ")" + stream_text(sending.stream);
    return mine;
}

Statement statement_of(const Tasks::State& all, const Receiving& receiving, bool alone) {
    Statement mine;
    mine.fault = receiving.fault;
    if (mine.fault) return mine;
    mine.sound = Packer().number(receiving.source).number(receiving.tag).take();
    if (alone) return mine;
    mine.text = "recv(" + spelled(receiving.forms) + " from " + task_text(all, receiving.source) +
                ", " + tag_text(receiving.tag) + receiving.wish.text() + ")" +
                stream_text(receiving.stream);
    return mine;
}

// On the lowest process: posts the message, and hears what the receiver says of it.
Protocol<Answer> settle(All all, Me me, Sending& sending, std::int64_t ticket, Statement said) {
    When my_turn([&] { return me->sends.is_next(ticket); });
    co_await until(my_turn);
    Answer own{said.fault, {}};
    if (!sending.dropped && never_was(said)) {
        me->sends.pass();
        co_return own;
    }
    Envelope envelope{me->task, sending.tag, ticket,       sending.stream,
                      {},       said.fault,  sending.kept, sending.once};
    int to = sending.destination;
    if (said.fault && !sending.dropped) {
        // One that is wrong on some is awaited by the receiver, who gets the error in its place.
        Unpacker in(said.sound);
        to = static_cast<int>(in.number());
        envelope.tag = static_cast<int>(in.number());
    } else if (sending.end) {
        envelope.fault.kind = "EndOfStream";
        envelope.fault.message =
            task_text(*all, me->task) + " closed " + sending.stream + ": no more comes";
    } else {
        envelope.forms = std::move(sending.forms);
        envelope.wish = sending.wish;
    }
    Protocol<> post =
        comm::send_text(*all->link, envelope.packed(), me->lowest_of(to), me->tags.envelope(to));
    me->sends.pass();
    co_await post;
    if (said.fault || sending.end) co_return own;
    const int there = me->lowest_of(to), reply_tag = me->tags.reply(me->task, ticket);
    std::optional<comm::Arrival> reply;
    When heard([&] {
        me->matcher.pump();
        reply = all->link->probe(there, reply_tag);
        return reply || me->matcher.parting_of(to) != nullptr;
    });
    co_await until(heard);
    if (!reply) {
        own.fault = me->matcher.parting_of(to)->fault;
        co_return own;
    }
    const comm::Letter letter =
        co_await comm::receive_text(*all->link, std::move(*reply), reply_tag);
    Answer answer = Answer::unpacked(letter.text);
    co_return answer;
}

// Whether each piece of the array can be passed on within so many bytes.
void require_room(const Layout& from, const Layout& to, const Envelope& sent, const Wish& wish,
                  std::int64_t most) {
    plan::Options options;
    options.itemsize = std::max<std::int64_t>(sent.forms[0].itemsize, 1);
    options.strategy = wish.strategy;
    options.stages = wish.stages;
    const Cut cut(from, to, std::max<std::int64_t>(wish.pieces, 1));
    for (std::int64_t piece = 0; piece < cut.count(); ++piece)
        transfer::require_room_to_relay(
            Plan(cut.layout_of(from, piece), cut.layout_of(to, piece), options), most);
}

// How the message travels: as the sides wish, and where both leave it open as the sender's model
// says, which came with the message.
void decide_on(const Tasks::State& all, const Envelope& sent, int receiver,
               const Receiving& receiving, Answer& answer) {
    try {
        Wish wish = merged(sent.wish, task_text(all, sent.source), receiving.wish,
                           task_text(all, receiver));
        const Layout &from = sent.forms.at(0).value(), &to = receiving.forms.at(0).value();
        plan::check_stages(plan::strategy_of(wish.strategy), wish.stages, from.size(), to.size());
        if (const auto most = transport::asked_buffers(); most && wish.strategy != "auto")
            require_room(from, to, sent, wish, *most);
        if (wish.strategy == "auto" && transfer::only_direct(from, to)) {
            wish.strategy = "direct";
        } else if (wish.strategy == "auto") {
            const auto& ranks = all.ranks;
            plan::Options options;
            options.itemsize = std::max<std::int64_t>(sent.forms[0].itemsize, 1);
            options.model = plan::Model::parse(wish.model);
            const transfer::Route route{all.link.get(),
                                        ranks[static_cast<std::size_t>(sent.source)],
                                        ranks[static_cast<std::size_t>(receiver)], 0};
            wish.strategy = transfer::choose_strategy(from, to, std::move(options), route);
        }
        wish.model.clear();
        answer.decided = wish;
    } catch (const Error&) {
        answer.fault = comm::Fault::current();
    }
}

// On the lowest process: waits for the message that this receive is to have, and answers it.
Protocol<Answer> settle(All all, Me me, Receiving& receiving, std::int64_t ticket, Statement said) {
    When my_turn([&] { return me->receives.is_next(ticket); });
    co_await until(my_turn);
    if (!receiving.dropped && never_was(said)) {  // the message waits for a better call
        me->receives.pass();
        Answer refused{std::move(said.fault), {}};
        co_return refused;
    }
    Wanted wanted;
    wanted.source = receiving.source;
    wanted.tag = receiving.tag;
    if (!receiving.dropped) {  // this process's own arguments may be what is wrong
        Unpacker in(said.sound);
        wanted.source = static_cast<int>(in.number());
        wanted.tag = static_cast<int>(in.number());
    }
    wanted.stream = receiving.stream;
    me->matcher.post(wanted);
    me->receives.pass();
    When matched([&] {
        me->matcher.pump();
        all->need_sender(me->task, wanted.source);
        return wanted.found || receiving.deadline.passed() || given_up(receiving);
    });
    co_await until(matched);
    if (!wanted.found) {
        me->matcher.withdraw(wanted);
        Answer late;
        if (given_up(receiving)) {
            late.fault = {"Error", "task '" + me->name() + "' gave up its receive from " +
                                       task_text(*all, receiving.source) + " with " +
                                       tag_text(receiving.tag) +
                                       ": it was interrupted on the task's lowest process"};
            co_return late;
        }
        late.fault = {"DeadlineError",
                      "task '" + me->name() + "' gave up its receive from " +
                          task_text(*all, receiving.source) + " with " + tag_text(receiving.tag) +
                          " after " + text::seconds(receiving.deadline.timeout()) +
                          ": nothing was sent; receive again, or give a longer timeout"};
        co_return late;
    }
    const Envelope& envelope = *wanted.found;
    if (envelope.fault) {
        Fault told = fault_of_sender(*all, envelope);
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
    Answer answer{{}, std::move(*wanted.found)};
    answer.fault = mismatch(*all, answer.other, me->task, receiving.forms, receiving.tag);
    if (!answer.fault) decide_on(*all, answer.other, me->task, receiving, answer);
    const Envelope& sent = answer.other;
    Answer to_sender{answer.fault, {me->task, sent.tag, 0, receiving.stream, {}, {}}};
    to_sender.decided = answer.decided;
    to_sender.other.forms = std::move(receiving.forms);
    to_sender.other.once = receiving.once;
    co_await comm::send_text(*all->link, to_sender.packed(), me->lowest_of(sent.source),
                             me->tags.reply(sent.source, sent.send));
    co_return answer;
}

// The task agrees on its call, its lowest process settles it, and all get the outcome.
template <class Call>
Protocol<Answer> meet_as(All all, Me me, Call call, int tree_tag, std::int64_t ticket,
                         transfer::Stopwatch& watch) {
    const bool alone = me->group.size() == 1;
    Statement said = co_await comm::collect(me->group, tree_tag, statement_of(*all, call, alone));
    Answer answer;
    std::string heard;
    if (me->group.lowest()) {
        Answer settled = co_await settle(all, me, call, ticket, std::move(said));
        if (!alone) heard = settled.packed();
        answer = std::move(settled);
    }
    if (!alone) {
        const std::string outcome = co_await comm::spread(me->group, tree_tag, std::move(heard));
        answer = Answer::unpacked(outcome);
    }
    watch.lap(&Profile::descriptor);
    if (answer.fault) answer.fault.raise();
    co_return answer;
}

}  // namespace

Protocol<Answer> meet(All all, Me me, Sending sending, int tree_tag, std::int64_t ticket,
                      transfer::Stopwatch& watch) {
    return meet_as(std::move(all), std::move(me), std::move(sending), tree_tag, ticket, watch);
}

Protocol<Answer> meet(All all, Me me, Receiving receiving, int tree_tag, std::int64_t ticket,
                      transfer::Stopwatch& watch) {
    return meet_as(std::move(all), std::move(me), std::move(receiving), tree_tag, ticket, watch);
}

}  // namespace hocket::task
