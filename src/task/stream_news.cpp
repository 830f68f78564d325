// SPDX-License-Identifier: BSD-3-Clause
#include "task/stream_news.hpp"

#include <algorithm>
#include <string_view>

#include "base/pack.hpp"
#include "comm/engine.hpp"
#include "comm/state.hpp"
#include "hocket/kernel.hpp"
#include "task/exchange.hpp"

namespace hocket::task {
namespace {

Protocol<> agreement(Comm on, int tag, comm::CallSignature mine) {
    co_await on.state().open();
    const comm::Group all = comm::Group::whole(on.state().link());
    static_cast<void>(co_await comm::agree(all, tag, std::move(mine)));
}

constexpr std::string_view kept_frames = " with kept frames";

// One text of news from task `other`.
void take_news(Member& me, int other, Unpacker& in) {
    const std::string kind = in.text(), stream = in.text();
    const std::int64_t number = in.number(), detail = in.number();
    StreamNews& of = me.news[{other, stream}];
    if (kind == std::string(1, refusal_of)) {
        of.refused = std::max(of.refused, number);
        if (detail < 0) return;
        // Its envelope came before. A later channel without kept frames must not match it.
        me.matcher.pump();
        me.matcher.drop(other, stream.substr(0, stream.size() - kept_frames.size()), detail);
        return;
    }
    if (kind == std::string(1, position_of)) {
        of.position = number;
        of.announced = detail;
    }
    // A receiver has all frames up to its position.
    of.acknowledged = std::max(of.acknowledged, number);
}

}  // namespace

std::string plain_stream(const std::string& name) {
    return "channel '" + name + "'";
}

std::string kept_stream(const std::string& name) {
    return plain_stream(name).append(kept_frames);
}

void Member::receive_news(int other) {
    comm::Texts& texts =
        news_texts.try_emplace(other, *group.link, lowest_of(other), tags.news(other))
            .first->second;
    while (const auto message = texts.next()) {
        Unpacker in(message->text);
        // This process may be the lowest of several tasks.
        const auto to = all->mine.find(static_cast<int>(in.number()));
        if (to != all->mine.end()) take_news(*to->second, other, in);
    }
}

Fault Member::fault_in_kind(int other, const std::string& stream, std::int64_t channel) {
    receive_news(other);
    const bool keeps = stream.ends_with(kept_frames);
    const std::string plain = keeps ? stream.substr(0, stream.size() - kept_frames.size()) : stream;
    const StreamNews& kept =
        news[{other, keeps ? stream : std::string(stream).append(kept_frames)}];
    const bool differs = news[{other, stream}].refused >= channel ||
                         (keeps ? news[{other, plain}].made == 0 && matcher.drop(other, plain, -1)
                                : kept.announced > kept.made);
    if (!differs) return {};
    const std::string there = "task '" + all->names[static_cast<std::size_t>(other)] + "'",
                      here = "task '" + name() + "'";
    return {"MismatchError", plain + ": " + (keeps ? here : there) + " keeps its frames (keep=), " +
                                 (keeps ? there : here) +
                                 " does not; make it in both tasks with keep, or in neither"};
}

Protocol<> refuse_kind(All all, Me me, int other, std::string stream, std::int64_t channel,
                       std::int64_t send) {
    me->refuses_channels = true;
    me->news[{other, stream}].refused = channel;
    if (stream.ends_with(kept_frames)) co_return;
    const std::string refused = stream.append(kept_frames);
    StreamNews& kept = me->news[{other, refused}];
    if (kept.announced <= kept.made) co_return;  // has been told before
    kept.made = kept.announced;
    co_await send_news(all, me, other, refusal_of, refused, kept.made, send);
}

Protocol<> send_news(All all, Me me, int other, char kind, std::string stream, std::int64_t number,
                     std::int64_t detail) {
    Packer packer;
    packer.number(other).text(std::string(1, kind)).text(stream).number(number).number(detail);
    co_await comm::send_text(*all->link, packer.take(), me->lowest_of(other),
                             me->tags.news(me->task));
}

Protocol<> find_number(All all, Me me, int other, std::string stream, std::int64_t channel,
                       NumberInNews number, int tag, Deadline deadline,
                       std::shared_ptr<std::int64_t> out) {
    Fault fault;
    std::optional<std::int64_t> found;
    if (me->group.lowest()) {
        try {
            comm::When known([&] {
                me->receive_news(other);
                found = number(me->news[{other, stream}]);
                if (!found) fault = me->fault_in_kind(other, stream, channel);
                if (!found) all->link->need(me->lowest_of(other));
                return found || fault || deadline.passed();
            });
            co_await comm::until(known);
            if (fault)
                co_await refuse_kind(all, me, other, stream, channel, -1);
            else if (!found)
                fault = {"DeadlineError", "task '" + all->names[static_cast<std::size_t>(other)] +
                                              "' has not answered in time" +
                                              me->silence_text(other)};
        } catch (const Error&) {
            fault = Fault::current();
        }
    }
    Packer packer;
    fault.pack(packer);
    packer.number(found.value_or(0));
    const std::string text = co_await comm::broadcast(me->group, tag, packer.take());
    Unpacker in(text);
    fault = Fault::unpacked(in);
    *out = in.number();
    if (fault) fault.raise();
}

void announce(const All& all, const Me& me, int other, char kind, const std::string& stream,
              std::int64_t number, std::int64_t detail) {
    if (!me->group.lowest()) return;
    const comm::EngineLock engine_lock;
    auto call = std::make_shared<comm::Call>(
        send_news(all, me, other, kind, stream, number, detail), "news of " + stream);
    try {
        if (!call->poll()) comm::Engine::instance().post_background(call);
    } catch (const PeerLostError&) {
        return;  // the next call of the channel finds it
    }
}

std::int64_t await_number(const All& all, const Me& me, int other, const std::string& stream,
                          std::int64_t channel, NumberInNews number, const std::string& text,
                          const Deadline& deadline) {
    auto out = std::make_shared<std::int64_t>();
    std::shared_ptr<comm::Call> call;
    {
        const comm::EngineLock engine_lock;
        call = std::make_shared<comm::Call>(
            find_number(all, me, other, stream, channel, std::move(number),
                        me->tags.tree(me->task, me->calls++), deadline, out),
            text);
        comm::Engine::instance().add(call);
    }
    wait(*call, with_grace(deadline));
    return *out;
}

void agree_on(const Me& me, const std::string& stream, const std::function<void()>& work) {
    if (me->comm.size() == 1) return work();
    comm::CallSignature mine;
    try {
        work();
    } catch (const std::exception&) {
        mine.fault = Fault::current();
    }
    std::shared_ptr<comm::Call> call;
    {
        const comm::EngineLock engine_lock;
        call = std::make_shared<comm::Call>(
            agreement(me->comm, me->comm.state().next_tag(), std::move(mine)),
            "the other processes of the task at " + stream);
        comm::Engine::instance().add(call);
    }
    wait(*call);
}

Array copy_of(const Array& array) {
    Array copy = Array::empty(array.layout(), array.dtype(), array.comm());
    if (array.process() >= 0)
        kernel::Copy(array.local_shape(), array.dtype().size, array.strides(), copy.strides())
            .run(array.data(), copy.data());
    return copy;
}

}  // namespace hocket::task
