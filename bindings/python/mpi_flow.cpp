// SPDX-License-Identifier: BSD-3-Clause
// Flows whose steps are Python functions; hocket/flows.py checks their arguments, and this file
// passes them between threads. Functions run, and release their objects, under the interpreter's
// lock; insertions and waits do not hold it.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>

#include "hocket/flow.hpp"
#include "hocket/halo.hpp"
#include "hocket/transfer.hpp"
#include "mpi_binding.hpp"
#include "mpi_operations.hpp"
#include "mpi_steps.hpp"
#include "raised.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace hocket::python {
namespace {

/// Any object with Python's buffer interface.
Region region_of(nb::handle object) {
    Py_buffer view;
    if (PyObject_GetBuffer(object.ptr(), &view, PyBUF_STRIDES) != 0) throw nb::python_error();
    const void* const data = view.buf;
    const std::int64_t itemsize = view.itemsize, bytes = view.len;
    // ctypes returns no strides, even on request: its memory is contiguous.
    const bool run = view.strides == nullptr || itemsize == 0;
    std::vector<std::int64_t> shape, strides;
    if (!run) {
        shape.assign(view.shape, view.shape + view.ndim);
        strides.assign(view.strides, view.strides + view.ndim);
    }
    PyBuffer_Release(&view);
    if (run) return {data, bytes};
    return {data, shape, strides, itemsize};
}

/// Flows that were destroyed in a step of theirs, or on a thread of theirs, because a step had the
/// last reference. They cannot end there. Guarded by the interpreter's lock; never destroyed.
std::vector<std::unique_ptr<Flow>>& given_up() {
    static auto* const flows = new std::vector<std::unique_ptr<Flow>>;
    return *flows;
}

void end_given_up() {
    if (given_up().empty() || letting_go > 0 || Flow::current() != nullptr) return;
    auto flows = std::exchange(given_up(), {});
    const nb::gil_scoped_release released;
    flows.clear();
}

/// Releases the interpreter's lock before it waits for steps that need it.
struct Held {
    explicit Held(const FlowOptions& options) : flow(std::make_unique<Flow>(options)) {}
    ~Held() {
        if (letting_go > 0 || Flow::current() == flow.get()) {
            given_up().push_back(std::move(flow));
            return;
        }
        const nb::gil_scoped_release released;
        flow.reset();
    }
    std::unique_ptr<Flow> flow;
    std::vector<std::unique_ptr<Flow::Inside>> inside;
};

template <class Wait>
std::optional<Thrown> thrown_by(Wait&& wait) {
    const nb::gil_scoped_release released;
    try {
        wait();
        return std::nullopt;
    } catch (const StepError& error) {
        return Thrown{error.where(), error.step(), error.cause()};
    }
}

FlowOptions options_of(std::optional<int> workers, std::int64_t window, const std::string& agent,
                       bool check, bool record, int threads) {
    FlowOptions options;
    options.workers = workers;
    options.window = window;
    if (agent == "thread") options.agent = Agent::thread;
    if (agent == "steps") options.agent = Agent::between_steps;
    options.check = check;
    options.record = record;
    options.threads = threads;
    return options;
}

}  // namespace

