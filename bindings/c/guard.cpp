// SPDX-License-Identifier: BSD-3-Clause
#include "guard.hpp"

#include <unistd.h>

#include <array>
#include <new>
#include <string_view>

#include "hocket/flow.hpp"

namespace hocket::c {
namespace {

thread_local std::string last_message;

struct Named {
    int code;
    const char* name;
};
constexpr std::array names{
    Named{HOCKET_ERR_ERROR, "Error"},
    Named{HOCKET_ERR_LAYOUT, "LayoutError"},
    Named{HOCKET_ERR_MISMATCH, "MismatchError"},
    Named{HOCKET_ERR_DEADLINE, "DeadlineError"},
    Named{HOCKET_ERR_PEER_LOST, "PeerLostError"},
    Named{HOCKET_ERR_END_OF_STREAM, "EndOfStream"},
    Named{HOCKET_ERR_ARGUMENT, "ArgumentError"},
    Named{HOCKET_ERR_MEMORY, "MemoryError"},
    Named{HOCKET_ERR_INTERRUPTED, "Interrupted"},
};

int remember(int code, const char* message) noexcept {
    try {
        last_message = message;
    } catch (...) {
        last_message.clear();
    }
    return code;
}

}  // namespace

std::string called(const char* function) {
    const std::string_view name = function, suffix = "_fortran";
    return std::string(name.substr(0, name.size() - (name.ends_with(suffix) ? suffix.size() : 0)));
}

int failure(const char* function) noexcept {
    try {
        throw;
    } catch (const StepError& error) {
        // The code is that of the step's error; the message names the step.
        int code = HOCKET_ERR_ERROR;
        try {
            std::rethrow_exception(error.cause());
        } catch (...) {
            code = failure(function);
        }
        return remember(code, error.what());
    } catch (const LayoutError& error) {
        return remember(HOCKET_ERR_LAYOUT, error.what());
    } catch (const MismatchError& error) {
        return remember(HOCKET_ERR_MISMATCH, error.what());
    } catch (const DeadlineError& error) {
        return remember(HOCKET_ERR_DEADLINE, error.what());
    } catch (const PeerLostError& error) {
        return remember(HOCKET_ERR_PEER_LOST, error.what());
    } catch (const EndOfStream& error) {
        return remember(HOCKET_ERR_END_OF_STREAM, error.what());
    } catch (const Interrupted& error) {
        return remember(HOCKET_ERR_INTERRUPTED, error.what());
    } catch (const ArgumentError& error) {
        try {
            std::string words = error.what();
            const std::string name = called(function);
            // Errors of a collective call already name the function; the caller of hocket_refuse
            // names its own.
            const char* named = name.ends_with("_refuse") ? "hocket_" : name.c_str();
            if (words.find(named) == std::string::npos) words.insert(0, name + ": ");
            return remember(HOCKET_ERR_ARGUMENT, words.c_str());
        } catch (...) {
            return remember(HOCKET_ERR_ARGUMENT, error.what());
        }
    } catch (const MemoryError& error) {
        return remember(HOCKET_ERR_MEMORY, error.what());
    } catch (const std::bad_alloc&) {
        return remember(HOCKET_ERR_MEMORY, "there is no more memory");
    } catch (const std::exception& error) {
        return remember(HOCKET_ERR_ERROR, error.what());
    } catch (...) {
        return remember(HOCKET_ERR_ERROR, "an error without a message");
    }
}

const char* class_of(int code) {
    for (const auto& [known, name] : names)
        if (known == code) return name;
    return nullptr;
}

std::int64_t machine_bytes() {
    return std::int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE);
}

void require(const void* pointer, const char* name) {
    if (pointer == nullptr)
        throw ArgumentError(std::string("'") + name + "' is NULL; give the address of the memory");
}

std::string text_of(const char* text, const char* name) {
    if (text == nullptr) throw ArgumentError(std::string("'") + name + "' is NULL; give a text");
    return text;
}

Deadline deadline_of(double timeout) {
    if (std::isnan(timeout))
        throw ArgumentError(
            "'timeout' is not a number; give seconds, or a negative number for no end");
    if (timeout < 0 || std::isinf(timeout)) return {};
    return Deadline::in(timeout);
}

}  // namespace hocket::c

extern "C" {

const char* hocket_error_message(void) {
    return hocket::c::last_message.c_str();
}

const char* hocket_error_name(int code) {
    if (code == HOCKET_SUCCESS) return "success";
    const char* name = hocket::c::class_of(code);
    return name != nullptr ? name : "unknown code";
}

}  // extern "C"
