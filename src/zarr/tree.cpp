// SPDX-License-Identifier: BSD-3-Clause
#include "zarr/tree.hpp"

#include <algorithm>
#include <sstream>
#include <utility>

#include "base/text.hpp"
#include "hocket/error.hpp"
#include "zarr/chunk_memory.hpp"
#include "zarr/hdf5.hpp"
#include "zarr/npy.hpp"

namespace hocket::zarr {
namespace {

constexpr int deepest = 64;  // nesting of groups

}  // namespace

bool is_one_file(std::string_view path) {
    return zarr::is_npy(path) || hdf5::is_path(path);
}

Place Place::of(const std::string& path) {
    check_path(path);
    if (!is_one_file(path)) return {path, Folder::open(path), ""};
    const NpyPath parts = npy_path(path);
    return {path, Folder::open(parts.folder), parts.file};
}

bool Place::is_npy() const {
    return zarr::is_npy(file);
}

bool Place::is_hdf5() const {
    return hdf5::is_path(file);
}

namespace {

// For each "name", "reason"; each with a final NUL.
template <class Others>
std::string text_of_others(const Others& others) {
    std::string out;
    for (const auto& [name, reason] : others) out += name + '\0' + reason + '\0';
    return out;
}

// For each array "name", then "begin chunked placed whole filters" (begin -1: not contiguous); then
// "" and for each other dataset "name", "reason"; each with a final NUL.
std::string text_of_places(const std::vector<std::pair<std::string, Metadata>>& arrays,
                           const std::vector<std::pair<std::string, std::string>>& others) {
    std::string out;
    const auto add = [&](const std::string& text) { out += text + '\0'; };
    for (const auto& [name, array] : arrays) {
        const Dataset set = array.dataset.value_or(Dataset{});
        add(name);
        add(std::to_string(array.one_file ? array.one_file->begin : -1) + " " +
            std::to_string(int{set.chunked}) + " " + std::to_string(int{set.placed}) + " " +
            std::to_string(int{set.whole}) + " " + set.filters);
    }
    add("");
    return out + text_of_others(others);
}

std::string next_text(std::string_view& left) {
    const std::size_t end = std::min(left.find('\0'), left.size());
    std::string out(left.substr(0, end));
    left.remove_prefix(std::min(end + 1, left.size()));
    return out;
}

// Contiguous elements come in blocks; chunks are as they are.
Metadata placed(Metadata array, const std::string& place, const std::string& file,
                const std::shared_ptr<const File>& open) {
    std::istringstream from(place);
    std::int64_t begin = -1;
    Dataset set;
    from >> begin >> set.chunked >> set.placed >> set.whole;
    std::getline(from.ignore(1), set.filters);
    set.file = file;
    set.open = open;
    if (!set.chunked) {
        const Bytes fill = array.fill;
        const std::vector<std::string> names = array.dimension_names;
        array = with_blocks(std::move(array));
        array.fill = fill;
        array.dimension_names = names;
    }
    if (begin >= 0)
        array.one_file = OneFile{file, begin, open};
    else
        array.dataset = std::move(set);
    return array;
}

}  // namespace

Tree::Tree(Place place, std::shared_ptr<const File> open)
    : place_(std::move(place)), file_(std::move(open)) {
    if (const auto mark = folder().text(place_.mark())) {
        unfinished_ = mark->substr(0, mark->find('\0'));  // for users
        if (unfinished_.empty() || !text::is_utf8(unfinished_)) unfinished_ = "another program";
    }
    if (!place_.file.empty()) {
        if (auto file = file_ ? std::nullopt : folder().find(place_.file))
            file_ = std::make_shared<const File>(std::move(*file));
        if (place_.is_npy() && file_) read_npy(read_npy_header(*file_));
        if (place_.is_hdf5()) {
            if (!file_) throw Error("there is no file '" + path() + "'; make one with mode 'w'");
            hdf5::Contents all = hdf5::contents(*file_);
            attributes_ = all.attributes;
            for (const auto& [name, array] : all.arrays) set(name, array);
            const std::string text = root_text() + '\0' + text_of_places(all.arrays, all.others);
            arrays_.clear();
            read_hdf5(text);
        }
    } else if (const auto root = folder().text("zarr.json")) {
        read_3(*root);
    } else if (folder().text(".zgroup") || folder().text(".zarray")) {
        read_2();
    } else {
        throw Error(
            "'" + folder().path() +
            "' is no store: it has neither zarr.json nor .zgroup; give the folder that has it, "
            "or make one with mode 'w'");
    }
}

Tree::Tree(Place place, const std::string& told, std::shared_ptr<const File> open)
    : place_(std::move(place)), file_(std::move(open)) {
    const std::size_t end = told.find('\0');
    unfinished_ = told.substr(1, end - 1);
    const std::string rest = told.substr(end + 1);
    if (!place_.file.empty()) {
        if (rest.empty()) return;
        if (auto file = file_ ? std::nullopt : folder().find(place_.file))
            file_ = std::make_shared<const File>(std::move(*file));
        if (!file_)
            throw Error("'" + path() +
                        "' is not there on this process; give a path that all share");
        place_.is_npy() ? read_npy(rest) : read_hdf5(rest);
        return;
    }
    std::string_view left(rest);
    read_3(next_text(left));
    read_others(left);
    if (told[0] == '3') return;
    format_ = 2;
    for (auto& [name, entry] : arrays_) entry.metadata.format = entry.described.zarr_format = 2;
}

void Tree::renew(const std::string& told) {
    Tree fresh(place_, told, file_);
    for (auto& [name, entry] : fresh.arrays_) {
        const auto old = arrays_.find(name);
        if (old == arrays_.end() || text_of(old->second.metadata) != text_of(entry.metadata))
            arrays_[name] = std::move(entry);
        else
            old->second.metadata = std::move(entry.metadata);
    }
    header_ = std::move(fresh.header_);
    attributes_ = std::move(fresh.attributes_);
    groups_ = std::move(fresh.groups_);
    others_ = std::move(fresh.others_);
    unread_ = std::move(fresh.unread_);
}

File Tree::file_to_write() const {
    auto found = folder().find_to_write(place_.file);
    if (!found) throw Error("'" + path() + "' is not there any more");
    if (file_ && !found->is(*file_)) refuse_replaced(found->path());
    return std::move(*found);
}

std::string Tree::text() const {
    return std::to_string(format_) + unfinished_ + '\0' +
           (place_.file.empty() ? root_text() + '\0' + text_of_others(others_) : header_);
}

const std::string& Tree::path() const {
    return place_.path;
}

int Tree::descriptor() const {
    return file_ ? file_->descriptor() : folder().descriptor();
}

void Tree::read_npy(const std::string& header) {
    header_ = header;
    Metadata array = parse_npy(header, path());
    array.one_file->open = file_;
    set(npy_path(place_.file).array, array);
}

void Tree::read_hdf5(const std::string& told) {
    header_ = told;
    std::string_view left(told);
    read_3(next_text(left));
    for (std::string name = next_text(left); !name.empty(); name = next_text(left))
        set(name, placed(metadata(name), next_text(left), place_.file, file_));
    read_others(left);
}

void Tree::read_others(std::string_view told) {
    while (!told.empty()) {
        const std::string name = next_text(told);
        others_[name] = next_text(told);
    }
}

void Tree::read_3(const std::string& root) {
    const Node node = parse_node(root, "'" + folder().path() + "/zarr.json'");
    attributes_ = node.attributes;
    if (node.is_array) return set("", node.array);
    if (!node.lists_below) return walk("", 0);
    for (const auto& [path, json] : node.below) add(path, json);
}

void Tree::add(const std::string& path, const std::string& json) {
    if (place_.file.empty()) check_name(path);
    Node node;
    try {
        node = parse_node(json, "zarr.json of '" + path + "' in '" + folder().path() + "'");
    } catch (const UnknownTypeError& error) {
        others_[path] = error.what();
        unread_[path] = json;
        return;
    }
    if (node.is_array)
        set(path, node.array);
    else
        groups_[path] = node.attributes;
}

void Tree::walk(const std::string& path, int depth) {
    if (depth > deepest) throw Error("the groups of '" + folder().path() + "' are too deep");
    for (const std::string& name : folder().folders(path)) {
        const std::string below = path_of(path, name);
        if (name[0] == '.' || name.substr(0, 2) == "__" || name.back() == '~') continue;
        const auto json = folder().text(below + "/zarr.json");
        if (!json) continue;
        add(below, *json);
        if (groups_.count(below) != 0) walk(below, depth + 1);
    }
}

void Tree::read_2() {
    format_ = 2;
    const auto attributes_at = [&](const std::string& path) {
        return folder().text(path_of(path, ".zattrs")).value_or("");
    };
    const auto add_array = [&](const std::string& path, const std::string& json) {
        set(path, parse_v2(json, attributes_at(path), "'" + path + "/.zarray'"));
    };
    if (const auto root = folder().text(".zarray")) return add_array("", *root);
    if (const std::string own = attributes_at(""); !own.empty())
        attributes_ = checked_attributes(own);
    std::vector<std::string> open{""};
    while (!open.empty()) {
        const std::string path = std::move(open.back());
        open.pop_back();
        for (const std::string& name : folder().folders(path)) {
            const std::string below = path_of(path, name);
            if (const auto json = folder().text(below + "/.zarray")) {
                try {
                    add_array(below, *json);
                } catch (const UnknownTypeError& error) {
                    others_[below] = error.what();
                }
            } else if (folder().text(below + "/.zgroup") && open.size() < 100000)
                open.push_back(below);
        }
    }
}

std::vector<std::string> Tree::names() const {
    std::vector<std::string> out;
    for (const auto& [name, entry] : arrays_) out.push_back(name);
    return out;
}

const Tree::Entry& Tree::entry(const std::string& name) const {
    const auto found = arrays_.find(name);
    if (found != arrays_.end()) return found->second;
    const auto all = names();
    if (const auto other = others_.find(name); other != others_.end())
        throw Error("'" + name + "' in '" + path() + "' is no array of a store: " + other->second);
    throw Error("the store '" + path() + "' has no array '" + name + "'" +
                text::did_you_mean(name, all) + "; it has " +
                (all.empty() ? "none" : text::quoted_list(all)));
}

void Tree::set_attributes(const std::string& attributes) {
    attributes_ = attributes;
    const auto root = arrays_.find("");
    if (root == arrays_.end()) return;
    Metadata array = root->second.metadata;
    array.attributes = attributes;
    set("", array);
}

void Tree::set(const std::string& name, const Metadata& metadata) {
    arrays_[name] = {metadata, metadata.described(name)};
    for (const std::string& group : groups_above(name)) groups_.emplace(group, "{}");
}

std::string Tree::root_text() const {
    if (has("")) return text_of(metadata(""));
    std::vector<std::pair<std::string, std::string>> below;
    for (const auto& [path, attributes] : groups_)
        below.emplace_back(path, text_of_group(attributes, {}));
    for (const auto& [path, entry] : arrays_) below.emplace_back(path, text_of(entry.metadata));
    for (const auto& [path, json] : unread_) below.emplace_back(path, json);
    return text_of_group(attributes_, below);
}

}  // namespace hocket::zarr
