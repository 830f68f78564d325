// SPDX-License-Identifier: BSD-3-Clause
// An N×N array between two tasks, from (BLOCK,*) to (*,BLOCK), there and back: Figures 6 and 7 of
// Foster, Kohr, Krishnaiyer, Choudhary, "Double Standards: Bringing Task Parallelism to HPF via the
// Message Passing Interface".
#include <cmath>

#include "hocket/task.hpp"
#include "program.hpp"

namespace {

using apps::Report;
using hocket::Array;

constexpr int tag = 99;

float value(std::int64_t task, std::int64_t i, std::int64_t j) {
    return static_cast<float>((i * 31 + j * 7 + task) % 8191);
}

// From and To of one task.
struct Arrays {
    Array from, to;
    int me;

    Arrays(const hocket::Tasks& world, std::int64_t n)
        : from(Array::empty(hocket::Layout({n, n}, "(BLOCK, *)", {world.comm().size()}),
                            hocket::dtype_of<float>(), world.comm())),
          to(Array::empty(hocket::Layout({n, n}, "(*, BLOCK)", {world.comm().size()}),
                          hocket::dtype_of<float>(), world.comm())),
          me(world.rank()) {
        visit(from, [&](float& at, std::int64_t i, std::int64_t j) { at = value(me, i, j); });
    }

    template <class F>
    static void visit(const Array& array, F f) {
        const auto held = array.layout().global_indices(array.process());
        auto at = array.local<float>().begin();
        for (const auto i : held[0])
            for (const auto j : held[1]) f(*at++, i, j);
    }

    void spoil() const {
        for (float& at : to.local<float>()) at = -1;
    }

    // How many elements are not what the other task has sent.
    std::int64_t wrong() const {
        std::int64_t count = 0;
        visit(to, [&](float& at, std::int64_t i, std::int64_t j) {
            if (!(at == value(1 - me, i, j))) ++count;
        });
        return count;
    }
};

// Task 0 sends first, as in the paper's Figure 6.
template <class Send, class Receive>
void exchange(int me, std::int64_t repeats, Send send, Receive receive) {
    for (std::int64_t i = 0; i < repeats; ++i) {
        if (me == 0) send();
        receive();
        if (me == 1) send();
    }
}

void add_profile(Report& report, const hocket::Profile& before, const hocket::Profile& after,
                 double messages) {
    const auto add = [&](const char* name, double hocket::Profile::*step) {
        report.add(name, (after.*step - before.*step) / messages);
    };
    add("inquiry", &hocket::Profile::inquiry);
    add("call", &hocket::Profile::call);
    add("descriptor", &hocket::Profile::descriptor);
    add("schedule", &hocket::Profile::schedule);
    add("pack", &hocket::Profile::pack);
    add("move", &hocket::Profile::move);
}

void body(apps::Program& program) {
    const auto& asked = program.parameters;
    const auto repeats = asked.whole("repeats", 1), runs = asked.whole("runs", 1);
    const std::int64_t half = program.size() / 2;
    const std::vector<hocket::TaskRequest> names{{"ping", half}, {"pong", program.size() - half}};
    hocket::Tasks world(names, program.everyone);
    const int peer = 1 - world.rank();
    std::vector<Report> tables;
    for (const auto n : asked.wholes("n")) {
        const Arrays arrays(world, n);
        const auto plain = [&] {
            exchange(
                arrays.me, repeats, [&] { world.send(arrays.from, peer, tag); },
                [&] { world.recv(arrays.to, peer, tag); });
        };
        auto out = world.send_init(arrays.from, peer, tag);
        auto in = world.recv_init(arrays.to, peer, tag);
        const auto go = [](hocket::Request& request) {
            request.start();
            request.wait();
        };
        const auto persistent = [&] {
            exchange(
                arrays.me, repeats, [&] { go(out); }, [&] { go(in); });
        };
        std::vector<double> seconds[2];
        Report profiles[2];
        std::int64_t wrong = 0;
        const auto one_way = static_cast<double>(2 * repeats);
        plain();
        persistent();
        for (std::int64_t run = 0; run < runs; ++run) {
            for (int form = 0; form < 2; ++form) {
                arrays.spoil();
                const auto before = world.profile();
                const double all = form == 0 ? apps::timed(program.everyone, plain)
                                             : apps::timed(program.everyone, persistent);
                seconds[form].push_back(all / one_way);
                if (run + 1 == runs) add_profile(profiles[form], before, world.profile(), one_way);
                wrong += arrays.wrong();
            }
        }
        out.free();
        in.free();
        const double mine[] = {static_cast<double>(wrong)};
        Report table;
        table.add("n", n);
        table.add("plain_s", seconds[0]);
        table.add("persistent_s", seconds[1]);
        table.add("plain_steps_s", profiles[0]);
        table.add("persistent_steps_s", profiles[1]);
        table.add("wrong", apps::maximum(program.everyone, mine)[0]);
        tables.push_back(std::move(table));
    }
    program.report.add("tables", tables);
}

}  // namespace

int main(int argc, char** argv) {
    return apps::run(argc, argv, body);
}
