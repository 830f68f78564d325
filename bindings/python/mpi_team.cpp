// SPDX-License-Identifier: BSD-3-Clause
// Teams: values come as bytes, with the number of their type; masks as words.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstring>

#include "hocket/team.hpp"
#include "mpi_binding.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace hocket::python {
namespace {

using team::Op;
using team::Type;
using Timeout = std::optional<double>;
using Words = std::vector<std::uint64_t>;

TeamOptions options_of(int narrow, const Timeout& timeout, bool barrier = true) {
    TeamOptions options;
    options.barrier = barrier;
    options.narrow = narrow;
    options.deadline = Deadline::in(timeout);
    return options;
}

team::Call call_of(Op op, int type, const nb::bytes& value, int process) {
    team::Call call{op, static_cast<Type>(type), 0, process};
    std::memcpy(&call.bits, value.c_str(), std::min<std::size_t>(value.size(), sizeof call.bits));
    return call;
}

// The number, as Python's own type. Floating-point numbers are returned as bytes, because Python's
// type would change the bits of some NaN.
nb::object number_of(Type type, std::uint64_t bits) {
    switch (type) {
        case Type::boolean:
            return nb::cast(team::value_of<bool>(bits));
        case Type::int8:
            return nb::int_(team::value_of<std::int8_t>(bits));
        case Type::int16:
            return nb::int_(team::value_of<std::int16_t>(bits));
        case Type::int32:
            return nb::int_(team::value_of<std::int32_t>(bits));
        case Type::int64:
            return nb::int_(team::value_of<std::int64_t>(bits));
        case Type::float32:
            return nb::bytes(&bits, 4);
        case Type::float64:
            return nb::bytes(&bits, 8);
        default:
            return nb::int_(bits);
    }
}

// Counts do not have the caller's type.
bool counts(Op op) {
    return op == Op::rank || op == Op::vote_count || op == Op::match_count;
}

nb::object result_of(const team::Call& call, std::uint64_t bits) {
    return number_of(counts(call.op) ? Type::uint64 : call.type, bits);
}

// The memory of the caller's array, which has an entry for each process.
class Writable {
  public:
    explicit Writable(const nb::handle& array) {
        if (PyObject_GetBuffer(array.ptr(), &view_, PyBUF_WRITABLE) != 0) throw nb::python_error();
    }
    ~Writable() { PyBuffer_Release(&view_); }
    Writable(const Writable&) = delete;
    Writable& operator=(const Writable&) = delete;
    void* data() const { return view_.buf; }

  private:
    Py_buffer view_;
};

// A started operation, and the conversion of its result.
struct Started {
    TeamResult result;
    team::Call call;
    std::shared_ptr<Operation> operation = result.operation();
};

}  // namespace

