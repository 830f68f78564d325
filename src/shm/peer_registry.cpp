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

constexpr int id_bits = 32;
constexpr std::int64_t id_mask = (std::int64_t{1} << id_bits) - 1;

// Of processes of other hosts that have a description, by their numbers.
std::map<std::int64_t, std::string>& names_elsewhere() {
    static auto* const made = new std::map<std::int64_t, std::string>;
    return *made;
}

std::string plain_name(int world_rank) {
    return "rank " + std::to_string(world_rank);
}

int rank_of_number(std::int64_t process) {
    return static_cast<int>((-process >> id_bits) - 1);
}

// Of a process of another host.
std::string name_elsewhere(std::int64_t process) {
    const auto it = names_elsewhere().find(process);
    return it == names_elsewhere().end() ? plain_name(rank_of_number(process)) : it->second;
}

}  // namespace

std::int64_t peer_elsewhere(int world_rank, std::int64_t process) {
    return -((std::int64_t{world_rank} + 1) << id_bits | (process & id_mask));
}

std::int64_t id_of_process(std::int64_t number) {
    return number < 0 ? -number & id_mask : number;
}

void add_peer(const ProcessIdentity& identity, const SharedAddress& status_page,
              const std::string& name) {
    if (identity.process == own_identity().process) return;
    const std::lock_guard lock(mutex_of_peers);
    if (const auto known = peers().find(identity.process); known != peers().end()) {
        if (!known->second.status_page) known->second.status_page = map(status_page);
        return;
    }
    if (auto monitor = ProcessMonitor::on(identity))
        peers().try_emplace(identity.process,
                            WatchedProcess{std::move(*monitor), map(status_page), name});
}

void describe_peer(std::int64_t process, const std::string& name) {
    const std::lock_guard lock(mutex_of_peers);
    if (process < 0) names_elsewhere()[process] = name;
    const auto it = peers().find(process);
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
        if (it == peers().end() && process >= 0) return "";
        words += words.empty() ? "" : " or ";
        words += it == peers().end() ? name_elsewhere(process) : it->second.name;
    }
    return words;
}

std::string name_of_rank(int world_rank) {
    const std::lock_guard lock(mutex_of_peers);
    for (const auto& [process, name] : names_elsewhere())
        if (rank_of_number(process) == world_rank) return name;
    std::string plain = plain_name(world_rank);
    for (const auto& [process, watched] : peers())
        if (watched.name.starts_with(plain + " (")) return watched.name;
    return plain;
}

}  // namespace hocket::shm
