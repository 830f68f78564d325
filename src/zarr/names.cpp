// SPDX-License-Identifier: BSD-3-Clause
// Names of arrays in a store: those that are valid, and those that a new array may have.
#include <algorithm>

#include "base/text.hpp"
#include "hocket/error.hpp"
#include "zarr/tree.hpp"

namespace hocket::zarr {

void check_name(const std::string& name) {
    std::size_t first = 0;
    while (first <= name.size()) {
        const std::size_t slash = std::min(name.find('/', first), name.size());
        const std::string part = name.substr(first, slash - first);
        if (part.empty() || part[0] == '.' || part.substr(0, 2) == "__" || part == "zarr.json" ||
            part.back() == '~' || part.find('\0') != std::string::npos)
            throw Error(text::quoted(name) +
                        " is no name of an array in a store; give names without '..', with '/' "
                        "between those of groups, as 'run/t'");
        first = slash + 1;
    }
}

void Tree::require_free(const std::string& name) const {
    check_name(name);
    const std::string store = "the store '" + path() + "'";
    if (place_.file.empty() && name.find('\\') != std::string::npos)
        throw Error(
            "the name '" + name +
            "' has a backslash, which other readers of Zarr take for '/'; give another name");
    const auto is_array = [&](const std::string& node) {
        return has(node) || others_.count(node) != 0;
    };
    if (is_array(""))
        throw Error(store + " is a single array, which has no room for '" + name +
                    "'; make another store");
    if (is_array(name))
        throw Error(store + " has an array '" + name +
                    "' already; give another name, or write to that one");
    if (groups_.count(name) != 0)
        throw Error(store + " has a group '" + name + "'; give the array another name");
    for (const std::string& group : groups_above(name))
        if (is_array(group))
            throw Error(store + " has an array '" + group + "', so it cannot have '" + name +
                        "', which would be in a group of that name; give another name");
}

std::vector<std::string> Tree::groups_above(const std::string& name) {
    std::vector<std::string> out;
    for (std::size_t at = name.find('/'); at != std::string::npos; at = name.find('/', at + 1))
        out.push_back(name.substr(0, at));
    return out;
}

}  // namespace hocket::zarr
