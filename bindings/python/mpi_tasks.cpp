// SPDX-License-Identifier: BSD-3-Clause
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include "hocket/task.hpp"
#include "mpi_binding.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace hocket::python {

namespace {

// `What`: an Array, or a Layout for any of its arrays.
template <bool sending, class What>
Request init(Tasks& tasks, const What& what, const TaskId& other, int tag,
             std::optional<std::int64_t> count, const std::string& strategy, std::int64_t stages) {
    const InitOptions options{tag, count, strategy, stages};
    return sending ? tasks.send_init(what, other, options) : tasks.recv_init(what, other, options);
}

MessageOptions with(MessageOptions options, int tag, std::optional<double> timeout = {}) {
    options.tag = tag;
    options.deadline = Deadline::in(timeout);
    return options;
}

}  // namespace

void bind_tasks(nb::module_& m) {
    const nb::call_guard<nb::gil_scoped_release> unlocked;
    using Processes = std::variant<std::int64_t, std::vector<int>>;
    using Timeout = std::optional<double>;
    using Arrays = std::vector<Array>;

    nb::class_<Operation>(m, "Operation")
        .def("text", &Operation::text)
        .def(
            "test", [](Operation& operation) { return poll(operation); },
            nb::call_guard<nb::gil_scoped_release>())
        .def(
            "wait",
            [](Operation& operation, Timeout timeout) {
                const Deadline deadline = Deadline::in(timeout);
                if (!poll(operation)) wait(operation, deadline);  // if this thread may communicate
            },
            "timeout"_a.none(), nb::call_guard<nb::gil_scoped_release>());

    nb::class_<Status>(m, "Status")
        .def_ro("source", &Status::source)
        .def_ro("source_name", &Status::source_name)
        .def_ro("tag", &Status::tag)
        .def_ro("layout", &Status::layout)
        .def_prop_ro("dtype", [](const Status& status) { return status.dtype.name; })
        .def_prop_ro("further", [](const Status& status) {
            std::vector<std::pair<Layout, std::string>> out;
            for (const auto& [layout, dtype] : status.further) out.emplace_back(layout, dtype.name);
            return out;
        });

    nb::class_<MessageOptions>(m, "MessageOptions")
        .def(
            "__init__",
            [](MessageOptions* self, std::string strategy, std::int64_t stages, std::int64_t pieces,
               bool later) {
                new (self) MessageOptions{{}, {}, std::move(strategy), stages, pieces, later};
            },
            "strategy"_a = "auto", "stages"_a = 0, "pieces"_a = 0, "later"_a = false);

    nb::class_<Request>(m, "Request")
        .def(
            "wait",
            [](Request& request, Timeout timeout) { return request.wait(Deadline::in(timeout)); },
            "timeout"_a.none(), unlocked)
        .def("test", &Request::test, unlocked)
        .def("status", &Request::status)
        .def(
            "pieces",
            [](Request& request, Timeout timeout) { return request.pieces(Deadline::in(timeout)); },
            "timeout"_a.none(), unlocked)
        .def(
            "wait_piece",
            [](Request& request, std::int64_t piece, Timeout timeout) {
                const ArrayPiece found = request.wait_piece(piece, Deadline::in(timeout));
                return std::tuple(found.dimension, found.first, found.last);
            },
            "piece"_a, "timeout"_a.none(), unlocked)
        .def("start", nb::overload_cast<>(&Request::start), unlocked)
        .def("start", nb::overload_cast<const Array&>(&Request::start), "array"_a, unlocked)
        .def("free", &Request::free, unlocked)
        .def("operation", &Request::operation)
        .def_prop_ro("persistent", &Request::persistent);

    nb::class_<Channel>(m, "Channel")
        .def(
            "send",
            [](Channel& channel, const Array& array, Timeout timeout) {
                channel.send(array, Deadline::in(timeout));
            },
            "array"_a, "timeout"_a.none(), unlocked)
        .def(
            "recv",
            [](Channel& channel, const Array& array, Timeout timeout) {
                return channel.recv(array, Deadline::in(timeout));
            },
            "array"_a, "timeout"_a.none(), unlocked)
        .def(
            "close",
            [](Channel& channel, Timeout timeout) { channel.close(Deadline::in(timeout)); },
            "timeout"_a.none(), unlocked)
        .def(
            "refuse",
            [](Channel& channel, bool sending, const std::string& kind, const std::string& message,
               Timeout timeout) {
                Binding::refuse(channel, sending, kind, message, Deadline::in(timeout));
            },
            "sending"_a, "kind"_a, "message"_a, "timeout"_a.none(), unlocked)
        .def("sent", &Channel::sent)
        .def("received", &Channel::received)
        .def_prop_ro("name", &Channel::name);
    m.def(
        "wait_any",
        [](std::vector<Request> requests, Timeout timeout) {
            return wait_any(requests, Deadline::in(timeout));
        },
        "requests"_a, "timeout"_a.none(), unlocked);

    nb::class_<Tasks>(m, "Tasks")
        .def_static(
            "make",
            [](const std::vector<std::string>& names, const std::vector<Processes>& processes,
               std::uintptr_t comm) {
                std::vector<TaskRequest> requests;
                for (std::size_t i = 0; i < names.size(); ++i)
                    requests.push_back({names[i], processes[i]});
                return Tasks(requests, comm_of(comm));
            },
            "names"_a, "processes"_a, "comm"_a, unlocked)
        .def_static(
            "from_launcher",
            [](std::uintptr_t comm) { return Tasks::from_launcher(comm_of(comm)); }, "comm"_a,
            unlocked)
        .def_prop_ro("name", &Tasks::name)
        .def_prop_ro("rank", &Tasks::rank)
        .def_prop_ro("size", &Tasks::size)
        .def_prop_ro("names", &Tasks::names)
        .def_prop_ro("comm", [](const Tasks& tasks) { return handle_of(tasks.comm()); })
        .def("task", &Tasks::task, "id"_a)
        .def(
            "send",
            [](Tasks& tasks, const Arrays& arrays, const TaskId& destination, int tag,
               Timeout timeout, const MessageOptions& options) {
                tasks.send(arrays, destination, with(options, tag, timeout));
            },
            "arrays"_a, "destination"_a, "tag"_a, "timeout"_a.none(), "options"_a, unlocked)
        .def(
            "recv",
            [](Tasks& tasks, const Arrays& arrays, const TaskId& source, int tag, Timeout timeout,
               const MessageOptions& options) {
                return tasks.recv(arrays, source, with(options, tag, timeout));
            },
            "arrays"_a, "source"_a, "tag"_a, "timeout"_a.none(), "options"_a, unlocked)
        .def(
            "isend",
            [](Tasks& tasks, const Arrays& arrays, const TaskId& destination, int tag,
               const MessageOptions& options) {
                return tasks.isend(arrays, destination, with(options, tag));
            },
            "arrays"_a, "destination"_a, "tag"_a, "options"_a, unlocked)
        .def(
            "irecv",
            [](Tasks& tasks, const Arrays& arrays, const TaskId& source, int tag,
               const MessageOptions& options) {
                return tasks.irecv(arrays, source, with(options, tag));
            },
            "arrays"_a, "source"_a, "tag"_a, "options"_a, unlocked)
        .def("send_init", &init<true, Array>, "array"_a, "destination"_a, "tag"_a, "count"_a.none(),
             "strategy"_a, "stages"_a, unlocked)
        .def("send_init", &init<true, Layout>, "layout"_a, "destination"_a, "tag"_a,
             "count"_a.none(), "strategy"_a, "stages"_a, unlocked)
        .def("recv_init", &init<false, Array>, "array"_a, "source"_a, "tag"_a, "count"_a.none(),
             "strategy"_a, "stages"_a, unlocked)
        .def("recv_init", &init<false, Layout>, "layout"_a, "source"_a, "tag"_a, "count"_a.none(),
             "strategy"_a, "stages"_a, unlocked)
        .def(
            "channel",
            [](const Tasks& tasks, const std::string& name, const TaskId& other, std::int64_t keep,
               const std::string& backpressure) {
                return tasks.channel(name, other, {keep, {}, backpressure});
            },
            "name"_a, "other"_a, "keep"_a, "backpressure"_a)
        .def(
            "sendrecv",
            [](Tasks& tasks, const Arrays& sent, const TaskId& destination, const Arrays& received,
               const TaskId& source, int send_tag, int receive_tag, Timeout timeout) {
                return tasks.sendrecv(sent, destination, received, source,
                                      {send_tag, receive_tag, Deadline::in(timeout)});
            },
            "sent"_a, "destination"_a, "received"_a, "source"_a, "send_tag"_a, "receive_tag"_a,
            "timeout"_a.none(), unlocked)
        .def(
            "probe",
            [](Tasks& tasks, const TaskId& source, int tag, Timeout timeout) {
                return tasks.probe(source, tag, Deadline::in(timeout));
            },
            "source"_a, "tag"_a, "timeout"_a.none(), unlocked)
        .def(
            "iprobe",
            [](Tasks& tasks, const TaskId& source, int tag, Timeout timeout) {
                return tasks.iprobe(source, tag, Deadline::in(timeout));
            },
            "source"_a, "tag"_a, "timeout"_a.none(), unlocked)
        .def(
            "refuse",
            [](Tasks& tasks, const std::string& verb, const std::string& kind,
               const std::string& message, Timeout timeout) {
                Binding::refuse(tasks, verb, kind, message, Deadline::in(timeout));
            },
            "verb"_a, "kind"_a, "message"_a, "timeout"_a.none(), unlocked)
        .def(
            "refuse_init",
            [](Tasks& tasks, bool sending, const TaskId& other, int tag, const std::string& kind,
               const std::string& message) {
                Binding::refuse_init(tasks, sending, other, tag, kind, message);
            },
            "sending"_a, "other"_a, "tag"_a, "kind"_a, "message"_a, unlocked)
        .def(
            "bcast",
            [](Tasks& tasks, const Array& array, const TaskId& root, Timeout timeout) {
                tasks.bcast(array, root, Deadline::in(timeout));
            },
            "array"_a, "root"_a, "timeout"_a.none(), unlocked)
        .def(
            "reduce",
            [](Tasks& tasks, const Array& array, const std::optional<Array>& result,
               const std::string& op, const TaskId& root, Timeout timeout) {
                tasks.reduce(array, result ? &*result : nullptr, op, root, Deadline::in(timeout));
            },
            "array"_a, "result"_a.none(), "op"_a, "root"_a, "timeout"_a.none(), unlocked)
        .def(
            "allreduce",
            [](Tasks& tasks, const Array& array, const Array& result, const std::string& op,
               Timeout timeout) { tasks.allreduce(array, result, op, Deadline::in(timeout)); },
            "array"_a, "result"_a, "op"_a, "timeout"_a.none(), unlocked)
        .def(
            "gather",
            [](Tasks& tasks, const Array& array, const Arrays& results, const TaskId& root,
               Timeout timeout) { tasks.gather(array, results, root, Deadline::in(timeout)); },
            "array"_a, "results"_a, "root"_a, "timeout"_a.none(), unlocked)
        .def(
            "barrier", [](Tasks& tasks, Timeout timeout) { tasks.barrier(Deadline::in(timeout)); },
            "timeout"_a.none(), unlocked)
        .def("profile", [](const Tasks& tasks) { return dict_of(tasks.profile()); })
        .def("add_call_seconds", [](Tasks& tasks, double seconds) {
            Profile more;
            more.call = seconds;
            Binding::add_to_profile(tasks, more);
        });
}

}  // namespace hocket::python
