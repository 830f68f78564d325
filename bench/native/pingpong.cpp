// SPDX-License-Identifier: BSD-3-Clause
// Half a ping-pong between two processes, without Python in the loop: raw MPI, hocket's tasks, and
// the machine's limit. `--bytes 8,1024`. Started like a C program: MPI_Init.
#include <mpi.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "harness.hpp"
#include "hocket/mpi.hpp"
#include "hocket/task.hpp"
#include "mpi_group.hpp"

namespace {

using hocket_bench::Contestant;
using Buffer = std::vector<unsigned char>;

constexpr int kTag = 99;

/// Common to all contestants of a process: its send buffer, its receive buffer, its peer.
struct Exchange {
    Exchange(MPI_Comm communicator, std::int64_t bytes)
        : comm(communicator), size(static_cast<std::size_t>(bytes)) {
        MPI_Comm_rank(comm, &rank);
        out.resize(size);
        into.resize(size);
        for (std::size_t i = 0; i < size; ++i) out[i] = value(rank, i);
    }

    static unsigned char value(int rank, std::size_t i) {
        return static_cast<unsigned char>(1 + i % 251 + static_cast<std::size_t>(rank));
    }

    std::string check(const unsigned char* received) const {
        for (std::size_t i = 0; i < size; ++i)
            if (received[i] != value(1 - rank, i))
                return "byte " + std::to_string(i) + " is " + std::to_string(received[i]) +
                       ", not " + std::to_string(value(1 - rank, i));
        return {};
    }

    /// Process 0 sends first, process 1 receives first.
    Contestant contestant(const std::string& name, std::function<void()> send,
                          std::function<void()> receive, unsigned char* received) {
        auto run = [this, send, receive] {
            if (rank == 0) send();
            receive();
            if (rank == 1) send();
        };
        return {name, run, [this, received] { std::memset(received, 0, size); },
                [this, received] { return check(received); }};
    }

    MPI_Comm comm;
    std::size_t size;
    int rank = 0;
    Buffer out, into;
};

Contestant raw(Exchange& x) {
    const auto count = static_cast<int>(x.size);
    return x.contestant(
        "MPI_Send/MPI_Recv",
        [&x, count] { MPI_Send(x.out.data(), count, MPI_BYTE, 1 - x.rank, kTag, x.comm); },
        [&x, count] {
            MPI_Recv(x.into.data(), count, MPI_BYTE, 1 - x.rank, kTag, x.comm, MPI_STATUS_IGNORE);
        },
        x.into.data());
}

/// MPI_Send_init and MPI_Recv_init, freed with the last copy of the contestant.
Contestant persistent(Exchange& x) {
    const auto count = static_cast<int>(x.size);
    const auto make = [&](bool sends) {
        auto* const request = new MPI_Request;
        if (sends)
            MPI_Send_init(x.out.data(), count, MPI_BYTE, 1 - x.rank, kTag, x.comm, request);
        else
            MPI_Recv_init(x.into.data(), count, MPI_BYTE, 1 - x.rank, kTag, x.comm, request);
        return std::shared_ptr<MPI_Request>(request, [](MPI_Request* made) {
            MPI_Request_free(made);
            delete made;
        });
    };
    const auto go = [](const std::shared_ptr<MPI_Request>& request) {
        return [request] {
            MPI_Start(request.get());
            MPI_Wait(request.get(), MPI_STATUS_IGNORE);
        };
    };
    return x.contestant("MPI_Start/MPI_Wait", go(make(true)), go(make(false)), x.into.data());
}

/// One mailbox a direction in memory that both processes share: a flag in its own cache line,
/// then the sender's array.
struct Mailbox {
    alignas(64) std::atomic<std::uint64_t> posted{0};
    alignas(64) unsigned char bytes[1];
};

/// The limit: the array is already in shared memory; the sender sets a flag, the receiver copies
/// the array.
class SharedMemory {
  public:
    explicit SharedMemory(Exchange& exchange) : x_(exchange) {
        const auto bytes = static_cast<MPI_Aint>(sizeof(Mailbox) + x_.size + 64);
        void* mine = nullptr;
        MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, x_.comm, &mine, &window_);
        out_ = box(x_.rank);
        new (out_) Mailbox;
        std::memcpy(out_->bytes, x_.out.data(), x_.size);
        MPI_Barrier(x_.comm);
        into_ = box(1 - x_.rank);
    }
    SharedMemory(const SharedMemory&) = delete;
    SharedMemory& operator=(const SharedMemory&) = delete;
    ~SharedMemory() { MPI_Win_free(&window_); }

    void send() { out_->posted.store(++sent_, std::memory_order_release); }

