// SPDX-License-Identifier: BSD-3-Clause
#include "shm/watched.hpp"

#include <algorithm>

namespace hocket::shm {

Watched& Watched::instance() {
    static Watched* const made = new Watched;  // outlives every communicator
    return *made;
}

void Watched::add(const Identity& identity, const Place& presence, const std::string& words) {
    if (identity.process == myself().process) return;
    const std::lock_guard lock(mutex_);
    if (const auto known = entries_.find(identity.process); known != entries_.end()) {
        if (!known->second.presence.known()) known->second.presence = Presence(presence);
        return;
    }
    if (auto watch = Watch::on(identity))
        entries_.try_emplace(identity.process, Entry{std::move(*watch), Presence(presence), words});
}

void Watched::describe(const Identity& identity, const std::string& words) {
    const std::lock_guard lock(mutex_);
    const auto it = entries_.find(identity.process);
    if (it != entries_.end()) it->second.words = words;
}

std::string Watched::lost() {
    const std::lock_guard lock(mutex_);
    for (const auto& [process, entry] : entries_)
        if (entry.watch.ended() && !entry.presence.left()) return entry.words;
    return "";
}

std::string Watched::left_of(const std::function<std::vector<std::vector<std::int64_t>>()>& needs) {
    {
        const std::lock_guard lock(mutex_);
        if (std::none_of(entries_.begin(), entries_.end(),
                         [](const auto& each) { return each.second.presence.left(); }))
            return "";
    }
    const auto any_of = needs();
    const std::lock_guard lock(mutex_);
    for (const auto& processes : any_of) {
        std::string words;
        for (const std::int64_t process : processes) {
            const auto it = entries_.find(process);
            if (it == entries_.end() || !it->second.presence.left()) {
                words.clear();
                break;
            }
            words += (words.empty() ? "" : ", ") + it->second.words;
        }
        if (!words.empty()) return words;
    }
    return "";
}

}  // namespace hocket::shm
