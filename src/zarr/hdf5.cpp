// SPDX-License-Identifier: BSD-3-Clause
#include "zarr/hdf5.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <set>

#include "base/checked.hpp"
#include "base/text.hpp"
#include "hocket/error.hpp"
#include "zarr/hdf5_functions.hpp"

namespace hocket::zarr::hdf5 {
namespace {

constexpr int deepest = 64;  // nesting of groups

// The type of the link at this name.
int link_type(Id in, const char* name) {
    // H5L_info1_t and H5L_info2_t begin with the type.
    alignas(16) std::array<int, 32> info{};
    for (const char* const each : {"H5Lget_info2", "H5Lget_info1", "H5Lget_info"}) {
        const Function<int(Id, const char*, void*, Id)> get{each};
        if (!get.is_there()) continue;
        get(in, name, info.data(), none);
        break;
    }
    return info[0];
}

// An address, unique in the file.
Size address_of(Id object) {
    // H5O_info1_t has the file's number and the address, H5O_info2_t the number and a token, whose
    // first bytes are the address.
    alignas(16) std::array<Size, 64> info{};
    for (const char* const each : {"H5Oget_info3", "H5Oget_info2", "H5Oget_info"}) {
        const Function<int(Id, void*, unsigned)> get{each};
        if (!get.is_there()) continue;
        get(object, info.data(), 1U);  // basic information
        break;
    }
    return info[1];
}

Shape extents_of_dataset(Id set) {
    const Held space(H5Dget_space(set));
    if (H5Sget_simple_extent_type(space) == H5S_NULL)
        throw Error("it has no elements (a null dataspace)");
    std::vector<Size> extents(static_cast<std::size_t>(H5Sget_simple_extent_ndims(space)));
    H5Sget_simple_extent_dims(space, extents.data(), nullptr);
    return {extents.begin(), extents.end()};
}

std::string filters_of(Id properties) {
    std::string out;
    for (int k = 0; k < H5Pget_nfilters(properties); ++k) {
        unsigned flags = 0;
        std::size_t values = 0;
        std::array<char, 64> name{};
        const int number = H5Pget_filter2(properties, static_cast<unsigned>(k), &flags, &values,
                                          nullptr, name.size() - 1, name.data(), nullptr);
        std::string text = number == 1 ? "gzip" : name.data();
        if (text.empty()) text = "filter " + std::to_string(number);
        out += (out.empty() ? "" : "+") + text;
    }
    return out;
}

Metadata described(Id set, const File& file, bool moved) {
    Metadata array;
    array.shape = extents_of_dataset(set);
    const std::size_t dimensions = array.shape.size();
    const Held type(H5Dget_type(set));
    array.type = type_of(type, array.encoding.big_endian);
    const auto elements = base::product(array.shape);
    if (!elements || !base::product(*elements, array.type.size))
        throw Error("its shape " + text::tuple(array.shape) + " is too large");
    array.encoding.order.resize(dimensions);
    std::iota(array.encoding.order.begin(), array.encoding.order.end(), std::size_t{0});
    const Held properties(H5Dget_create_plist(set));
    const int layout = H5Pget_layout(properties);
    if (H5Pget_external_count(properties) != 0) throw Error("its elements are in other files");
    if (layout > H5D_CHUNKED)
        throw Error("it is a virtual dataset, whose elements are in other files");
    array = with_blocks(std::move(array));
    array.attributes = attributes_of(set);
    array.dimension_names = labels_of(set, dimensions);
    int defined = 0;
    H5Pfill_value_defined(properties, &defined);
    if (defined == H5D_FILL_VALUE_USER_DEFINED)
        H5Pget_fill_value(properties, memory_type(array.type, type), array.fill.data());
    const std::string name = file.path().substr(file.path().rfind('/') + 1);
    const Size begin = layout == H5D_CONTIGUOUS ? H5Dget_offset(set) : undefined;
    if (begin != undefined) {
        array.one_file = OneFile{name, static_cast<std::int64_t>(begin), nullptr};
        return array;
    }
    array.dataset =
        Dataset{name, filters_of(properties), layout == H5D_CHUNKED, false, false, nullptr};
    if (layout != H5D_CHUNKED || dimensions == 0) return array;
    std::vector<Size> chunk(dimensions);
    H5Pget_chunk(properties, static_cast<int>(dimensions), chunk.data());
    array.chunk = array.file = Shape(chunk.begin(), chunk.end());
    static_cast<void>(array.chunk_bytes());
    // Versions disagree about addresses in a file that begins with a user's block.
    array.dataset->placed =
        array.dataset->filters.empty() && !moved && H5Dget_chunk_info_by_coord.is_there();
    if (!array.dataset->placed) return array;
    Size chunks = 0;
    H5Dget_num_chunks(set, Held(H5Dget_space(set)), &chunks);
    array.dataset->whole = static_cast<std::int64_t>(chunks) == product_of(array.file_counts());
    return array;
}

struct Walk {
    const File& file;
    Contents out;
    bool moved = false;
    std::set<Size> seen;