    void receive() {
        ++received_;
        for (int spins = 0; into_->posted.load(std::memory_order_acquire) < received_; ++spins) {
            if (spins > 10'000) std::this_thread::yield();
        }
        std::memcpy(x_.into.data(), into_->bytes, x_.size);
    }

  private:
    Mailbox* box(int rank) const {
        MPI_Aint bytes = 0;
        int unit = 0;
        void* first = nullptr;
        MPI_Win_shared_query(window_, rank, &bytes, &unit, &first);
        const auto place = (reinterpret_cast<std::uintptr_t>(first) + 63) / 64 * 64;
        return reinterpret_cast<Mailbox*>(place);
    }

    Exchange& x_;
    MPI_Win window_ = MPI_WIN_NULL;
    Mailbox *out_ = nullptr, *into_ = nullptr;
    std::uint64_t sent_ = 0, received_ = 0;
};

/// Whether all processes share memory.
bool in_one_node(MPI_Comm comm) {
    MPI_Comm node = MPI_COMM_NULL;
    int here = 0, all = 0;
    MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &here);
    MPI_Comm_size(comm, &all);
    MPI_Comm_free(&node);
    return here == all;
}

constexpr const char* kLimit = "shared memory, flag and one copy";

Contestant shared_memory(Exchange& x) {
    auto boxes = std::make_shared<SharedMemory>(x);
    return x.contestant(
        kLimit, [boxes] { boxes->send(); }, [boxes] { boxes->receive(); }, x.into.data());
}

/// Two tasks of one process each, and the arrays that they send each other.
struct Pair {
    explicit Pair(Exchange& x)
        : world(names(), hocket::from_mpi(x.comm)),
          out(array(x)),
          into(array(x)),
          peer(1 - x.rank) {
        std::memcpy(out.data(), x.out.data(), x.size);
    }
    static std::vector<hocket::TaskRequest> names() { return {{"ping", 1}, {"pong", 1}}; }
    hocket::Array array(const Exchange& x) const {
        const hocket::Layout layout({static_cast<std::int64_t>(x.size)}, "(BLOCK)", {1});
        return hocket::Array::empty(layout, {"uint8", 1}, world.comm());
    }
    unsigned char* received() const { return static_cast<unsigned char*>(into.data()); }

    hocket::Tasks world;
    hocket::Array out, into;
    hocket::TaskId peer;
};

/// Not persistent, so that every call exchanges descriptors.
Contestant tasks(Exchange& x) {
    auto pair = std::make_shared<Pair>(x);
    return x.contestant(
        "hocket send/recv", [pair] { pair->world.send(pair->out, pair->peer, {.tag = kTag}); },
        [pair] { pair->world.recv(pair->into, pair->peer, {.tag = kTag}); }, pair->received());
}

/// The same, prepared once.
Contestant persistent_tasks(Exchange& x) {
    auto pair = std::make_shared<Pair>(x);
    const auto go = [pair](hocket::Request request) {
        return [pair, request]() mutable {
            request.start();
            request.wait();
        };
    };
    return x.contestant(
        "hocket start/wait", go(pair->world.send_init(pair->out, pair->peer, {.tag = kTag})),
        go(pair->world.recv_init(pair->into, pair->peer, {.tag = kTag})), pair->received());
}

void run(int argc, char** argv) {
    const auto arguments = hocket_bench::parse(argc, argv);
    std::vector<std::int64_t> sizes{8, 1024, 65536};
    if (arguments.rest.size() == 2 && arguments.rest[0] == "--bytes")
        sizes = hocket_bench::parse_list(arguments.rest[1]);
    else if (!arguments.rest.empty())
        throw std::invalid_argument("unknown argument '" + arguments.rest[0] +
                                    "'; there is --bytes 8,1024");
    int ranks = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks != 2)
        throw std::invalid_argument(std::to_string(ranks) + " processes; start 2 (mpiexec -n 2)");
    hocket_bench::describe_mpi("hocket_bench_pingpong");
    const auto group = hocket_bench::mpi_group(MPI_COMM_WORLD);
    if (arguments.pin) hocket_bench::pin(group.rank);
    const bool shared = in_one_node(MPI_COMM_WORLD);
    for (const auto size : sizes) {
        if (size > 1'000'000'000)
            throw std::invalid_argument("--bytes " + std::to_string(size) + ": at most 10^9");
        Exchange exchange(MPI_COMM_WORLD, size);
        hocket_bench::Question question;
        question.parameters = {{"step", "\"half a ping-pong\""}, {"bytes", std::to_string(size)}};
        question.baseline = {"MPI_Send/MPI_Recv", "MPI_Start/MPI_Wait"};
        question.bytes = size;
        std::vector<Contestant> contestants{raw(exchange), persistent(exchange), tasks(exchange),
                                            persistent_tasks(exchange)};
        if (shared) {
            question.limit = {kLimit};
            contestants.insert(contestants.begin(), shared_memory(exchange));
        }
        hocket_bench::measure(question, contestants, group, arguments.effort, 2);
    }
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    try {
        run(argc, argv);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "hocket_bench_pingpong: %s\n", error.what());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Finalize();
}
