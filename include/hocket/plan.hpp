// SPDX-License-Identifier: BSD-3-Clause
// Who sends which elements to whom. Pure data: no MPI, no buffers, any rank's part alone.
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

/// The two sides of a transfer: the processes of the source layout and those of the destination.
enum class Side { source, destination };

namespace plan {

/// A linear model of what messages cost, within a node and between nodes; `hocket calibrate`
/// measures this machine's. A cost between nodes that is 0 is the one within a node.
struct Model {
    double message = 5e-7;   ///< seconds that a message takes of each process at its ends
    double byte = 1.5e-10;   ///< seconds a byte under way
    double copy = 1e-10;     ///< seconds a byte that is copied in order to be passed on
    double relay = 5e-6;     ///< seconds until a process sees what it waits for to pass it on
    double far_message = 0;  ///< between nodes
    double far_byte = 0;
    double far_relay = 0;
    friend bool operator==(const Model&, const Model&) = default;

    /// Lines of "name = seconds", as the file that `hocket calibrate` writes; # begins a comment.
    std::string text() const;
    /// What is not named keeps its default. @throws Error for other names and values that are no
    /// seconds, naming the line.
    static Model parse(const std::string& text);
    /// The model of the file that HOCKET_MODEL names, else of the one that `hocket calibrate`
    /// keeps; the default where there is none, or HOCKET_MODEL is "default". Read once.
    /// @throws Error if a file is there that cannot be read.
    static const Model& kept();
    /// Where `hocket calibrate` keeps its model: HOCKET_MODEL, else hocket/model under
    /// XDG_CONFIG_HOME or ~/.config.
    static std::string kept_path();
};

struct Options {
    std::vector<std::int64_t> axes;  ///< destination = transpose(source, axes); empty: none
    std::int64_t itemsize = 8;       ///< bytes of one element
    /// "direct", "centralized", "staged", "multistage", "hybrid"; or "auto": what the model finds
    /// fastest.
    std::string strategy = "auto";
    /// overlap[destination process] = the source process that is the same process, or -1. Empty:
    /// the two sides are disjoint.
    std::vector<std::int64_t> overlap;
    /// Instead of `overlap`: process r of the destination is process r of the source.
    bool same_ranks = false;
    /// Staged and centralized: how many processes of the larger side collect for the others; 0: as
    /// many as the smaller side has, and one.
    std::int64_t stages = 0;
    std::optional<Model> model = {};  ///< none: Model::kept()
    /// The node of each process, in any numbers; empty: one node, or, where the model knows costs
    /// between nodes and the sides are disjoint, one a side.
    std::vector<std::int64_t> source_nodes = {}, destination_nodes = {};
    /// Elements of the destination that no process of the source holds stay as they are.
    bool partial = false;
};

/// What one strategy is expected to take.
struct Prediction {
    std::string strategy;
    double seconds;
};

/// What one process exchanges with one process of the other side.
struct Traffic {
    std::int64_t process;
    std::int64_t elements;
    friend bool operator==(const Traffic&, const Traffic&) = default;
};

/// One message of the chosen strategy, seen from one process.
struct Step {
    std::int64_t round;
    bool send;  ///< else a receive
    Side peer_side;
    std::int64_t peer;
    std::int64_t elements;
    friend bool operator==(const Step&, const Step&) = default;
};

/// Elements on their way from one source process to one destination process.
struct Parcel {
    std::int64_t source, destination, elements;
    friend bool operator==(const Parcel&, const Parcel&) = default;
};

/// Which processes take which parts of a destination; see `relabel`.
struct Relabeling {
    std::vector<std::int64_t> ranks;  ///< ranks[r]: the process that takes part r, each once
    std::int64_t moved = 0;           ///< elements that move between processes then
    std::int64_t moved_without = 0;   ///< and where process r takes part r
};

/// One loop of a Box: `extent` steps (which may be negative), each of `source_step` local indices
/// along dimension `source_dimension` of the sender's local array, and likewise for the receiver's.
struct Loop {
    std::int64_t extent;
    int source_dimension;
    std::int64_t source_step;
    int destination_dimension;
    std::int64_t destination_step;
};

/// A strided box of elements: where its first element lies in both local arrays (local indices),
/// and its loops, outermost first. Both sides list the same boxes in the same order, so that the
/// elements in row-major order of the loops are the message.
struct Box {
    Shape source_first, destination_first;
    std::vector<Loop> loops;
};

/// One process's part of a plan: whom it exchanges elements with, by segment families per
/// dimension; boxes are made when asked for. Costs memory by peers and periods, never by elements.
class Part {
  public:
    struct Data;
    explicit Part(std::shared_ptr<const Data> data);
    /// Peers that exchange at least one element, increasing; oneself included.
    const std::vector<Traffic>& peers() const;
    /// The elements exchanged with `peers()[k]`.
    std::vector<Box> boxes(std::size_t k) const;

