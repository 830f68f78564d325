// SPDX-License-Identifier: BSD-3-Clause
// An N×N array between two tasks, from (BLOCK,*) to (*,BLOCK), there and back: Figures 6 and 7 of
// Foster, Kohr, Krishnaiyer, Choudhary, "Double Standards: Bringing Task Parallelism to HPF via the
// Message Passing Interface". Data-parallel: all processes have both arrays, and redistribute.
#include <functional>
#include <memory>
#include <optional>

#include "hocket/task.hpp"
#include "hocket/transfer.hpp"
#include "program.hpp"

namespace {

using apps::Report;
using hocket::Array;

constexpr int tag = 99;

float value(std::int64_t task, std::int64_t i, std::int64_t j) {
    return static_cast<float>((i * 31 + j * 7 + task) % 8191);
}

Array square(std::int64_t n, const char* dist, const hocket::Comm& comm) {
    return Array::empty(hocket::Layout({n, n}, dist, {comm.size()}), hocket::dtype_of<float>(),
                        comm);
}

template <class F>
void visit(const Array& array, F f) {
    const auto held = array.layout().global_indices(array.process());
    auto at = array.local<float>().begin();
    for (const auto i : held[0])
        for (const auto j : held[1]) f(*at++, i, j);
}

void fill(const Array& array, std::int64_t task) {
    visit(array, [&](float& at, std::int64_t i, std::int64_t j) { at = value(task, i, j); });
}

void spoil(const Array& array) {
    for (float& at : array.local<float>()) at = -1;
}

// The number of elements that differ from the array that this task has filled.
std::int64_t wrong_in(const Array& array, std::int64_t task) {
    std::int64_t count = 0;
    visit(array, [&](float& at, std::int64_t i, std::int64_t j) {
        if (!(at == value(task, i, j))) ++count;
    });
    return count;
}

// A method to move the arrays, `repeats` times there and back in a run.
struct Form {
    std::string name;
    std::function<void()> run;
    std::vector<Array> received;  // the results of a run, and the task whose values they should
                                  // have
    std::int64_t from;
    std::function<hocket::Profile()> profile;
    std::function<void()> end = [] {};
    std::vector<double> seconds = {};
    Report steps = {};

    void spoil_all() const {
        for (const auto& array : received) spoil(array);
    }
    std::int64_t wrong() const {
        std::int64_t count = 0;
        for (const auto& array : received) count += wrong_in(array, from);
        return count;
    }
};

Form data_parallel(std::int64_t n, std::int64_t repeats, const hocket::Comm& everyone) {
    const Array rows = square(n, "(BLOCK, *)", everyone),
                columns = square(n, "(*, BLOCK)", everyone),
                back = square(n, "(BLOCK, *)", everyone);
    fill(rows, 0);
    hocket::RedistributeOptions options;
    options.profile = std::make_shared<hocket::Profile>();
    const auto run = [=] {
        for (std::int64_t i = 0; i < repeats; ++i) {
            hocket::redistribute(rows, columns, options);
            hocket::redistribute(columns, back, options);
        }
    };
    return {"data", run, {columns, back}, 0, [profile = options.profile] { return *profile; }};
}

// Task 0 sends first, as in the paper's Figure 6.
template <class Send, class Receive>
void exchange(int me, std::int64_t repeats, Send send, Receive receive) {
    for (std::int64_t i = 0; i < repeats; ++i) {
        if (me == 0) send();
        receive();
        if (me == 1) send();
    }
}

Form between_tasks(std::int64_t n, std::int64_t repeats, hocket::Tasks world, bool persistent) {
    const int me = world.rank(), peer = 1 - me;
    const Array from = square(n, "(BLOCK, *)", world.comm()),
                to = square(n, "(*, BLOCK)", world.comm());
    fill(from, me);
    const auto profile = [world] { return world.profile(); };
    if (!persistent) {
        const auto run = [=]() mutable {
            exchange(
                me, repeats, [&] { world.send(from, peer, {.tag = tag}); },
                [&] { world.recv(to, peer, {.tag = tag}); });
        };
        return {"plain", run, {to}, peer, profile};
    }
    auto out = world.send_init(from, peer, {.tag = tag}),
         in = world.recv_init(to, peer, {.tag = tag});
    const auto go = [](hocket::Request& request) {
        request.start();
        request.wait();
    };
    const auto run = [=]() mutable {
        exchange(
            me, repeats, [&] { go(out); }, [&] { go(in); });
    };
    const auto end = [=]() mutable {
        out.free();
        in.free();
    };
    return {"persistent", run, {to}, peer, profile, end};
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

// All forms at one size, taking turns.
Report table_of(std::int64_t n, std::vector<Form> forms, apps::Program& program) {
    const auto one_way = static_cast<double>(2 * program.parameters.whole("repeats", 1));
    const auto runs = program.parameters.whole("runs", 1);
    std::int64_t wrong = 0;
    for (auto& form : forms) form.run();
    for (std::int64_t run = 0; run < runs; ++run)
        for (auto& form : forms) {
            form.spoil_all();
            const auto before = form.profile();
            form.seconds.push_back(apps::timed(program.everyone, form.run) / one_way);
            if (run + 1 == runs) add_profile(form.steps, before, form.profile(), one_way);
            wrong += form.wrong();
        }
    const double mine[] = {static_cast<double>(wrong)};
    Report table;
    table.add("n", n);
    for (auto& form : forms) {
        form.end();
        table.add(form.name + "_s", form.seconds);
        table.add(form.name + "_steps_s", form.steps);
    }
    table.add("wrong", apps::maximum(program.everyone, mine)[0]);
    return table;
}

void body(apps::Program& program) {
    const auto repeats = program.parameters.whole("repeats", 1);
    const auto names = program.parameters.words("forms");
    std::optional<hocket::Tasks> world;
    if (names != std::vector<std::string>{"data"}) {
        const std::int64_t half = program.size() / 2;
        const std::vector<hocket::TaskRequest> tasks{{"ping", half},
                                                     {"pong", program.size() - half}};
        world.emplace(tasks, program.everyone);
    }
    std::vector<Report> tables;
    for (const auto n : program.parameters.wholes("n")) {
        std::vector<Form> forms;
        for (const auto& name : names)
            forms.push_back(name == "data"
                                ? data_parallel(n, repeats, program.everyone)
                                : between_tasks(n, repeats, *world, name == "persistent"));
        tables.push_back(table_of(n, std::move(forms), program));
    }
    program.report.add("tables", tables);
}

}  // namespace

int main(int argc, char** argv) {
    return apps::run(argc, argv, body);
}
