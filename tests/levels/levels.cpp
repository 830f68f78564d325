// SPDX-License-Identifier: BSD-3-Clause
// A flow under each of MPI's thread levels: `levels funneled|serialized|multiple`, on 2
// processes. No call of MPI by another thread where only the main one may; never two at a time
// anywhere; and all pending requests in one look.
#include <mpi.h>

#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "counted.hpp"
#include "hocket/array.hpp"
#include "hocket/flow.hpp"
#include "hocket/mpi.hpp"
#include "hocket/task.hpp"

namespace {

int wrong = 0, me = 0, peer = 0;

void expect(bool holds, const std::string& what) {
    if (holds) return;
    std::fprintf(stderr, "levels: rank %d: %s\n", me, what.c_str());
    ++wrong;
}

hocket::Region region(double& value) {
    return {&value, sizeof value};
}

hocket::Region late() {
    return hocket::Region::key("late");
}

/// The step that reads late() runs after both processes have polled all earlier operations: the
/// second greeting begins after the turn of the first one.
void agree_twice(hocket::Flow& flow) {
    for (int round = 0; round < 2; ++round)
        flow.comm(
            [] {
                MPI_Request heard = MPI_REQUEST_NULL, said = MPI_REQUEST_NULL;
                MPI_Irecv(nullptr, 0, MPI_DOUBLE, peer, 1000, MPI_COMM_WORLD, &heard);
                MPI_Isend(nullptr, 0, MPI_DOUBLE, peer, 1000, MPI_COMM_WORLD, &said);
                return hocket::flow::Operations{hocket::operation(heard), hocket::operation(said)};
            },
            {hocket::updates(late())});
}

/// As many messages as there may be under way, inserted before their sends, which come late.
void many_messages(hocket::Flow& flow) {
    constexpr int messages = 300;
    std::vector<double> out(messages, -1), into(messages, -1), sum(1, 0);
    counted::forget();
    for (int i = 0; i < messages; ++i)
        flow.comm(
            [&into, i] {
                MPI_Request request = MPI_REQUEST_NULL;
                MPI_Irecv(&into[static_cast<std::size_t>(i)], 1, MPI_DOUBLE, peer, i,
                          MPI_COMM_WORLD, &request);
                return hocket::operation(request);
            },
            {hocket::writes(region(into[static_cast<std::size_t>(i)]))});
    agree_twice(flow);
    for (int i = 0; i < messages; ++i) {
        auto& value = out[static_cast<std::size_t>(i)];
        flow.task([&value, i] { value = 1000 * me + i; },
                  {hocket::writes(region(value)), hocket::reads(late())});
        flow.comm(
            [&value, i] {
                MPI_Request request = MPI_REQUEST_NULL;
                MPI_Isend(&value, 1, MPI_DOUBLE, peer, i, MPI_COMM_WORLD, &request);
                return hocket::operation(request);
            },
            {hocket::reads(region(value))});
        flow.task([&sum, &into, i] { sum[0] += into[static_cast<std::size_t>(i)]; },
                  {hocket::reads(region(into[static_cast<std::size_t>(i)])),
                   hocket::updates(region(sum[0]))});
    }
    flow.wait(hocket::Deadline::in(60));
    expect(sum[0] == 1000.0 * peer * messages + messages * (messages - 1) / 2.0,
           "the messages sum to " + std::to_string(sum[0]));
    expect(counted::most_together >= messages,
           "at most " + std::to_string(counted::most_together) + " requests in one look");
    // Each at its beginning, and, of some MPIs, once more when it is done; the rest together.
    expect(counted::one_by_one <= 4 * messages + 8,
           std::to_string(counted::one_by_one) + " requests were looked at one by one");
}

/// hocket's own sends and receives, as steps.
void messages_of_tasks(hocket::Flow& flow, hocket::Tasks& tasks) {
    const hocket::Layout layout({1000}, "(BLOCK)", {1});
    auto a = hocket::Array::empty(layout, hocket::dtype_of<double>(), tasks.comm());
    auto b = hocket::Array::empty(layout, hocket::dtype_of<double>(), tasks.comm());
    for (int k = 0; k < 5; ++k) {
        flow.task(
            [&a, k] {
                for (double& each : a.local<double>()) each = 10 * me + k;
            },
            {hocket::writes(a)});
        flow.recv(tasks, b, peer, k);
        flow.send(tasks, a, peer, k);
        flow.task(
            [&b, k] {
                for (const double each : b.local<double>())
                    if (each != 10 * peer + k) throw hocket::Error("a wrong value has come");
            },
            {hocket::reads(b)});
    }
    flow.wait(hocket::Deadline::in(60));
}

/// An error of MPI's in one step, while others are under way: it names the step, and they end.
void an_error(hocket::Flow& flow) {
    MPI_Comm own = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &own);
    MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN);
    const std::vector<double> out{1, 2, 3, 4};
    double little = 0, good = 0;
    const auto receive = [own](double* to, int tag) {
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Irecv(to, 1, MPI_DOUBLE, peer, tag, own, &request);
        return hocket::operation(request);
    };
    hocket::StepOptions named;
    named.name = "too long";
    // The good one is polled first, and finds what became of the other.
    flow.comm([&] { return receive(&good, 2); }, {hocket::writes(region(good))});
    flow.comm([&] { return receive(&little, 1); }, {hocket::writes(region(little))}, named);
    agree_twice(flow);
    flow.comm(
        [&] {
            hocket::flow::Operations started;
            for (const int tag : {1, 2}) {
                MPI_Request request = MPI_REQUEST_NULL;
                MPI_Isend(out.data(), tag == 1 ? 4 : 1, MPI_DOUBLE, peer, tag, own, &request);
                started.push_back(hocket::operation(request));
            }
            return started;
        },
        {hocket::reads(late())});
    try {
        flow.wait(hocket::Deadline::in(60));
        expect(false, "a message that is too long is no error");
    } catch (const hocket::StepError& error) {
        expect(std::string(error.what()).find("step 'too long' failed: ") == 0,
               std::string("the error says: ") + error.what());
    }
    expect(good == 1, "the other message has not come");
    MPI_Comm_free(&own);
}

