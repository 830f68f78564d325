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

Protocol<> decide(Me me, std::int64_t among, FindChoice find, std::function<std::string()> awaited,
                  Fault fault, Deadline deadline, int tree_tag,
                  std::shared_ptr<std::string> outcome) {
    Packer word;
    if (me->group.lowest()) {
        std::optional<std::int64_t> found;
        comm::When over([&] {
            if (!fault) found = find();
            return found || fault || deadline.passed();
        });
        co_await comm::until(over);
        if (!found && !fault)
            fault = {"DeadlineError",
                     awaited() + ": none was done within " + text::seconds(deadline.timeout())};
        word.number(found.value_or(0)).number(among);
        fault.pack(word);
    }
    *outcome = co_await comm::broadcast(me->group, tree_tag, word.take());
}

}  // namespace

std::int64_t choose(const Me& me, const char* name, std::int64_t among, FindChoice find,
                    std::function<std::string()> awaited, const Fault& fault, Deadline deadline) {
    const auto outcome = std::make_shared<std::string>();
    std::shared_ptr<comm::Call> call;
    {
        const comm::EngineLock engine_lock;
        const int tag = me->tags.decision(me->task);
        call = std::make_shared<comm::Call>(
            decide(me, among, std::move(find), awaited, fault, deadline, tag, outcome), awaited);
        comm::Engine::instance().add(call);
    }
    if (fault && !me->group.lowest()) {
        try {
            wait(*call, Deadline::in(while_others_come));
        } catch (const DeadlineError&) {
            fault.raise();  // the call goes on after this error
        }
        fault.raise();
    }
    wait(*call, with_grace(deadline));
    Unpacker in(*outcome);
    const std::int64_t number = in.number(), among_there = in.number();
    const Fault of_lowest = Fault::unpacked(in);
    if (of_lowest) of_lowest.raise();
    if (among_there != among)
        throw MismatchError(std::string(name) + ": the lowest process of task '" + me->name() +
                            "' chooses among " + std::to_string(among_there) + ", this one among " +
                            std::to_string(among) +
                            "; give the same requests on every process of the task");
    return number;
}

}  // namespace hocket::task
