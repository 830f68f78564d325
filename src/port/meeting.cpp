// SPDX-License-Identifier: BSD-3-Clause
#include "port/meeting.hpp"

#include <algorithm>

#include "base/platform.hpp"
#include "base/text.hpp"
#include "comm/agree.hpp"
#include "comm/joining.hpp"
#include "comm/state.hpp"
#include "port/connection_stream.hpp"
#include "task/jobs.hpp"

namespace hocket::port {
namespace {

constexpr std::size_t longest_address = 4096;

std::string hexadecimal(const net::Instance& instance) {
    static constexpr std::string_view digits = "0123456789abcdef";
    std::string out;
    for (const std::byte byte : instance) {
        out += digits[std::to_integer<std::size_t>(byte) >> 4U];
        out += digits[std::to_integer<std::size_t>(byte) & 15U];
    }
    return out;
}

}  // namespace

std::string packed_meeting(const Meeting& meeting) {
    net::Writer writer;
    writer.raw(meeting.session).u8(meeting.local ? 1 : 0);
    writer.u8(meeting.other_order ? 1 : 0).text(meeting.acceptor);
    writer.text(meeting.connector).i64(meeting.connectors).f64(meeting.reconnect);
    writer.u32(static_cast<std::uint32_t>(meeting.addresses.size()));
    for (const ProcessAddress& reached : meeting.addresses)
        writer.text(reached.host).text(reached.socket).text(reached.address).i64(reached.node);
    return writer.str();
}

Meeting parse_meeting(const std::string& text) {
    net::Reader reader(text);
    Meeting meeting;
    const auto session = reader.raw(meeting.session.size());
    std::copy(session.begin(), session.end(), meeting.session.begin());
    meeting.local = reader.u8() != 0;
    meeting.other_order = reader.u8() != 0;
    meeting.acceptor = reader.text(net::longest_name);
    meeting.connector = reader.text(net::longest_name);
    meeting.connectors = reader.i64();
    meeting.reconnect = reader.f64();
    for (std::size_t left = reader.length(std::size_t{net::most_processes}); left > 0; --left) {
        ProcessAddress reached;
        reached.host = reader.text(longest_address);
        reached.socket = reader.text(longest_address);
        reached.address = reader.text(longest_address);
        reached.node = reader.i64();
        meeting.addresses.push_back(std::move(reached));
    }
    reader.end();
    if (meeting.connectors < 1 || meeting.connectors > net::most_processes ||
        meeting.addresses.empty())
        throw Error("a meeting names " + std::to_string(meeting.connectors) + " and " +
                    std::to_string(meeting.addresses.size()) + " processes");
    // A connecting process elsewhere finds no way to the port, and fails before it dials.
    const std::string& first = meeting.addresses.front().host;
    meeting.by_socket = meeting.local &&
                        std::all_of(meeting.addresses.begin(), meeting.addresses.end(),
                                    [&](const ProcessAddress& each) { return each.host == first; });
    return meeting;
}

namespace {

constexpr double until_all_join = 30;  // seconds

comm::Protocol<> join_jobs(Comm on, Meeting meeting, std::shared_ptr<Opening> opening,
                           bool acceptor, std::shared_ptr<JobTasks> out) {
    const auto acceptors = static_cast<int>(meeting.addresses.size());
    const auto connectors = static_cast<int>(meeting.connectors);
    const std::string& other = acceptor ? meeting.connector : meeting.acceptor;
    std::vector<std::shared_ptr<comm::Endpoint>> endpoints(
        static_cast<std::size_t>(acceptors + connectors));
    for (int k = 0; k < (acceptor ? connectors : acceptors); ++k)
        endpoints[static_cast<std::size_t>(acceptor ? acceptors + k : k)] =
            std::make_shared<comm::Endpoint>(
                std::make_unique<ConnectionStream>(
                    opening, k, "process " + std::to_string(k) + " of '" + other + "'"),
                meeting.other_order);
    comm::OwnedLink own = co_await on.state().new_link();
    // Jobs that met by a Unix socket are on one host, and may share memory, except the numbers in
    // it if their byte orders differ.
    const bool share = meeting.local && !meeting.other_order;
    const std::string host = hexadecimal(meeting.session) + (share ? "" : acceptor ? "a" : "c");
    comm::OwnedLink link =
        co_await comm::join(std::move(own), acceptor ? 0 : acceptors, std::move(endpoints), host);
    const std::vector<TaskRequest> jobs{{meeting.acceptor, acceptors},
                                        {meeting.connector, connectors}};
    *out = task::tasks_of_jobs(jobs, on, std::move(link));
    keep_opening(*out, meeting, acceptor, opening);
}

}  // namespace

comm::Protocol<> become_tasks(Comm on, Meeting meeting, std::shared_ptr<Opening> opening,
                              OwnSide side, std::shared_ptr<JobTasks> out) {
    const comm::Group all = comm::Group::whole(on.state().link());
    comm::CallSignature mine;
    mine.text = std::move(side.text);
    try {
        const std::string other = side.acceptor ? meeting.connector : meeting.acceptor;
        comm::Driven<void> joining(
            join_jobs(on, std::move(meeting), std::move(opening), side.acceptor, out));
        // A process that has failed comes no more, and others would wait for it for ever.
        const double until = platform::seconds() + until_all_join;
        bool done = false;
        comm::When over([&] {
            done = joining.poll();
            return done || platform::seconds() > until;
        });
        co_await comm::until(over);
        if (!done)
            throw JobLostError("not all processes of '" + other + "' have joined within " +
                               text::seconds(until_all_join));
        joining.take();
    } catch (const Error&) {
        mine.fault = comm::Fault::current();
    }
    try {
        co_await comm::agree(all, side.tag, std::move(mine));
    } catch (const Error&) {
        out->reset();
        throw;
    }
}

std::string resume_text(const Resume& resume) {
    std::string out;
    for (const auto& [name, number] : resume) {
        if (number < 0)
            throw Error("resume: the last frame of '" + name + "' is " + std::to_string(number) +
                        "; give the number of the last frame, counted from 1, or 0 for none");
        out += (out.empty() ? "resume={'" : ", '") + name + "': " + std::to_string(number);
    }
    return out.empty() ? out : ", " + out + "}";
}

}  // namespace hocket::port
