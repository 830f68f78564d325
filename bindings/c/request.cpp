// SPDX-License-Identifier: BSD-3-Clause
// Requests of sends and receives, and statuses of received messages.
#include "handles.hpp"
#include "hocket/task.hpp"

using namespace hocket::c;
using hocket::Request;

namespace {

std::vector<Request> requests_of(std::int64_t count, hocket_request* const* requests) {
    std::vector<Request> out;
    for (const auto* request : list(count, requests, "requests"))
        out.push_back(behind(request)->value);
    return out;
}

}  // namespace

int hocket_request_wait(hocket_request* request, double timeout, hocket_status** status) {
    return guard(__func__, [&] {
        const auto held = behind(request);
        auto found = held->value.wait(deadline_of(timeout));
        if (status != nullptr) give(status, std::move(found));
    });
}

int hocket_request_test(hocket_request* request, bool* done) {
    return guard(__func__, [&] {
        const auto held = behind(request);
        bool& place = required(done, "done");
        place = held->value.test();
    });
}

int hocket_request_status(const hocket_request* request, hocket_status** status) {
    return guard(__func__, [&] { give(status, behind(request)->value.status()); });
}

int hocket_request_operation(const hocket_request* request, hocket_operation** operation) {
    return guard(__func__, [&] { give(operation, behind(request)->value.operation()); });
}

int hocket_request_start(hocket_request* request, const hocket_array* array) {
    return guard(__func__, [&] {
        const auto held = behind(request);
        if (array == nullptr)
            held->value.start();
        else
            held->value.start(behind(array)->value);
    });
}

int hocket_request_persistent(const hocket_request* request, bool* persistent) {
    return guard(__func__,
                 [&] { required(persistent, "persistent") = behind(request)->value.persistent(); });
}

int hocket_request_free(hocket_request** request) {
    const int code = guard(__func__, [&] {
        const auto held = behind(required(request, "request"));
        if (held->value.persistent()) held->value.free();
    });
    return code == HOCKET_SUCCESS ? free_handle(__func__, request) : code;
}

int hocket_request_wait_all(int64_t count, hocket_request* const* requests, double timeout,
                            hocket_status** statuses) {
    return guard(__func__, [&] {
        auto all = requests_of(count, requests);
        auto found = hocket::wait_all(all, deadline_of(timeout));
        if (statuses == nullptr) return;
        for (std::size_t i = 0; i < found.size(); ++i) give(&statuses[i], std::move(found[i]));
    });
}

int hocket_request_wait_any(int64_t count, hocket_request* const* requests, double timeout,
                            int64_t* index) {
    return guard(__func__, [&] {
        auto all = requests_of(count, requests);
        std::int64_t& place = required(index, "index");
        place = static_cast<std::int64_t>(hocket::wait_any(all, deadline_of(timeout)));
    });
}

int hocket_status_source(const hocket_status* status, int* source) {
    return guard(__func__, [&] { required(source, "source") = behind(status)->value.source; });
}

int hocket_status_source_name(const hocket_status* status, const char** name) {
    return guard(__func__, [&] {
        const auto held = behind(status);
        required(name, "name") = held->keep(held->value.source_name);
    });
}

int hocket_status_tag(const hocket_status* status, int* tag) {
    return guard(__func__, [&] { required(tag, "tag") = behind(status)->value.tag; });
}

int hocket_status_layout(const hocket_status* status, hocket_layout** layout) {
    return guard(__func__, [&] { give(layout, behind(status)->value.layout); });
}

int hocket_status_dtype(const hocket_status* status, const char** dtype, int64_t* itemsize) {
    return guard(__func__, [&] {
        const auto held = behind(status);
        const char*& name = required(dtype, "dtype");
        required(itemsize, "itemsize") = held->value.dtype.size;
        name = held->keep(held->value.dtype.name);
    });
}

int hocket_status_free(hocket_status** status) {
    return free_handle(__func__, status);
}
