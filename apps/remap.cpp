// SPDX-License-Identifier: BSD-3-Clause
// A distributed three-dimensional array, its indices reordered: into a second array, and within its
// own memory. He and Ding, "MPI and OpenMP Paradigms on Cluster of SMP Architectures: The Vacancy
// Tracking Algorithm for Multi-Dimensional Array Transposition"; and the example that it opens
// with: fields of an atmosphere between a height-local and a longitude-local decomposition. As
// tasks: one has the array before, the other after, and it travels between them.
#include "hocket/remap.hpp"

#include <functional>
#include <memory>

#include "hocket/task.hpp"
#include "model.hpp"
#include "program.hpp"

namespace {

using hocket::Array;
using hocket::Layout;

double value(std::int64_t i, std::int64_t j, std::int64_t k) {
    return static_cast<double>((i * 1009 + j) * 1013 + k);
}

// The number of elements that differ from element `index` of the first array, where f(i, j, k) is
// that index.
template <class Index>
std::int64_t visit(const Array& array, Index index) {
    std::int64_t wrong = 0;
    if (array.process() < 0) return wrong;
    const auto held = array.layout().global_indices(array.process());
    auto at = array.local<double>().begin();
    for (const auto i : held[0])
        for (const auto j : held[1])
            for (const auto k : held[2]) {
                const std::int64_t whole[] = {i, j, k};
                wrong += index(*at++, whole) ? 0 : 1;
            }
    return wrong;
}

void fill(const Array& array) {
    visit(array, [](double& at, const std::int64_t* i) {
        at = value(i[0], i[1], i[2]);
        return true;
    });
}

// After `array` was made of the first one by numpy.transpose(…, axes).
std::int64_t wrong_in(const Array& array, const std::vector<std::int64_t>& axes) {
    return visit(array, [&](const double& at, const std::int64_t* i) {
        std::int64_t from[3];
        for (std::size_t d = 0; d < 3; ++d) from[axes[d]] = i[d];
        return at == value(from[0], from[1], from[2]);
    });
}

struct Form {
    std::string name;
    std::function<void()> there, back;
    std::function<std::int64_t()> wrong;  // after `there`
    std::function<void()> end = [] {};
    std::vector<double> seconds = {};
};

void spoil(const Array& array) {
    for (double& at : array.local<double>()) at = -1;
}

// Announces the local copies of an array for simulated time: each element is read and written
// `times`, by so many threads.
void rearrange(const Array& array, int times, int threads) {
    const auto bytes = static_cast<double>(array.local<double>().size_bytes());
    apps::modelled(apps::Work::move, 2 * times * bytes / threads);
}

// A second array, and a copy of it back to the first one, as the paper counts it.
Form two_arrays(const Layout& layout, const std::vector<std::int64_t>& axes, int threads,
                const hocket::Comm& everyone) {
    const Layout turned = hocket::remap_layout(layout, axes);
    const auto type = hocket::dtype_of<double>();
    const auto a = Array::empty(layout, type, everyone), b = Array::empty(turned, type, everyone);
    hocket::RedistributeOptions options;
    options.axes = axes;
    fill(a);
    const auto there = [a, b, options, threads] {
        rearrange(a, 2, threads);  // into the second one, and back
        hocket::redistribute(a, b, options);
    };
    return {"two-array", there, [b] { spoil(b); }, [b, axes] { return wrong_in(b, axes); }};
}

Form in_place(const Layout& layout, const std::vector<std::int64_t>& axes, int threads,
              const hocket::Comm& everyone) {
    std::vector<std::int64_t> inverse(3);
    for (std::size_t d = 0; d < 3; ++d)
        inverse[static_cast<std::size_t>(axes[d])] = static_cast<std::int64_t>(d);
    const auto array =
        std::make_shared<Array>(Array::empty(layout, hocket::dtype_of<double>(), everyone));
    fill(*array);
    hocket::RemapOptions options;
    options.threads = threads;
    const auto there = [=] {
        rearrange(*array, 1, threads);
        *array = hocket::remap_inplace(*array, axes, options);
    };
    return {"in place", there, [=] { *array = hocket::remap_inplace(*array, inverse, options); },
            [=] { return wrong_in(*array, axes); }};
}

// Height-local: whole columns of air; longitude-local: whole circles of latitude. There and back.
Form climate(const hocket::Shape& shape, const std::vector<std::int64_t>& grid,
             const hocket::Comm& everyone) {
    const auto type = hocket::dtype_of<double>();
    const auto high = Array::empty(Layout(shape, "(*, BLOCK, BLOCK)", grid), type, everyone);
    const auto around = Array::empty(Layout(shape, "(BLOCK, BLOCK, *)", grid), type, everyone);
    fill(high);
    const auto back = [=] {
        hocket::redistribute(around, high);
        spoil(around);
    };
    return {"climate", [=] { hocket::redistribute(high, around); }, back,
            [=] {
                return wrong_in(around, {0, 1, 2});
            }};
}

// Two tasks, each of half of the processes.
struct Two {
    hocket::Tasks world;
    bool first;
    std::int64_t size;  // of this task