  private:
    std::shared_ptr<const Data> data_;
};

}  // namespace plan

/// For a source and a destination layout: who sends which elements to whom.
class Plan {
  public:
    /// @throws LayoutError where the shapes do not match (under `axes`), `axes` is no permutation,
    ///         `overlap` is not one-to-one, the strategy is unknown, `stages` belongs to none such
    ///         or is out of range, a list of nodes has not one entry a process, or itemsize < 1.
    ///         Strategies other than direct need a look at all messages, and throw when asked for
    ///         them where there are more than 2^24.
    Plan(Layout source, Layout destination, plan::Options options = {});

    const Layout& source() const;
    const Layout& destination() const;
    const plan::Options& options() const;
    const std::string& strategy() const;  ///< the chosen one, never "auto"

    /// Logical traffic, whatever the strategy: whom source process `rank` sends how many elements,
    /// sorted, zeros left out, itself included. @throws LayoutError if there is no such process.
    std::vector<plan::Traffic> sends(std::int64_t rank) const;
    std::vector<plan::Traffic> recvs(std::int64_t rank) const;
    /// The messages of the chosen strategy that process `rank` of `side` takes part in. What stays
    /// on its process is no message.
    std::vector<plan::Step> steps(Side side, std::int64_t rank) const;
    /// What each of these messages carries: parcels by source, then destination, in which order
    /// they lie in the message. One list for each of `steps(side, rank)`.
    std::vector<std::vector<plan::Parcel>> cargo(Side side, std::int64_t rank) const;
    /// Turns in which each process sends one message and receives one, at most.
    std::int64_t rounds() const;
    std::int64_t message_count() const;
    std::int64_t elements_moved() const;

    /// What process `rank` of `side` and each process of the other side both hold, zeros left out:
    /// every copy of the source is listed, though one of them sends.
    std::vector<plan::Traffic> common(Side side, std::int64_t rank) const;

    /// One process's part, computed alone.
    plan::Part part(Side side, std::int64_t rank) const;
    /// The source process that destination process `rank` also is, or -1.
    std::int64_t same_process(std::int64_t destination_rank) const;

    /// All strategies and their seconds as the model sees them: the time of each stage is that of
    /// its slowest process. Plans of more than 65536 pairs of processes are taken to exchange as
    /// much between each pair, but for the direct strategy.
    std::vector<plan::Prediction> predict(const plan::Model& model) const;
    std::vector<plan::Prediction> predict() const;  ///< by the model of the plan

    std::string text() const;

  private:
    struct State;
    std::shared_ptr<const State> state_;
};

/// The assignment of the source's processes to the destination's parts that moves the fewest
/// elements, exactly; process r keeps part r where nothing is gained.
/// `destination.relabeled(ranks)` is the layout to move to; `ranks` may also be a plan's overlap
/// where no more processes are named than the source has. Where the destination has more, some
/// ranks lie beyond the source's. Costs memory by pairs of processes that have something in common.
/// @throws LayoutError as Plan does.
plan::Relabeling relabel(const Layout& source, const Layout& destination,
                         std::vector<std::int64_t> axes = {});

}  // namespace hocket
