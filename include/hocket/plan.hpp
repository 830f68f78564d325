// SPDX-License-Identifier: BSD-3-Clause
// Plans: the elements that each process sends to each other process. Pure data: no MPI, no buffers.
// hocket computes the part of one rank without those of the others.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "hocket/layout.hpp"

namespace hocket {

/// The two sides of a transfer: the processes of the source layout and those of the destination
/// layout.
enum class Side { source, destination };

namespace plan {

/// A linear cost model of messages, within a node and between nodes. `hocket calibrate` measures
/// the values of this machine. A cost between nodes of 0 means that within a node.
struct Model {
    double message = 5e-7;   ///< seconds of each of the two processes for one message
    double byte = 1.5e-10;   ///< seconds for one byte under way
    double copy = 1e-10;     ///< seconds to copy one byte that a process relays
    double relay = 5e-6;     ///< seconds until a process sees a message that it relays
    double far_message = 0;  ///< between nodes
    double far_byte = 0;
    double far_relay = 0;
    friend bool operator==(const Model&, const Model&) = default;

    /// Lines of "name = seconds", as in the file of `hocket calibrate`; # begins a comment.
    std::string text() const;
    /// Values without a line keep their defaults. @throws Error for unknown names and for values
    /// that are no seconds; the message names the line.
    static Model parse(const std::string& text);
    /// The model in the file that HOCKET_MODEL names, else in the file of `hocket calibrate`. The
    /// default model if there is no file, or if HOCKET_MODEL is "default". hocket reads the file
    /// once.
    /// @throws Error if it cannot read the file.
    static const Model& kept();
    /// The path of the file of `hocket calibrate`: HOCKET_MODEL, else hocket/model in
    /// XDG_CONFIG_HOME or ~/.config.
    static std::string kept_path();
};

struct Options {
    std::vector<std::int64_t> axes = {};  ///< destination = transpose(source, axes); empty: none
    std::int64_t itemsize = 8;            ///< bytes of one element
    /// "direct", "centralized", "staged", "multistage" or "hybrid"; "auto": the fastest one by the
    /// model.
    std::string strategy = "auto";
    /// overlap[destination process] is the source process that is the same process, or -1. Empty:
    /// the two sides are disjoint.
    std::vector<std::int64_t> overlap = {};
    /// Instead of `overlap`: process r of the destination is process r of the source.
    bool same_ranks = false;
    /// Staged and centralized: the number of collecting processes of the larger side. 0: as many as
    /// the smaller side has processes for staged, and one for centralized.
    std::int64_t stages = 0;
    std::optional<Model> model = {};  ///< none: Model::kept()
    /// The node of each process, as arbitrary numbers. Empty: one node for all; or one node a side,
    /// if the sides are disjoint and the model has costs between nodes.
    std::vector<std::int64_t> source_nodes = {}, destination_nodes = {};
    /// The transfer does not change elements of the destination that no source process holds.
    bool partial = false;
};

/// The predicted seconds of one strategy.
struct Prediction {
    std::string strategy;
    double seconds;
};

/// The elements that one process exchanges with one process of the other side.
struct Traffic {
    std::int64_t process;
    std::int64_t elements;
    friend bool operator==(const Traffic&, const Traffic&) = default;
};

/// One message of the chosen strategy, as one process sees it.
struct Step {
    std::int64_t round;
    bool send;  ///< else a receive
    Side peer_side;
    std::int64_t peer;
    std::int64_t elements;
    friend bool operator==(const Step&, const Step&) = default;
};

/// Elements that travel from one source process to one destination process.
struct Parcel {
    std::int64_t source, destination, elements;
    friend bool operator==(const Parcel&, const Parcel&) = default;
};

/// An assignment of processes to the parts of a destination; see `relabel`.
struct Relabeling {
    std::vector<std::int64_t> ranks;  ///< ranks[r]: the process that takes part r; each process
                                      ///< takes one
    std::int64_t moved = 0;           ///< elements that move between processes with this assignment
    std::int64_t moved_without = 0;   ///< elements that move if process r takes part r
};

/// One loop of a Box: `extent` iterations. Each advances `source_step` local indices (may be
/// negative) along dimension `source_dimension` of the sender's local array, and `destination_step`
/// along `destination_dimension` of the receiver's.
struct Loop {
    std::int64_t extent;
    int source_dimension;
    std::int64_t source_step;
    int destination_dimension;
    std::int64_t destination_step;
};

/// A strided box of elements: the local indices of its first element on both sides, and its loops,
/// outermost first. Both sides list the same boxes in the same order. The elements of a message are
/// those of the boxes, in row-major order of the loops.
struct Box {
    Shape source_first, destination_first;
    std::vector<Loop> loops;
};

/// One process's part of a plan: its peers, with segment families for each dimension. hocket
/// computes boxes on request. Its memory grows with peers and periods, not with elements.
class Part {
  public:
    struct Data;
    explicit Part(std::shared_ptr<const Data> data);
    /// The peers that exchange at least one element with this process, increasing; includes itself.
    const std::vector<Traffic>& peers() const;
    /// The elements exchanged with `peers()[k]`.
    std::vector<Box> boxes(std::size_t k) const;

