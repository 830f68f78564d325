// SPDX-License-Identifier: BSD-3-Clause
#include "shm/peer_registry.hpp"

#include <algorithm>
#include <map>
#include <mutex>

namespace hocket::shm {
namespace {

std::mutex mutex_of_peers;
std::map<std::int64_t, WatchedProcess>& peers() {                          // by process id
    static auto* const made = new std::map<std::int64_t, WatchedProcess>;  // outlives communicators
    return *made;
}

}  // namespace

void add_peer(const ProcessIdentity& identity, const SharedAddress& status_page,
              const std::string& name) {
    if (identity.process == own_identity().process) return;
    const std::lock_guard lock(mutex_of_peers);
    if (const auto known = peers().find(identity.process); known != peers().end()) {
        if (!known->second.status_page.known()) known->second.status_page = StatusPage(status_page);
        return;
    }
    if (auto monitor = ProcessMonitor::on(identity))
        peers().try_emplace(identity.process,
                            WatchedProcess{std::move(*monitor), StatusPage(status_page), name});
}

void describe_peer(const ProcessIdentity& identity, const std::string& name) {
    const std::lock_guard lock(mutex_of_peers);
    const auto it = peers().find(identity.process);
    if (it != peers().end()) it->second.name = name;
}

std::string lost_peer() {
    const std::lock_guard lock(mutex_of_peers);
    for (const auto& [id, process] : peers())
        if (process.ended() && !process.left()) return process.name;
    return "";
}

std::string left_peers(const std::function<std::vector<std::vector<std::int64_t>>()>& needs) {
    {
        const std::lock_guard lock(mutex_of_peers);
        if (std::none_of(peers().begin(), peers().end(),
                         [](const auto& each) { return each.second.left(); }))
            return "";
    }
    const auto any_of = needs();
    const std::lock_guard lock(mutex_of_peers);
    for (const auto& processes : any_of) {
        std::string words;
        for (const std::int64_t process : processes) {
            const auto it = peers().find(process);
            if (it == peers().end() || !it->second.left()) {
                words.clear();
                break;
            }
            words += (words.empty() ? "" : ", ") + it->second.name;
        }
        if (!words.empty()) return words;
    }
    return "";
}

std::string names_of_peers(const std::vector<std::int64_t>& processes) {
    const std::lock_guard lock(mutex_of_peers);
    std::string words;
    for (const std::int64_t process : processes) {
        const auto it = peers().find(process);
        if (it == peers().end()) return "";
        words += (words.empty() ? "" : " or ") + it->second.name;
    }
    return words;
}

}  // namespace hocket::shm
