// SPDX-License-Identifier: BSD-3-Clause
// Python functions as bodies of steps. They run, and release their objects, under the interpreter's
// lock.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "hocket/flow.hpp"
#include "mpi_operations.hpp"
#include "raised.hpp"

namespace hocket::python {

namespace nb = nanobind;

/// Calls a step's function. An exception that is no Exception (Ctrl-C, sys.exit) is for the
/// program: no further step of the flow begins.
template <class... Arguments>
nb::object call_step(const Kept& function, Arguments&&... arguments) {
    try {
        return function.get()(std::forward<Arguments>(arguments)...);
    } catch (nb::python_error& error) {
        Flow* const flow = Flow::current();
        if (flow != nullptr && !error.matches(PyExc_Exception)) flow->cancel();
        throw Raised(std::move(error));
    }
}

/// A Python function as the body of a step. The end of the step releases `hold`.
class Function {
  public:
    Function(nb::object function, nb::object hold)
        : function_(std::move(function)), hold_(std::move(hold)) {}
    void operator()() {
        const nb::gil_scoped_acquire locked;
        static const nb::handle coroutine_type =
            nb::object(nb::module_::import_("types").attr("CoroutineType")).release();
        const nb::object result = call_step(function_);
        if (!result.type().is(coroutine_type)) return;
        result.attr("close")();
        throw Error(
            "it gave a coroutine that has not run; give the async function itself, as "
            "functools.partial(exchange, a)");
    }

  private:
    Kept function_, hold_;
};

/// The exception of a step, to be raised again in Python.
struct Thrown {
    std::string where, step;
    std::exception_ptr cause;
};

/// A coroutine of Python. `advance` of hocket/coroutines.py runs it from one await to the next.
/// Its first part makes it, because Python warns of a coroutine that a cancelled flow never runs.
class SuspendedCoroutine final : public flow::Suspended {
  public:
    SuspendedCoroutine(nb::object function, nb::object advance)
        : function_(std::move(function)), advance_(std::move(advance)) {}

    bool ready() override { return awaited_.over(); }
    bool resume() override {
        const nb::gil_scoped_acquire locked;
        nb::object thrown = nb::none();
        if (const auto error = awaited_.take_error()) thrown = nb::cast(Thrown{"", "", error});
        if (!coroutine_) coroutine_.emplace(call_step(function_));
        const nb::object awaited = call_step(advance_, coroutine_->get(), thrown);
        if (awaited.is_none()) return true;
        return called([&] {
            for (nb::handle each : awaited)
                awaited_.operations.push_back(nb::cast<std::shared_ptr<Operation>>(each));
            return false;
        });
    }
    std::string text() const override { return awaited_.text(); }

  private:
    bool leave_awaited() override { return awaited_.leave(); }

    Kept function_, advance_;
    std::optional<Kept> coroutine_;
    coroutine::Awaited awaited_;
};

/// An `async def` function as the body of a step.
class AsyncFunction {
  public:
    AsyncFunction(nb::object function, nb::object advance, nb::object hold)
        : function_(std::move(function)), advance_(std::move(advance)), hold_(std::move(hold)) {}
    std::shared_ptr<flow::Suspended> operator()() {
        const nb::gil_scoped_acquire locked;
        return std::make_shared<SuspendedCoroutine>(nb::borrow(function_.get()),
                                                    nb::borrow(advance_.get()));
    }

  private:
    Kept function_, advance_, hold_;
};

/// A function that starts operations and returns a list of them.
class Starter {
  public:
    Starter(nb::object function, nb::object hold)
        : function_(std::move(function)), hold_(std::move(hold)) {}
    flow::Operations operator()() {
        const nb::gil_scoped_acquire locked;
        const nb::object given = call_step(function_);
        return called([&] {
            flow::Operations started;
            for (nb::handle each : given)
                started.push_back(nb::cast<std::shared_ptr<Operation>>(each));
            return started;
        });
    }

  private:
    Kept function_, hold_;
};

/// A function with reductions: it gets the addresses of its private buffers.
class Reducer {
  public:
    Reducer(nb::object function, nb::object hold, std::size_t parts)
        : function_(std::move(function)), hold_(std::move(hold)), parts_(parts) {}
    void operator()(flow::Here& here) {
        const nb::gil_scoped_acquire locked;
        nb::list addresses;
        for (std::size_t i = 0; i < parts_; ++i)
            addresses.append(reinterpret_cast<std::uintptr_t>(here.part(i)));
        call_step(function_, addresses);
    }

  private:
    Kept function_, hold_;
    std::size_t parts_;
};

inline std::shared_ptr<const Reduction> reduction_of(std::string name, nb::object fill,
                                                     nb::object combine) {
    auto filling = std::make_shared<Kept>(std::move(fill));
    auto combining = std::make_shared<Kept>(std::move(combine));
    return std::make_shared<const Reduction>(
        Reduction{std::move(name),
                  [filling](void* part, std::int64_t /*bytes*/) {
                      const nb::gil_scoped_acquire locked;
                      called([&] { filling->get()(reinterpret_cast<std::uintptr_t>(part)); });
                  },
                  [combining](const Region& /*into: Python has it*/, const void* part) {
                      const nb::gil_scoped_acquire locked;
                      called([&] { combining->get()(reinterpret_cast<std::uintptr_t>(part)); });
                  }});
}

}  // namespace hocket::python
