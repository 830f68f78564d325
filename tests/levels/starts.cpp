// SPDX-License-Identifier: BSD-3-Clause
// The costs of transfers besides copies, on 2 processes: `starts channels|messages`. Starting a
// persistent request again allocates nothing, over channels or by messages. Over channels it sends
// no message either, however long the array, nor does a send that is made once. Halos, remaps and
// strategies with relays send none within the node.
#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include "hocket/array.hpp"
#include "hocket/halo.hpp"
#include "hocket/mpi.hpp"
#include "hocket/remap.hpp"
#include "hocket/task.hpp"
#include "hocket/transfer.hpp"

namespace {

// Of the main thread: MPI has threads of its own.
thread_local bool counting = false;
thread_local long allocations = 0, messages = 0;

int wrong = 0, me = 0;

void expect(bool holds, const std::string& what) {
    if (holds) return;
    std::fprintf(stderr, "starts: rank %d: %s\n", me, what.c_str());
    ++wrong;
}

}  // namespace

// NOLINTBEGIN(cppcoreguidelines-no-malloc): it stands for what the library allocates by
void* operator new(std::size_t bytes) {
    if (counting) ++allocations;
    if (void* const memory = std::malloc(bytes == 0 ? 1 : bytes)) return memory;
    throw std::bad_alloc();
}
void operator delete(void* memory) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}
// NOLINTEND(cppcoreguidelines-no-malloc)

extern "C" int MPI_Isend(const void* data, int count, MPI_Datatype type, int to, int tag,
                         MPI_Comm comm, MPI_Request* request) {
    ++messages;
    return PMPI_Isend(data, count, type, to, tag, comm, request);
}

