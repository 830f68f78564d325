// SPDX-License-Identifier: BSD-3-Clause
// The side of a meeting that has the port.
#include <algorithm>

#include "base/pack.hpp"
#include "base/platform.hpp"
#include "base/text.hpp"
#include "comm/agree.hpp"
#include "comm/call.hpp"
#include "comm/engine.hpp"
#include "port/host.hpp"
#include "port/meeting.hpp"
#include "port/state.hpp"

namespace hocket {
namespace port {
namespace {

// Seconds in which the other job's processes come, once its process 0 has.
constexpr double until_all_come = 30;

// Waits for a connector; what is wrong otherwise.
comm::Protocol<std::unique_ptr<Client>> connector(State& state, Deadline deadline) {
    std::unique_ptr<Client> client;
    comm::When came([&] {
        state.host->advance(false);
        client = state.host->next_connector();
        return client != nullptr || deadline.passed();
    });
    co_await comm::until(came);
    if (client == nullptr)
        throw DeadlineError("no job has connected to the port '" + state.name + "' within " +
                            text::seconds(deadline.timeout()));
    co_return client;
}

// Opens the listener at which other jobs reach this process; its address.
Place open_listener(const State& state, std::optional<Listener>& listener) {
    Listener::Options how;
    how.socket = net::new_port_file(state.name).socket;
    how.secure = state.secure;
    Place place{host_name(), how.socket, ""};
    const auto address = state.address.empty() ? std::nullopt : net::address_of(state.address);
    if (address) {
        // Process 0 may be known by a name of its host that is not this one's.
        const bool here = state.first();
        how.address = net::Address{here ? address->host : "0.0.0.0", "0"};
        if (state.secure) how.key = std::make_shared<const net::Key>(net::Key::read(state.key));
        listener.emplace(how);
        place.address =
            (here ? address->host : place.host) + ":" + std::to_string(listener->number());
    } else {
        listener.emplace(how);
    }
    return place;
}

std::string packed(int rank, const Place& place) {
    Packer packer;
    packer.number(rank).text(place.host).text(place.socket).text(place.address);
    return packer.take();
}

// The other job's processes, each by a connection of its own.
comm::Protocol<Lines> lines_of(Listener& listener, const Meeting& meeting) {
    Lines lines(static_cast<std::size_t>(meeting.connectors));
    std::size_t missing = lines.size();
    const double until = platform::seconds() + until_all_come;
    comm::When all([&] {
        while (missing > 0) {
            auto client = listener.next();
            if (client == nullptr) break;
            const auto number = static_cast<std::size_t>(client->hello.process);
            if (client->hello.role != net::Role::process ||
                client->hello.session != meeting.session || number >= lines.size() ||
                lines[number] != nullptr) {
                Listener::refuse(*client->connection, "this process waits for another job");
                continue;
            }
            listener.welcome(*client, "");
            lines[number] = std::move(client->connection);
            --missing;
        }
        bool sent = true;
        for (const auto& line : lines)
            if (line != nullptr) sent = line->flush() && sent;
        return (missing == 0 && sent) || platform::seconds() > until;
    });
    co_await comm::until(all);
    if (missing > 0)
        throw PeerLostError(std::to_string(missing) + " processes of '" + meeting.connector +
                            "' have not come within " + text::seconds(until_all_come));
    co_return lines;
}

comm::Protocol<> accepted(std::shared_ptr<State> state, int tag, comm::CallSignature mine,
                          Deadline deadline, std::shared_ptr<std::optional<Tasks>> out) {
    const std::string text = mine.text;
    co_await state->comm.state().open();
    const comm::Group all = comm::Group::whole(state->comm.state().link());
    co_await comm::agree(all, tag, std::move(mine));

    std::optional<Listener> listener;
    comm::CallSignature opened;
    opened.text = text;
    std::string place;
    try {
        place = packed(state->comm.rank(), open_listener(*state, listener));
    } catch (const Error&) {
        opened.fault = comm::Fault::current();
    }
    co_await comm::agree(all, tag, std::move(opened));
    comm::CallSignature told;
    told.text = text;
    const std::string places = co_await comm::reduce(
        all, tag, place,
        [](const std::string& low, const std::string& high) { return low + high; });
    std::unique_ptr<Client> client;
    if (state->first()) {
        try {
            client = co_await connector(*state, deadline);
            Meeting meeting;
            meeting.session = net::new_instance();
            meeting.local = client->local;
            meeting.acceptor = state->task;
            meeting.connector = client->hello.task;
            meeting.connectors = client->hello.processes;
            if (meeting.acceptor == meeting.connector)
                throw Error("both jobs call themselves '" + meeting.acceptor +
                            "'; give one of them another name (task=)");
            meeting.places.resize(static_cast<std::size_t>(state->comm.size()));
            for (Unpacker in(places); !in.empty();) {
                Place& one = meeting.places.at(static_cast<std::size_t>(in.number()));
                one.host = in.text();
                one.socket = in.text();
                one.address = in.text();
            }
            told.payload = packed_meeting(meeting);
        } catch (const Error& error) {
            told.fault = comm::Fault::current();
            if (client) Listener::refuse(*client->connection, error.what());
        }
    }
    const Meeting meeting = parse_meeting(co_await comm::agree(all, tag, std::move(told)));
    if (client) {
        state->host->welcome(*client, packed_meeting(meeting));
        client->connection->flush();
    }
    comm::CallSignature met;
    met.text = text;
    Lines lines;
    try {
        lines = co_await lines_of(*listener, meeting);
    } catch (const Error&) {
        met.fault = comm::Fault::current();
    }
    co_await comm::agree(all, tag, std::move(met));
    co_await become_tasks(state->comm, meeting, std::move(lines), true, out);
}

}  // namespace
}  // namespace port

Tasks Port::accept(Deadline deadline) {
    comm::CallSignature mine;
    mine.text = "accept at the port '" + state_->name + "'";
    try {
        state_->require_open();
    } catch (const Error&) {
        mine.fault = comm::Fault::current();
    }
    auto out = std::make_shared<std::optional<Tasks>>();
    std::shared_ptr<comm::Call> call;
    {
        const comm::EngineLock engine_lock;
        const std::string text = mine.text;
        call = std::make_shared<comm::Call>(
            port::accepted(state_, state_->comm.state().next_tag(), std::move(mine), deadline, out),
            text);
        comm::Engine::instance().add(call);
    }
    // Process 0 sees the deadline, so that all processes see the same end.
    wait(*call);
    return std::move(**out);
}

}  // namespace hocket
