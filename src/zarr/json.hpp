// SPDX-License-Identifier: BSD-3-Clause
// JSON, by nlohmann-json. Only this header includes its headers, so that few sources compile them.
#pragma once

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "hocket/error.hpp"

namespace hocket::zarr::json {

using Value = nlohmann::ordered_json;

// Functions for values call themselves for each level of nesting. Python reads up to 1000.
constexpr int deepest = 512;

/// The largest number of lists and objects, one in another.
inline int depth_of(std::string_view text) {
    int depth = 0, most = 0;
    bool quoted = false;
    for (std::size_t k = 0; k < text.size(); ++k) {
        const char each = text[k];
        if (quoted && each == '\\') {
            ++k;
        } else if (each == '"') {
            quoted = !quoted;
        } else if (!quoted && (each == '[' || each == '{')) {
            most = std::max(most, ++depth);
        } else if (!quoted && (each == ']' || each == '}')) {
            --depth;
        }
    }
    return most;
}

/// Its first characters for a message, which has ASCII only of what may be anything.
inline std::string beginning_of(std::string_view text) {
    std::string out;
    for (const char each : text.substr(0, 80)) out += ' ' <= each && each <= '~' ? each : '?';
    return out;
}

/// Whether it is an integer beyond 64 bits, as the state of a generator of random numbers has.
/// nlohmann-json reads them as floats, so they are binary values here: their digits. No text yields
/// other binary values.
inline bool is_large_integer(const Value& value) {
    return value.is_binary();
}

inline bool has_large_integer(const Value& value) {
    if (!value.is_structured()) return is_large_integer(value);
    return std::any_of(value.begin(), value.end(), has_large_integer);
}

/// Adds a member of a name that the object does not have. Its operator [] compares all names.
inline Value& append(Value& object, std::string name, Value&& value) {
    auto& members = object.get_ref<Value::object_t&>();
    return static_cast<Value::object_t::Container&>(members)
        .emplace_back(std::move(name), std::move(value))
        .second;
}

/// Builds the value of a text from what the parser finds in it.
class Builder : public nlohmann::json_sax<Value> {
  public:
    Value whole;

    bool null() override { return take({}); }
    bool boolean(bool value) override { return take(value); }
    bool number_integer(number_integer_t value) override { return take(value); }
    bool number_unsigned(number_unsigned_t value) override { return take(value); }
    bool number_float(number_float_t value, const string_t& text) override {
        if (text.find_first_of(".eE") != text.npos) return take(value);
        return take(Value::binary({text.begin(), text.end()}));
    }
    bool string(string_t& value) override { return take(std::move(value)); }
    bool binary(binary_t& /*value*/) override { return false; }
    bool start_object(std::size_t /*size*/) override { return enter(Value::object()); }
    bool start_array(std::size_t /*size*/) override { return enter(Value::array()); }
    bool end_object() override { return leave(); }
    bool end_array() override { return leave(); }
    bool key(string_t& name) override {
        name_ = std::move(name);
        return true;
    }
    bool parse_error(std::size_t /*place*/, const std::string& /*token*/,
                     const nlohmann::detail::exception& /*error*/) override {
        return false;
    }

  private:
    // A list or an object that has not ended.
    struct Open {
        Value* value;
        std::unordered_map<std::string, std::size_t> places;  // of an object's members
    };
    Value& put(Value&& value) {
        if (open_.empty()) return whole = std::move(value);
        Value& in = *open_.back().value;
        if (in.is_object()) return put_member(open_.back(), std::move(value));
        in.push_back(std::move(value));
        return in.back();
    }
    // Of members of one name, the last one counts, in the place of the first one.
    Value& put_member(Open& in, Value&& value) {
        const auto [found, is_new] = in.places.try_emplace(name_, in.value->size());
        if (is_new) return append(*in.value, std::move(name_), std::move(value));
        auto& members = in.value->get_ref<Value::object_t&>();
        return members.begin()[static_cast<std::ptrdiff_t>(found->second)].second =
                   std::move(value);
    }
    bool take(Value value) {
        put(std::move(value));
        return true;
    }
    bool enter(Value value) {
        Value* const entered = &put(std::move(value));
        open_.push_back({entered, {}});
        return true;
    }
    bool leave() {
        open_.pop_back();
        return true;
    }

    std::vector<Open> open_;
    std::string name_;  // of the next member
};

inline void require_depth(std::string_view text, const std::string& what, int most) {
    if (const int depth = depth_of(text); depth > most)
        throw Error(what + " has lists and objects " + std::to_string(depth) +
                    " deep, one in another; hocket allows " + std::to_string(most));
}

[[noreturn]] inline void fail(std::string_view text, const std::string& what) {
    throw Error(what + " is no JSON, or has a number that is too large: " + beginning_of(text));
}

/// `what`: "zarr.json of 't'". @throws Error
inline Value parse(std::string_view text, const std::string& what, int most = deepest) {
    require_depth(text, what, most);
    Builder builder;
    if (!Value::sax_parse(text, &builder)) fail(text, what);
    return std::move(builder.whole);
}

/// The same, but integers beyond 64 bits become floats. @throws Error
inline Value parse_rounded(std::string_view text, const std::string& what) {
    require_depth(text, what, deepest);
    Value value = Value::parse(text, nullptr, false);
    if (value.is_discarded()) fail(text, what);
    return value;
}

/// In one line; replaces invalid UTF-8.
inline std::string text(const Value& value) {
    if (is_large_integer(value)) return {value.get_binary().begin(), value.get_binary().end()};
    if (!has_large_integer(value))
        return value.dump(-1, ' ', false, Value::error_handler_t::replace);
    std::string out;
    for (const auto& [name, each] : value.items()) {
        out += out.empty() ? "" : ",";
        out += (value.is_object() ? text(name) + ':' : "") + text(each);
    }
    return value.is_object() ? '{' + out + '}' : '[' + out + ']';
}

}  // namespace hocket::zarr::json
