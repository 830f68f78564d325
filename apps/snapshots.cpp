// SPDX-License-Identifier: BSD-3-Clause
#include "snapshots.hpp"

#include <algorithm>
#include <limits>

#include "hocket/error.hpp"
#ifndef HOCKET_SIMULATED
#include "hocket/store_files.hpp"
#endif

namespace apps {
namespace {

std::string path_of(const std::string& folder, std::size_t block) {
    return folder + "/block" + std::to_string(block) + ".zarr";
}

std::string name_of(std::int64_t step) {
    return "step" + std::to_string(step);
}

}  // namespace

#ifdef HOCKET_SIMULATED
// Simulated programs have no stores.
Snapshots::Snapshots(const std::string& folder, std::size_t, std::int64_t, const hocket::Comm&) {
    if (!folder.empty()) throw hocket::Error("a simulated program stores no " + path_of(folder, 0));
}
void Snapshots::prepare(std::int64_t, std::int64_t, const hocket::Layout&) {}
void Snapshots::write(hocket::Flow&, std::int64_t step, const hocket::Array&) {
    throw hocket::Error("a simulated program stores no " + name_of(step));
}
void Snapshots::complete(std::int64_t) {}
void Snapshots::close() {}
std::int64_t last_step(const std::string& folder, std::size_t) {
    throw hocket::Error("a simulated program cannot read " + path_of(folder, 0));
}
void restore(const std::string& folder, std::size_t block, std::int64_t, const hocket::Array&) {
    throw hocket::Error("a simulated program cannot read " + path_of(folder, block));
}
#else
Snapshots::Snapshots(const std::string& folder, std::size_t block, std::int64_t every,
                     const hocket::Comm& comm)
    : every_(every) {
    if (folder.empty()) return;
    store_ =
        std::make_shared<hocket::Store>(hocket::Store::open(path_of(folder, block), "a", comm));
}

void Snapshots::prepare(std::int64_t first, std::int64_t last, const hocket::Layout& layout) {
    if (!store_) return;
    const auto names = store_->names();
    for (std::int64_t step = first + 1; step <= last; ++step)
        if (wants(step) && std::find(names.begin(), names.end(), name_of(step)) == names.end())
            store_->create(name_of(step), layout.shape(), hocket::dtype_of<double>());
}

void Snapshots::write(hocket::Flow& flow, std::int64_t step, const hocket::Array& solution) {
    flow.write(*store_, name_of(step), solution);
    last_ = step;
}

void Snapshots::complete(std::int64_t step) {
    if (store_ && last_ > 0 && last_ <= step)
        store_->set_attributes("{\"step\":" + std::to_string(last_) + "}");
}

void Snapshots::close() {
    if (store_) store_->close();
    store_.reset();
}

std::int64_t last_step(const std::string& folder, std::size_t blocks) {
    std::int64_t last = std::numeric_limits<std::int64_t>::max();
    for (std::size_t block = 0; block < blocks; ++block) {
        const std::string path = path_of(folder, block);
        // {"step":100}
        const std::string attributes = hocket::StoreFiles(path).attributes();
        const std::size_t colon = attributes.find(':');
        if (colon == std::string::npos)
            throw hocket::Error("'" + path +
                                "' has no complete snapshot; restart from another folder");
        last = std::min<std::int64_t>(last, std::stoll(attributes.substr(colon + 1)));
    }
    return last;
}

void restore(const std::string& folder, std::size_t block, std::int64_t step,
             const hocket::Array& solution) {
    hocket::Store store = hocket::Store::open(path_of(folder, block), "r", solution.comm());
    store.read(name_of(step), solution);
    store.leave();
}
#endif

}  // namespace apps