    explicit Two(const hocket::Comm& everyone)
        : world(std::vector<hocket::TaskRequest>{{"before", everyone.size() / 2},
                                                 {"after", everyone.size() - everyone.size() / 2}},
                everyone),
          first(world.rank() == 0),
          size(world.comm().size()) {}
};

// The arrangement of processes along two dimensions: as square as possible.
std::vector<std::int64_t> grid_of(std::int64_t processes) {
    std::int64_t rows = 1;
    for (std::int64_t p = 1; p * p <= processes; ++p)
        if (processes % p == 0) rows = p;
    return {rows, processes / rows};
}

// `array` in the order of indices before its permutation by `axes`: the same memory.
Array unpermuted(const Array& array, const std::vector<std::int64_t>& axes) {
    static const char* const names[] = {"i", "j", "k"};
    hocket::Shape shape(3), strides(3);
    std::string places;
    for (std::size_t d = 0; d < 3; ++d) {
        const auto from = static_cast<std::size_t>(axes[d]);
        shape[from] = array.layout().shape()[d];
        strides[from] = array.strides()[d];
        places += (d ? ", " : "") + std::string(names[from]);
    }
    const Layout layout =
        Layout::aligned(shape, "A(i, j, k) WITH T(" + places + ")", array.layout());
    return Array::wrap(array.data(), layout, array.dtype(), array.comm(), strides, array.keep());
}

// Sends and receives that are prepared once, or not.
Form between(const std::string& name, const Two& two, const Array& mine, const Array& seen,
             const std::vector<std::int64_t>& axes, bool persistent) {
    static constexpr int tag = 0;
    auto world = two.world;
    const bool first = two.first;
    const auto back = [mine, first] {
        if (!first) spoil(mine);
    };
    const auto wrong = [mine, first, axes] { return first ? 0 : wrong_in(mine, axes); };
    if (!persistent) {
        const auto there = [world, seen, first]() mutable {
            if (first)
                world.send(seen, 1, {.tag = tag});
            else
                world.recv(seen, 0, {.tag = tag});
        };
        return {name, there, back, wrong};
    }
    auto request =
        first ? world.send_init(seen, 1, {.tag = tag}) : world.recv_init(seen, 0, {.tag = tag});
    const auto there = [request]() mutable {
        request.start();
        request.wait();
    };
    return {name, there, back, wrong, [request]() mutable { request.free(); }};
}

// The first task has the array; the second one receives it permuted.
Form remap_tasks(const std::string& name, const Two& two, const hocket::Shape& shape,
                 const std::string& dist, const std::vector<std::int64_t>& axes) {
    const Layout layout(shape, dist, {two.size});
    const auto type = hocket::dtype_of<double>();
    const Layout held = two.first ? layout : hocket::remap_layout(layout, axes);
    const Array mine = Array::empty(held, type, two.world.comm());
    if (two.first) fill(mine);
    return between(name, two, mine, two.first ? mine : unpermuted(mine, axes), axes,
                   name == "persistent");
}

// One task needs whole columns of air, the other whole circles of latitude.
Form climate_tasks(const std::string& name, const Two& two, const hocket::Shape& shape) {
    const char* const dist = two.first ? "(*, BLOCK, BLOCK)" : "(BLOCK, BLOCK, *)";
    const Array mine = Array::empty(Layout(shape, dist, grid_of(two.size)),
                                    hocket::dtype_of<double>(), two.world.comm());
    if (two.first) fill(mine);
    return between(name, two, mine, mine, {0, 1, 2}, true);
}

Form form_of(const std::string& name, const apps::Program& program) {
    const auto& given = program.parameters;
    const auto shape = given.wholes("shape"), axes = given.wholes("axes");
    const int threads = static_cast<int>(given.whole("threads", 1));
    const auto& everyone = program.everyone;
    if (name == "climate") return climate(shape, grid_of(everyone.size()), everyone);
    if (name == "climate-tasks") return climate_tasks(name, Two(everyone), shape);
    if (name == "tasks" || name == "persistent")
        return remap_tasks(name, Two(everyone), shape, given.text("dist"), axes);
    const Layout layout(shape, given.text("dist"), {everyone.size()});
    return name == "two-array" ? two_arrays(layout, axes, threads, everyone)
                               : in_place(layout, axes, threads, everyone);
}

void body(apps::Program& program) {
    std::vector<Form> forms;
    for (const auto& name : program.parameters.words("forms"))
        forms.push_back(form_of(name, program));
    std::vector<apps::Report> all;
    std::vector<double> wrong(forms.size());
    for (std::int64_t run = 0; run <= program.parameters.whole("runs"); ++run) {
        for (std::size_t f = 0; f < forms.size(); ++f) {
            const double seconds = apps::timed(program.everyone, forms[f].there);
            if (run > 0) forms[f].seconds.push_back(seconds);
            wrong[f] += static_cast<double>(forms[f].wrong());
            forms[f].back();
        }
    }
    wrong = apps::maximum(program.everyone, wrong);
    for (std::size_t f = 0; f < forms.size(); ++f) {
        forms[f].end();
        apps::Report one;
        one.add("form", forms[f].name);
        one.add("seconds", forms[f].seconds);
        one.add("wrong", wrong[f]);
        all.push_back(std::move(one));
    }
    program.report.add("forms", all);
}

}  // namespace

int main(int argc, char** argv) {
    return apps::run(argc, argv, body);
}
