// SPDX-License-Identifier: BSD-3-Clause
// The messages between an observer and a program, as bytes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hocket/layout.hpp"
#include "hocket/observer.hpp"
#include "net/bytes.hpp"

namespace hocket::net {

enum class MessageKind : std::uint8_t {
    // from the observer
    section_request = 1,   // SectionRequest
    parameter_change = 2,  // ParameterChange
    taken = 3,             // the elements of the first lent memory that was not taken yet
    // from the program
    welcome = 10,            // right, byte order
    refused = 11,            // text: why the connection ends
    catalog = 12,            // Catalog: at the start, and whenever it changes
    section = 13,            // SectionHeader, then parts
    part = 14,               // number of the request, process, first byte, bytes
    parameter_changed = 15,  // number of the change, poll
    failed = 16,             // number of the request or change, text
    ended = 17,              // text: the program has closed its port
    lists = 18,              // number of the request, process, dimension, indices: before its parts
    lent = 19,               // LentPart, with a descriptor: a part, where the observer can map it
};

/// The longest frames: from an observer, and to an observer.
inline constexpr std::size_t longest_from_observer = std::size_t{16} << 10,
                             longest_to_observer = std::size_t{16} << 20;
/// Texts but for names; the name of a type, which lists the fields of a structured one.
inline constexpr std::size_t longest_text = 4096, longest_dtype = std::size_t{64} << 10;
/// Of the arrays, and of the parameters, that a program publishes.
inline constexpr std::size_t most_names = 4096;

struct SectionRequest {
    std::int64_t number = 0;
    std::string name;
    std::vector<Slice> slices;
    bool maps = false;  // the observer is on the program's host, and maps memory that it is lent
};
struct ParameterChange {
    std::int64_t number = 0;
    std::string name;
    Value value;
};
struct Catalog {
    std::int64_t poll = 0;
    std::vector<ObservedArray> arrays;
    std::vector<std::pair<std::string, Value>> parameters;
};
struct SectionPart {
    std::int64_t process = 0, bytes = 0;
    /// Without a layout: the lengths of this process's lists of indices, one list a dimension; or
    /// of one list of the elements' row-major numbers.
    std::vector<std::int64_t> counts;
};
struct SectionHeader {
    std::int64_t number = 0, poll = 0;
    /// Of the section; its processes are those of `parts`. "": too long for a message, so that
    /// lists come before the elements of each part.
    std::string layout;
    std::vector<SectionPart> parts;
};

/// The observer reads the elements there, and says when it has them: the memory is used again. Its
/// file has seals, so that the observer can rely on its length, and cannot write to it.
struct LentPart {
    std::int64_t number = 0, process = 0;  // of the request; whose part it is
    std::int64_t inode = 0;                // of the file
};

void write(Writer& writer, const SectionRequest& request);
void write(Writer& writer, const ParameterChange& change);
void write(Writer& writer, const Catalog& catalog);
void write(Writer& writer, const SectionHeader& header);
void write(Writer& writer, const LentPart& part);
/// @throws Error for bytes that are none.
SectionRequest read_section_request(Reader& reader);
ParameterChange read_parameter_change(Reader& reader);
Catalog read_catalog(Reader& reader);
SectionHeader read_section_header(Reader& reader);
LentPart read_lent_part(Reader& reader);

}  // namespace hocket::net
