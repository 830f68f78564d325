// SPDX-License-Identifier: BSD-3-Clause
// The extension module hocket._mpi, which communicates. Arrays come as addresses and strides, so
// that hocket uses NumPy's memory without a copy; communicators come as mpi4py's handles.
#include <dlfcn.h>
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "hocket/log.hpp"
#include "hocket/memory.hpp"
#include "hocket/remap.hpp"
#include "hocket/transfer.hpp"
#include "mpi_binding.hpp"
#include "raised.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace hocket::python {
namespace {

// Checks for Ctrl-C in a wait that runs without the interpreter's lock.
void check_signals() {
    const nb::gil_scoped_acquire locked;
    if (PyErr_CheckSignals() != 0) throw Raised(nb::python_error());
}

void raise_again(const std::exception_ptr& pending, void* /*unused*/) {
    try {
        std::rethrow_exception(pending);
    } catch (const Raised& error) {
        error.raise();
    }
}

// Whether this thread has the interpreter's lock. The stable ABI lacks that call, but every CPython
// exports it.
bool has_lock() {
#ifdef Py_LIMITED_API
    static const auto check = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "PyGILState_Check"));
    return check != nullptr && check() != 0;
#else
    return PyGILState_Check() != 0;
#endif
}

// A wait releases Python's lock, because the awaited thread may poll in Python.
void* let_go_of_lock() {
    if (Py_IsInitialized() == 0 || !has_lock()) return nullptr;
    return PyEval_SaveThread();
}
void take_back_lock(void* held) {
    PyEval_RestoreThread(static_cast<PyThreadState*>(held));
}

// Processes that wait for a collective call can see this process from now on. A program may start
// MPI after it imports this module.
void meet_the_others() {
    try {
        static_cast<void>(Comm::world());
    } catch (const Error&) {
        return;
    }
}

// Logs to Python's logging. A handler deals with its own errors.
void log_to_python(LogLevel level, const char* text) {
    if (Py_IsInitialized() == 0) return;
    const nb::gil_scoped_acquire locked;
    try {
        nb::module_::import_("hocket.logs")
            .attr("logger")
            .attr("log")(static_cast<int>(level), "%s", text);
    } catch (nb::python_error& error) {
        error.discard_as_unraisable("hocket's log");
    }
}

std::shared_ptr<const void> kept(nb::object owner) {
    PyObject* object = owner.release().ptr();
    return {object, [](const void* held) {
                if (Py_IsInitialized() == 0) return;
                const nb::gil_scoped_acquire locked;
                Py_DECREF(static_cast<PyObject*>(const_cast<void*>(held)));
            }};
}

Array wrap(std::uintptr_t address, const Layout& layout, const std::string& dtype,
           std::int64_t itemsize, std::uintptr_t comm, const Shape& strides, nb::object owner,
           bool writable, std::int64_t room) {
    return Array::wrap(reinterpret_cast<void*>(address), layout, {dtype, itemsize}, comm_of(comm),
                       strides, kept(std::move(owner)), writable, room);
}

MemoryView allocate(std::int64_t bytes) {
    auto memory = hocket::allocate(bytes);
    void* const data = memory.get();
    return memory_view(data, bytes, std::move(memory));
}

nb::tuple empty(const Layout& layout, const std::string& dtype, std::int64_t itemsize,
                std::uintptr_t comm, std::int64_t room) {
    Array array = [&] {
        const nb::gil_scoped_release released;  // new memory of large arrays is taken there
        return Array::empty(layout, {dtype, itemsize}, comm_of(comm), room);
    }();
    MemoryView bytes = memory_view(array.data(), array.room(), array.keep());
    return nb::make_tuple(std::move(array), std::move(bytes));
}

RedistributeOptions options_of(std::optional<double> timeout, std::vector<std::int64_t> axes,
                               const std::string& strategy) {
    RedistributeOptions options;
    options.axes = std::move(axes);
    options.strategy = strategy;
    options.deadline = Deadline::in(timeout);
    return options;
}

}  // namespace

