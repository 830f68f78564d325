// SPDX-License-Identifier: BSD-3-Clause
// The side of a meeting that connects.
#include <vector>

#include "base/platform.hpp"
#include "base/text.hpp"
#include "comm/agree.hpp"
#include "comm/call.hpp"
#include "comm/engine.hpp"
#include "comm/state.hpp"
#include "port/meeting.hpp"
#include "port/reunion.hpp"
#include "task/jobs.hpp"

namespace hocket {
namespace port {
namespace {

constexpr double until_all_answer = 30;  // seconds

// `name`: by which this job has found the port.
net::DialOptions options_to(const ProcessAddress& reached, const Meeting& meeting,
                            const std::string& name, const ConnectOptions& options) {
    net::DialOptions how;
    how.key = options.key;
    how.secure = options.secure;
    how.wanted = net::Right::join;
    how.timeout = until_all_answer;
    const bool here = meeting.local && reached.host == host_name();
    const bool at_port = reached.address == ProcessAddress::of_port;
    if (!here && (reached.address.empty() || (at_port && !net::address_of(name))))
        throw Error("a process of '" + meeting.acceptor + "' is on host '" + reached.host +
                    "', which this one reaches by a key only; open the port with a key (key=) and "
                    "connect to its address with it");
    how.port = here ? reached.socket : at_port ? name : reached.address;
    if (here) how.secure = true;
    return how;
}

comm::Protocol<Connections> dial_all(Comm on, std::string name, const Meeting& meeting,
                                     const ConnectOptions& options) {
    std::vector<std::unique_ptr<net::Dial>> dials;
    for (const ProcessAddress& reached : meeting.addresses) {
        net::Hello hello;
        hello.role = net::Role::process;
        hello.instance = net::new_instance();
        hello.processes = meeting.connectors;
        hello.process = on.rank();
        hello.session = meeting.session;
        net::DialOptions how = options_to(reached, meeting, name, options);
        how.route = net::Route{meeting.session, static_cast<std::uint32_t>(dials.size())};
        dials.push_back(std::make_unique<net::Dial>(how, hello));
    }
    comm::When all([&] {
        bool done = true;
        for (const auto& dial : dials) done = dial->poll() && done;
        return done;
    });
    co_await comm::until(all);
    Connections connections;
    for (const auto& dial : dials) connections.push_back(dial->take());
    co_return connections;
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
    Connections connections;
    try {
        connections = co_await dial_all(on, name, meeting, options);
    } catch (const Error&) {
        met.fault = comm::Fault::current();
    }
    co_await comm::agree(all, tag, std::move(met));
    OwnSide side{false, tag, text};
    co_await become_tasks(on, meeting, std::move(connections), std::move(side), out);
    if (options.reconnect > 0) (*out)->reunion = connect_again(on, name, options);
}

}  // namespace

JobTasks connect_job(const std::string& name, const Comm& comm, const ConnectOptions& options,
                     bool again) {
    comm::CallSignature mine;
    try {
        mine.text = "connect('" + name + "', task='" + options.task + "'" +
                    resume_text(options.resume) + ")";
        if (!net::is_name(options.task))
            throw Error("'" + options.task +
                        "' is no name of a task here; give 1 to 64 letters, digits, '.', '_', '-'");
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
