// SPDX-License-Identifier: BSD-3-Clause
// Layouts as bytes, for messages between processes.
#pragma once

#include <string>
#include <string_view>

#include "layout/form.hpp"

namespace hocket::layout {

/// The definition of a layout as bytes, in any byte order of the machine. Equal texts have equal
/// bytes. Numbers take 7 bits a byte (LEB128, DWARF 5, section 7.6); lists hold differences.
std::string bytes_of(const Form& form);

/// The layout with these bytes. Every item of a list takes a byte or more, so a list never
/// allocates memory that the bytes do not justify. @throws LayoutError for other bytes.
Form form_of(std::string_view bytes);

/// Two sums of 64 bits, for layouts of processes that trust each other: anyone can construct two
/// layouts with one digest, but two layouts have one by chance with a probability of about 2^-128.
std::string digest_of(std::string_view bytes);
std::string hexadecimal(std::string_view digest);

/// A short name of a layout: its bytes if they are at most `most_whole`, else their digest.
/// Computed once. Layouts have equal keys if their texts are equal.
const std::string& key_of(const Form& form);
inline constexpr std::size_t most_whole = 96;
/// Whether a key, or bytes in place of a key, are a digest.
bool is_digest(std::string_view key);

}  // namespace hocket::layout
