// SPDX-License-Identifier: BSD-3-Clause
// Programs that were started separately and share no MPI communicator, as tasks: a toy transport,
// and hocket's own code above it. tests/mpi/test_jobs.py starts it twice:
//
//     jobs JOB FOLDER SIZES CASE [HOST]    JOB 0 listens in FOLDER, JOB 1 connects; SIZES "2,3";
//                                          a job of one process runs without MPI
#include "task/jobs.hpp"

#include <mpi.h>
#include <sys/un.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <numeric>
#include <string>
#include <thread>

#include "comm/call.hpp"
#include "comm/engine.hpp"
#include "comm/joining.hpp"
#include "comm/state.hpp"
#include "hocket/mpi.hpp"
#include "hocket/task.hpp"
#include "unit/comm/toy_stream.hpp"

namespace {

using hocket::Array;
using hocket::Comm;
using hocket::DType;
using hocket::Layout;
using hocket::Tasks;
using hocket::comm::Endpoint;
using hocket::comm::OwnedLink;
using hocket::comm::testing::ToyStream;

struct Program {
    int job, other, sizes[2], rank = 0;
    std::string folder, host;
    Comm comm;
};

void require(bool right, const std::string& what) {
    if (right) return;
    std::fprintf(stderr, "jobs: wrong: %s\n", what.c_str());
    std::_Exit(1);
}

// Process r of job 0 listens; each process of job 1 says who it is.
std::vector<std::shared_ptr<Endpoint>> meet(const Program& program) {
    std::vector<std::shared_ptr<Endpoint>> endpoints(
        static_cast<std::size_t>(program.sizes[0] + program.sizes[1]));
    const auto socket_of = [&](int rank) {
        sockaddr_un address{AF_UNIX, {}};
        std::snprintf(address.sun_path, sizeof address.sun_path, "%s/s%d", program.folder.c_str(),
                      rank);
        return address;
    };
    const auto add = [&](int rank, int file) {
        const bool first = rank < program.sizes[0];
        endpoints[static_cast<std::size_t>(rank)] =
            std::make_shared<Endpoint>(std::make_unique<ToyStream>(
                file, "process " + std::to_string(first ? rank : rank - program.sizes[0]) +
                          " of '" + (first ? "a" : "b") + "'"));
    };
    if (program.job == 0) {
        const int listening = socket(AF_UNIX, SOCK_STREAM, 0);
        const sockaddr_un address = socket_of(program.rank);
        require(bind(listening, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
                    listen(listening, 64) == 0,
                "listen");
        for (int i = 0; i < program.sizes[1]; ++i) {
            const int file = accept(listening, nullptr, nullptr);
            int rank = -1;
            require(read(file, &rank, sizeof rank) == sizeof rank, "who connects");
            add(rank, file);
        }
        close(listening);
        return endpoints;
    }
    for (int there = 0; there < program.sizes[0]; ++there) {
        const sockaddr_un address = socket_of(there);
        const int file = socket(AF_UNIX, SOCK_STREAM, 0);
        int tries = 3000;
        while (connect(file, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
            require(--tries > 0, "connect");
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
        const int rank = program.sizes[0] + program.rank;
        require(write(file, &rank, sizeof rank) == sizeof rank, "write");
        add(there, file);
    }
    return endpoints;
}

OwnedLink joined(const Program& program) {
    OwnedLink made;
    const auto call = std::make_shared<hocket::comm::Call>(
        [](const Program& of, OwnedLink& into) -> hocket::comm::Protocol<> {
            OwnedLink own = co_await of.comm.state().new_link();
            std::vector<std::shared_ptr<Endpoint>> endpoints = meet(of);
            std::string host = of.host.empty() ? "" : of.host + std::to_string(of.job);
            into = co_await hocket::comm::join(std::move(own), of.job == 0 ? 0 : of.sizes[0],
                                               std::move(endpoints), std::move(host));
        }(program, made),
        "joining");
    hocket::wait(*call);
    return made;
}

// Opens the communicator, which a process without MPI has open.
void open(const Comm& comm) {
    const auto call = std::make_shared<hocket::comm::Call>(comm.state().open(), "opening");
    hocket::wait(*call);
}

// Each element its number in the whole array, and more.
void fill(const Array& array, double more) {
    const auto rows = array.process() < 0 ? std::vector<std::vector<std::int64_t>>{}
                                          : array.layout().global_indices(array.process());
    const auto local = array.local<double>();
    if (rows.empty()) return;
    const std::int64_t width = array.layout().shape()[1];
    std::size_t k = 0;
    for (const auto i : rows[0])
        for (const auto j : rows[1]) local[k++] = static_cast<double>(i * width + j) + more;
}

void expect(const Array& array, double more, const std::string& what) {
    const Array right = Array::empty(array.layout(), array.dtype(), array.comm());
    fill(right, more);
    const auto local = array.local<double>(), expected = right.local<double>();
    for (std::size_t i = 0; i < local.size(); ++i) require(local[i] == expected[i], what);
}

const DType float64{"float64", 8};

Array make(const Comm& comm, const std::string& dist, double more = -1, std::int64_t n = 600) {
    Array array = Array::empty(Layout({n, n}, dist, {comm.size()}), float64, comm);
    fill(array, more);
    return array;
}

void verbs(const Program& program, Tasks& tasks) {
    const bool first = program.job == 0;
    const int other = program.other;
    const auto own = [&](double more = -1, std::int64_t n = 600) {
        return make(program.comm, first ? "(BLOCK, *)" : "(*, CYCLIC(3))", more, n);
    };
    require(tasks.rank() == program.job && tasks.size() == 2, "tasks");
    // There and back, long and short, by every strategy.
    for (const char* const strategy : {"auto", "direct", "centralized", "staged", "hybrid"}) {
        for (const std::int64_t n : {3, 600}) {
            Array a = own(first ? 5 : -1, n);
            if (first)
                tasks.send(a, other, {.tag = 3, .strategy = strategy});
            else
                require(tasks.recv(a, other, {.tag = 3, .strategy = strategy}).tag == 3, "tag");
            expect(a, 5, "send");
            Array b = own(first ? -1 : 6, n);
            if (first)
                require(tasks.recv(b).source_name == "b", "any source");
            else
                tasks.send(b, "a");
            expect(b, 6, "back");
        }
    }
    // Both at once, in pieces, probed for.
    Array out = own(7.0 + program.job), in = own();
    auto sending = tasks.isend(out, other, {.tag = 1, .pieces = 3});
    require(tasks.probe(other).tag == 1, "probe");
    auto receiving = tasks.irecv(in, other);
    hocket::Request both[] = {sending, receiving};
    hocket::wait_all(both);
    expect(in, 7.0 + other, "isend");
    require(!tasks.iprobe(other, 77), "iprobe");
    tasks.sendrecv(out, other, in, other);
    expect(in, 7.0 + other, "sendrecv");
    // A task of this process sends to itself.
    auto to_itself = tasks.isend(out, program.job, {.tag = 9});
    auto from_itself = tasks.irecv(in, program.job, {.tag = 9});
    from_itself.wait();
    to_itself.wait();
    expect(in, 7.0 + program.job, "to itself");
    // Persistent requests of an array, and of a layout whose type the first start says.
    Array kept = own();
    auto start_of = first ? tasks.send_init(kept, other) : tasks.recv_init(kept.layout(), other);
    for (int i = 0; i < 5; ++i) {
        fill(kept, first ? i : -1);
        start_of.start(kept);
        start_of.wait();
        expect(kept, i, "persistent");
    }
    start_of.free();
    // A channel.
    auto channel = tasks.channel("frames", other);
    for (int i = 0; i < 3 && first; ++i) channel.send(own(i));
    if (first) channel.close();
    for (int i = 0; i < 3 && !first; ++i) {
        Array frame = own();
        channel.recv(frame);
        expect(frame, i, "channel");
    }
    bool ended = first;
    try {
        if (!first) channel.recv(own());
    } catch (const hocket::EndOfStream&) {
        ended = true;
    }
    require(ended, "the channel's end");
    // Collective calls between the two.
    Array root = own(first ? 11 : -1);
    tasks.bcast(root, "a");
    expect(root, 11, "bcast");
    Array sum = own();
    tasks.allreduce(own(program.job), sum, "max");
    expect(sum, 1, "allreduce");
    tasks.reduce(own(program.job), &sum, "min", 1);
    if (!first) expect(sum, 0, "reduce");
    std::vector<Array> gathered{own(), own()};
    tasks.gather(own(20.0 + program.job), first ? gathered : std::vector<Array>{}, 0);
    for (int job = 0; job < 2 && first; ++job)
        expect(gathered[static_cast<std::size_t>(job)], 20 + job, "gather");
    tasks.barrier();
    // Both jobs raise the mismatch.
    std::string told;
    try {
        Array wrong = own(0, first ? 600 : 601);
        if (first)
            tasks.send(wrong, other);
        else
            tasks.recv(wrong, other);
    } catch (const hocket::MismatchError& error) {
        told = error.what();
    }
    require(told.find("(600, 600)") != std::string::npos &&
                told.find("(601, 601)") != std::string::npos,
            "the mismatch: " + told);
}

// One array over the processes of both jobs.
void redistribute(const Program& program) {
    const Comm both(std::make_shared<hocket::comm::State>(joined(program)));
    require(both.size() == program.sizes[0] + program.sizes[1], "size");
    for (const char* const strategy : {"auto", "direct", "staged", "multistage"}) {
        const Array from = make(both, "(BLOCK, *)", 3), to = make(both, "(*, CYCLIC(7))");
        hocket::RedistributeOptions options;
        options.strategy = strategy;
        hocket::redistribute(from, to, options);
        expect(to, 3, std::string("redistribute ") + strategy);
    }
    std::string told;
    try {
        const Array from = make(both, "(BLOCK, *)"),
                    to = make(both, program.job == 0 ? "(*, BLOCK)" : "(*, CYCLIC)");
        hocket::redistribute(from, to);
    } catch (const hocket::MismatchError& error) {
        told = error.what();
    }
    require(told.find("disagree") != std::string::npos, "what differs: " + told);
}

// Job 1 is gone; each wait of job 0 for it ends on all processes, and those for others go on.
void lost(const Program& program, Tasks& tasks) {
    const auto own = make(program.comm, "(BLOCK, *)", 1);
    if (program.job == 1) {
        tasks.send(own, 0);
        std::this_thread::sleep_for(std::chrono::milliseconds(300));
        std::_Exit(0);
    }
    const Array in = make(program.comm, "(BLOCK, *)");
    tasks.recv(in, 1);
    expect(in, 1, "before the end");
    const auto expect_lost = [&](const char* what, const std::function<void()>& call) {
        const auto began = std::chrono::steady_clock::now();
        try {
            call();
        } catch (const hocket::PeerLostError& error) {
            const std::string told = error.what();
            require(told.find(" of 'b' is lost") != std::string::npos, told);
            require(std::chrono::steady_clock::now() - began < std::chrono::seconds(4), "time");
            return;
        }
        require(false, std::string("nobody noticed: ") + what);
    };
    expect_lost("recv", [&] { tasks.recv(in, 1); });
    expect_lost("recv", [&] { tasks.recv(in); });
    expect_lost("send", [&] { tasks.send(own, 1); });
    expect_lost("isend", [&] { tasks.isend(own, 1).wait(); });
    expect_lost("probe", [&] { tasks.probe(); });
    expect_lost("barrier", [&] { tasks.barrier(); });
    const Array again = make(program.comm, "(*, BLOCK)");
    hocket::redistribute(own, again);
    expect(again, 1, "its own processes");
}

int run(int argc, char** argv) {
    require(argc >= 5, "arguments");
    const int job = std::atoi(argv[1]);
    int sizes[2];
    require(std::sscanf(argv[3], "%d,%d", sizes, sizes + 1) == 2, "sizes");
    const bool by_mpi = sizes[job] > 1;
    if (by_mpi) MPI_Init(nullptr, nullptr);
    {
        Program program{
            job,
            1 - job,
            {sizes[0], sizes[1]},
            0,
            argv[2],
            argc > 5 ? argv[5] : "",
            by_mpi
                ? Comm::world()
                : Comm(std::make_shared<hocket::comm::State>(OwnedLink(new hocket::comm::Link)))};
        program.rank = program.comm.rank();
        open(program.comm);
        const std::string what = argv[4];
        if (what == "redistribute") {
            redistribute(program);
        } else {
            const hocket::TaskRequest jobs[] = {{"a", sizes[0]}, {"b", sizes[1]}};
            Tasks tasks = hocket::task::handle_of(
                hocket::task::tasks_of_jobs(jobs, program.comm, joined(program)));
            what == "lost" ? lost(program, tasks) : verbs(program, tasks);
        }
        if (program.rank == 0) std::printf("job %d: %s passed\n", job, argv[4]);
    }
    if (by_mpi) MPI_Finalize();
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return run(argc, argv);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "jobs: %s\n", error.what());
        std::_Exit(1);
    }
}
