// SPDX-License-Identifier: BSD-3-Clause
// A team as one of its processes sees it: who is in it, and how it speaks with each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "hocket/mask.hpp"
#include "node/talk.hpp"

namespace hocket::team {

using node::Talk;

struct Group {
    struct Peer {
        Talk* talk;
        std::size_t place;  // in `members`
    };

    Mask mask;
    std::vector<int> members;  // in order
    std::size_t me = 0;        // my place among them
    std::uint32_t hash = 0;
    bool near = true;         // all share memory
    std::vector<Peer> peers;  // all others that share memory with me
    // The places of members by what memory they share, and where I am among these.
    std::vector<std::vector<std::size_t>> nodes;
    std::size_t my_node = 0;
    bool in_order = true;  // the members of each of these are neighbours among the members

    std::size_t size() const { return members.size(); }
    int process(std::size_t place) const { return members[place]; }
    /// Two processes in common, or only the one that asks?
    bool meets(const Group& other) const;
};

}  // namespace hocket::team
