// SPDX-License-Identifier: BSD-3-Clause
// The text of a mark: a sentence for users, then for each failed write its name, its region and a
// sentence, each after a NUL, which no name has.
#include "store/mark.hpp"

#include <algorithm>
#include <span>
#include <sstream>
#include <utility>

#include "hocket/error.hpp"
#include "store/lock.hpp"
#include "zarr/boxes.hpp"

namespace hocket::store {
namespace {

std::string text_of(const IndexBox& box) {
    std::string out;
    for (std::size_t d = 0; d < box.start.size(); ++d)
        out += std::to_string(box.start[d]) + " " + std::to_string(box.stop[d]) + " ";
    return out;
}

IndexBox box_of(const std::string& text) {
    IndexBox out;
    std::istringstream in(text);
    for (std::int64_t start, stop; in >> start >> stop;) {
        out.start.push_back(start);
        out.stop.push_back(stop);
    }
    return out;
}

}  // namespace

void Mark::read(const zarr::Tree& tree) {
    if (tree.unfinished().empty()) return;
    std::istringstream in(tree.folder().text(tree.place().mark()).value_or(""));
    std::string name, region, failure;
    std::getline(in, name, '\0');
    while (std::getline(in, name, '\0') && std::getline(in, region, '\0') &&
           std::getline(in, failure, '\0')) {
        if (failure.empty() || !tree.has(name)) continue;  // damaged, or of a removed file
        IndexBox box = box_of(region);
        if (box.start.size() == tree.array(name).shape.size())
            writes_.push_back({++begun_, name, std::move(box), failure});
    }
    found_ = !writes_.empty();
}

void Mark::put(const zarr::Tree& tree, const std::string& summary) const {
    std::string text = summary;
    for (const Write& write : writes_) {
        if (write.failure.empty()) continue;
        for (const std::string& each : {write.name, text_of(write.region), write.failure})
            text += '\0' + each;
    }
    try {
        tree.folder().replace_text(tree.place().mark(), text, true);
    } catch (const Error&) {
        // On a full disk, the block of the earlier mark has room for this text.
        const auto earlier = tree.folder().find_to_write(tree.place().mark());
        if (!earlier) throw;
        earlier->write(0, std::as_bytes(std::span(text)));
        earlier->sync();
    }
}

void Mark::try_put(const zarr::Tree& tree, const std::string& summary) const {
    try {
        put(tree, summary);
    } catch (const Error&) {
        // The earlier mark stands.
    }
}

void Mark::make(const zarr::Tree& tree, const std::string& name) {
    put(tree, this_process() + ", which began to write '" + name + "'");
    stands_ = true;
}

std::int64_t Mark::begin(const std::string& name, const IndexBox& region) {
    writes_.push_back({++begun_, name, region, ""});
    return begun_;
}

void Mark::complete(std::int64_t number) {
    const auto own = std::find_if(writes_.begin(), writes_.end(),
                                  [&](const Write& each) { return each.number == number; });
    if (own == writes_.end()) return;
    const Write done = *own;
    std::erase_if(writes_, [&](const Write& each) {
        return each.number == number || (!each.failure.empty() && each.name == done.name &&
                                         zarr::covers(done.region, each.region));
    });
}

void Mark::fail(const zarr::Tree& tree, std::int64_t number) {
    for (Write& each : writes_)
        if (each.number == number) {
            each.failure = this_process() + ", whose write of '" + each.name + "' failed";
            try_put(tree, each.failure);
        }
}

void Mark::forget(const std::string& name) {
    std::erase_if(writes_, [&](const Write& each) { return each.name == name; });
}

void Mark::close(const zarr::Tree& tree) {
    if (!stands_ && !found_) return;
    for (const Write& each : writes_)
        return try_put(tree, each.failure.empty()
                                 ? this_process() + ", which began to write '" + each.name + "'"
                                 : each.failure);
    tree.folder().remove(tree.place().mark());
    stands_ = false;
}

}  // namespace hocket::store
