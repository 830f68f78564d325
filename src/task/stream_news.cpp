// SPDX-License-Identifier: BSD-3-Clause
#include "task/stream_news.hpp"

#include <algorithm>

#include "base/pack.hpp"

namespace hocket::task {

void Member::receive_news() {
    for (int other = 0; other < static_cast<int>(all->ranks.size()); ++other) {
        if (other == task) continue;
        comm::Texts& texts =
            news_texts.try_emplace(other, *group.link, lowest_of(other), tags.news(other))
                .first->second;
        while (const auto message = texts.next()) {
            Unpacker in(message->text);
            const std::string kind = in.text();
            StreamNews& of = news[in.text()];
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
                found = number(me->news[stream]);
                if (!found) all->link->need(me->lowest_of(other));
                return found || deadline.passed();
            });
            co_await comm::until(known);
            if (!found)
                fault = {"DeadlineError", "task '" + all->names[static_cast<std::size_t>(other)] +
                                              "' has not answered in time"};
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

}  // namespace hocket::task
