// SPDX-License-Identifier: BSD-3-Clause
// A team as one of its processes sees it: who is in it, and how it speaks with each.
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
        FlagPair* flags;  // none with myself, nor with one that shares no memory with me
        int process;
    };

    Group(const Mask& its, std::size_t count) : mask(its), members(count) {}

    Mask mask;
    SmallVector<Peer, 8> members;  // in order
    std::size_t me = 0;            // my place among them
    std::uint32_t hash = 0;
    bool in_node = true;  // all share memory

    // Where there are leaders, else empty: the places of members by what memory they share, and
    // where I am among these.
    std::vector<std::vector<std::size_t>> nodes;
    std::size_t my_node = 0;
    bool in_order = true;  // the members of each of these are neighbours among the members

    std::size_t size() const { return members.size(); }
    int process(std::size_t member) const { return members[member].process; }
    /// The place of a process that is one of them.
    std::size_t member_of(int process) const;
    /// Two processes in common, or only the one that asks?
    bool meets(const Group& other) const;
    /// Finds the nodes. `node`: of each process of the root team, a number for what it shares.
    void part(const std::vector<int>& node);
};

/// Groups that were asked for before, by their masks. Of very many some are forgotten, one at a
/// time, so that no call pays for all of them.
class Groups {
  public:
    /// nullptr if it has none. `hash`: the mask's.
    std::shared_ptr<const Group> find(const Mask& mask, std::uint64_t hash) const;
    void keep(std::shared_ptr<const Group> group, std::uint64_t hash);

  private:
    struct Slot {
        std::uint64_t hash = 0;
        std::shared_ptr<const Group> group;
    };
    // A group lies in one of a few neighbouring slots.
    static constexpr std::size_t ways = 4, most = 4096;
    std::size_t first_slot(std::uint64_t hash) const {
        return hash % (slots_.size() / ways) * ways;
    }
    void grow();
    std::vector<Slot> slots_ = std::vector<Slot>(ways);  // a power of 2
};

}  // namespace hocket::team