void all(hocket::Flow& flow, bool only_main) {
    many_messages(flow);
    const std::vector<hocket::TaskRequest> requests{{"a", 1}, {"b", 1}};
    hocket::Tasks tasks(requests, hocket::from_mpi(MPI_COMM_WORLD));
    messages_of_tasks(flow, tasks);
    an_error(flow);
    expect(counted::most_inside == 1,
           std::to_string(counted::most_inside) + " threads were in MPI at the same time");
    if (only_main)
        expect(counted::off_main == 0,
               std::to_string(counted::off_main) + " calls of MPI were not the main thread's");
}

void flows(bool only_main) {
    for (const int workers : {1, 3}) {
        hocket::FlowOptions options;
        options.workers = workers;
        options.agent = hocket::Agent::between_steps;
        {
            hocket::Flow flow(options);
            all(flow, only_main);
        }
        options.agent = hocket::Agent::thread;
        try {
            hocket::Flow flow(options);
            expect(!only_main, "an agent has a thread of its own below MPI_THREAD_SERIALIZED");
            all(flow, only_main);
        } catch (const hocket::Error& error) {
            expect(only_main &&
                       std::string(error.what()).find("MPI_THREAD_SERIALIZED") != std::string::npos,
                   error.what());
        }
        options.agent = hocket::Agent::automatic;
        const hocket::Flow chosen(options);
        expect(!only_main || !chosen.agent_thread(), "an agent thread was chosen");
    }
}

}  // namespace

int main(int argc, char** argv) {
    const std::string asked = argc > 1 ? argv[1] : "";
    const int level = asked == "funneled"     ? MPI_THREAD_FUNNELED
                      : asked == "serialized" ? MPI_THREAD_SERIALIZED
                                              : MPI_THREAD_MULTIPLE;
    int provided = 0, size = 0;
    MPI_Init_thread(&argc, &argv, level, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    peer = 1 - me;
    try {
        if (size != 2) throw hocket::Error("start it on 2 processes");
        flows(provided < MPI_THREAD_SERIALIZED);
    } catch (const std::exception& error) {
        expect(false, error.what());
    }
    std::printf("levels: %d %d: rank %d, %d wrong\n", level, provided, me, wrong);
    MPI_Finalize();
    return wrong == 0 ? 0 : 1;
}
