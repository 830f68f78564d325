// SPDX-License-Identifier: BSD-3-Clause
#include "task/known_layouts.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "layout/binary.hpp"
#include "transfer/lru_cache.hpp"

namespace hocket::task {

KnownLayouts::KnownLayouts(const std::vector<std::string>& offer) {
    for (const std::string& digest : offer) entries_.push_back({digest, std::nullopt});
}

bool KnownLayouts::find(std::string_view digest) {
    const auto it = std::find_if(entries_.begin(), entries_.end(),
                                 [&](const KnownLayout& entry) { return entry.digest == digest; });
    if (it == entries_.end()) return false;
    std::rotate(entries_.begin(), it, it + 1);
    return true;
}

void KnownLayouts::add(std::string digest, const Layout& layout) {
    if (find(digest))
        entries_[0].layout = layout;
    else
        entries_.insert(entries_.begin(), {std::move(digest), layout});
    if (entries_.size() > capacity_) entries_.pop_back();
}

void KnownLayouts::pack(Packer& out, const Layout& layout) {
    const std::string& key = layout::key_of(layout.form());
    if (!layout::is_digest(key) || find(key)) {
        out.text(key);
        return;
    }
    out.text(layout::bytes_of(layout.form()));
    add(key, layout);
}

Layout KnownLayouts::unpack(Unpacker& in) {
    const std::string_view bytes = in.view();
    if (bytes.size() > layout::most_whole) {
        Layout layout(std::make_shared<const layout::Form>(layout::form_of(bytes)));
        add(layout::digest_of(bytes), layout);
        return layout;
    }
    if (!layout::is_digest(bytes)) return transfer::layout_of(bytes);
    if (!find(bytes) || !entries_[0].layout)
        throw Error("a message names the layout " + layout::hexadecimal(bytes) +
                    ", which this process does not hold; do all processes run the same version "
                    "of hocket?");
    return *entries_[0].layout;
}

void KnownLayouts::keep(const Layout& layout) {
    const std::string& key = layout::key_of(layout.form());
    if (layout::is_digest(key)) add(key, layout);
}

KnownLayouts KnownLayouts::recent(std::size_t count) const {
    KnownLayouts first(unlimited);
    for (const KnownLayout& entry : entries_)
        if (first.entries_.size() < count) first.entries_.push_back(entry);
    return first;
}

std::vector<std::string> KnownLayouts::offer() const {
    std::vector<std::string> digests;
    for (const KnownLayout& entry : entries_) digests.push_back(entry.digest);
    return digests;
}

std::string KnownLayouts::whole(const std::vector<std::string>& digests) const {
    Packer out;
    for (const KnownLayout& entry : entries_)
        if (std::find(digests.begin(), digests.end(), entry.digest) != digests.end() &&
            entry.layout)
            out.text(layout::bytes_of(entry.layout->form()));
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
