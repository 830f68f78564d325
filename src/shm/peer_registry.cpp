// SPDX-License-Identifier: BSD-3-Clause
#include "shm/peer_registry.hpp"

#include <algorithm>
#include <map>
#include <mutex>

namespace hocket::shm {
namespace {

std::mutex mutex_of_peers;
std::map<std::int64_t, ProcessMonitor>& peers() {                          // by process id
    static auto* const made = new std::map<std::int64_t, ProcessMonitor>;  // outlives communicators
    return *made;
}

// Of the watched processes, and of those of other hosts that have a description, by their numbers.
std::map<std::int64_t, std::string>& names() {
    static auto* const made = new std::map<std::int64_t, std::string>;
    return *made;
}

constexpr int id_bits = 32;
constexpr std::int64_t id_mask = (std::int64_t{1} << id_bits) - 1;

std::string plain_name(int world_rank) {
    return "rank " + std::to_string(world_rank);
}

int rank_of_number(std::int64_t process) {
    return static_cast<int>((-process >> id_bits) - 1);
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
        if (!known->second.knows_status()) known->second.set_status_page(map(status_page));
        return;
    }
    if (auto monitor = ProcessMonitor::on(identity)) {
        monitor->set_status_page(map(status_page));
        peers().try_emplace(identity.process, std::move(*monitor));
        names()[identity.process] = name;
    }
}

void describe_peer(std::int64_t process, const std::string& name) {
    const std::lock_guard lock(mutex_of_peers);
    if (process < 0 || peers().contains(process)) names()[process] = name;
}

std::string lost_peer() {
    const std::lock_guard lock(mutex_of_peers);
    for (const auto& [id, process] : peers())
        if (process.ended() && !process.left()) return names()[id];
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
            words += (words.empty() ? "" : ", ") + names()[process];
        }
        if (!words.empty()) return words;
    }
    return "";
}

std::string names_of_peers(const std::vector<std::int64_t>& processes) {
    const std::lock_guard lock(mutex_of_peers);
    std::string words;
    for (const std::int64_t process : processes) {
        const auto it = names().find(process);
        if (it == names().end() && process >= 0) return "";
        words += words.empty() ? "" : " or ";
        words += it == names().end() ? plain_name(rank_of_number(process)) : it->second;
    }
    return words;
}

std::string name_of_rank(int world_rank) {
    const std::lock_guard lock(mutex_of_peers);
    std::string plain = plain_name(world_rank);
    for (const auto& [process, name] : names())  // those of other hosts first
        if (process < 0 ? rank_of_number(process) == world_rank : name.starts_with(plain + " ("))
            return name;
    return plain;
}

}  // namespace hocket::shm