    void group_at(Id in, const std::string& path, int depth) {
        if (depth > deepest) throw Error("its groups are too deep");
        std::array<Size, 8> info{};  // H5G_info_t: a type, the number of links
        H5Gget_info(in, info.data());
        for (Size k = 0; k < info[1]; ++k) {
            std::array<char, 1024> name{};
            if (H5Lget_name_by_idx(in, ".", 0, 0, k, name.data(), name.size(), none) >=
                static_cast<std::int64_t>(name.size()))
                throw Error("it has a name of more than 1000 characters");
            // Other links lead to other names, or out of the file.
            if (link_type(in, name.data()) != H5L_TYPE_HARD) continue;
            const Held object(H5Oopen(in, name.data(), none));
            const std::string below = path.empty() ? name.data() : path + "/" + name.data();
            const int kind = H5Iget_type(object);
            if (kind != H5I_GROUP && kind != H5I_DATASET) continue;
            if (kind == H5I_GROUP && seen.insert(address_of(object)).second)
                group_at(object, below, depth + 1);
            if (kind == H5I_DATASET) dataset_at(object, below);
        }
    }
    void dataset_at(Id set, const std::string& path) {
        try {
            if (!is_text(path)) throw Error("its name is no UTF-8");
            out.arrays.emplace_back(path, described(set, file, moved));
        } catch (const Error& error) {
            out.others.emplace_back(path, error.what());
        }
    }
};

Shape limits_of(const Metadata& array) {
    Shape out = array.shape;
    for (std::size_t d = 0; d < out.size(); ++d) out[d] = std::max(out[d], array.chunk[d]);
    if (!out.empty()) out[0] = static_cast<std::int64_t>(unlimited);
    return out;
}

// A list's "1," becomes 8 bytes, and a text of one character 40.
Size most_bytes_of(const std::string& json) {
    return 16 * json.size();
}

std::vector<Size> sizes(const Shape& extents) {
    return {extents.begin(), extents.end()};
}

}  // namespace

bool is_path(std::string_view path) {
    path = original_of(path);
    return path.ends_with(".h5") || path.ends_with(".hdf5");
}

void make(const Folder& folder, const std::string& file) {
    const auto lock = locked();
    try {
        const Held made(H5Fcreate((path_of(folder.descriptor()) + "/" + file).c_str(), H5F_ACC_EXCL,
                                  none, access_of_file()));
        H5Fflush(made, H5F_SCOPE_GLOBAL);
    } catch (const Error& error) {
        throw Error("'" + folder.path() + "/" + file + "' cannot be made: " + error.what());
    }
}

Contents contents(const File& file) {
    const auto lock = locked();
    const Opened opened(file);
    try {
        Walk walk{file, {}, false, {}};
        Size block = 0;
        H5Pget_userblock(Held(H5Fget_create_plist(opened)), &block);
        walk.moved = block != 0;
        const Held root(H5Oopen(opened, "/", none));
        walk.out.attributes = attributes_of(root);
        walk.seen.insert(address_of(root));
        walk.group_at(root, "", 0);
        return std::move(walk.out);
    } catch (const Error& error) {
        throw Error("'" + file.path() + "' cannot be read: " + error.what());
    }
}

Metadata make_metadata(const Wanted& wanted, const std::string& file) {
    const auto refuse = [&](const std::string& what) {
        throw Error("'" + file + "' is an HDF5 file, which has " + what +
                    "; leave that out, or make a store of Zarr");
    };
    if (!wanted.shards.empty()) refuse("no shards");
    if (!wanted.codec.empty() && wanted.codec != "none" && wanted.codec != "gzip")
        refuse("no codec '" + wanted.codec + "' that all its readers know, but gzip");
    const bool filtered = wanted.codec == "gzip" && !wanted.shape.empty();
    Wanted plain = wanted;
    plain.codec = "none";
    plain.one_chunk_a_file = true;
    Metadata array = zarr::make_metadata(plain);
    check_attributes(array.attributes);
    {
        const auto lock = locked();
        put_labels(none_yet, array.dimension_names);
    }
    if (wanted.dimension_names.empty()) array.dimension_names.assign(array.shape.size(), "");
    array.dataset = Dataset{file, filtered ? "gzip" : "", false, false, false, nullptr};
    array.dataset->chunked = !array.shape.empty() && (filtered || !wanted.chunks.empty());
    return array;
}

void create(const File& file, const std::string& name, const Metadata& array, bool fresh) {
    const auto lock = locked();
    // Elements without filters get their places now. Bytes at the end of a file are 0, and those
    // that were freed are not; an array with chunks gets more in later sessions.
    const bool filtered = !array.dataset->filters.empty();
    const bool zero = std::all_of(array.fill.begin(), array.fill.end(),
                                  [](std::byte each) { return each == std::byte{}; });
    const bool zeros = zero && fresh && !array.dataset->chunked;
    const bool chunked = array.dataset->chunked;
    const std::int64_t chunks = chunked ? product_of(array.file_counts()) : 1;
    const std::int64_t bytes =
        chunked ? array.chunk_bytes() : product_of(array.shape) * array.type.size;
    Growth growth = growth_by(chunks, filtered ? 0 : bytes, array.shape.size());
    growth.sparse = zeros;
    growth.metadata += most_bytes_of(array.attributes);
    const Opened opened(file, growth);
    const int dimensions = static_cast<int>(array.shape.size());
    const Held properties(H5Pcreate(variable("H5P_CLS_DATASET_CREATE_ID_g")));
    const Held links(H5Pcreate(variable("H5P_CLS_LINK_CREATE_ID_g")));
    H5Pset_create_intermediate_group(links, 1);
    Shape limits = array.shape;
    if (array.dataset->chunked) {
        limits = limits_of(array);
        H5Pset_chunk(properties, dimensions, sizes(array.chunk).data());
        if (filtered) H5Pset_deflate(properties, 4);  // as h5py
    }
    const Held type = file_type(array.type, false);
    H5Pset_fill_value(properties, type, array.fill.data());
    H5Pset_alloc_time(properties, filtered ? H5D_ALLOC_TIME_INCR : H5D_ALLOC_TIME_EARLY);
    H5Pset_fill_time(properties, zeros ? H5D_FILL_TIME_NEVER : H5D_FILL_TIME_ALLOC);
    const Held space(H5Screate_simple(dimensions, sizes(array.shape).data(), sizes(limits).data()));
    const Held made(H5Dcreate2(opened, name.c_str(), type, space, links, properties, none));
    put_attributes(made, array.attributes);
    put_labels(made, array.dimension_names);
    opened.flush();
}

void set_attributes(const File& file, const std::string& json) {
    const auto lock = locked();
    Growth growth;
    growth.metadata += most_bytes_of(json);
    const Opened opened(file, growth);
    put_attributes(Held(H5Oopen(opened, "/", none)), json);
    opened.flush();
}

namespace {

// Of a first extent that grows from `before`.
Growth growth_of(Id set, const std::vector<Size>& extents, Size before) {
    const Held properties(H5Dget_create_plist(set));
    std::vector<Size> chunk(extents.size());
    H5Pget_chunk(properties, static_cast<int>(chunk.size()), chunk.data());
    int time = 0;
    H5Pget_alloc_time(properties, &time);
    Size chunks = 1, bytes = H5Tget_size(Held(H5Dget_type(set)));
    for (std::size_t d = 0; d < chunk.size(); ++d) {
        bytes *= chunk[d];
        chunks *= base::ceil_div(extents[d], chunk[d]) - (d == 0 ? before / chunk[d] : 0);
    }
    // With other times, the elements' own writes make them.
    if (time != H5D_ALLOC_TIME_EARLY) bytes = 0;
    return growth_by(static_cast<std::int64_t>(chunks), static_cast<std::int64_t>(bytes),
                     chunk.size());
}

}  // namespace

void extend(const File& file, const std::string& name, std::int64_t extent) {
    const auto lock = locked();
    std::vector<Size> extents;
    Growth growth;
    {
        const Opened opened(file);
        const Held set(H5Dopen2(opened, name.c_str(), none));
        extents = sizes(extents_of_dataset(set));
        const Size before = std::exchange(extents[0], static_cast<Size>(extent));
        growth = growth_of(set, extents, before);
    }
    const Opened opened(file, growth);
    H5Dset_extent(Held(H5Dopen2(opened, name.c_str(), none)), extents.data());
    opened.flush();
}

}  // namespace hocket::zarr::hdf5
