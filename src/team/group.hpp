// SPDX-License-Identifier: BSD-3-Clause
// A group: the processes of one team as one of them sees it, with its flags to each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "hocket/mask.hpp"
#include "shm/flag_pair.hpp"
#include "team/small_vector.hpp"

namespace hocket::team {

using shm::FlagPair;

struct Group {
    struct Peer {
        FlagPair* flags;  // nullptr for this process itself, and for processes of other nodes
        int process;
    };

    Group(const Mask& its, std::size_t count) : mask(its), members(count) {}

    Mask mask;
    SmallVector<Peer, 8> members;  // in order
    std::size_t me = 0;            // this process's index among them
    std::uint32_t hash = 0;
    bool in_node = true;  // all share memory

    // If the group has leaders, else empty: the members of each node, and this process's node.
    std::vector<std::vector<std::size_t>> nodes;
    std::size_t my_node = 0;
    bool in_order = true;  // the members of each node are consecutive

    std::size_t size() const { return members.size(); }
    int process(std::size_t member) const { return members[member].process; }
    /// The index of a process of the group.
    std::size_t member_of(int process) const;
    /// Whether the groups share two processes; for a group of one process, whether they share this
    /// one.
    bool meets(const Group& other) const;
    /// Computes `nodes`. `node`: a number for the node of each process of the root team.
    void part(const std::vector<int>& node);
};

/// A cache of groups by their masks. When full, it drops one group at a time, so that no call takes
/// long.
class Groups {
  public:
    /// nullptr if the cache has none. `hash`: the mask's.
    std::shared_ptr<const Group> find(const Mask& mask, std::uint64_t hash) const;
    void keep(std::shared_ptr<const Group> group, std::uint64_t hash);

  private:
    struct Slot {
        std::uint64_t hash = 0;
        std::shared_ptr<const Group> group;
    };
    // A group is in one of `ways` neighbouring slots.
    static constexpr std::size_t ways = 4, most = 4096;
    std::size_t first_slot(std::uint64_t hash) const {
        return hash % (slots_.size() / ways) * ways;
    }
    void grow();
    std::vector<Slot> slots_ = std::vector<Slot>(ways);  // a power of 2
};

}  // namespace hocket::team