  private:
    handle::Shared<const Data, "Part"> data_;
};

}  // namespace plan

/// The plan of a transfer from a source layout to a destination layout.
class Plan {
  public:
    /// @throws LayoutError if the shapes do not match (under `axes`), `axes` is no permutation,
    ///         `overlap` is not one-to-one, the strategy is unknown, the strategy has no `stages`
    ///         or they are out of range, a list of nodes has not one entry a process, or itemsize <
    ///         1.
    /// For more than 65536 pairs of processes, each process finds its own messages. "auto" then
    /// chooses hybrid only between grids, and only if each side is on one node, and direct for
    /// lists and boxes of more than 2^20 messages. If one process would pass on more than 2^24
    /// parcels, or lists or copies exchange more, hocket refuses totals and parts of the plan.
    Plan(Layout source, Layout destination, plan::Options options = {});

    const Layout& source() const;
    const Layout& destination() const;
    const plan::Options& options() const;
    const std::string& strategy() const;  ///< the chosen one, never "auto"

    /// The receivers of source process `rank` and their numbers of elements, whatever the strategy:
    /// sorted, without zeros, including itself. @throws LayoutError if there is no such process.
    std::vector<plan::Traffic> sends(std::int64_t rank) const;
    std::vector<plan::Traffic> recvs(std::int64_t rank) const;
    /// The messages of the chosen strategy in which process `rank` of `side` takes part. Elements
    /// that stay on their process are no message.
    std::vector<plan::Step> steps(Side side, std::int64_t rank) const;
    /// The contents of these messages: for each of `steps(side, rank)` a list of parcels, in the
    /// order in which the message stores them (by source, then destination).
    std::vector<std::vector<plan::Parcel>> cargo(Side side, std::int64_t rank) const;
    /// The number of rounds. In a round, each process sends at most one message and receives at
    /// most one.
    std::int64_t rounds() const;
    std::int64_t message_count() const;
    std::int64_t elements_moved() const;

    /// The number of elements that process `rank` of `side` and each process of the other side both
    /// hold, without zeros. Counts every copy of the source, although only one is sent.
    std::vector<plan::Traffic> common(Side side, std::int64_t rank) const;

    /// The part of one process. Does not compute those of the others.
    plan::Part part(Side side, std::int64_t rank) const;
    /// The source process that is the same process as destination process `rank`, or -1.
    std::int64_t same_process(std::int64_t destination_rank) const;

    /// The predicted seconds of all strategies by the model: a stage takes as long as its slowest
    /// process. For more than 65536 direct messages (2^20 of lists), the model uses the sums of
    /// each process instead of its messages.
    std::vector<plan::Prediction> predict(const plan::Model& model) const;
    std::vector<plan::Prediction> predict() const;  ///< by the model of the plan

    std::string text() const;

  private:
    struct State;
    handle::Shared<const State, "Plan"> state_;
};

/// Assigns the source's processes to the destination's parts so that the fewest elements move. The
/// assignment is exact, and keeps process r at part r if a change gains nothing. Redistribute to
/// `destination.relabeled(ranks)`. `ranks` is also a valid `overlap` of a plan, if the source has
/// at least as many processes as the destination; otherwise some ranks lie beyond the source's.
/// Memory grows with the pairs of processes that share elements; between grids, with those of
/// classes of equal processes, or with processes if intervals of best peers settle it.
/// @throws LayoutError as Plan does.
plan::Relabeling relabel(const Layout& source, const Layout& destination,
                         std::vector<std::int64_t> axes = {});

}  // namespace hocket