MemoryView memory_view(void* data, std::int64_t size, std::shared_ptr<const void> keep) {
    auto held = std::make_unique<std::shared_ptr<const void>>(std::move(keep));
    const nb::capsule owner(held.release(), [](void* each) noexcept {
        delete static_cast<std::shared_ptr<const void>*>(each);
    });
    return {data, {static_cast<std::size_t>(size)}, owner};
}

nb::dict dict_of(const Profile& profile) {
    nb::dict out;
    out["inquiry"] = profile.inquiry;
    out["call"] = profile.call;
    out["descriptor"] = profile.descriptor;
    out["schedule"] = profile.schedule;
    out["pack"] = profile.pack;
    out["move"] = profile.move;
    return out;
}

}  // namespace hocket::python

NB_MODULE(_mpi, m) {
    using namespace hocket;
    using namespace hocket::python;
    const nb::call_guard<nb::gil_scoped_release> unlocked;

    // _pure has Layout's Python type, and the conversion of errors to Python's.
    nb::module_::import_("hocket._pure");
    nb::register_exception_translator(raise_again);
    set_interrupt_check(check_signals);
    Binding::set_interpreter_lock(let_go_of_lock, take_back_lock);
    // MPI first: MPICH installs a handler of the signal, too, and drops earlier handlers.
    nb::module_::import_("mpi4py.MPI");
    report_on_signal();
    python::meet_the_others();

    m.def(
        "set_log",
        [](int from) { set_log(from < 0 ? nullptr : log_to_python, static_cast<LogLevel>(from)); },
        "from_"_a);
    m.def("allocate", &python::allocate, "bytes"_a,
          "Uninitialised memory of hocket's own, as bytes that NumPy can view.");

    nb::class_<Deadline>(m, "Deadline", "When waits give up.")
        .def(nb::init<>())
        .def_static("after", &Deadline::in, "timeout"_a)
        .def("sooner", &Deadline::sooner, "other"_a);
    m.def("set_deadline", &Binding::set_deadline, "deadline"_a,
          "Sets that of this thread's calls without a timeout; returns the one before.");

    m.def(
        "rank_and_size",
        [](std::uintptr_t handle) {
            const Comm comm = comm_of(handle);
            return std::pair(comm.rank(), comm.size());
        },
        "comm"_a, "This process's rank, and how many there are.");

    nb::class_<Array>(m, "Local", "An array's memory, layout and communicator, ready to move.")
        .def_static("wrap", &wrap, "address"_a, "layout"_a, "dtype"_a, "itemsize"_a, "comm"_a,
                    "strides"_a, "owner"_a, "writable"_a, "room"_a)
        .def_static("empty", &empty, "layout"_a, "dtype"_a, "itemsize"_a, "comm"_a, "room"_a,
                    "An array in uninitialised memory, and that memory with its room, as bytes.")
        .def("layout", &Array::layout)
        .def("room", &Array::room)
        .def("writable", &Array::writable);

    m.def(
        "redistribute",
        [](const Array& source, const Array& destination, std::vector<std::int64_t> axes,
           const std::string& strategy, std::optional<double> timeout,
           std::optional<std::int64_t> max_buffer) {
            auto options = options_of(timeout, std::move(axes), strategy);
            options.max_buffer = max_buffer;
            redistribute(source, destination, options);
        },
        "source"_a, "destination"_a, "axes"_a, "strategy"_a, "timeout"_a.none(),
        "max_buffer"_a.none(), unlocked);
    m.def(
        "scatter",
        [](std::uintptr_t whole, const Array& destination, int root, nb::object owner,
           std::optional<double> timeout) {
            auto keep = kept(std::move(owner));
            const auto options = options_of(timeout, {}, "auto");
            const nb::gil_scoped_release released;
            scatter(reinterpret_cast<const void*>(whole), destination, root, options, keep);
        },
        "whole"_a, "destination"_a, "root"_a, "owner"_a.none(), "timeout"_a.none());
    m.def(
        "gather",
        [](const Array& source, std::uintptr_t whole, int root, nb::object owner,
           std::optional<double> timeout) {
            auto keep = kept(std::move(owner));
            const auto options = options_of(timeout, {}, "auto");
            const nb::gil_scoped_release released;
            gather(source, reinterpret_cast<void*>(whole), root, options, keep);
        },
        "source"_a, "whole"_a, "root"_a, "owner"_a.none(), "timeout"_a.none());
    m.def(
        "refuse",
        [](std::uintptr_t comm, const std::string& kind, const std::string& message,
           std::optional<double> timeout) {
            Binding::refuse(comm_of(comm), kind, message, Deadline::in(timeout));
        },
        "comm"_a, "kind"_a, "message"_a, "timeout"_a.none(), unlocked);
    m.def(
        "tell",
        [](std::uintptr_t comm, const std::string& text, int root, std::optional<double> timeout) {
            return tell(comm_of(comm), text, root, Deadline::in(timeout));
        },
        "comm"_a, "text"_a, "root"_a, "timeout"_a.none(), unlocked);

    m.def(
        "layout_of_box",
        [](std::uintptr_t comm, const Shape& start, const Shape& stop, const Shape& shape,
           std::optional<double> timeout) {
            return layout_from_local(comm_of(comm), IndexBox{start, stop}, shape,
                                     Deadline::in(timeout));
        },
        "comm"_a, "start"_a, "stop"_a, "shape"_a, "timeout"_a.none(), unlocked);
    m.def(
        "layout_of_elements",
        [](std::uintptr_t comm, const std::vector<std::int64_t>& elements, const Shape& shape,
           std::optional<double> timeout) {
            return layout_from_local(comm_of(comm), elements, shape, Deadline::in(timeout));
        },
        "comm"_a, "elements"_a, "shape"_a, "timeout"_a.none(), unlocked);
    m.def(
        "remap_layout",
        [](const Layout& layout, const std::vector<std::int64_t>& axes) {
            return remap_layout(layout, axes);
        },
        "layout"_a, "axes"_a);
    m.def(
        "remap_room",
        [](const Layout& layout, const std::vector<std::int64_t>& axes, std::int64_t rank) {
            return remap_room(layout, axes, rank);
        },
        "layout"_a, "axes"_a, "rank"_a);
    m.def(
        "remap_inplace",
        [](const Array& array, const std::vector<std::int64_t>& axes, int threads,
           std::optional<double> timeout) {
            RemapOptions options;
            options.threads = threads;
            options.deadline = Deadline::in(timeout);
            return remap_inplace(array, axes, options);
        },
        "array"_a, "axes"_a, "threads"_a, "timeout"_a.none(), unlocked);

    m.def("pending_waits", &pending_waits);
    m.def("mpi_library", &library);
    m.def("mpi_built_with", &built_with);
    m.def("plan_cache_counts", [] {
        const auto counts = plan_cache_counts();
        return std::make_tuple(counts.found, counts.made, counts.kept);
    });
    m.def("descriptor_counts", [] {
        const auto counts = descriptor_counts();
        return std::make_tuple(counts.sent, counts.received, counts.bytes_sent);
    });
    m.def("transfer_counts", [] {
        const auto counts = transfer_counts();
        return std::make_tuple(counts.sent, counts.received);
    });
    m.def("memory_usage", [] {
        const auto usage = memory_usage();
        nb::dict out;
        out["in_use"] = usage.in_use;
        out["kept"] = usage.kept;
        out["keep_at_most"] = usage.keep_at_most;
        out["shareable"] = usage.shareable;
        return out;
    });
    bind_tasks(m);
    bind_team(m);
    bind_transfer(m);
    bind_halo(m);
    bind_flow(m);
    bind_array(m);
    bind_store(m);
    bind_port(m);
}
