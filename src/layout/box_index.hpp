// SPDX-License-Identifier: BSD-3-Clause
// An index of many boxes with their processes: a tree that finds the boxes that intersect a given
// one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "layout/interval.hpp"

namespace hocket::layout {

/// Non-empty boxes, sorted by process. The tree is a bounding volume hierarchy: a node has the
/// smallest box around its boxes. Its two children divide them at the median of the dimension in
/// which they spread most. Building it takes O(k log k); a look-up takes O(log k + hits) if boxes
/// overlap little. Takes 16 d + 8 bytes a box, and a sixteenth as many nodes of 16 d + 32.
class BoxIndex {
  public:
    BoxIndex() = default;
    explicit BoxIndex(std::size_t dimensions) : dimensions_(dimensions) {}
    /// Appends a box, in increasing order of processes.
    void add(std::int64_t process, std::span<const Range> box);
    /// Builds the tree, after the last box.
    void build();

    std::size_t dimensions() const { return dimensions_; }
    std::int64_t count() const { return static_cast<std::int64_t>(process_.size()); }
    std::int64_t process(std::int64_t k) const { return process_[static_cast<std::size_t>(k)]; }
    std::span<const Range> box(std::int64_t k) const {
        return {ranges_.data() + static_cast<std::size_t>(k) * dimensions_, dimensions_};
    }
    std::int64_t volume(std::int64_t k) const;
    /// The numbers of a process's boxes.
    Range of(std::int64_t process) const;

    /// Calls `visit(k)` for every box that intersects `query`, in any order, until a call returns
    /// false.
    template <class Visit>
    void for_intersecting(std::span<const Range> query, Visit&& visit) const {
        if (!nodes_.empty()) descend(0, query, visit);
    }

  private:
    /// Boxes order_[first, last), and the smallest box around them.
    struct Node {
        std::int64_t first, last;
        std::int64_t right;  // number of the second child; the first one follows this node; 0: a
                             // leaf
        std::size_t bounds;  // the position of its ranges in bounds_
    };

    std::int64_t make_node(std::int64_t first, std::int64_t last);
    static bool meet(std::span<const Range> a, std::span<const Range> b) {
        for (std::size_t d = 0; d < a.size(); ++d)
            if (a[d].first >= b[d].last || b[d].first >= a[d].last) return false;
        return true;
    }

    template <class Visit>
    bool descend(std::int64_t number, std::span<const Range> query, Visit& visit) const {
        const Node& node = nodes_[static_cast<std::size_t>(number)];
        if (!meet({bounds_.data() + node.bounds, dimensions_}, query)) return true;
        if (node.right == 0) {
            for (std::int64_t i = node.first; i < node.last; ++i) {
                const std::int64_t k = order_[static_cast<std::size_t>(i)];
                if (meet(box(k), query) && !visit(k)) return false;
            }
            return true;
        }
        return descend(number + 1, query, visit) && descend(node.right, query, visit);
    }

    std::size_t dimensions_ = 0;
    std::vector<Range> ranges_;  // `dimensions_` a box
    std::vector<std::int64_t> process_;
    std::vector<std::int64_t> order_;
    std::vector<Node> nodes_;
    std::vector<Range> bounds_;
};

/// Whether box k intersects another one; whether any box does.
bool overlaps(const BoxIndex& boxes, std::int64_t k);
bool any_overlaps(const BoxIndex& boxes);

/// One sender for each index in boxes: disjoint boxes that cover the same indices. If several
/// processes hold a box, each gets a share of it, as equal as whole indices allow. Takes O(k log k)
/// for k boxes that overlap little, as borders do.
BoxIndex senders_of(const BoxIndex& boxes, std::size_t dimensions);

}  // namespace hocket::layout
