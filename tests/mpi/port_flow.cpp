// SPDX-License-Identifier: BSD-3-Clause
// A job in C++ whose flow sends to and receives from a job in Python that it met by a port.
// tests/mpi/test_ports_flows.py starts it:
//
//     port_flow PORT FRAMES [KEY]
#include <mpi.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include "hocket/error.hpp"
#include "hocket/flow.hpp"
#include "hocket/layout.hpp"
#include "hocket/mpi.hpp"
#include "hocket/port.hpp"
#include "hocket/task.hpp"

namespace {

using hocket::Array;
using hocket::Comm;
using hocket::reads;
using hocket::writes;

constexpr std::int64_t elements = 1000;

std::int64_t* values(const Array& array) {
    return static_cast<std::int64_t*>(array.data());
}

// Frame k is i + 1000 k at index i; the other job answers with the double of it. Steps are inserted
// in an order in which blocking calls would deadlock.
void run(const std::string& port, int frames, const std::string& key) {
    const Comm all = hocket::from_mpi(MPI_COMM_WORLD);
    hocket::ConnectOptions options;
    options.task = "flow";
    options.key = key;
    options.deadline = hocket::Deadline::in(60);
    hocket::Tasks w = hocket::connect(port, all, options);
    const hocket::Layout layout({elements}, "(CYCLIC(3))", {all.size()});
    const std::vector<std::int64_t> mine = layout.global_indices(all.rank())[0];
    std::vector<Array> out, in;
    std::vector<int> wrong(1);
    hocket::Flow flow({.workers = 2});
    for (int k = 0; k < frames; ++k) {
        out.push_back(Array::empty(layout, hocket::dtype_of<std::int64_t>(), all));
        in.push_back(Array::empty(layout, hocket::dtype_of<std::int64_t>(), all));
    }
    for (std::size_t k = 0; k < out.size(); ++k) {
        const int tag = static_cast<int>(k);
        flow.recv(w, in[k], "sim", tag);
        flow.task(
            [&, k] {
                for (std::size_t i = 0; i < mine.size(); ++i)
                    values(out[k])[i] = mine[i] + elements * static_cast<std::int64_t>(k);
            },
            {writes(out[k])});
        flow.send(w, out[k], "sim", tag);
        flow.task(
            [&, k] {
                for (std::size_t i = 0; i < mine.size(); ++i)
                    if (values(in[k])[i] != 2 * values(out[k])[i]) ++wrong[0];
            },
            {reads(in[k]), reads(out[k]), hocket::updates(std::span(wrong))});
    }
    flow.wait();
    const Array last = Array::empty(layout, hocket::dtype_of<std::int64_t>(), all);
    const Array copy = Array::empty(layout, hocket::dtype_of<std::int64_t>(), all);
    flow.comm(
        [&]() -> hocket::Coroutine<> {
            const hocket::MessageOptions as{.tag = frames};  // named: see hocket/coroutine.hpp
            co_await w.irecv(last, "sim", as);
            co_await w.isend(last, "sim", as);
            co_await hocket::iredistribute(last, copy);  // with default options
        },
        {writes(last), writes(copy)});
    flow.wait();
    hocket::disconnect(w);
    const auto refused = [&](const auto& call) {
        try {
            static_cast<void>(call());
            ++wrong[0];
        } catch (const hocket::Error& error) {
            wrong[0] += std::string(error.what()).starts_with("this Tasks") ? 0 : 1;
        }
    };
    refused([&] { return w.size(); });
    refused([&] { return w.name(); });
    if (wrong[0] > 0) throw hocket::Error(std::to_string(wrong[0]) + " elements are wrong");
    if (all.rank() == 0) std::puts("passed");
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    try {
        run(argv[1], std::atoi(argv[2]), argc > 3 ? argv[3] : "");
    } catch (const hocket::Error& error) {
        std::fprintf(stderr, "%s\n", error.what());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Finalize();
}
