// SPDX-License-Identifier: BSD-3-Clause
#include "task/rendezvous.hpp"

#include <algorithm>

#include "base/at_end.hpp"
#include "base/pack.hpp"
#include "base/text.hpp"
#include "layout/binary.hpp"
#include "task/early_elements.hpp"
#include "task/open_receives.hpp"
#include "task/stream_news.hpp"
#include "transfer/local_view.hpp"

namespace hocket::task {
namespace {

using comm::CallSignature;
using comm::until;
using comm::When;

std::string spelled(const std::vector<ArrayDescriptor>& descriptors) {
    std::string out;
    for (const auto& form : descriptors) out += (out.empty() ? "" : ", ") + form.text();
    return out;
}

// Precedes direction and tag of a call, if it belongs to a special stream.
std::string stream_text(const std::string& stream) {
    return stream.empty() ? "" : " on " + stream;
}

// A call that is wrong on every process, or that no process has made: there is no message.
bool never_made(const CallSignature& signature) {
    return signature.fault && (signature.everywhere || signature.payload.empty());
}

bool given_up(const MessageCall& receiving) {
    return receiving.given_up && *receiving.given_up;
}

// `alone`: a task of one process, whose signature needs no comparison.
CallSignature statement_of(const Tasks::State& all, const MessageCall& call, bool alone) {
    CallSignature mine;
    mine.fault = call.fault;
    if (mine.fault) return mine;
    mine.payload = Packer().number(call.other).number(call.tag).take();
    if (alone) return mine;
    mine.text = (!call.sends ? "recv("
                 : call.end  ? "close("
                             : "send(") +
                spelled(call.descriptors) + " " + call.direction() + " " +
                task_text(all, call.other) + ", " + tag_text(call.tag) + call.requested.text() +
                ")" + stream_text(call.stream);
    return mine;
}

// On the lowest process: posts the envelope, and has the receiver's reply, if not ahead.
Protocol<Envelope> settle_send(All all, Me me, MessageCall& sending, std::int64_t ticket,
                               CallSignature signature) {
    When my_turn([&] { return me->next_send == ticket; });
    co_await until(my_turn);
    Envelope own = refusal(signature.fault);
    if (!sending.abandoned && never_made(signature)) {
        ++me->next_send;
        co_return own;
    }
    if (sending.channel > 0 && me->has_refused(sending.other, sending.stream, sending.channel)) {
        ++me->next_send;
        own.fault = me->fault_in_kind(sending.other, sending.stream, sending.channel);
        co_return own;
    }
    Envelope envelope{me->task,        sending.tag,           ticket,      sending.stream, {},
                      signature.fault, sending.persistent_id, sending.once};
    int to = sending.other;
    if (signature.fault && !sending.abandoned) {
        // The receiver waits for a call that is wrong on some processes, and gets its error.
        Unpacker in(signature.payload);
        to = static_cast<int>(in.number());
        envelope.tag = static_cast<int>(in.number());
    } else if (sending.end) {
        envelope.fault.kind = "EndOfStream";
        envelope.fault.message =
            task_text(*all, me->task) + " closed " + sending.stream + ": no more comes";
    } else {
        envelope.descriptors = std::move(sending.descriptors);
        envelope.requested = sending.requested;
    }
    const ElementsWithoutReply early(*me, to, std::move(sending.elements));
    envelope.elements = early.get();
    const auto other = static_cast<std::size_t>(to);
    std::shared_ptr<const OpenReceives::Send> met;
    if (sending.stream.empty() && one_process_each(*all, me->task, to))
        met = me->matcher.receives_of(to).meet(ticket, envelope.tag);
    const KnownLayouts offered = me->replied[other].recent();
    envelope.offer = offered.offer();
    Protocol<> post = comm::send_text(*all->link, envelope.packed(me->sent[other]),
                                      me->lowest_of(to), me->tags.envelope(to));
    ++me->next_send;
    co_await std::move(post);
    if (signature.fault || sending.end) co_return own;
    const int there = me->lowest_of(to), reply_tag = me->tags.reply(me->task, ticket);
    const std::function<bool()> never_comes = [&] {
        me->matcher.pump();
        if ((met && met->receive) || me->matcher.departure_of(to) != nullptr) return true;
        if (sending.channel > 0) own.fault = me->fault_in_kind(to, sending.stream, sending.channel);
        return static_cast<bool>(own.fault);
    };
    const auto reply = co_await comm::receive_text(*all->link, there, reply_tag, never_comes);
    const Envelope* const departure = me->matcher.departure_of(to);
    if (!reply && met && met->receive && (departure == nullptr || ticket <= departure->send)) {
        Envelope answer = reply_to(*all, envelope, *met->receive);
        answer.elements = early.get();
        co_return answer;
    }
    if (met) me->matcher.receives_of(to).forget(ticket);
    if (!reply && own.fault) {
        co_await refuse_kind(all, me, to, sending.stream, sending.channel, ticket);
        co_return own;
    }
    if (!reply) {
        own.fault = departure->fault;
        co_return own;
    }
    Envelope answer = unpacked_reply(reply->text, offered);
    if (!answer.fault) answer.fault = fault_in_sizes(*all, to, answer.descriptors);
    if (!answer.fault && answer.descriptors.size() != envelope.descriptors.size())
        answer.fault = {"Error", task_text(*all, to) + " answers a message of " +
                                     array_text(envelope.descriptors.size()) +
                                     " with descriptions of " +
                                     std::to_string(answer.descriptors.size()) +
                                     "; do all processes run the same version of hocket?"};
    keep(me->replied[other], answer.descriptors);
    answer.elements = early.get();
    co_return answer;
}

// Not a receive with a deadline: a sender that has gone on meanwhile would send its elements to
// nobody, and wait for ever. A long layout is better in a reply, where the sender may know it.
bool may_announce(const Tasks::State& all, const Member& me, const PostedReceive& posted,
                  const Deadline& deadline, const Envelope& own) {
    const auto is_long = [](const ArrayDescriptor& each) {
        return layout::is_digest(layout::key_of(each.value().form()));
    };
    return posted.source >= 0 && posted.stream.empty() && !deadline.limited() &&
           one_process_each(all, me.task, posted.source) && me.matcher.may_announce(posted) &&
           std::ranges::none_of(own.descriptors, is_long);
}

std::string announcement_of(Member& me, Envelope receive, int sender) {
    receive.stream = open_receive;
    receive.send = me.matcher.last_of(sender);
    return receive.packed(me.sent[static_cast<std::size_t>(sender)]);
}

// On the lowest process: waits for the message of this receive, and answers it, if it was not
// announced.
Protocol<Envelope> settle_receive(All all, Me me, MessageCall& receiving, std::int64_t ticket,
                                  CallSignature signature) {
    When my_turn([&] { return me->next_receive == ticket; });
    co_await until(my_turn);
    if (!receiving.abandoned && never_made(signature)) {  // the message stays for a correct call
        ++me->next_receive;
        co_return refusal(std::move(signature.fault));
    }
    PostedReceive wanted;
    wanted.source = receiving.other;
    wanted.tag = receiving.tag;
    if (!receiving.abandoned) {  // this process's own arguments may be wrong
        Unpacker in(signature.payload);
        wanted.source = static_cast<int>(in.number());
        wanted.tag = static_cast<int>(in.number());
    }
    wanted.stream = receiving.stream;
    const base::AtEnd withdrawal([&] { me->matcher.withdraw(wanted); });
    // A channel that kept frames may have left an envelope that its sender has given up.
    if (receiving.channel > 0 && me->keeps_frames) me->receive_news(wanted.source);
    me->matcher.post(wanted);
    ++me->next_receive;
    Envelope own{me->task, receiving.tag, 0, receiving.stream, std::move(receiving.descriptors),
                 {}};
    own.once = receiving.once;
    own.requested = receiving.requested;
    std::string announcement;
    comm::Requests announced;  // ends before its text
    if (!signature.fault && may_announce(*all, *me, wanted, receiving.deadline, own)) {
        wanted.announced = true;
        announcement = announcement_of(*me, own, wanted.source);
        all->link->send_text(announced, announcement, me->lowest_of(wanted.source),
                             me->tags.envelope(wanted.source));
    }
    Fault other_kind;
    When matched([&] {
        me->matcher.pump();
        if (!wanted.found) all->need_sender(me->task, wanted.source);
        if (!wanted.found && receiving.channel > 0) {
            other_kind = me->fault_in_kind(wanted.source, receiving.stream, receiving.channel);
            if (other_kind) me->matcher.pump();  // an envelope may have come before the news
        }
        return wanted.found || other_kind || receiving.deadline.passed() || given_up(receiving);
    });
    co_await until(matched);
    co_await until(announced);
    if (!wanted.found && other_kind) {
        co_await refuse_kind(all, me, wanted.source, receiving.stream, receiving.channel, -1);
        co_return refusal(std::move(other_kind));
    }
    if (!wanted.found) {
        Envelope late;
        if (given_up(receiving)) {
            // The sender of the next message may have gone on already.
            if (wanted.announced) me->break_pair(wanted.source, "interrupted");
            late.fault = {"Error", "task '" + me->name() + "' gave up its receive from " +
                                       task_text(*all, receiving.other) + " " +
                                       match_text(receiving.stream, receiving.tag) +
                                       ": it was interrupted on the task's lowest process"};
            co_return late;
        }
        const bool wildcard =
            receiving.channel == 0 && (receiving.other == any_source || receiving.tag == any_tag);
        late.fault = {"DeadlineError", "task '" + me->name() + "' gave up its receive from " +
                                           task_text(*all, receiving.other) + " " +
                                           match_text(receiving.stream, receiving.tag) + " after " +
                                           text::seconds(receiving.deadline.timeout()) +
                                           ": nothing was sent" +
                                           me->silence_text(receiving.other) +
                                           (wildcard ? "; receive again, or give a longer timeout"
                                                     : "; give a longer timeout, because this ends "
                                                       "the exchange between the two tasks")};
        co_return late;
    }
    const Envelope& envelope = *wanted.found;
    if (envelope.fault) {
        Fault fault = fault_of_sender(*all, envelope);
        if (envelope.unreadable && !wanted.announced) {
            std::string reply = packed_reply(refusal(fault));
            co_await comm::send_text(*all->link, std::move(reply), me->lowest_of(envelope.source),
                                     me->tags.reply(envelope.source, envelope.send));
        }
        co_return refusal(std::move(fault));
    }
    if (signature.fault) {
        Envelope to_sender = envelope;
        to_sender.fault = signature.fault;
        to_sender.fault.message =
            "task '" + me->name() + "' could not receive: " + signature.fault.message;
        std::string reply = packed_reply(to_sender, KnownLayouts(envelope.offer));
        co_await comm::send_text(*all->link, std::move(reply), me->lowest_of(envelope.source),
                                 me->tags.reply(envelope.source, envelope.send));
        co_return refusal(std::move(signature.fault));
    }
    Envelope sent = std::move(*wanted.found);
    const KnownLayouts offered(sent.offer);
    sent.offer.clear();
    const Envelope reply = reply_to(*all, sent, own);
    if (!wanted.announced)
        co_await comm::send_text(*all->link, packed_reply(reply, offered),
                                 me->lowest_of(sent.source),
                                 me->tags.reply(sent.source, sent.send));
    co_return sent;
}

}  // namespace

// The task agrees on its call, its lowest process settles it, and all processes get the outcome.
Protocol<Envelope> rendezvous(All all, Me me, MessageCall call, int tree_tag, std::int64_t ticket,
                              transfer::Stopwatch& watch) {
    const bool alone = me->group.size() == 1;
    const KnownLayouts offered = alone ? KnownLayouts() : me->outcomes.recent();
    CallSignature mine = statement_of(*all, call, alone);
    mine.offer = offered.offer();
    CallSignature signature = co_await comm::collect(me->group, tree_tag, std::move(mine));
    const KnownLayouts of_all(signature.offer);
    Envelope answer;
    std::string outcome_text;
    if (me->group.lowest()) {
        try {
            const auto settle = call.sends ? settle_send : settle_receive;
            Envelope settled = co_await settle(all, me, call, ticket, std::move(signature));
            answer = std::move(settled);
        } catch (const std::exception&) {  // only this process of its task has noticed
            answer.fault = comm::Fault::current();
        }
        if (!alone) outcome_text = packed_reply(answer, of_all);
    }
    if (!alone) {
        const std::string outcome =
            co_await comm::broadcast(me->group, tree_tag, std::move(outcome_text));
        answer = unpacked_reply(outcome, offered);
        keep(me->outcomes, answer.descriptors);
    }
    watch.lap(&Profile::descriptor);
    if (answer.fault) answer.fault.raise();
    co_return answer;
}

trace::Track track_of(const std::string& verb, const Tasks::State& all, const MessageCall& call,
                      std::span<const Array> arrays) {
    if (!trace::enabled()) return {};
    trace::Arguments details;
    std::int64_t bytes = 0;
    for (const auto& array : arrays)
        bytes += transfer::local_bytes(array.layout(), transfer::local_view_of(array),
                                       array.dtype().size);
    const std::string other = task_text(all, call.other);
    details.add(call.direction(), other).add("bytes", bytes);
    if (call.tag >= 0) details.add("tag", std::int64_t{call.tag});
    for (const auto& array : arrays) details.add("array", ArrayDescriptor::of(array).text());
    return {verb + " " + call.direction() + " " + other, details};
}

}  // namespace hocket::task
