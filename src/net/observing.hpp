// SPDX-License-Identifier: BSD-3-Clause
// What an observer and a program say to each other, as bytes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hocket/layout.hpp"
#include "hocket/observer.hpp"
#include "net/bytes.hpp"

namespace hocket::net {

enum class Say : std::uint8_t {
    // from the observer
    look = 1,  // Look
    set = 2,   // Set
    // from the program
    welcome = 10,  // right, byte order
    refused = 11,  // text: why the connection ends
    catalog = 12,  // Catalog: at the start, and whenever it changes
    picture = 13,  // Picture, then parts
    part = 14,     // number of the look, process, first byte, bytes
    was_set = 15,  // number of the set, poll
    failed = 16,   // number of the look or set, text
    ended = 17,    // text: the program has closed its port
};

/// The longest frames: from an observer, and to an observer.
inline constexpr std::size_t longest_from_observer = std::size_t{16} << 10,
                             longest_to_observer = std::size_t{16} << 20;
inline constexpr std::size_t longest_text = 4096;

struct Look {
    std::int64_t number = 0;
    std::string name;
    std::vector<Slice> slices;
};
struct Set {
    std::int64_t number = 0;
    std::string name;
    Value value;
};
struct Catalog {
    std::int64_t poll = 0;
    std::vector<ObservedArray> arrays;
    std::vector<std::pair<std::string, Value>> parameters;
};
struct Picture {
    std::int64_t number = 0, poll = 0;
    std::string layout;  // of the section; its processes are those of `parts`
    std::vector<std::pair<std::int64_t, std::int64_t>> parts;  // (process, bytes)
};

void write(Writer& writer, const Look& look);
void write(Writer& writer, const Set& set);
void write(Writer& writer, const Catalog& catalog);
void write(Writer& writer, const Picture& picture);
/// @throws Error for bytes that are none.
Look read_look(Reader& reader);
Set read_set(Reader& reader);
Catalog read_catalog(Reader& reader);
Picture read_picture(Reader& reader);

}  // namespace hocket::net
