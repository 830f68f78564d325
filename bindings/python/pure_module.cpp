// SPDX-License-Identifier: BSD-3-Clause
// hocket._pure: the parts that need no MPI. hocket/*.py wraps them in Python classes.
#include <nanobind/nanobind.h>

#include "hocket/error.hpp"
#include "hocket/version.h"
#include "pure_binding.hpp"

namespace nb = nanobind;

namespace {

/// Raises hocket.errors.<name> with the message.
void raise(const char* name, const std::exception& error) {
    nb::object type = nb::module_::import_("hocket.errors").attr(name);
    PyErr_SetString(type.ptr(), error.what());
}

/// Converts C++'s errors to Python's of the same name.
void translate(const std::exception_ptr& pending, void* /*unused*/) {
    try {
        std::rethrow_exception(pending);
    } catch (const hocket::LayoutError& error) {
        raise("LayoutError", error);
    } catch (const hocket::MismatchError& error) {
        raise("MismatchError", error);
    } catch (const hocket::DeadlineError& error) {
        raise("DeadlineError", error);
    } catch (const hocket::JobLostError& error) {
        raise("PeerLostError", error);  // this job's own processes reach MPI_Finalize
    } catch (const hocket::PeerLostError& error) {
        // MPI_Finalize would wait for the lost process.
        nb::module_::import_("hocket.rank").attr("end_by_abort")();
        raise("PeerLostError", error);
    } catch (const hocket::EndOfStream& error) {
        raise("EndOfStream", error);
    } catch (const hocket::Error& error) {
        raise("Error", error);
    }
}

}  // namespace

NB_MODULE(_pure, m) {
    m.doc() = "The part of hocket that needs no MPI.";
    m.attr("version") = HOCKET_VERSION;
    // Objects that a program holds at its end are no leak of hocket, and need no warning.
    nb::set_leak_warnings(false);
    nb::register_exception_translator(translate);
    bind_layout(m);
    bind_plan(m);
    bind_kernel(m);
    bind_store(m);
    bind_observe(m);
}