void bind_flow(nb::module_& m) {
    using Timeout = std::optional<double>;
    m.def(
        "polled",
        [](nb::object poll, std::string text) -> std::shared_ptr<Operation> {
            return std::make_shared<Polled>(std::move(poll), std::move(text));
        },
        "poll"_a, "text"_a);
    m.def(
        "then",
        [](std::shared_ptr<Operation> first, nb::object then) -> std::shared_ptr<Operation> {
            return std::make_shared<Then>(std::move(first), std::move(then));
        },
        "first"_a, "then"_a);
    m.def("watched", &watched, "handle"_a);

    nb::enum_<Access::Kind>(m, "AccessKind")
        .value("read", Access::Kind::read)
        .value("write", Access::Kind::write)
        .value("update", Access::Kind::update)
        .value("commute", Access::Kind::commute)
        .value("reduce", Access::Kind::reduce);
    nb::class_<Region>(m, "Region")
        .def_static("of", &region_of, "object"_a)
        .def_static(
            "key",
            [](nb::bytes name) {
                return Region::key({name.c_str(), name.size()}, false);
            },
            "name"_a)
        .def("overlaps", &Region::overlaps, "other"_a)
        .def("text", &Region::text)
        .def("size", &Region::size)
        .def("is_key", &Region::is_key)
        .def("__eq__", [](const Region& a, const Region& b) { return a == b; })
        .def("__hash__", &Region::hash);
    nb::class_<Access>(m, "Access")
        .def(
            "__init__",
            [](Access* place, Access::Kind kind, const Region& region) {
                new (place) Access{kind, region, {}};
            },
            "kind"_a, "region"_a)
        .def_static(
            "reduction",
            [](const Region& region, std::string name, nb::object fill, nb::object combine) {
                return reduces(region,
                               reduction_of(std::move(name), std::move(fill), std::move(combine)));
            },
            "region"_a, "name"_a, "fill"_a, "combine"_a);

    nb::class_<Thrown>(m, "Thrown")
        .def_ro("where", &Thrown::where)
        .def_ro("step", &Thrown::step)
        .def("raise_again", [](const Thrown& thrown) { std::rethrow_exception(thrown.cause); });

    nb::class_<Held>(m, "Flow")
        .def(
            "__init__",
            [](Held* place, std::optional<int> workers, std::int64_t window,
               const std::string& agent, bool check, bool record, int threads) {
                end_given_up();
                new (place) Held(options_of(workers, window, agent, check, record, threads));
            },
            "workers"_a.none(), "window"_a, "agent"_a, "check"_a, "record"_a, "threads"_a)
        .def(
            "task",
            [](Held& held, nb::object function, nb::object advance, nb::object hold,
               const std::vector<Access>& accesses, int priority, std::string name, int threads) {
                std::size_t parts = 0;
                for (const Access& access : accesses) parts += access.kind == Access::Kind::reduce;
                flow::Body body;
                if (!advance.is_none())
                    body = flow::Body(
                        AsyncFunction(std::move(function), std::move(advance), std::move(hold)));
                else if (parts == 0)
                    body = flow::Body(Function(std::move(function), std::move(hold)));
                else
                    body = flow::Body(Reducer(std::move(function), std::move(hold), parts));
                const nb::gil_scoped_release released;
                held.flow->insert(std::move(body), accesses, {priority, std::move(name), threads},
                                  false);
            },
            "function"_a, "advance"_a.none(), "hold"_a.none(), "accesses"_a, "priority"_a, "name"_a,
            "threads"_a)
        .def(
            "comm",
            [](Held& held, nb::object function, nb::object advance, nb::object hold,
               const std::vector<Access>& accesses, int priority, std::string name, int threads) {
                flow::Body body =
                    advance.is_none()
                        ? flow::Body(Starter(std::move(function), std::move(hold)))
                        : flow::Body(AsyncFunction(std::move(function), std::move(advance),
                                                   std::move(hold)));
                const nb::gil_scoped_release released;
                held.flow->insert(std::move(body), accesses, {priority, std::move(name), threads},
                                  true);
            },
            "function"_a, "advance"_a.none(), "hold"_a.none(), "accesses"_a, "priority"_a, "name"_a,
            "threads"_a)
        .def(
            "exchange",
            [](Held& held, const Halo& halo, int priority) {
                held.flow->exchange(halo, {priority});
            },
            "halo"_a, "priority"_a, nb::call_guard<nb::gil_scoped_release>())
        .def(
            "refuse",
            [](Held& held, Transfer transfer, std::string kind, std::string message, int priority) {
                const Access whole[] = {updates(Region(transfer.identity(), 1))};
                held.flow->comm(
                    [transfer, kind, message]() mutable { transfer.refuse(kind, message); }, whole,
                    {priority, "transfer"});
            },
            "transfer"_a, "kind"_a, "message"_a, "priority"_a,
            nb::call_guard<nb::gil_scoped_release>())
        .def(
            "transfer",
            [](Held& held, const Transfer& transfer, const Array& source, const Array& destination,
               int priority) { held.flow->transfer(transfer, source, destination, {priority}); },
            "transfer"_a, "source"_a, "destination"_a, "priority"_a,
            nb::call_guard<nb::gil_scoped_release>())
        .def(
            "wait",
            [](Held& held, Timeout timeout) {
                return thrown_by([&] { held.flow->wait(Deadline::in(timeout)); });
            },
            "timeout"_a.none())
        .def(
            "wait_on",
            [](Held& held, const Region& region, Timeout timeout) {
                return thrown_by([&] { held.flow->wait_on(region, Deadline::in(timeout)); });
            },
            "region"_a, "timeout"_a.none())
        .def(
            "close", [](Held& held) { held.flow->close(); },
            nb::call_guard<nb::gil_scoped_release>())
        .def("cancel", [](Held& held) { held.flow->cancel(); })
        .def(
            "give_way", [](Held& held) { held.flow->give_way(); },
            nb::call_guard<nb::gil_scoped_release>())
        .def("enter",
             [](Held& held) { held.inside.push_back(std::make_unique<Flow::Inside>(*held.flow)); })
        .def("leave",
             [](Held& held) {
                 if (held.inside.empty())
                     throw Error("a flow's __exit__ without its __enter__; write `with flow:`");
                 held.inside.pop_back();
             })
        .def("address",
             [](const Held& held) { return reinterpret_cast<std::uintptr_t>(held.flow.get()); })
        .def_prop_ro("workers", [](const Held& held) { return held.flow->workers(); })
        .def_prop_ro("agent_thread", [](const Held& held) { return held.flow->agent_thread(); })
        .def_prop_ro("steps", [](const Held& held) { return held.flow->steps(); })
        .def("dot", [](const Held& held) { return held.flow->dot(); })
        .def("svg", [](const Held& held) { return held.flow->svg(); });
    m.def("end_given_up", &end_given_up);
    m.def("current_flow", [] { return reinterpret_cast<std::uintptr_t>(Flow::current()); });
}

}  // namespace hocket::python
