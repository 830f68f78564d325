// SPDX-License-Identifier: BSD-3-Clause
// Common to the extensions' stores.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "hocket/store_files.hpp"

namespace hocket::python {

/// The keyword arguments of hocket.stores.StoredArray.
inline nanobind::dict dict_of(const StoredArray& array) {
    nanobind::dict out;
    out["name"] = array.name;
    out["shape"] = nanobind::tuple(nanobind::cast(array.shape));
    out["dtype"] = array.dtype;
    out["chunks"] = nanobind::tuple(nanobind::cast(array.chunks));
    out["shards"] = nanobind::tuple(nanobind::cast(array.shards));
    out["codec"] = array.codec;
    out["fill"] = array.fill;
    out["dimension_names"] = nanobind::tuple(nanobind::cast(array.dimension_names));
    out["attributes"] = array.attributes;
    out["zarr_format"] = array.zarr_format;
    return out;
}

}  // namespace hocket::python
