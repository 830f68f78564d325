// SPDX-License-Identifier: BSD-3-Clause
#include "task/known_layouts.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "layout/binary.hpp"
#include "transfer/lru_cache.hpp"

namespace hocket::task {

namespace {

const std::string& key_of(const Layout& layout) {
    return layout::key_of(layout.form());
}

bool contains(const std::vector<std::string>& digests, std::string_view digest) {
    return std::find(digests.begin(), digests.end(), digest) != digests.end();
}

}  // namespace

bool KnownLayouts::find(std::string_view digest) {
    const auto it = std::find_if(layouts_.begin(), layouts_.end(),
                                 [&](const Layout& layout) { return key_of(layout) == digest; });
    if (it == layouts_.end()) return false;
    std::rotate(layouts_.begin(), it, it + 1);
    return true;
}

void KnownLayouts::add(const Layout& layout) {
    if (!find(key_of(layout))) layouts_.insert(layouts_.begin(), layout);
    if (layouts_.size() > capacity_) layouts_.pop_back();
}

void KnownLayouts::pack(Packer& out, const Layout& layout) {
    const std::string& key = key_of(layout);
    if (!layout::is_digest(key) || contains(offered_, key) || find(key)) {
        out.text(key);
        return;
    }
    out.text(layout::bytes_of(layout.form()));
    add(layout);
}

Layout KnownLayouts::unpack(Unpacker& in) {
    const std::string_view bytes = in.view();
    if (bytes.size() > layout::most_whole) {
        Layout layout(std::make_shared<const layout::Form>(layout::form_of(bytes)));
        add(layout);
        return layout;
    }
    if (!layout::is_digest(bytes)) return transfer::layout_of(bytes);
    if (!find(bytes))
        throw Error("a message names the layout " + layout::hexadecimal(bytes) +
                    ", which this process does not hold; do all processes run the same version "
                    "of hocket?");
    return layouts_[0];
}

void KnownLayouts::keep(const Layout& layout) {
    if (layout::is_digest(key_of(layout))) add(layout);
}

KnownLayouts KnownLayouts::recent(std::size_t count) const {
    KnownLayouts first(unlimited);
    first.layouts_.assign(layouts_.begin(), layouts_.begin() + static_cast<std::ptrdiff_t>(std::min(
                                                                   count, layouts_.size())));
    return first;
}

std::vector<std::string> KnownLayouts::offer() const {
    std::vector<std::string> digests;
    for (const Layout& layout : layouts_) digests.push_back(key_of(layout));
    return digests;
}

std::string KnownLayouts::whole(const std::vector<std::string>& digests) const {
    Packer out;
    for (const Layout& layout : layouts_)
        if (contains(digests, key_of(layout))) out.text(layout::bytes_of(layout.form()));
    return out.take();
}

void pack(Packer& out, const std::vector<std::string>& texts) {
    out.number(static_cast<std::int64_t>(texts.size()));
    for (const std::string& each : texts) out.text(each);
}

std::vector<std::string> unpack_texts(Unpacker& in) {
    std::vector<std::string> texts;
    for (std::int64_t left = in.number(); left > 0; --left) texts.push_back(in.text());
    return texts;
}

}  // namespace hocket::task
