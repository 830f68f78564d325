// SPDX-License-Identifier: BSD-3-Clause
// The side of a meeting that connects.
#include <vector>

#include "base/platform.hpp"
#include "base/text.hpp"
#include "comm/agree.hpp"
#include "comm/call.hpp"
#include "comm/engine.hpp"
#include "comm/state.hpp"
#include "port/opening.hpp"
#include "port/reunion.hpp"
#include "task/jobs.hpp"

namespace hocket {
namespace port {
namespace {

constexpr double until_all_answer = 30;  // seconds

// The standing connections, as far as they are this process's.
comm::Protocol<> open_standing(Dialler& dialler, const Meeting& meeting, int process) {
    std::vector<int> left;
    for (int other = 0; other < static_cast<int>(meeting.addresses.size()); ++other)
        if (stands(meeting, other, process)) left.push_back(other);
    const double until = platform::seconds() + until_all_answer;
    comm::When all([&] {
        std::erase_if(left, [&](int other) { return dialler.dial(other); });
        return left.empty() || platform::seconds() > until;
    });
    co_await comm::until(all);
    if (!left.empty())
        throw DeadlineError("process " + std::to_string(left.front()) + " of '" + meeting.acceptor +
                            "' has not answered within " + text::seconds(until_all_answer));
}

comm::Protocol<> connected(Comm on, std::string name, int tag, comm::CallSignature mine,
                           ConnectOptions options, bool again, std::shared_ptr<JobTasks> out) {
    const std::string text = mine.text;
    co_await on.state().open();
    const comm::Group all = comm::Group::whole(on.state().link());
    co_await comm::agree(all, tag, std::move(mine));
    comm::CallSignature outcome;
    outcome.text = text;
    std::unique_ptr<net::Dial> dial;  // its connection says that this job is there
    if (on.rank() == 0) {
        try {
            net::Hello hello;
            hello.role = net::Role::connector;
            hello.instance = net::new_instance();
            hello.task = options.task;
            hello.processes = on.size();
            hello.reconnect = options.reconnect;
            net::DialOptions how{name, options.key, net::Right::join, options.secure, {},
                                 {},   again};
            // Until the program accepts, however long that is.
            how.timeout = options.deadline.limited() ? options.deadline.left() : 1e9;
            dial = std::make_unique<net::Dial>(how, hello);
            comm::When in([&] { return dial->poll(); });
            co_await comm::until(in);
            outcome.payload = dial->welcome().rest;
        } catch (const Error&) {
            outcome.fault = comm::Fault::current();
        }
    }
    const Meeting meeting = parse_meeting(co_await comm::agree(all, tag, std::move(outcome)));
    if (meeting.connectors != on.size())
        throw Error("the port '" + name + "' answers a job of " +
                    std::to_string(meeting.connectors) + " processes, and this one has " +
                    std::to_string(on.size()) + "; is it a port of this version of hocket?");
    comm::CallSignature met;
    met.text = text;
    std::shared_ptr<Dialler> dialler;
    try {
        dialler = std::make_shared<Dialler>(meeting, name, options, on.rank());
        co_await open_standing(*dialler, meeting, on.rank());
    } catch (const Error&) {
        met.fault = comm::Fault::current();
    }
    co_await comm::agree(all, tag, std::move(met));
    OwnSide side{false, tag, text};
    co_await become_tasks(on, meeting, std::move(dialler), std::move(side), out);
    if (options.reconnect > 0) (*out)->meet_again = connect_again(on, name, options);
}

}  // namespace

JobTasks connect_job(const std::string& name, const Comm& comm, const ConnectOptions& options,
                     bool again) {
    comm::CallSignature mine;
    try {
        mine.text = "connect('" + name + "', task='" + options.task + "'" +
                    resume_text(options.resume) + ")";
        if (!net::is_name(options.task))
            throw Error(text::quoted(options.task) +
                        " is no name of a task here; give 1 to 64 letters, digits, '.', '_', '-'");
        if (!(options.reconnect >= 0))
            throw Error("reconnect is " + text::seconds(options.reconnect) +
                        "; give the seconds in which a lost job may come back, or 0");
    } catch (const Error&) {
        mine.fault = comm::Fault::current();
    }
    auto out = std::make_shared<JobTasks>();
    std::shared_ptr<comm::Call> call;
    {
        const comm::EngineLock engine_lock;
        const std::string text = mine.text;
        call = std::make_shared<comm::Call>(
            connected(comm, name, comm.state().next_tag(), std::move(mine), options, again, out),
            text);
        comm::Engine::instance().add(call);
    }
    wait(*call);
    (*out)->resume = {options.resume.begin(), options.resume.end()};
    return *out;
}

}  // namespace port

Tasks connect(const std::string& name, const Comm& comm, const ConnectOptions& options) {
    return task::handle_of(port::connect_job(name, comm, options, false));
}

void disconnect(Tasks& tasks, Deadline deadline) {
    const Comm own = tasks.comm();
    static_cast<void>(tell(own, "", 0, deadline));  // all of this job are here
    const comm::EngineLock engine_lock;
    const Tasks ended = std::move(tasks);
}

}  // namespace hocket
