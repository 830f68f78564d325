// SPDX-License-Identifier: BSD-3-Clause
#include "shm/peer_registry.hpp"

#include <algorithm>

namespace hocket::shm {

PeerRegistry& PeerRegistry::instance() {
    static PeerRegistry* const made = new PeerRegistry;  // outlives every communicator
    return *made;
}

void PeerRegistry::add(const ProcessIdentity& identity, const SharedAddress& status_page,
                       const std::string& words) {
    if (identity.process == own_identity().process) return;
    const std::lock_guard lock(mutex_);
    if (const auto known = entries_.find(identity.process); known != entries_.end()) {
        if (!known->second.status_page.known()) known->second.status_page = StatusPage(status_page);
        return;
    }
    if (auto watch = ProcessMonitor::on(identity))
        entries_.try_emplace(identity.process,
                             Entry{std::move(*watch), StatusPage(status_page), words});
}

void PeerRegistry::describe(const ProcessIdentity& identity, const std::string& words) {
    const std::lock_guard lock(mutex_);
    const auto it = entries_.find(identity.process);
    if (it != entries_.end()) it->second.words = words;
}

std::string PeerRegistry::lost() {
    const std::lock_guard lock(mutex_);
    for (const auto& [process, entry] : entries_)
        if (entry.watch.ended() && !entry.status_page.left()) return entry.words;
    return "";
}

std::string PeerRegistry::left_of(
    const std::function<std::vector<std::vector<std::int64_t>>()>& needs) {
    {
        const std::lock_guard lock(mutex_);
        if (std::none_of(entries_.begin(), entries_.end(),
                         [](const auto& each) { return each.second.status_page.left(); }))
            return "";
    }
    const auto any_of = needs();
    const std::lock_guard lock(mutex_);
    for (const auto& processes : any_of) {
        std::string words;
        for (const std::int64_t process : processes) {
            const auto it = entries_.find(process);
            if (it == entries_.end() || !it->second.status_page.left()) {
                words.clear();
                break;
            }
            words += (words.empty() ? "" : ", ") + it->second.words;
        }
        if (!words.empty()) return words;
    }
    return "";
}

std::string PeerRegistry::names_of(const std::vector<std::int64_t>& processes) {
    const std::lock_guard lock(mutex_);
    std::string words;
    for (const std::int64_t process : processes) {
        const auto it = entries_.find(process);
        if (it == entries_.end()) return "";
        words += (words.empty() ? "" : " or ") + it->second.words;
    }
    return words;
}

}  // namespace hocket::shm
