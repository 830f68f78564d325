// SPDX-License-Identifier: BSD-3-Clause
// Version 2 of the format, which is read-only.
#include <algorithm>

#include "hocket/error.hpp"
#include "zarr/metadata.hpp"
#ifdef HOCKET_JSON
#include "zarr/json_reader.hpp"

namespace hocket::zarr {

Metadata parse_v2(std::string_view zarray, std::string_view zattrs, const std::string& what) {
    const Value value = json::parse(zarray, what);
    const Reader from(value, what);
    if (from.at("zarr_format") != 2)
        from.fail("its zarr_format is " + json::text(from.at("zarr_format")));
    Metadata out;
    out.format = 2;
    out.shape = from.extents("shape", 0);
    out.chunk = out.file = from.extents("chunks", 1);
    if (!from.at("dtype").is_string())
        from.fail("its data type is structured: " + json::text(from.at("dtype")));
    out.type = type_of_v2(from.text("dtype"), out.encoding.big_endian);
    for (std::size_t d = 0; d < out.shape.size(); ++d) out.encoding.order.push_back(d);
    if (from.at("order") == "F") std::reverse(out.encoding.order.begin(), out.encoding.order.end());
    if (const Value* filters = from.find("filters"); filters != nullptr && !filters->empty())
        from.fail("it has filters, which hocket does not know: " + filters->dump());
    if (const Value& compressor = from.at("compressor"); !compressor.is_null())
        out.encoding.codecs = {Codec::named(Reader(compressor, what).text("id"))};
    out.default_keys = false;
    out.separator = '.';
    if (const Value* separator = from.find("dimension_separator");
        separator != nullptr && *separator == "/")
        out.separator = '/';
    out.fill = fill_of_json(json::text(from.at("fill_value")), out.type);
    out.dimension_names.resize(out.shape.size());
    if (!zattrs.empty()) {
        Value attributes = json::parse(zattrs, what + "'s .zattrs");
        const Reader reader(attributes, what);
        if (const Value* names = reader.find("_ARRAY_DIMENSIONS"); names != nullptr) {  // xarray's
            out.dimension_names = names_of(names, out.shape.size(), from);
            attributes.erase("_ARRAY_DIMENSIONS");
        }
        out.attributes = json::text(attributes);
    }
    check(out, from);
    return out;
}

}  // namespace hocket::zarr
#endif
