// SPDX-License-Identifier: BSD-3-Clause
// The side of a meeting that has the port.
#include <map>
#include <utility>

#include "base/pack.hpp"
#include "base/platform.hpp"
#include "base/text.hpp"
#include "comm/agree.hpp"
#include "comm/call.hpp"
#include "comm/engine.hpp"
#include "port/host.hpp"
#include "port/meeting.hpp"
#include "port/opening.hpp"
#include "port/reunion.hpp"
#include "port/state.hpp"
#include "task/jobs.hpp"

namespace hocket {
namespace port {
namespace {

// Seconds in which the other job's processes come, once its process 0 has.
constexpr double until_all_come = 30;

// Waits for a connector; what is wrong otherwise.
comm::Protocol<std::unique_ptr<Client>> connector(State& state, std::string only,
                                                  Deadline deadline) {
    std::unique_ptr<Client> client;
    comm::When came([&] {
        state.host->advance(false);
        client = state.host->next_connector(only);
        if (client != nullptr && client->hello.task == state.task) {
            Listener::refuse(*client->connection, "both jobs call themselves '" + state.task +
                                                      "'; give one of them another name (task=)");
            client = nullptr;
        }
        return client != nullptr || deadline.passed();
    });
    co_await comm::until(came);
    if (client == nullptr)
        throw DeadlineError("no job has connected to the port '" + state.name + "' within " +
                            text::seconds(deadline.timeout()));
    co_return client;
}

// Opens the listener at which other jobs reach this process. By TCP, the lowest process of each
// node listens for all of them; on process 0's node it is the port itself.
ProcessAddress open_listener(const State& state, std::unique_ptr<Listener>& listener) {
    const comm::Link& link = state.comm.state().link();
    Listener::Options how;
    how.socket = net::new_port_file(state.name).socket;
    how.secure = state.secure;
    ProcessAddress reached{platform::host_name(), how.socket, "", link.node(link.rank())};
    if (!state.address.empty()) {
        if (state.secure) how.key = std::make_shared<const net::Key>(net::Key::read(state.key));
        int lowest = 0;
        while (link.node(lowest) != reached.node) ++lowest;
        if (lowest == 0) reached.address = ProcessAddress::of_port;
        if (lowest == link.rank() && lowest != 0) how.address = net::Address{"0.0.0.0", "0"};
    }
    listener = std::make_unique<Listener>(how);
    if (how.address) reached.address = reached.host + ":" + std::to_string(listener->number());
    return reached;
}

// All processes of a node have the address of the one that listens.
void share_addresses(std::vector<ProcessAddress>& addresses) {
    std::map<std::int64_t, std::string> by_node;
    for (const ProcessAddress& each : addresses)
        if (!each.address.empty()) by_node[each.node] = each.address;
    for (ProcessAddress& each : addresses) each.address = by_node[each.node];
}

// The Unix sockets of the processes of that node, by process.
std::vector<std::string> sockets_of(const Meeting& meeting, std::int64_t node) {
    std::vector<std::string> sockets;
    for (const ProcessAddress& each : meeting.addresses)
        sockets.push_back(each.node == node ? each.socket : "");
    return sockets;
}

std::string packed(int rank, const ProcessAddress& reached) {
    Packer packer;
    packer.number(rank).text(reached.host).text(reached.socket).text(reached.address);
    packer.number(reached.node);
    return packer.take();
}

// While the jobs meet, the connecting job's own connection stands. Sends what is queued for it;
// true once all is sent. @throws JobLostError
bool require_connector(Client& client, const Meeting& meeting) {
    try {
        const bool sent = client.connection->flush();
        client.connection->stream().require_answers();
        if (client.connection->receive()) throw net::Disconnected("it sends what is no answer");
        return sent;
    } catch (const net::Disconnected& error) {
        throw JobLostError("'" + meeting.connector +
                           "' is lost while it meets this job: " + error.what());
    }
}

comm::Protocol<> accepted(std::shared_ptr<State> state, int tag, comm::CallSignature mine,
                          std::string only, Deadline deadline, std::shared_ptr<JobTasks> out) {
    const std::string text = mine.text;
    co_await state->comm.state().open();
    const comm::Group all = comm::Group::whole(state->comm.state().link());
    co_await comm::agree(all, tag, std::move(mine));

    std::unique_ptr<Listener> listener;
    comm::CallSignature opened;
    opened.text = text;
    std::string reached;
    try {
        reached = packed(state->comm.rank(), open_listener(*state, listener));
    } catch (const Error&) {
        opened.fault = comm::Fault::current();
    }
    co_await comm::agree(all, tag, std::move(opened));
    comm::CallSignature outcome;
    outcome.text = text;
    const std::string addresses = co_await comm::reduce(
        all, tag, reached,
        [](const std::string& low, const std::string& high) { return low + high; });
    std::unique_ptr<Client> client;
    if (state->first()) {
        try {
            client = co_await connector(*state, only, deadline);
            Meeting meeting;
            meeting.session = net::new_instance();
            meeting.local = client->local;
            meeting.acceptor = state->task;
            meeting.connector = client->hello.task;
            meeting.connectors = client->hello.processes;
            meeting.reconnect = client->hello.reconnect;
            meeting.other_order = client->hello.big_endian != net::states_big_endian();
            meeting.addresses.resize(static_cast<std::size_t>(state->comm.size()));
            for (Unpacker in(addresses); !in.empty();) {
                ProcessAddress& one = meeting.addresses.at(static_cast<std::size_t>(in.number()));
                one.host = in.text();
                one.socket = in.text();
                one.address = in.text();
                one.node = in.number();
            }
            share_addresses(meeting.addresses);
            outcome.payload = packed_meeting(meeting);
        } catch (const Error& error) {
            outcome.fault = comm::Fault::current();
            if (client) Listener::refuse(*client->connection, error.what());
        }
    }
    const Meeting meeting = parse_meeting(co_await comm::agree(all, tag, std::move(outcome)));
    const auto node = meeting.addresses[static_cast<std::size_t>(state->comm.rank())].node;
    std::shared_ptr<Reception> reception;
    const double until = platform::seconds() + until_all_come;
    const auto ready = [&] {
        if (!reception) {
            reception = std::make_shared<Reception>(std::move(listener), meeting,
                                                    state->comm.rank(), sockets_of(meeting, node),
                                                    client ? state->host->listener() : nullptr);
            if (client) state->host->listener()->welcome(*client, packed_meeting(meeting));
        }
        const int missing = reception->missing();
        const bool sent = client == nullptr || require_connector(*client, meeting);
        if (missing > 0 && platform::seconds() > until)
            throw JobLostError(std::to_string(missing) + " processes of '" + meeting.connector +
                               "' have not come within " + text::seconds(until_all_come));
        return missing == 0 && sent;
    };
    // The lowest process of a node hands on the connections of the others there.
    co_await comm::agree_when_ready(all, tag, ready, [&] { reception->advance(); });
    reception->end_meeting();
    OwnSide side{true, tag, text};
    co_await become_tasks(state->comm, meeting, std::move(reception), std::move(side), out);
    (*out)->meet_again = accept_again(state, meeting.connector, meeting.reconnect);
}

}  // namespace

JobTasks accept_job(const std::shared_ptr<State>& state, const Resume& resume,
                    const std::string& only, const Deadline& deadline) {
    comm::CallSignature mine;
    try {
        mine.text = "accept at the port '" + state->name + "'" + resume_text(resume);
        state->require_open();
    } catch (const Error&) {
        mine.fault = comm::Fault::current();
    }
    auto out = std::make_shared<JobTasks>();
    std::shared_ptr<comm::Call> call;
    {
        const comm::EngineLock engine_lock;
        const std::string text = mine.text;
        call = std::make_shared<comm::Call>(
            accepted(state, state->comm.state().next_tag(), std::move(mine), only, deadline, out),
            text);
        comm::Engine::instance().add(call);
    }
    // Process 0 sees the deadline, so that all processes see the same end.
    wait(*call);
    (*out)->resume = {resume.begin(), resume.end()};
    return *out;
}

}  // namespace port

Tasks Port::accept(Deadline deadline, const Resume& resume) {
    return task::handle_of(port::accept_job(state_, resume, "", deadline));
}

}  // namespace hocket
