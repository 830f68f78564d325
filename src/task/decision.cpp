// SPDX-License-Identifier: BSD-3-Clause
#include "task/decision.hpp"

#include <utility>

#include "base/pack.hpp"
#include "base/text.hpp"
#include "comm/call.hpp"
#include "comm/engine.hpp"
#include "task/exchange.hpp"

namespace hocket::task {
namespace {

// How long a process with wrong arguments waits for the lowest process, so that its children in the
// tree get the outcome, too.
constexpr double while_others_come = 1.0;  // seconds

Protocol<> decide(Me me, Choice choice, Deadline deadline, int tree_tag,
                  std::shared_ptr<std::string> outcome) {
    Packer word;
    if (me->group.lowest()) {
        std::optional<std::int64_t> found;
        comm::When over([&] {
            if (!choice.fault) found = choice.find();
            return found || choice.fault || deadline.passed();
        });
        co_await comm::until(over);
        if (!found && !choice.fault)
            choice.fault = {"DeadlineError", choice.text() + ": none was done within " +
                                                 text::seconds(deadline.timeout())};
        word.number(found.value_or(0)).number(choice.among);
        word.text(choice.fault.kind).text(choice.fault.message);
    }
    *outcome = co_await comm::broadcast(me->group, tree_tag, word.take());
}

}  // namespace

std::int64_t choose(const Me& me, Choice choice, Deadline deadline) {
    const auto outcome = std::make_shared<std::string>();
    const Fault own = choice.fault;
    const std::int64_t among = choice.among;
    const std::string name = choice.name;
    std::shared_ptr<comm::Call> call;
    {
        const comm::EngineLock engine_lock;
        const int tag = me->tags.tree(me->task, me->calls++);
        auto text = choice.text;
        call = std::make_shared<comm::Call>(decide(me, std::move(choice), deadline, tag, outcome),
                                            std::move(text));
        comm::Engine::instance().add(call);
    }
    if (own && !me->group.lowest()) {
        try {
            wait(*call, Deadline::in(while_others_come));
        } catch (const DeadlineError&) {
            own.raise();  // the call goes on after this error
        }
        own.raise();
    }
    wait(*call, with_grace(deadline));
    Unpacker in(*outcome);
    const std::int64_t number = in.number(), among_there = in.number();
    Fault fault;
    fault.kind = in.text();
    fault.message = in.text();
    if (fault) fault.raise();
    if (among_there != among)
        throw MismatchError(name + ": the lowest process of task '" + me->name() +
                            "' chooses among " + std::to_string(among_there) + ", this one among " +
                            std::to_string(among) +
                            "; give the same requests on every process of the task");
    return number;
}

}  // namespace hocket::task
