// SPDX-License-Identifier: BSD-3-Clause
#include "task/meeting.hpp"

#include "base/pack.hpp"
#include "comm/engine.hpp"

namespace hocket::task {
namespace {

using comm::Fault;
using comm::Protocol;
using comm::Statement;
using comm::until;
using comm::When;
using All = std::shared_ptr<Tasks::State>;
using Me = std::shared_ptr<Member>;

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
    wanted.stream = receiving.stream;
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
    Answer answer{mismatch(*all, envelope, me->task, receiving.forms, receiving.tag), envelope};
    Answer to_sender{answer.fault, {me->task, envelope.tag, 0, receiving.stream, {}, {}}};
    to_sender.other.forms = receiving.forms;
    to_sender.other.once = receiving.once;
    co_await comm::send_text(*all->link, to_sender.packed(), me->lowest_of(envelope.source),
                             me->tags.reply(envelope.source, envelope.send));
    co_return answer;
}

}  // namespace

Protocol<Answer> meet(All all, Me me, Sending sending, int tree_tag, std::int64_t ticket) {
    const double start = comm::Engine::instance().seconds();
    Statement mine;
    mine.fault = sending.fault;
    if (!mine.fault) {
        mine.sound = Packer().number(sending.destination).number(sending.tag).take();
        mine.text = (sending.end ? "close(" : "send(") + spelled(sending.forms) + " to " +
                    task_text(*all, sending.destination) + ", " + tag_text(sending.tag) + ")" +
                    stream_text(sending.stream);
    }
    Statement said = co_await comm::collect(me->group, tree_tag, std::move(mine));
    std::string heard;
    if (me->group.lowest()) {
        When my_turn([&] { return me->sends.is_next(ticket); });
        co_await until(my_turn);
        Envelope envelope{me->task, sending.tag, ticket,       sending.stream,
                          {},       said.fault,  sending.kept, sending.once};
        if (said.fault && (said.everywhere || said.sound.empty())) {
            me->sends.pass();  // a call that is wrong on every process never was one
            heard = Answer{said.fault, {}}.packed();
        } else {
            int to = sending.destination;
            if (said.fault) {
                // One that is wrong on some is awaited by the receiver, who gets the error in its
                // place.
                Unpacker in(said.sound);
                to = static_cast<int>(in.number());
                envelope.tag = static_cast<int>(in.number());
            } else if (sending.end) {
                envelope.fault.kind = "EndOfStream";
                envelope.fault.message =
                    task_text(*all, me->task) + " closed " + sending.stream + ": no more comes";
            } else {
                envelope.forms = sending.forms;
            }
            Protocol<> post = comm::send_text(*all->link, envelope.packed(), me->lowest_of(to),
                                              me->tags.envelope(to));
            me->sends.pass();
            co_await post;
            if (said.fault || sending.end) {
                heard = Answer{said.fault, {}}.packed();
            } else {
                comm::Letter reply = co_await comm::receive_text(*all->link, me->lowest_of(to),
                                                                 me->tags.reply(me->task, ticket));
                heard = std::move(reply.text);
            }
        }
    }
    const std::string outcome = co_await comm::spread(me->group, tree_tag, std::move(heard));
    Answer answer = Answer::unpacked(outcome);
    all->profile->descriptor += comm::Engine::instance().seconds() - start;
    if (answer.fault) answer.fault.raise();
    co_return answer;
}

Protocol<Answer> meet(All all, Me me, Receiving receiving, int tree_tag, std::int64_t ticket) {
    const double start = comm::Engine::instance().seconds();
    Statement mine;
    mine.fault = receiving.fault;
    if (!mine.fault) {
        mine.sound = Packer().number(receiving.source).number(receiving.tag).take();
        mine.text = "recv(" + spelled(receiving.forms) + " from " +
                    task_text(*all, receiving.source) + ", " + tag_text(receiving.tag) + ")" +
                    stream_text(receiving.stream);
    }
    Statement said = co_await comm::collect(me->group, tree_tag, std::move(mine));
    std::string heard;
    if (me->group.lowest()) {
        const Answer matched = co_await match(all, me, receiving, ticket, std::move(said));
        heard = matched.packed();
    }
    const std::string outcome = co_await comm::spread(me->group, tree_tag, std::move(heard));
    Answer answer = Answer::unpacked(outcome);
    all->profile->descriptor += comm::Engine::instance().seconds() - start;
    if (answer.fault) answer.fault.raise();
    co_return answer;
}

}  // namespace hocket::task
