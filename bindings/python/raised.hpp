// SPDX-License-Identifier: BSD-3-Clause
// Python's exceptions on their way through C++.
#pragma once

#include <nanobind/nanobind.h>

#include <exception>
#include <utility>

namespace hocket::python {

/// A Python exception that C++ may keep and throw again. nb::python_error gives its exception away
/// to whoever raises it in Python first, and ends the process the second time.
class Raised final : public std::exception {
  public:
    explicit Raised(nanobind::python_error error) : error_(std::move(error)) {}
    const char* what() const noexcept override { return error_.what(); }
    /// Raises it in Python, as often as asked.
    void raise() const { nanobind::python_error(error_).restore(); }

  private:
    nanobind::python_error error_;
};

/// Runs what C++ calls of Python. Call with the interpreter's lock. @throws Raised
template <class Function>
auto called(Function&& function) {
    try {
        return function();
    } catch (nanobind::python_error& error) {
        throw Raised(std::move(error));
    }
}

}  // namespace hocket::python