namespace {

struct Costs {
    long starting = 0, waiting = 0, sent = 0;
};

/// `start` and `wait` of one request, after some that leave room for the same again.
Costs cost_of(hocket::Request& request) {
    Costs most;
    for (int turn = 0; turn < 40; ++turn) {
        const long sent = messages;
        allocations = 0;
        counting = true;
        request.start();
        counting = false;
        const long starting = allocations;
        counting = true;
        static_cast<void>(request.wait(hocket::Deadline::in(60)));
        counting = false;
        if (turn < 20) continue;
        most.starting = std::max(most.starting, starting);
        most.waiting = std::max(most.waiting, allocations - starting);
        most.sent = std::max(most.sent, messages - sent);
    }
    return most;
}

void starts(hocket::Tasks& tasks, std::int64_t elements, bool channels) {
    const hocket::Layout layout({elements}, "(BLOCK)", {1});
    const auto array = hocket::Array::empty(layout, hocket::dtype_of<double>(), tasks.comm());
    allocations = 0;
    counting = true;
    hocket::Request request = me == 0 ? tasks.send_init(array, "b") : tasks.recv_init(array, "a");
    counting = false;
    expect(allocations > 0, "no allocation was seen, so none is counted");
    const Costs costs = cost_of(request);
    const std::string which = std::to_string(elements) + " elements: ";
    expect(costs.starting == 0, which + std::to_string(costs.starting) + " allocations in start");
    expect(!channels || costs.waiting == 0,
           which + std::to_string(costs.waiting) + " allocations in wait");
    expect(!channels || costs.sent == 0, which + std::to_string(costs.sent) + " messages");
    expect(channels || me == 1 || costs.sent > 0,
           which + "no message was seen, so none is counted");
    request.free();
}

/// The messages that this process sends for one send, or receive, of so many elements.
long messages_of(hocket::Tasks& tasks, std::int64_t elements) {
    const hocket::Layout layout({elements}, "(BLOCK)", {1});
    auto array = hocket::Array::empty(layout, hocket::dtype_of<double>(), tasks.comm());
    long sent = 0;
    for (int turn = 0; turn < 3; ++turn) {  // the first finds no plan
        for (double& each : array.local<double>()) each = me == 0 ? turn : -1;
        sent = messages;
        if (me == 0)
            tasks.send(array, "b");
        else
            static_cast<void>(tasks.recv(array, "a"));
        sent = messages - sent;
        for (const double each : array.local<double>())
            if (each != turn) throw hocket::Error("a wrong value has come");
    }
    return sent;
}

// The borders of rows of so many elements, half of the rows on each process.
void halo(std::int64_t columns, hocket::Order mine, bool channels) {
    constexpr std::int64_t rows = 6;
    const hocket::Layout layout({rows, columns}, "(BLOCK, *)", {2});
    const auto comm = hocket::from_mpi(MPI_COMM_WORLD);
    const auto array = hocket::Array::empty(layout, hocket::dtype_of<std::int64_t>(), comm);
    const hocket::Halo halo(array, {1, 1}, {true, true}, mine);
    const hocket::Shape strides = halo.array().strides();
    auto* const memory = static_cast<std::byte*>(halo.data());
    const auto element = [&](std::int64_t i, std::int64_t j) -> std::int64_t& {
        return *reinterpret_cast<std::int64_t*>(memory + i * strides[0] + j * strides[1]);
    };
    const std::int64_t held = rows / 2, first = me * held;
    for (std::int64_t i = 0; i < held; ++i)
        for (std::int64_t j = 0; j < columns; ++j)
            element(i + 1, j + 1) = (first + i) * columns + j;
    const long before = messages;
    halo.exchange(hocket::Deadline::in(60));
    const long sent = messages - before;
    const std::string which = "a halo of " + std::to_string(columns) + " columns: ";
    expect(channels ? sent == 0 : sent > 0, which + std::to_string(sent) + " messages");
    long differ = 0;
    for (std::int64_t i = 0; i < held + 2; ++i)
        for (std::int64_t j = 0; j < columns + 2; ++j)
            differ += element(i, j) !=
                              (first + i - 1 + rows) % rows * columns + (j - 1 + columns) % columns
                          ? 1
                          : 0;
    expect(differ == 0, which + std::to_string(differ) + " wrong elements");
}

// Redistributes blocks by a strategy with relays.
void relay(std::int64_t elements, const std::string& strategy, bool channels) {
    const hocket::Layout blocks({elements}, "(BLOCK)", {2}), cyclic({elements}, "(CYCLIC)", {2});
    const auto comm = hocket::from_mpi(MPI_COMM_WORLD);
    const auto from = hocket::Array::empty(blocks, hocket::dtype_of<std::int64_t>(), comm);
    const auto to = hocket::Array::empty(cyclic, hocket::dtype_of<std::int64_t>(), comm);
    std::int64_t index = me * ((elements + 1) / 2);
    for (std::int64_t& each : from.local<std::int64_t>()) each = index++;
    hocket::RedistributeOptions options;
    options.strategy = strategy;
    const long before = messages;
    hocket::redistribute(from, to, options);
    const long sent = messages - before;
    const std::string which =
        std::to_string(elements) + " elements by the strategy " + strategy + ": ";
    expect(channels ? sent == 0 : sent > 0, which + std::to_string(sent) + " messages");
    index = me;
    for (const std::int64_t each : to.local<std::int64_t>()) {
        expect(each == index, which + std::to_string(each) + " at " + std::to_string(index));
        index += 2;
    }
}

// A matrix of so many rows and columns, transposed in memory that peers can map, or in other
// memory.
void remap(std::int64_t extent, bool mapped, bool channels) {
    const hocket::Layout layout({extent, extent}, "(BLOCK, *)", {2});
    const auto comm = hocket::from_mpi(MPI_COMM_WORLD);
    const hocket::DType dtype = hocket::dtype_of<std::int64_t>();
    const std::int64_t held = layout.local_elements(me), first = me * ((extent + 1) / 2);
    std::vector<std::int64_t> own(static_cast<std::size_t>(mapped ? 0 : held));
    const auto array = mapped ? hocket::Array::empty(layout, dtype, comm)
                              : hocket::Array::wrap(own.data(), layout, dtype, comm);
    std::int64_t index = first * extent;
    for (std::int64_t& each : array.local<std::int64_t>()) each = index++;
    const long before = messages;
    const auto turned = hocket::remap_inplace(array, hocket::Shape{1, 0}, {});
    const long sent = messages - before;
    const std::string which = "a remap of " + std::to_string(extent) + " rows: ";
    expect(channels ? sent == 0 : sent > 0, which + std::to_string(sent) + " messages");
    long differ = 0;
    index = 0;
    for (const std::int64_t each : turned.local<std::int64_t>()) {
        differ += each != index % extent * extent + first + index / extent ? 1 : 0;
        ++index;
    }
    expect(differ == 0, which + std::to_string(differ) + " wrong elements");
}

void all(bool channels) {
    const std::vector<hocket::TaskRequest> requests{{"a", 1}, {"b", 1}};
    hocket::Tasks tasks(requests, hocket::from_mpi(MPI_COMM_WORLD));
    // In the words of a flag, in the channel's memory, and from array to array.
    for (const std::int64_t elements : {1, 7, 100, 100'000}) starts(tasks, elements, channels);
    // Made once: the envelope, with up to 16 KiB of data, or its answer, and the messages with more
    // data; queues and channels carry all of them if processes share memory.
    for (const std::int64_t elements : {10, 1000, 4000, 50'000}) {
        const long expected = channels ? 0 : me == 1 || elements <= 2048 ? 1 : 2;
        const long sent = messages_of(tasks, elements);
        expect(sent == expected, "an array of " + std::to_string(elements) +
                                     " sent once: " + std::to_string(sent) + " messages, not " +
                                     std::to_string(expected));
    }
    for (const std::int64_t extent : {2, 7, 60, 61, 600, 601}) {
        remap(extent, true, channels);
        if (extent % 2 == 0) remap(extent, false, channels);
    }
    for (const std::int64_t elements : {10, 2001, 200'001})
        for (const char* const strategy : {"centralized", "staged"})
            relay(elements, strategy, channels);
    // Texts, slots of a channel, and array to array; in one order of elements, or in two.
    const auto row_major = hocket::Order::row_major, column_major = hocket::Order::column_major;
    for (const std::int64_t columns : {5, 2000, 100'000}) {
        halo(columns, row_major, channels);
        halo(columns, column_major, channels);
        halo(columns, me == 0 ? row_major : column_major, channels);
        halo(columns, me == 1 ? row_major : column_major, channels);
    }
}

}  // namespace

int main(int argc, char** argv) {
    const bool channels = argc > 1 && std::string(argv[1]) == "channels";
    int size = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    try {
        if (size != 2) throw hocket::Error("start it on 2 processes");
        all(channels);
    } catch (const std::exception& error) {
        expect(false, error.what());
    }
    std::printf("starts: rank %d, %d wrong\n", me, wrong);
    MPI_Finalize();
    return wrong == 0 ? 0 : 1;
}
