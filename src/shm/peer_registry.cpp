// SPDX-License-Identifier: BSD-3-Clause
#include "shm/peer_registry.hpp"

#include <algorithm>

namespace hocket::shm {

PeerRegistry& PeerRegistry::instance() {
    static PeerRegistry* const made = new PeerRegistry;  // outlives every communicator
    return *made;
}

void PeerRegistry::add(const ProcessIdentity& identity, const SharedAddress& status_page,
                       const std::string& name) {
    if (identity.process == own_identity().process) return;
    const std::lock_guard lock(mutex_);
    if (const auto known = processes_.find(identity.process); known != processes_.end()) {
        if (!known->second.status_page.known()) known->second.status_page = StatusPage(status_page);
        return;
    }
    if (auto monitor = ProcessMonitor::on(identity))
        processes_.try_emplace(identity.process,
                               WatchedProcess{std::move(*monitor), StatusPage(status_page), name});
}

void PeerRegistry::describe(const ProcessIdentity& identity, const std::string& name) {
    const std::lock_guard lock(mutex_);
    const auto it = processes_.find(identity.process);
    if (it != processes_.end()) it->second.name = name;
}

std::string PeerRegistry::lost() {
    const std::lock_guard lock(mutex_);
    for (const auto& [id, process] : processes_)
        if (process.ended() && !process.left()) return process.name;
    return "";
}

std::string PeerRegistry::left_of(
    const std::function<std::vector<std::vector<std::int64_t>>()>& needs) {
    {
        const std::lock_guard lock(mutex_);
        if (std::none_of(processes_.begin(), processes_.end(),
                         [](const auto& each) { return each.second.left(); }))
            return "";
    }
    const auto any_of = needs();
    const std::lock_guard lock(mutex_);
    for (const auto& processes : any_of) {
        std::string words;
        for (const std::int64_t process : processes) {
            const auto it = processes_.find(process);
            if (it == processes_.end() || !it->second.left()) {
                words.clear();
                break;
            }
            words += (words.empty() ? "" : ", ") + it->second.name;
        }
        if (!words.empty()) return words;
    }
    return "";
}

std::string PeerRegistry::names_of(const std::vector<std::int64_t>& processes) {
    const std::lock_guard lock(mutex_);
    std::string words;
    for (const std::int64_t process : processes) {
        const auto it = processes_.find(process);
        if (it == processes_.end()) return "";
        words += (words.empty() ? "" : " or ") + it->second.name;
    }
    return words;
}

}  // namespace hocket::shm
