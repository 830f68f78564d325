// SPDX-License-Identifier: BSD-3-Clause
// Python objects that steps of flows keep alive, and operations from Python for a flow.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <string>
#include <utility>

#include "hocket/operation.hpp"
#include "raised.hpp"

namespace hocket::python {

namespace nb = nanobind;

/// For this thread: the number of steps and operations being released; their release may end a
/// flow.
inline thread_local int letting_go = 0;

/// A Python object that any thread may release.
class Kept {
  public:
    explicit Kept(nb::object object) : object_(object.release().ptr()) {}
    Kept(Kept&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
    Kept& operator=(Kept&&) = delete;
    ~Kept() {
        if (object_ == nullptr || Py_IsInitialized() == 0) return;
        const nb::gil_scoped_acquire locked;
        ++letting_go;
        Py_DECREF(object_);
        --letting_go;
    }
    nb::handle get() const { return object_; }

  private:
    PyObject* object_;
};

/// Something with a `poll()` in Python.
class Polled final : public Operation {
  public:
    Polled(nb::object poll, std::string text) : poll_(std::move(poll)), text_(std::move(text)) {}
    bool poll() override {
        if (Py_IsInitialized() == 0) return true;  // the interpreter has ended
        const nb::gil_scoped_acquire locked;
        return called([&] { return nb::cast<bool>(nb::bool_(poll_.get()())); });
    }
    std::string text() const override { return text_; }

  private:
    Kept poll_;
    std::string text_;
};

/// An operation, and a Python function to call after its completion.
class Then final : public Operation {
  public:
    Then(std::shared_ptr<Operation> first, nb::object then)
        : first_(std::move(first)), then_(std::move(then)) {}
    bool poll() override {
        if (done_) return true;
        if (!first_->poll()) return false;
        done_ = true;
        if (Py_IsInitialized() == 0) return true;
        const nb::gil_scoped_acquire locked;
        called([&] { then_.get()(); });
        return true;
    }
    std::string text() const override { return first_->text(); }

  private:
    std::shared_ptr<Operation> first_;
    Kept then_;
    bool done_ = false;
};

}  // namespace hocket::python
