// SPDX-License-Identifier: BSD-3-Clause
#include "hocket/port.hpp"

#include "handles.hpp"
#include "hocket/binding.hpp"
#include "port_values.hpp"

using namespace hocket::c;
using hocket::Port;
using hocket::Value;

namespace {

template <class Arguments>
auto port_arguments(const char* function, const Port& port, Arguments arguments) {
    return arguments_of(function, arguments, [&](const std::string& message) {
        hocket::Binding::refuse(port.comm(), argument_error, message);
    });
}

struct GivenParameter {
    std::string name;
    Value value;
    hocket::Deadline deadline;
};

template <class Make>
int make_parameter(const char* function, hocket_port* port, const char* name, double timeout,
                   Make value) {
    return guard(function, [&] {
        const auto held = behind(port);
        const GivenParameter given = port_arguments(function, held->value, [&] {
            return GivenParameter{text_of(name, "name"), value(), deadline_of(timeout)};
        });
        held->value.parameter(given.name, given.value, given.deadline);
    });
}

}  // namespace

int hocket_port_close(hocket_port* port, double timeout) {
    return guard(__func__, [&] { behind(port)->value.close(deadline_of(timeout)); });
}

int hocket_port_free(hocket_port** port) {
    return free_handle(__func__, port);
}

int hocket_port_name(const hocket_port* port, const char** name) {
    return guard(__func__, [&] {
        const auto held = behind(port);
        required(name, "name") = held->keep(held->value.name());
    });
}

int hocket_port_address(const hocket_port* port, const char** address) {
    return guard(__func__, [&] {
        const auto held = behind(port);
        required(address, "address") = held->keep(held->value.address());
    });
}

int hocket_port_key(const hocket_port* port, const char** key) {
    return guard(__func__, [&] {
        const auto held = behind(port);
        required(key, "key") = held->keep(held->value.key());
    });
}

int hocket_port_polls(const hocket_port* port, int64_t* polls) {
    return guard(__func__, [&] { required(polls, "polls") = behind(port)->value.polls(); });
}

int hocket_port_publish(hocket_port* port, const char* name, const hocket_array* array,
                        double timeout) {
    const char* const function = __func__;
    return guard(function, [&] {
        const auto held = behind(port);
        struct Arguments {
            std::string name;
            hocket::Array array;
            hocket::Deadline deadline;
        };
        const auto given = port_arguments(function, held->value, [&] {
            return Arguments{text_of(name, "name"), behind(array)->value, deadline_of(timeout)};
        });
        held->value.publish(given.name, given.array, given.deadline);
    });
}

int hocket_port_parameter_real(hocket_port* port, const char* name, double value, double timeout) {
    return make_parameter(__func__, port, name, timeout, [&] { return Value(value); });
}

int hocket_port_parameter_int(hocket_port* port, const char* name, int64_t value, double timeout) {
    return make_parameter(__func__, port, name, timeout, [&] { return Value(value); });
}

int hocket_port_parameter_text(hocket_port* port, const char* name, const char* text,
                               double timeout) {
    return make_parameter(__func__, port, name, timeout,
                          [&] { return Value(text_of(text, "text")); });
}

int hocket_port_value_real(const hocket_port* port, const char* name, double* value) {
    return guard(__func__, [&] {
        const std::string of = text_of(name, "name");
        required(value, "value") = real_of(behind(port)->value.value(of), of);
    });
}

int hocket_port_value_int(const hocket_port* port, const char* name, int64_t* value) {
    return guard(__func__, [&] {
        const std::string of = text_of(name, "name");
        required(value, "value") = int_of(behind(port)->value.value(of), of);
    });
}

int hocket_port_value_text(const hocket_port* port, const char* name, const char** text) {
    return guard(__func__, [&] {
        const auto held = behind(port);
        const std::string of = text_of(name, "name");
        required(text, "text") = held->keep(string_of(held->value.value(of), of));
    });
}

int hocket_port_poll(hocket_port* port, double timeout) {
    return guard(__func__, [&] { behind(port)->value.poll(deadline_of(timeout)); });
}

int hocket_port_accept(hocket_port* port, double timeout, hocket_tasks** tasks) {
    const char* const function = __func__;
    return guard(function, [&] {
        const auto held = behind(port);
        const auto deadline = port_arguments(function, held->value, [&] {
            require(tasks, "tasks");
            return deadline_of(timeout);
        });
        give(tasks, held->value.accept(deadline));
    });
}

int hocket_disconnect(hocket_tasks** tasks, double timeout) {
    return guard(__func__, [&] {
        const auto held = behind(required(tasks, "tasks"));
        hocket::disconnect(held->value, deadline_of(timeout));
        leave(*tasks, "tasks");
        *tasks = nullptr;
    });
}
