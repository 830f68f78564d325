// SPDX-License-Identifier: BSD-3-Clause
// NumPy's files of one array (NumPy Enhancement Proposal 1): a header, then the elements.
#pragma once

#include <string>
#include <string_view>

#include "zarr/files.hpp"
#include "zarr/metadata.hpp"

namespace hocket::zarr {

/// The path of an .npy file: its folder and its name there, and the name of its array, which is the
/// file's without ".npy".
struct NpyPath {
    std::string folder, file, array;
};
/// Whether the path names an .npy file, by its suffix: "run.npy", or ".run.npy.new", the temporary
/// name of `save`.
bool is_npy(std::string_view path);
NpyPath npy_path(std::string_view path);

/// The header of a file; the elements begin at its end.
std::string npy_header(const Metadata& array);
/// Reads the whole header of a file. @throws Error for another format.
std::string read_npy_header(const File& file);
/// @throws Error for an invalid header, and for types that stores do not have, naming them.
Metadata parse_npy(std::string_view header, const std::string& file);
/// An array of this shape and type in a new .npy file, with its header and without elements.
Metadata make_npy(const Wanted& wanted, const std::string& file);
void make_file(const Folder& folder, const Metadata& array);

}  // namespace hocket::zarr
