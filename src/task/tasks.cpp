// SPDX-License-Identifier: BSD-3-Clause
// Creation of tasks.
#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <set>

#include "base/environment.hpp"
#include "base/text.hpp"
#include "comm/call.hpp"
#include "comm/engine.hpp"
#include "comm/state.hpp"
#include "hocket/binding.hpp"
#include "hocket/transfer.hpp"
#include "task/jobs.hpp"
#include "task/member.hpp"
#include "transport/buffers.hpp"

namespace hocket {
namespace task {

Tags::Tags(int tasks, int highest_tag) : tasks_(tasks) {
    // Envelopes and news take one tag a task each; all other purposes share the rest.
    const std::int64_t window = (std::int64_t{highest_tag} + 1 - 2 * std::int64_t{tasks}) /
                                (purposes * std::int64_t{tasks});
    if (window < 2)
        throw Error("there are " + std::to_string(tasks) +
                    " tasks, but this MPI has only tags up to " + std::to_string(highest_tag) +
                    "; use fewer tasks");
    window_ = static_cast<int>(window);
}

std::vector<std::vector<int>> rounds(const std::vector<std::vector<int>>& ranks, int size) {
    std::vector<std::vector<int>> found;
    for (std::size_t t = 0; t < ranks.size(); ++t) {
        const auto fits = [&](const std::vector<int>& round) {
            return std::all_of(ranks[t].begin(), ranks[t].end(),
                               [&](int rank) { return round[static_cast<std::size_t>(rank)] < 0; });
        };
        auto round = std::find_if(found.begin(), found.end(), fits);
        if (round == found.end())
            round = found.emplace(found.end(), static_cast<std::size_t>(size), -1);
        for (const int rank : ranks[t])
            (*round)[static_cast<std::size_t>(rank)] = static_cast<int>(t);
    }
    return found;
}

void Member::require_intact(int other, const std::string& verb) const {
    const auto it = broken.find(other);
    if (it == broken.end()) return;
    throw Error(verb + ": tasks '" + name() + "' and '" +
                all->names[static_cast<std::size_t>(other)] +
                "' can no longer exchange messages, since a blocking call between them passed its "
                "deadline (" +
                it->second + "); set tasks up anew");
}

void Member::break_pair(int other, const std::string& why) {
    if (!broken.emplace(other, why).second || !group.lowest() || other == task) return;
    const comm::EngineLock engine_lock;
    Envelope departure;
    departure.source = task;
    departure.send = matcher.last_of(other);  // later ones have not come in time
    departure.departure = true;
    departure.fault = {
        "Error", "tasks '" + all->names[static_cast<std::size_t>(other)] + "' and '" + name() +
                     "' can no longer exchange messages, since a blocking call of '" + name() +
                     "' ended before it was done (" + why + "); set tasks up anew"};
    departures.emplace_back(comm::send_text(*all->link,
                                            departure.packed(sent[static_cast<std::size_t>(other)]),
                                            lowest_of(other), tags.envelope(other)));
    try {
        static_cast<void>(departures.back().poll());  // starts it
    } catch (const Error&) {
        departures.pop_back();  // the other job is lost; the first error says more
    }
}

}  // namespace task

namespace {

// Of a rank in a list of ranks; -1: it is not there.
int index_of(const std::vector<int>& ranks, int rank) {
    const auto it = std::find(ranks.begin(), ranks.end(), rank);
    return it != ranks.end() ? static_cast<int>(it - ranks.begin()) : -1;
}

std::string spelled(std::span<const TaskRequest> requests) {
    std::string out = "tasks(";
    for (const auto& [name, processes] : requests) {
        if (out.back() != '(') out += ", ";
        out += name + "=";
        if (const auto* count = std::get_if<std::int64_t>(&processes)) {
            out += std::to_string(*count);
        } else {
            out += text::tuple(std::get<std::vector<int>>(processes));
        }
    }
    return out + ")";
}

/// The ranks of each task. @throws Error for requests that do not fit `size` processes.
std::vector<std::vector<int>> resolve(std::span<const TaskRequest> requests, int size) {
    const std::string asked = spelled(requests);
    const std::string has = "the communicator has " + std::to_string(size) + " processes";
    if (requests.empty())
        throw Error("tasks() names no task; name at least one, and how many processes it has");
    std::set<std::string> names;
    std::set<int> used;
    std::vector<std::vector<int>> ranks;
    std::int64_t next = 0;
    bool counts = false, lists = false;
    for (const auto& [name, processes] : requests) {
        if (name.empty()) throw Error(asked + ": a task has an empty name; give each one a name");
        if (!names.insert(name).second)
            throw Error(asked + ": two tasks are called '" + name +
                        "'; give each one a name of its own");
        auto& of_task = ranks.emplace_back();
        if (const auto* count = std::get_if<std::int64_t>(&processes)) {
            counts = true;
            if (*count < 1)
                throw Error(asked + ": task '" + name + "' has " + std::to_string(*count) +
                            " processes; a task needs at least 1");
            // Stop at the communicator's size, so that a huge count takes no time.
            for (std::int64_t i = 0; i < *count && next + i < size; ++i)
                of_task.push_back(static_cast<int>(next + i));
            if (__builtin_add_overflow(next, *count, &next))
                next = std::numeric_limits<std::int64_t>::max();
        } else {
            lists = true;
            of_task = std::get<std::vector<int>>(processes);
            if (of_task.empty())
                throw Error(asked + ": task '" + name +
                            "' has no processes; a task needs at least 1");
            std::set<int> own;
            for (const int rank : of_task) {
                if (rank < 0 || rank >= size)
                    throw Error(asked + ": task '" + name + "' names process " +
                                std::to_string(rank) + ", but " + has);
                if (!own.insert(rank).second)
                    throw Error(asked + ": task '" + name + "' names process " +
                                std::to_string(rank) + " twice");
            }
        }
        used.insert(of_task.begin(), of_task.end());
    }
    if (counts && lists)
        throw Error(asked + " mixes counts and lists of ranks; use one or the other");
    if (counts) {
        if (next != size)
            throw Error(asked + " asks for " + std::to_string(next) + " processes, but " + has +
                        "; make the counts sum to " + std::to_string(size));
    } else if (static_cast<int>(used.size()) != size) {
        for (int rank = 0; rank < size; ++rank)
            if (!used.contains(rank))
                throw Error(asked + " leaves out process " + std::to_string(rank) + ", but " + has +
                            "; put every process into at least one task");
    }
    return ranks;
}

// If processes ask for different tasks, all raise here, before any task exists.
comm::Protocol<> set_up(std::shared_ptr<Tasks::State> all, int tag, comm::CallSignature mine) {
    comm::State& on = all->comm.state();
    co_await on.open();
    co_await comm::agree(comm::Group::whole(on.link()), tag, std::move(mine));
    all->link = co_await on.new_link();
}

}  // namespace

void Tasks::State::need_sender(int receiver, int source) const {
    if (comm::AwaitedPeers::collecting() == nullptr && !link->has_endpoints()) return;
    std::vector<int> lowest;
    for (int t = 0; t < static_cast<int>(ranks.size()); ++t)
        if (source < 0 ? t != receiver : t == source)
            lowest.push_back(ranks[static_cast<std::size_t>(t)][0]);
    link->need_any(lowest);
}

int Tasks::State::find(const TaskId& id) const {
    try {
        return index(id);
    } catch (const Error&) {
        return -1;
    }
}

int Tasks::State::index(const TaskId& id) const {
    if (const auto* name = std::get_if<std::string>(&id)) {
        const auto it = std::find(names.begin(), names.end(), *name);
        if (it == names.end())
            throw Error("there is no task '" + *name + "'" + text::did_you_mean(*name, names) +
                        "; the tasks are " + text::quoted_list(names));
        return static_cast<int>(it - names.begin());
    }
    const int index = std::get<int>(id);
    if (index < 0 || index >= static_cast<int>(names.size()))
        throw Error("there is no task " + std::to_string(index) + "; the tasks are 0 to " +
                    std::to_string(names.size() - 1) + ": " + text::quoted_list(names));
    return index;
}

bool Tasks::State::share_process(int a, int b) const {
    const auto& of_a = ranks[static_cast<std::size_t>(a)];
    const auto& of_b = ranks[static_cast<std::size_t>(b)];
    return std::find_first_of(of_a.begin(), of_a.end(), of_b.begin(), of_b.end()) != of_a.end();
}

void Tasks::State::require_apart(int a, int b, const std::string& verb,
                                 const std::string& instead) const {
    if (!share_process(a, b)) return;
    const auto name = [&](int task) { return "'" + names[static_cast<std::size_t>(task)] + "'"; };
    const std::string why = a == b ? "task " + name(a) + " cannot block on itself"
                                   : "tasks " + name(a) + " and " + name(b) +
                                         " share a process, which cannot block in both";
    throw Error(verb + ": " + why + "; use " + instead);
}

void Tasks::State::add_member(int task, Comm of_task, const task::Tags& tags) {
    const auto& members = ranks[static_cast<std::size_t>(task)];
    auto member = std::make_shared<task::Member>(std::move(of_task));
    member->all = this;
    member->task = task;
    member->group = {link.get(), members, index_of(members, link->rank())};
    member->group.goes_in_node = comm::agrees_in_node(member->group);
    member->tags = tags;
    member->shown_name = names[static_cast<std::size_t>(task)];
    std::vector<int> lowest;
    for (const auto& each : ranks) lowest.push_back(each[0]);
    member->matcher.open(*link, tags.envelope(task), std::move(lowest));
    member->sent.resize(names.size());
    member->replied.resize(names.size());
    mine[task] = std::move(member);
}

std::shared_ptr<Tasks::State> task::tasks_of_jobs(std::span<const TaskRequest> jobs,
                                                  const Comm& comm, comm::OwnedLink link) {
    auto all = std::make_shared<Tasks::State>(Tasks::State{comm, std::move(link)});
    int first = 0, own = -1;
    for (const TaskRequest& job : jobs) {
        const auto processes = std::get<std::int64_t>(job.processes);
        std::vector<int>& ranks = all->ranks.emplace_back(static_cast<std::size_t>(processes));
        std::iota(ranks.begin(), ranks.end(), first);
        if (first == all->link->first_own()) own = static_cast<int>(all->names.size());
        all->names.push_back(job.name);
        first += static_cast<int>(processes);
    }
    const comm::EngineLock engine_lock;
    all->add_member(own, comm, Tags(static_cast<int>(jobs.size()), all->link->highest_tag()));
    return all;
}

Tasks task::handle_of(const std::shared_ptr<Tasks::State>& jobs) {
    return Tasks::State::seen_by(jobs, jobs->mine.begin()->second);
}

Tasks::Tasks(std::span<const TaskRequest> requests, const Comm& comm)
    : state_(std::make_shared<State>(State{comm, nullptr})) {
    State& all = *state_;
    comm::CallSignature mine;
    mine.text = spelled(requests);
    try {
        all.ranks = resolve(requests, comm.size());
        static_cast<void>(transport::default_buffers());  // raises an error for an unreadable
                                                          // setting
    } catch (const Error&) {
        mine.fault = comm::Fault::current();
    }
    std::shared_ptr<comm::Call> agreement;
    {
        const comm::EngineLock engine_lock;
        agreement =
            std::make_shared<comm::Call>(set_up(state_, comm.state().next_tag(), std::move(mine)),
                                         "setting up " + spelled(requests));
        comm::Engine::instance().add(agreement);
    }
    wait(*agreement);

    const comm::EngineLock engine_lock;
    const task::Tags tags(static_cast<int>(requests.size()), all.link->highest_tag());
    for (const auto& request : requests) all.names.push_back(request.name);
    const auto index_in = [&](const std::vector<int>& ranks) {
        return index_of(ranks, comm.rank());
    };
    std::map<int, std::shared_ptr<comm::State>> parts;
    for (const auto& round : task::rounds(all.ranks, comm.size())) {
        const int number = round[static_cast<std::size_t>(comm.rank())];
        const int index = number >= 0 ? index_in(all.ranks[static_cast<std::size_t>(number)]) : -1;
        auto part = comm.state().split(number, index);
        if (part != nullptr) parts.emplace(number, std::move(part));
    }
    for (std::size_t t = 0; t < requests.size(); ++t) {
        const auto& ranks = all.ranks[t];
        for (std::size_t i = 0; i < ranks.size(); ++i)
            comm.state().describe(ranks[i],
                                  "task '" + requests[t].name + "', process " + std::to_string(i));
        const auto number = static_cast<int>(t);
        if (index_in(ranks) >= 0) all.add_member(number, Comm(parts.at(number)), tags);
    }
    if (all.mine.size() == 1) speaker_ = task::Me(state_.pointer(), all.mine.begin()->second.get());
}

namespace {

// The tasks of `hocket run rows=2:… cols=2:…`: "rows=2,cols=2". @throws Error
std::vector<TaskRequest> launched() {
    const auto given = environment::value_of("HOCKET_TASKS");
    if (!given)
        throw Error(
            "no tasks were given, and no launcher has named any; give each task's name and number "
            "of "
            "processes, or start the program with `hocket run rows=2:PROGRAM cols=2:PROGRAM`");
    std::vector<TaskRequest> requests;
    const std::string& all = *given;
    for (std::size_t at = 0; at <= all.size();) {
        const std::size_t end = std::min(all.find(',', at), all.size());
        const std::string item = all.substr(at, end - at);
        const std::size_t equals = item.rfind('=');
        const auto count = equals == std::string::npos
                               ? std::nullopt
                               : text::whole_number(item.substr(equals + 1));
        if (!count)
            throw Error("HOCKET_TASKS is '" + all + "', where '" + item +
                        "' is not of the form name=count; set it as rows=2,cols=2");
        requests.push_back({item.substr(0, equals), *count});
        at = end + 1;
    }
    return requests;
}

}  // namespace

Tasks Tasks::from_launcher(const Comm& comm) {
    std::vector<TaskRequest> requests;
    try {
        requests = launched();
    } catch (const Error& error) {
        Binding::refuse(comm, "Error", error.what());
    }
    return Tasks(requests, comm);
}

}  // namespace hocket
