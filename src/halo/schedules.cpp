// SPDX-License-Identifier: BSD-3-Clause
// Makes schedules of blocks of borders.
#include <algorithm>
#include <map>
#include <utility>

#include "halo/halo_plan.hpp"

namespace hocket::halo {
namespace {

using transfer::MessageBoxes;
using transport::Chunks;

// Both ends order their messages by the other's rank. Invariant: some message can always proceed,
// because the unfinished message with the lowest (sender, receiver) is the first at both ends.
void add_messages(std::vector<transport::Message>& side,
                  std::map<std::int64_t, MessageBoxes>& of_peers, std::int64_t itemsize,
                  bool publishes) {
    for (auto& [peer, boxes] : of_peers)
        side.push_back(message_of(std::move(boxes), peer, 0, publishes));
    transfer::put_in_order(side, itemsize);
}

std::shared_ptr<const transfer::Schedule> schedule_of(const HaloPlan& plan,
                                                      const std::vector<BorderBlock>& blocks,
                                                      Order agreed) {
    std::map<std::int64_t, MessageBoxes> sends, receives;
    MessageBoxes local;
    for (const BorderBlock& block : blocks) {
        const bool sends_it = block.from == plan.process, receives_it = block.to == plan.process;
        MessageBoxes& boxes = sends_it && receives_it ? local
                              : sends_it              ? sends[block.to]
                                                      : receives[block.from];
        boxes.itemsize = plan.itemsize;
        boxes.source =
            dense_strides(block.source_shape, plan.itemsize, sends_it ? plan.order : agreed);
        boxes.destination = dense_strides(block.destination_shape, plan.itemsize,
                                          receives_it ? plan.order : agreed);
        boxes.boxes.push_back(block.box);
        // The innermost loop is over the dimension that is fastest in memory.
        auto& loops = boxes.boxes.back().loops;
        if (agreed == Order::column_major) std::reverse(loops.begin(), loops.end());
    }
    auto made = std::make_shared<transfer::Schedule>();
    made->text = [text = plan.text] { return text; };
    add_messages(made->sends, sends, plan.itemsize, plan.order == agreed);
    add_messages(made->receives, receives, plan.itemsize, plan.order == agreed);
    if (!local.boxes.empty()) made->local = cut(local, Chunks::Kind::between, bytes_of_part(local));
    return made;
}

}  // namespace

BorderBlock border_block(std::int64_t from, std::int64_t to, const Shape& extents,
                         Shape source_first, Shape destination_first, Shape source_shape,
                         Shape destination_shape) {
    plan::Box box{std::move(source_first), std::move(destination_first), {}};
    for (std::size_t d = 0; d < extents.size(); ++d) {
        const int dimension = static_cast<int>(d);
        box.loops.push_back({extents[d], dimension, 1, dimension, 1});
    }
    return {from, to, std::move(box), std::move(source_shape), std::move(destination_shape)};
}

const std::vector<std::shared_ptr<const transfer::Schedule>>& HaloPlan::schedules(
    Order agreed) const {
    auto& made = made_[agreed == Order::row_major ? 0 : 1];
    if (made.empty())
        for (const auto& blocks : phases)
            if (!blocks.empty()) made.push_back(schedule_of(*this, blocks, agreed));
    return made;
}

}  // namespace hocket::halo
