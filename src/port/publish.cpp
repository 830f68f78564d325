// SPDX-License-Identifier: BSD-3-Clause
// Published arrays and parameters.
#include <algorithm>
#include <array>
#include <cstdio>

#include "base/text.hpp"
#include "comm/engine.hpp"
#include "hocket/port.hpp"
#include "port/host.hpp"
#include "port/state.hpp"

namespace hocket {
namespace port {
namespace {

std::string text_of(const Value& value) {
    if (const auto* text = std::get_if<std::string>(&value)) return "'" + *text + "'";
    if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
    if (const auto* number = std::get_if<std::int64_t>(&value)) return std::to_string(*number);
    std::array<char, 32> digits{};
    std::snprintf(digits.data(), digits.size(), "%.17g", std::get<double>(value));
    return digits.data();
}

void require_name(const std::string& name) {
    if (!net::is_name(name))
        throw Error(text::quoted(name) +
                    " is no name of something published; give 1 to 64 letters, digits, '.', '_' "
                    "and '-'");
}

// The list of what is published goes to each observer as one message, which they all must be able
// to read.
void require_room(const State& state, const std::string& name, const net::Catalog& more) {
    net::Catalog all = more;
    for (const auto& [other, array] : state.arrays)
        if (other != name) all.arrays.push_back(entry_of(other, array));
    for (const auto& [other, value] : state.parameters) all.parameters.emplace_back(other, *value);
    const std::size_t arrays = all.arrays.size(), parameters = all.parameters.size();
    if (std::max(arrays, parameters) > net::most_names)
        throw Error("the port '" + state.name + "' publishes " + std::to_string(net::most_names) +
                    (arrays > parameters ? " arrays" : " parameters") +
                    " already, which are the most");
    std::size_t bytes = 0;
    for (auto& [other, value] : all.parameters)
        if (std::holds_alternative<std::string>(value)) bytes += net::longest_text;
    net::Writer writer;
    net::write(writer, all);
    bytes += writer.bytes().size();
    if (bytes > net::longest_to_observer)
        throw Error("with '" + name + "', the list of all that the port '" + state.name +
                    "' publishes has up to " + std::to_string(bytes) + " bytes, and " +
                    std::to_string(net::longest_to_observer) + " are the most; publish less");
}

void require_publishable(const State& state, const std::string& name, const Array& array) {
    const std::string& type = array.dtype().name;
    if (type.size() > net::longest_dtype)
        throw Error("the type of '" + name + "' is a text of " + std::to_string(type.size()) +
                    " characters, and " + std::to_string(net::longest_dtype) +
                    " are the most that observers read; publish some of its fields");
    require_room(state, name, {0, {entry_of(name, array)}, {}});
}

void require_publishable(const State& state, const std::string& name, const Value& value) {
    const auto* text = std::get_if<std::string>(&value);
    if (text != nullptr && text->size() > net::longest_text)
        throw Error("the value for '" + name + "' has " + std::to_string(text->size()) +
                    " characters, and " + std::to_string(net::longest_text) + " are the most");
    require_room(state, name, {0, {}, {{name, value}}});
}

}  // namespace

ObservedArray entry_of(const std::string& name, const Array& array) {
    return {name, array.dtype().name, array.dtype().size, array.layout().shape()};
}

}  // namespace port

using port::State;

void Port::publish(const std::string& name, const Array& array, Deadline deadline) {
    State& state = *state_;
    port::together(
        state.comm,
        "publish('" + name + "', " + array.dtype().name + " " +
            text::tuple(array.layout().shape()) + ", " + array.layout().text() + ")",
        [&] {
            state.require_open();
            port::require_name(name);
            if (!(array.comm() == state.comm))
                throw Error("'" + name + "' belongs to another communicator than the port '" +
                            state.name + "'; make both with the same one");
            if (state.parameter(name))
                throw Error("'" + name + "' is a parameter already; choose another name");
            port::require_publishable(state, name, array);
        },
        {}, deadline);
    const comm::EngineLock engine_lock;
    const auto found = std::find_if(state.arrays.begin(), state.arrays.end(),
                                    [&](const auto& one) { return one.first == name; });
    if (found == state.arrays.end())
        state.arrays.emplace_back(name, array);
    else
        found->second = array;
    if (state.host) state.host->catalog_changed();
}

Parameter Port::parameter(const std::string& name, const Value& value, Deadline deadline) {
    State& state = *state_;
    port::together(
        state.comm, "parameter('" + name + "', " + port::text_of(value) + ")",
        [&] {
            state.require_open();
            port::require_name(name);
            if (state.parameter(name) || state.array(name) != nullptr)
                throw Error("'" + name + "' is published already; choose another name");
            port::require_publishable(state, name, value);
        },
        {}, deadline);
    const comm::EngineLock engine_lock;
    auto shared = std::make_shared<Value>(value);
    state.parameters.emplace_back(name, shared);
    if (state.host) state.host->catalog_changed();
    return {name, std::move(shared)};
}

Value Port::value(const std::string& name) const {
    const auto found = state_->parameter(name);
    if (!found) throw Error("the port '" + state_->name + "' has no parameter '" + name + "'");
    return *found;
}

}  // namespace hocket
