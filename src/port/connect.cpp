// SPDX-License-Identifier: BSD-3-Clause
// The side of a meeting that connects.
#include <vector>

#include "base/platform.hpp"
#include "comm/agree.hpp"
#include "comm/call.hpp"
#include "comm/engine.hpp"
#include "comm/state.hpp"
#include "port/meeting.hpp"

namespace hocket {
namespace port {
namespace {

constexpr double until_all_answer = 30;  // seconds

net::DialOptions options_to(const Place& place, const Meeting& meeting,
                            const ConnectOptions& options) {
    net::DialOptions how;
    how.key = options.key;
    how.secure = options.secure;
    how.wanted = net::Right::join;
    how.timeout = until_all_answer;
    const bool here = meeting.local && place.host == host_name();
    if (!here && place.address.empty())
        throw Error("a process of '" + meeting.acceptor + "' is on host '" + place.host +
                    "', which this one reaches by a key only; open the port with a key (key=) and "
                    "connect with it");
    how.port = here ? place.socket : place.address;
    if (here) how.secure = true;
    return how;
}

comm::Protocol<Lines> lines_to(Comm on, const Meeting& meeting, const ConnectOptions& options) {
    std::vector<std::unique_ptr<net::Dial>> dials;
    for (const Place& place : meeting.places) {
        net::Hello hello;
        hello.role = net::Role::process;
        hello.instance = net::new_instance();
        hello.processes = meeting.connectors;
        hello.process = on.rank();
        hello.session = meeting.session;
        dials.push_back(std::make_unique<net::Dial>(options_to(place, meeting, options), hello));
    }
    comm::When all([&] {
        bool done = true;
        for (const auto& dial : dials) done = dial->poll() && done;
        return done;
    });
    co_await comm::until(all);
    Lines lines;
    for (const auto& dial : dials) lines.push_back(dial->take());
    co_return lines;
}

comm::Protocol<> connected(Comm on, std::string name, int tag, comm::CallSignature mine,
                           ConnectOptions options, std::shared_ptr<std::optional<Tasks>> out) {
    const std::string text = mine.text;
    co_await on.state().open();
    const comm::Group all = comm::Group::whole(on.state().link());
    co_await comm::agree(all, tag, std::move(mine));
    comm::CallSignature told;
    told.text = text;
    std::unique_ptr<net::Dial> dial;  // its connection says that this job is there
    if (on.rank() == 0) {
        try {
            net::Hello hello;
            hello.role = net::Role::connector;
            hello.instance = net::new_instance();
            hello.task = options.task;
            hello.processes = on.size();
            net::DialOptions how{name, options.key, net::Right::join, options.secure, {}};
            // Until the program accepts, however long that is.
            how.timeout = options.deadline.limited() ? options.deadline.timeout() : 1e9;
            dial = std::make_unique<net::Dial>(how, hello);
            comm::When in([&] { return dial->poll(); });
            co_await comm::until(in);
            told.payload = dial->welcome().rest;
        } catch (const Error&) {
            told.fault = comm::Fault::current();
        }
    }
    const Meeting meeting = parse_meeting(co_await comm::agree(all, tag, std::move(told)));
    comm::CallSignature met;
    met.text = text;
    Lines lines;
    try {
        lines = co_await lines_to(on, meeting, options);
    } catch (const Error&) {
        met.fault = comm::Fault::current();
    }
    co_await comm::agree(all, tag, std::move(met));
    co_await become_tasks(on, meeting, std::move(lines), false, out);
}

}  // namespace
}  // namespace port

Tasks connect(const std::string& name, const Comm& comm, const ConnectOptions& options) {
    comm::CallSignature mine;
    mine.text = "connect('" + name + "', task='" + options.task + "')";
    try {
        if (!net::is_name(options.task))
            throw Error("'" + options.task +
                        "' is no name of a task here; give 1 to 64 letters, digits, '.', '_', '-'");
    } catch (const Error&) {
        mine.fault = comm::Fault::current();
    }
    auto out = std::make_shared<std::optional<Tasks>>();
    std::shared_ptr<comm::Call> call;
    {
        const comm::EngineLock engine_lock;
        const std::string text = mine.text;
        call = std::make_shared<comm::Call>(
            port::connected(comm, name, comm.state().next_tag(), std::move(mine), options, out),
            text);
        comm::Engine::instance().add(call);
    }
    wait(*call);
    return std::move(**out);
}

void disconnect(Tasks& tasks, Deadline deadline) {
    const Comm own = tasks.comm();
    static_cast<void>(tell(own, "", 0, deadline));  // all of this job are here
    const comm::EngineLock engine_lock;
    const Tasks ended = std::move(tasks);
}

}  // namespace hocket
