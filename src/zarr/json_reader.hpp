// SPDX-License-Identifier: BSD-3-Clause
// Reading of metadata: members of JSON's objects, and errors that name the file.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/checked.hpp"
#include "hocket/error.hpp"
#include "zarr/json.hpp"
#include "zarr/metadata.hpp"

namespace hocket::zarr {

using json::Value;

// A member of an object, with the description of the object for errors.
class Reader {
  public:
    Reader(const Value& value, std::string what) : value_(value), what_(std::move(what)) {
        if (!value.is_object()) fail("it is no object");
    }
    [[noreturn]] void fail(const std::string& why) const {
        throw Error(what_ + " cannot be read: " + why);
    }
    const Value* find(const char* name) const {
        const auto found = value_.find(name);
        return found == value_.end() ? nullptr : &*found;
    }
    const Value& at(const char* name) const {
        const Value* found = find(name);
        if (found == nullptr) fail(std::string("it has no '") + name + "'");
        return *found;
    }
    std::string text(const char* name) const {
        if (!at(name).is_string()) fail(std::string("'") + name + "' is no text");
        return at(name).get<std::string>();
    }
    Reader object(const char* name) const { return {at(name), what_}; }
    Shape extents(const char* name, std::int64_t least) const {
        const Value& list = at(name);
        Shape out;
        if (!list.is_array()) fail(std::string("'") + name + "' is no list");
        for (const Value& item : list) {
            if (!item.is_number_integer() || item.get<std::int64_t>() < least ||
                (item.is_number_unsigned() &&
                 item.get<std::uint64_t>() > static_cast<std::uint64_t>(base::max_size)))
                fail(std::string("'") + name + "' has " + json::text(item) +
                     ", which is no extent that fits");
            out.push_back(item.get<std::int64_t>());
        }
        return out;
    }
    const std::string& what() const { return what_; }

  private:
    const Value& value_;
    std::string what_;
};

// A name with its configuration; the configuration may be absent.
struct Named {
    std::string name;
    Value configuration = Value::object();

    Named(const Value& value, const Reader& from) {
        if (value.is_string()) {
            name = value.get<std::string>();
            return;
        }
        const Reader reader(value, from.what());
        name = reader.text("name");
        if (const Value* given = reader.find("configuration"); given != nullptr)
            configuration = *given;
        if (!configuration.is_object())
            from.fail("the configuration of '" + name + "' is no object");
    }
};

/// Checks that chunks, shards and sizes are consistent. @throws Error
void check(const Metadata& array, const Reader& from);
/// One a dimension; "" if the list has none.
std::vector<std::string> names_of(const Value* list, std::size_t dimensions, const Reader& from);

}  // namespace hocket::zarr
