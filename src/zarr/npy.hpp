// SPDX-License-Identifier: BSD-3-Clause
// NumPy's files of one array (NumPy Enhancement Proposal 1): a header, then the elements.
#pragma once

#include <string>
#include <string_view>

#include "zarr/files.hpp"
#include "zarr/metadata.hpp"

namespace hocket::zarr {

/// A path of such a file: its folder and its name there, and the name of its array, which is the
/// file's without ".npy".
struct NpyPath {
    std::string folder, file, array;
};
/// Whether that is one, by its end: "run.npy", or ".run.npy.new", as `save` calls it meanwhile.
bool is_npy(std::string_view path);
NpyPath npy_path(std::string_view path);

/// What precedes the elements; they begin where it ends.
std::string npy_header(const Metadata& array);
/// The header of a file, all of it. @throws Error for another format.
std::string read_npy_header(const File& file);
/// @throws Error for what is no such header, and types that stores do not have, naming them.
Metadata parse_npy(std::string_view header, const std::string& file);
/// An array of this shape and type in such a file; the file, with its header and no elements yet.
Metadata make_npy(const Wanted& wanted, const std::string& file);
void make_file(const Folder& folder, const Metadata& array);

}  // namespace hocket::zarr
