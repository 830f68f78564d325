// SPDX-License-Identifier: BSD-3-Clause
#include "task/stream_news.hpp"

#include <algorithm>

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

}  // namespace

void Member::receive_news() {
    for (int other = 0; other < static_cast<int>(all->ranks.size()); ++other) {
        if (other == task) continue;
        comm::Texts& texts =
            news_texts.try_emplace(other, *group.link, lowest_of(other), tags.news(other))
                .first->second;
        while (const auto message = texts.next()) {
            Unpacker in(message->text);
            const std::string kind = in.text();
            StreamNews& of = news[{other, in.text()}];
            const std::int64_t number = in.number();
            if (kind == std::string(1, position_of)) of.position = number;
            // A receiver has all frames up to its position.
            of.acknowledged = std::max(of.acknowledged, number);
        }
    }
}

Protocol<> send_news(All all, Me me, int other, char kind, std::string stream,
                     std::int64_t number) {
    Packer packer;
    packer.text(std::string(1, kind)).text(stream).number(number);
    co_await comm::send_text(*all->link, packer.take(), me->lowest_of(other),
                             me->tags.news(me->task));
}

Protocol<> find_number(All all, Me me, int other, std::string stream, NumberInNews number, int tag,
                       Deadline deadline, std::shared_ptr<std::int64_t> out) {
    Fault fault;
    std::optional<std::int64_t> found;
    if (me->group.lowest()) {
        try {
            comm::When known([&] {
                me->receive_news();
                found = number(me->news[{other, stream}]);
                if (!found) all->link->need(me->lowest_of(other));
                return found || deadline.passed();
            });
            co_await comm::until(known);
            if (!found)
                fault = {"DeadlineError", "task '" + all->names[static_cast<std::size_t>(other)] +
                                              "' has not answered in time" +
                                              me->silence_text(other)};
        } catch (const Error&) {
            fault = Fault::current();
        }
    }
    Packer packer;
    packer.text(fault.kind).text(fault.message).number(found.value_or(0));
    const std::string text = co_await comm::broadcast(me->group, tag, packer.take());
    Unpacker in(text);
    fault.kind = in.text();
    fault.message = in.text();
    *out = in.number();
    if (fault) fault.raise();
}

void announce(const All& all, const Me& me, int other, char kind, const std::string& stream,
              std::int64_t number) {
    if (!me->group.lowest()) return;
    const comm::EngineLock engine_lock;
    auto call = std::make_shared<comm::Call>(send_news(all, me, other, kind, stream, number),
                                             "news of " + stream);
    try {
        if (!call->poll()) comm::Engine::instance().post_background(call);
    } catch (const PeerLostError&) {
        return;  // the next call of the channel finds it
    }
}

std::int64_t await_number(const All& all, const Me& me, int other, const std::string& stream,
                          NumberInNews number, const std::string& text, const Deadline& deadline) {
    auto out = std::make_shared<std::int64_t>();
    std::shared_ptr<comm::Call> call;
    {
        const comm::EngineLock engine_lock;
        call = std::make_shared<comm::Call>(
            find_number(all, me, other, stream, std::move(number),
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
