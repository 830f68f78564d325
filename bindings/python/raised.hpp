// SPDX-License-Identifier: BSD-3-Clause
// Python's exceptions in C++.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <exception>
#include <string>
#include <utility>

namespace hocket::python {

/// A Python exception that C++ can keep and raise several times. nb::python_error gives its
/// exception away the first time, and ends the process the second time.
class Raised final : public std::exception {
  public:
    /// Requires the interpreter's lock, because it makes the text.
    explicit Raised(nanobind::python_error error)
        : error_(std::move(error)), text_(text_of(error_)) {}
    const char* what() const noexcept override { return text_.c_str(); }
    /// Raises it in Python, any number of times.
    void raise() const { nanobind::python_error(error_).restore(); }

  private:
    // python_error::what() is NULL for a text that UTF-8 cannot encode, as some file names.
    static std::string text_of(const nanobind::python_error& error) {
        std::string found = "an exception";
        if (error.type().is_valid())
            found = nanobind::cast<std::string>(error.type().attr("__name__"));
        PyObject* const text = PyObject_Str(error.value().ptr());
        PyObject* const bytes = text == nullptr
                                    ? nullptr
                                    : PyUnicode_AsEncodedString(text, "utf-8", "backslashreplace");
        if (bytes != nullptr) found += std::string(": ") + PyBytes_AsString(bytes);
        PyErr_Clear();
        Py_XDECREF(bytes);
        Py_XDECREF(text);
        return found;
    }

    nanobind::python_error error_;
    std::string text_;
};

/// Runs C++ code that calls Python. Requires the interpreter's lock. @throws Raised
template <class Function>
auto called(Function&& function) {
    try {
        return function();
    } catch (nanobind::python_error& error) {
        throw Raised(std::move(error));
    }
}

}  // namespace hocket::python
