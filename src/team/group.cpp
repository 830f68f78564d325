// SPDX-License-Identifier: BSD-3-Clause
#include "team/group.hpp"

#include <algorithm>
#include <utility>

namespace hocket::team {

std::size_t Group::member_of(int process) const {
    const auto at =
        std::lower_bound(members.begin(), members.end(), process,
                         [](const Peer& member, int sought) { return member.process < sought; });
    return static_cast<std::size_t>(at - members.begin());
}

bool Group::meets(const Group& other) const {
    std::size_t common = 0;
    for (const Peer& member : members)
        if (other.mask.contains(member.process) && ++common == 2) return true;
    return false;
}

void Group::part(const std::vector<int>& node) {
    const auto node_of = [&](std::size_t member) {
        return node[static_cast<std::size_t>(process(member))];
    };
    for (std::size_t member = 0; member < size(); ++member) {
        std::size_t at = 0;
        while (at < nodes.size() && node_of(nodes[at][0]) != node_of(member)) ++at;
        if (at == nodes.size()) nodes.emplace_back();
        in_order &= nodes[at].empty() || nodes[at].back() + 1 == member;
        nodes[at].push_back(member);
        if (member == me) my_node = at;
    }
}

std::shared_ptr<const Group> Groups::find(const Mask& mask, std::uint64_t hash) const {
    const std::size_t first = first_slot(hash);
    for (std::size_t i = first; i < first + ways; ++i)
        if (slots_[i].hash == hash && slots_[i].group && slots_[i].group->mask == mask)
            return slots_[i].group;
    return nullptr;
}

void Groups::keep(std::shared_ptr<const Group> group, std::uint64_t hash) {
    for (;;) {
        const std::size_t first = first_slot(hash);
        std::size_t at = first;
        while (at < first + ways && slots_[at].group) ++at;
        if (at == first + ways && slots_.size() < most) {
            grow();
            continue;
        }
        if (at == first + ways) at = first + (hash >> 32U) % ways;
        slots_[at] = {hash, std::move(group)};
        return;
    }
}

// Doubles the slots. Groups that shared slots get further ones each, so none overflows meanwhile.
void Groups::grow() {
    std::vector<Slot> before(slots_.size() * 2);
    before.swap(slots_);
    for (Slot& slot : before)
        if (slot.group) keep(std::move(slot.group), slot.hash);
}

}  // namespace hocket::team