void bind_team(nb::module_& m) {
    const nb::call_guard<nb::gil_scoped_release> unlocked;

    nb::enum_<Op>(m, "TeamOp")
        .value("wait", Op::wait)
        .value("waitvec", Op::waitvec)
        .value("any", Op::any)
        .value("all", Op::all)
        .value("putget", Op::putget)
        .value("gather", Op::gather)
        .value("bcast", Op::bcast)
        .value("reduce_add", Op::reduce_add)
        .value("reduce_mul", Op::reduce_mul)
        .value("reduce_min", Op::reduce_min)
        .value("reduce_max", Op::reduce_max)
        .value("reduce_and", Op::reduce_and)
        .value("reduce_or", Op::reduce_or)
        .value("scan_add", Op::scan_add)
        .value("scan_mul", Op::scan_mul)
        .value("scan_min", Op::scan_min)
        .value("scan_max", Op::scan_max)
        .value("scan_and", Op::scan_and)
        .value("scan_or", Op::scan_or)
        .value("rank", Op::rank)
        .value("vote_count", Op::vote_count)
        .value("vote", Op::vote)
        .value("match_count", Op::match_count)
        .value("match", Op::match)
        .value("reduce", Op::reduce)
        .value("start", Op::start);

    nb::class_<Started>(m, "TeamStarted")
        .def(
            "wait",
            [](Started& started, Timeout timeout) {
                const nb::gil_scoped_release released;
                hocket::wait(*started.operation, Deadline::in(timeout));
            },
            "timeout"_a.none())
        .def("operation", [](const Started& started) { return started.operation; })
        .def("test",
             [](const Started& started) {
                 const nb::gil_scoped_release released;
                 return started.result.test();
             })
        .def("value",
             [](const Started& started) { return result_of(started.call, started.result.bits()); });

    nb::class_<Team>(m, "Team")
        .def(
            "__init__",
            [](Team* place, std::uintptr_t comm, Timeout timeout) {
                const nb::gil_scoped_release released;
                new (place) Team(comm_of(comm), Deadline::in(timeout));
            },
            "comm"_a, "timeout"_a.none())
        .def("enqueue",
             [](const Team& team, const Words& mask) { return team.enqueue(Mask(mask)); })
        .def_prop_ro("process", &Team::process)
        .def_prop_ro("size", &Team::size)
        .def_prop_ro("mask", [](const Team& team) { return team.mask().words(); })
        .def_prop_ro("processes", [](const Team& team) { return team.mask().processes(); })
        .def_prop_ro("shares_memory", &Team::shares_memory)
        .def("population", &Team::population)
        .def("enumerate", &Team::enumerate)
        .def("select_first", &Team::select_first)
        .def("select_one", &Team::select_one)
        .def(
            "run",
            [](const Team& team, Op op, int type, const nb::bytes& value, int process, int narrow,
               const Timeout& timeout, bool barrier) {
                const team::Call call = call_of(op, type, value, process);
                std::uint64_t bits = 0;
                {
                    const nb::gil_scoped_release released;
                    bits = Binding::run(team, call, options_of(narrow, timeout, barrier));
                }
                return result_of(call, bits);
            },
            "op"_a, "type"_a, "value"_a, "process"_a, "narrow"_a, "timeout"_a.none(),
            "barrier"_a = true)
        .def(
            "run_mask",
            [](const Team& team, Op op, int type, const nb::bytes& value, int process, int narrow,
               const Timeout& timeout) {
                const team::Call call = call_of(op, type, value, process);
                const nb::gil_scoped_release released;
                return Binding::run_mask(team, call, options_of(narrow, timeout)).words();
            },
            "op"_a, "type"_a, "value"_a, "process"_a, "narrow"_a, "timeout"_a.none())
        .def(
            "run_gather",
            [](const Team& team, int type, const nb::bytes& value, const nb::handle& values,
               int narrow, const Timeout& timeout) {
                const team::Call call = call_of(Op::gather, type, value, 0);
                const Writable memory(values);
                const nb::gil_scoped_release released;
                Binding::run_gather(team, call.type, call.bits, memory.data(),
                                    static_cast<std::size_t>(team.size()),
                                    options_of(narrow, timeout));
            },
            "type"_a, "value"_a, "values"_a, "narrow"_a, "timeout"_a.none())
        .def(
            "gather_bytes",
            [](const Team& team, const nb::bytes& value, const Timeout& timeout) {
                const std::string mine(value.c_str(), value.size());
                std::string all(mine.size() * static_cast<std::size_t>(team.population()), '\0');
                {
                    const nb::gil_scoped_release released;
                    team.gather_bytes(mine.data(), mine.size(), all.data(), options_of(0, timeout));
                }
                return nb::bytes(all.data(), all.size());
            },
            "value"_a, "timeout"_a.none())
        .def(
            "start",
            [](const Team& team, Op op, int type, const nb::bytes& value, int process, int narrow) {
                const team::Call call = call_of(op, type, value, process);
                return Started{team.start(call, options_of(narrow, {})), call};
            })
        .def("exit", &Team::exit, "code"_a, unlocked)
        .def("error", &Team::error, "message"_a, unlocked)
        .def(
            "refuse",
            [](const Team& team, team::Op op, const std::string& message, bool barrier) {
                Binding::refuse(team, op, message, barrier);
            },
            "op"_a, "message"_a, "barrier"_a = true, unlocked);
}

}  // namespace hocket::python
