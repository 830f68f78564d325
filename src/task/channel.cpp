// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <string_view>

#include "base/text.hpp"
#include "comm/engine.hpp"
#include "hocket/binding.hpp"
#include "hocket/task.hpp"
#include "task/exchange.hpp"
#include "task/kept_channel.hpp"
#include "task/member.hpp"
#include "task/stream_news.hpp"

namespace hocket {

struct Channel::State {
    std::shared_ptr<Tasks::State> all;
    std::shared_ptr<task::Member> me;
    int other;
    std::string name, stream;
    std::int64_t number = 0;                            // in its stream
    bool closed = false;                                // by this task
    std::optional<std::string> over = {};               // by the other task: its message
    std::shared_ptr<task::KeptChannel> kept = nullptr;  // none: an ordinary channel
    std::int64_t every = 1, calls = 0;                  // sends one of so many calls
    bool latest = false;
    std::optional<Array> held =
        {};  // of "latest": the newest, for which the receiver has not asked yet

    /// `array`: none if the call has a fault, or ends the stream.
    std::shared_ptr<task::Pending> start(bool sends, const std::vector<Array>& array,
                                         comm::Fault fault, const Deadline& deadline) const;
    /// Of "latest": how many arrays the receiver has asked for; `more`: waits for more than so many
    /// have been sent.
    std::int64_t asked_of(bool more, const Deadline& deadline) const;
    /// Sends the array now, or keeps it.
    void send_latest(const std::vector<Array>& array, comm::Fault fault, const Deadline& deadline);
    void ask();
    task::StreamNews& news() const { return me->news[{other, stream}]; }
};

namespace {

// `array`: none if the call has a fault, or ends the stream.
comm::Fault fault_of_call(task::Member& me, const std::vector<Array>& array, bool receiving,
                          int other, const std::string& verb) {
    try {
        me.require_intact(other, verb);
    } catch (const Error&) {
        return comm::Fault::current();
    }
    return array.empty() ? comm::Fault{} : task::fault_of(me, array[0], receiving);
}

// All messages of a channel have one tag; the name of the channel separates them from others.
constexpr int tag = 0;

/// N of "every N"; 1 of "block"; 0 of "latest".
std::int64_t every_of(const std::string& name, const std::string& backpressure) {
    constexpr std::string_view every = "every ";
    if (backpressure == "block") return 1;
    if (backpressure == "latest") return 0;
    if (backpressure.starts_with(every)) {
        const auto number = text::whole_number(backpressure.substr(every.size()));
        if (number && *number > 0) return *number;
    }
    throw Error("channel '" + name + "': its backpressure is '" + backpressure +
                "'; give 'block', 'latest', or 'every N' with a number from 1 on");
}

}  // namespace

Channel Tasks::channel(const std::string& name, const TaskId& other,
                       const ChannelOptions& options) const {
    const auto& [keep, last, backpressure] = options;
    const task::Member& me = speaker("channel");
    if (name.empty()) throw Error("channel: its name is empty; both tasks give it the same one");
    const int index = state_->index(other);
    state_->require_apart(me.task, index, "channel '" + name + "'", "isend and irecv, or sendrecv");
    if (keep < 0)
        throw Error("channel '" + name + "': keep is " + std::to_string(keep) +
                    "; give a number of frames, or 0 to keep none");
    if (last && (*last < 0 || keep == 0))
        throw Error("channel '" + name + "': its last frame is " + std::to_string(*last) +
                    "; give a number counted from 1, or 0 for none, together with keep");
    const std::int64_t every = every_of(name, backpressure);
    if (every == 0 && keep > 0)
        throw Error("channel '" + name + "': backpressure is 'latest' and keep is " +
                    std::to_string(keep) +
                    ", but all frames that are kept arrive; leave out one of the two");
    auto channel = std::make_shared<Channel::State>(
        Channel::State{state_, speaker_, index, name, task::plain_stream(name)});
    channel->latest = every == 0;
    channel->every = std::max(every, std::int64_t{1});
    if (keep > 0) {
        if (state_->mine.size() > 1)
            throw Error("channel '" + name +
                        "': frames are kept by processes of one task only; leave out keep");
        channel->kept = std::make_shared<task::KeptChannel>(state_, index, name, keep, last);
        state_->channels.push_back(channel->kept);
    } else {
        const comm::EngineLock engine_lock;
        channel->number = ++channel->news().made;
    }
    return Channel(std::move(channel));
}

std::int64_t Channel::sent() const {
    return state_->kept ? state_->kept->sent() : 0;
}

std::int64_t Channel::received() const {
    return state_->kept ? state_->kept->received() : 0;
}

const std::string& Channel::name() const {
    return state_->name;
}

std::shared_ptr<task::Pending> Channel::State::start(bool sends, const std::vector<Array>& array,
                                                     comm::Fault fault,
                                                     const Deadline& deadline) const {
    const comm::EngineLock engine_lock;
    const bool end = sends && array.empty() && !fault;
    if (!fault) fault = fault_of_call(*me, array, !sends, other, stream);
    task::MessageCall call{sends, task::descriptors_of(array), other, tag, std::move(fault),
                           stream};
    call.end = end;
    call.channel = number;
    call.deadline = deadline;
    return task::start_message(all, me, std::move(call), array);
}

std::int64_t Channel::State::asked_of(bool more, const Deadline& deadline) const {
    return task::await_number(
        all, me, other, stream, number,
        [more, had = news().delivered](const task::StreamNews& of) -> std::optional<std::int64_t> {
            if (more && of.acknowledged <= had) return std::nullopt;
            return of.acknowledged;
        },
        "task '" + all->names[static_cast<std::size_t>(other)] + "', which has to receive on " +
            stream,
        deadline);
}

void Channel::State::ask() {
    if (!latest) return;
    task::announce(all, me, other, task::acknowledgement_of, stream, ++news().asked);
}

void Channel::State::send_latest(const std::vector<Array>& array, comm::Fault fault,
                                 const Deadline& deadline) {
    if (asked_of(false, deadline) > news().delivered) {
        held.reset();
        ++news().delivered;
        task::finish_or_break(*start(true, array, std::move(fault), deadline), deadline, other);
        return;
    }
    // All processes keep the same array.
    task::agree_on(me, stream, [&] {
        if (!fault) fault = fault_of_call(*me, array, false, other, stream);
        if (fault) fault.raise();
        held = task::copy_of(array[0]);
    });
}

void Channel::send(const Array& array, Deadline deadline) {
    auto& it = *state_;
    if (it.closed) throw Error("send: " + it.stream + " was closed by this task");
    if (it.calls++ % it.every != 0) return;
    if (it.latest) return it.send_latest({array}, {}, deadline);
    if (it.kept) return it.kept->send(&array, {}, deadline);
    const auto pending = it.start(true, {array}, {}, deadline);
    task::finish_or_break(*pending, deadline, it.other);
}

Status Channel::recv(const Array& array, Deadline deadline) {
    auto& it = *state_;
    if (it.over) throw EndOfStream(*it.over);
    try {
        if (it.kept) return it.kept->recv(&array, {}, deadline);
        it.ask();
        const auto pending = it.start(false, {array}, {}, deadline);
        return task::finish_or_break(*pending, task::with_grace(deadline), it.other);
    } catch (const EndOfStream& end) {
        it.over = end.what();
        throw;
    }
}

void Channel::close(Deadline deadline) {
    auto& it = *state_;
    if (it.closed) throw Error("close: " + it.stream + " was closed before by this task");
    if (it.kept) {
        it.kept->close(deadline);
    } else {
        if (it.held) {
            it.asked_of(true, deadline);
            ++it.news().delivered;
            task::finish_or_break(*it.start(true, {*it.held}, {}, deadline), deadline, it.other);
            it.held.reset();
        }
        if (it.latest) ++it.news().delivered;  // the receiver asks, and gets the end
        const auto pending = it.start(true, {}, {}, deadline);
        task::finish_or_break(*pending, deadline, it.other);
    }
    it.closed = true;
}

void Binding::refuse(Channel& channel, bool sending, const std::string& kind,
                     const std::string& message, Deadline deadline) {
    auto& it = *channel.state_;
    if (sending && it.calls++ % it.every != 0) return comm::Fault{kind, message}.raise();
    if (sending && it.latest) return it.send_latest({}, {kind, message}, deadline);
    if (!sending) it.ask();
    if (it.kept && sending) return it.kept->send(nullptr, {kind, message}, deadline);
    if (it.kept) return static_cast<void>(it.kept->recv(nullptr, {kind, message}, deadline));
    task::finish(*it.start(sending, {}, {kind, message}, deadline), deadline);
}

}  // namespace hocket
