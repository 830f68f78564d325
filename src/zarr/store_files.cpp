// SPDX-License-Identifier: BSD-3-Clause
// A store that one process reads by itself.
#include "hocket/store_files.hpp"

#include "base/text.hpp"
#include "hocket/error.hpp"
#include "zarr/boxes.hpp"
#include "zarr/chunk_memory.hpp"
#include "zarr/chunks.hpp"
#include "zarr/hdf5.hpp"
#include "zarr/tree.hpp"

namespace hocket {

StoreFiles::StoreFiles(const std::string& path)
    : tree_(std::make_shared<const zarr::Tree>(zarr::Place::of(path))) {}

void StoreFiles::offer_hdf5(const std::string& path) {
    zarr::hdf5::offer(path);
}

const std::string& StoreFiles::path() const {
    return tree_->path();
}
std::vector<std::string> StoreFiles::names() const {
    return tree_->names();
}
const StoredArray& StoreFiles::array(const std::string& name) const {
    return tree_->array(name);
}
const std::string& StoreFiles::attributes() const {
    return tree_->attributes();
}
const std::string& StoreFiles::unfinished() const {
    return tree_->unfinished();
}

void StoreFiles::read(const std::string& name, const IndexBox& box, void* data,
                      std::span<const std::int64_t> strides) const {
    const zarr::Metadata& array = tree_->metadata(name);
    const std::size_t dimensions = array.shape.size();
    if (box.start.size() != dimensions || box.stop.size() != dimensions ||
        strides.size() != dimensions || !zarr::covers(zarr::whole_of(array.shape), box))
        throw Error("there is no box from " + text::tuple(box.start) + " to " +
                    text::tuple(box.stop) + " in '" + name + "' of shape " +
                    text::tuple(array.shape));
    zarr::read_box(tree_->folder(), name, array, box,
                   {static_cast<std::byte*>(data), Shape(strides.begin(), strides.end())});
}

}  // namespace hocket
