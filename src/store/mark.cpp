// SPDX-License-Identifier: BSD-3-Clause
// The text of a mark: a sentence for users, then for each incomplete region its array's name, its
// bounds and a sentence, each after a NUL, which no name has.
#include "store/mark.hpp"

#include <unistd.h>

#include <algorithm>
#include <limits>
#include <optional>
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

// Of arrays whose writes have completed, the mark names a few, so that it is not written again for
// each of their next writes. A job that writes thousands of arrays has a short mark.
constexpr std::size_t most_announced = 16;

std::string began(const std::string& name) {
    return this_process() + ", which began to write '" + name + "'";
}

// A box with both. It has no bound in a direction in which it grows, so that a job that writes
// region after region announces few of them.
IndexBox widened(IndexBox box, const IndexBox& region) {
    for (std::size_t d = 0; d < box.start.size(); ++d) {
        if (region.start[d] < box.start[d]) box.start[d] = 0;
        if (region.stop[d] > box.stop[d]) box.stop[d] = std::numeric_limits<std::int64_t>::max();
    }
    return box;
}

// A box around the elements of `box` that are not in `done`; none: all are.
std::optional<IndexBox> without(IndexBox box, const IndexBox& done) {
    std::vector<std::size_t> open;  // dimensions in which `done` does not cover the box
    for (std::size_t d = 0; d < box.start.size(); ++d)
        if (done.start[d] > box.start[d] || done.stop[d] < box.stop[d]) open.push_back(d);
    if (open.empty()) return std::nullopt;
    const std::size_t d = open.front();
    if (open.size() > 1 || zarr::is_empty(zarr::common(box, done))) return box;
    if (done.start[d] <= box.start[d])
        box.start[d] = done.stop[d];
    else if (done.stop[d] >= box.stop[d])
        box.stop[d] = done.start[d];
    return box;
}

}  // namespace

void Mark::read(const zarr::Tree& tree) {
    if (tree.unfinished().empty()) return;
    std::istringstream in(tree.folder().text(tree.place().mark()).value_or(""));
    std::string name, region, reason;
    std::getline(in, name, '\0');
    while (std::getline(in, name, '\0') && std::getline(in, region, '\0') &&
           std::getline(in, reason, '\0')) {
        found_ = true;
        if (!tree.has(name)) continue;  // it was removed since
        const IndexBox whole = zarr::whole_of(tree.array(name).shape);
        IndexBox box = box_of(region);
        if (box.start.size() != whole.start.size()) box = whole;  // damaged
        box = zarr::common(box, whole);                           // the array may be smaller now
        if (!zarr::is_empty(box)) incomplete_.push_back({name, std::move(box), reason});
    }
}

void Mark::put(const zarr::Tree& tree, const std::string& summary, const AllAnnounced& announced,
               bool sync) const {
    std::string text = summary;
    const auto add = [&](const std::string& name, const IndexBox& box, const std::string& reason) {
        for (const std::string& each : {name, text_of(box), reason}) text += '\0' + each;
    };
    for (const Region& each : incomplete_) add(each.name, each.box, each.reason);
    for (const auto& [name, each] : announced) add(name, each.box, began(name));
    try {
        tree.folder().replace_text(tree.place().mark(), text, sync);
    } catch (const Error&) {
        // On a full disk, the block of the earlier mark has room for this text.
        const auto earlier = tree.folder().find_to_write(tree.place().mark());
        if (!earlier) throw;
        earlier->write(0, std::as_bytes(std::span(text)));
        if (::ftruncate(earlier->descriptor(), static_cast<off_t>(text.size())) != 0)
            zarr::fail("shorten", earlier->path());
        earlier->sync();
    }
}

void Mark::try_put(const zarr::Tree& tree, const std::string& summary) const {
    try {
        put(tree, summary, announced_, true);
    } catch (const Error&) {
        return;  // the earlier mark stands
    }
}

void Mark::announce(const zarr::Tree& tree, const std::string& name, const IndexBox& region) {
    const auto known = announced_.find(name);
    if (known != announced_.end() && zarr::covers(known->second.box, region)) {
        ++known->second.writes;
        return;
    }
    AllAnnounced after = announced_;
    if (after.size() >= most_announced)
        std::erase_if(after, [](const auto& each) { return each.second.writes == 0; });
    Announced& own = after.try_emplace(name, Announced{region, 0}).first->second;
    own.box = widened(own.box, region);
    ++own.writes;
    // A loss of power may bring an earlier mark back, but not a store without one.
    put(tree, began(name), after, announced_.empty());
    announced_ = std::move(after);
}

std::int64_t Mark::begin(const std::string& name, const IndexBox& region) {
    writes_.emplace(++begun_, Write{name, region});
    return begun_;
}

void Mark::complete(std::int64_t number) {
    const auto node = writes_.extract(number);
    if (node.empty()) return;
    const Write& write = node.mapped();
    --announced_[write.name].writes;
    std::erase_if(incomplete_, [&](Region& each) {
        if (each.name != write.name) return false;
        const auto rest = without(each.box, write.region);
        if (rest) each.box = *rest;
        return !rest;
    });
}

void Mark::fail(const zarr::Tree& tree, std::int64_t number) {
    const auto node = writes_.extract(number);
    if (node.empty()) return;
    const Write& write = node.mapped();
    --announced_[write.name].writes;
    std::erase_if(incomplete_, [&](const Region& each) {
        return each.name == write.name && zarr::covers(write.region, each.box);
    });
    const std::string reason = this_process() + ", whose write of '" + write.name + "' failed";
    const bool known = std::any_of(incomplete_.begin(), incomplete_.end(), [&](const Region& each) {
        return each.name == write.name && zarr::covers(each.box, write.region);
    });
    if (!known) incomplete_.push_back({write.name, write.region, reason});
    try_put(tree, reason);
}

void Mark::close(const zarr::Tree& tree) {
    if (announced_.empty() && !found_) return;
    announced_.clear();
    if (!incomplete_.empty()) return try_put(tree, incomplete_.front().reason);
    tree.folder().remove(tree.place().mark());
    found_ = false;
}

}  // namespace hocket::store
