// SPDX-License-Identifier: BSD-3-Clause
// The processes that this one exchanges messages with: those of a private communicator, which MPI
// reaches, and those of other jobs, each by an endpoint. The only door to MPI's messages. Nothing
// here blocks.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "comm/awaited_peers.hpp"
#include "comm/endpoint.hpp"
#include "comm/protocol.hpp"
#include "comm/requests.hpp"
#include "shm/inbox.hpp"

namespace hocket::comm {

inline constexpr int any_source = -1;

struct ProbeResult {
    ProbeResult(int from, std::int64_t length, std::optional<std::string> all = std::nullopt)
        : source(from), bytes(length), text(std::move(all)) {}
    int source;
    std::int64_t bytes;
    std::optional<std::string> text;  // none: it is still to be received
};

class Link {
  public:
    struct Handle;  // the MPI_Comm
    explicit Link(std::shared_ptr<Handle> handle);
    /// Of this process alone, which need not run MPI.
    Link();
    ~Link();  ///< does not close the communicator: see comm/closing.hpp
    Link(const Link&) = delete;
    Link& operator=(const Link&) = delete;

    /// Adds the processes of other jobs: `endpoints[rank]` for these; this link's own processes,
    /// which have none, get the ranks from `first` on. Whoever shares the link numbers all
    /// processes alike. Before the link's first message (comm/joining.hpp).
    void add_endpoints(int first, std::vector<std::shared_ptr<Endpoint>> endpoints);
    int first_own() const { return first_; }
    int own_size() const { return own_size_; }
    bool has_endpoints() const { return !endpoints_.empty(); }
    /// The endpoint of a process of another job, else nullptr.
    Endpoint* endpoint(int rank) const {
        return endpoints_.empty() ? nullptr : endpoints_[static_cast<std::size_t>(rank)].get();
    }

    /// Whether that process, or any, stores the bytes of numbers in the other order.
    bool other_order(int rank) const {
        const Endpoint* const other = endpoint(rank);
        return other != nullptr && other->other_order();
    }
    bool mixes_orders() const {
        return std::any_of(endpoints_.begin(), endpoints_.end(),
                           [](const auto& each) { return each != nullptr && each->other_order(); });
    }

    int rank() const { return rank_; }
    int size() const { return size_; }
    /// For all purposes except three, which have their own tags: the link's end, requests to dial
    /// between joined jobs, and the queue of texts.
    int highest_tag() const { return highest_tag_; }
    int closing_tag() const { return highest_tag_ + 1; }
    int asking_tag() const { return highest_tag_ + 2; }
    static constexpr int own_tags = 3;
    void set_highest_tag(int tag) { highest_tag_ = tag; }
    /// Whether that process shares this one's memory; false for all before `set_nodes`.
    bool in_node(int rank) const {
        if (!nodes_) return false;
        const int mine = (*nodes_)[static_cast<std::size_t>(rank_)];
        return mine >= 0 && mine == (*nodes_)[static_cast<std::size_t>(rank)];
    }
    /// A number for its node; the same for all processes with unknown nodes.
    std::int64_t node(int rank) const {
        return nodes_ ? (*nodes_)[static_cast<std::size_t>(rank)] : 0;
    }
    /// nodes[rank]: a number for the node of each process; negative: a node whose processes cannot
    /// map each other's memory.
    void set_nodes(std::shared_ptr<const std::vector<int>> nodes) { nodes_ = std::move(nodes); }

    /// The message queues with processes of the node, which the links of a communicator share;
    /// links have the same numbers on all processes. `inbox_index[rank]`: the rank's number in the
    /// inboxes.
    struct NodeInbox {
        std::unique_ptr<shm::Inbox> inbox;
        std::vector<std::size_t> inbox_index;
        std::vector<int> ranks;  // by number
        bool pushed = false;     // to the engine, because a queue was full
    };
    void set_inbox(std::shared_ptr<NodeInbox> node_inbox, int number) {
        node_inbox_ = std::move(node_inbox);
        number_ = number;
    }
    int number() const { return number_; }
    /// The purpose of a text: a part of the call with its tag.
    enum class Purpose { agreement, data, refusal, text };
    /// Sends a text through shared memory to a process that is `in_node`. Texts with one tag and
    /// purpose stay in order, and arrive even if this process never polls again. Returns the
    /// argument of `delivered_in_node`; never waits.
    std::uint64_t send_in_node(int to, Purpose purpose, int tag, const std::string& text);
    bool delivered_in_node(int to, std::uint64_t sent);
    /// The next text that has arrived, if there is one. @throws Error if memory cannot be mapped.
    std::optional<std::string> receive_in_node(int from, Purpose purpose, int tag);
    /// Sends texts for which a queue was full.
    void flush_inbox() const {
        if (node_inbox_) node_inbox_->inbox->flush();
    }

    /// From now on the texts that MPI carries arrive in one queue, which takes fewer calls of MPI.
    /// All processes of the communicator call it, or none, between the same two texts.
    void queue_texts();

    /// processes[rank]: its id; negative: one of another host (shm::peer_elsewhere); 0: unknown.
    void set_processes(std::shared_ptr<const std::vector<std::int64_t>> processes) {
        processes_ = std::move(processes);
    }
    /// Reports to the loss detector that this process waits for that one, or for one of those.
    /// @throws PeerLostError for processes of another job that are all lost; for processes of this
    /// job, if another job has been lost for a moment, since they may come no more.
    void need(int rank) const {
        auto* const awaited = AwaitedPeers::collecting();
        if (awaited != nullptr) awaited->add_any({process(rank)});
        if (awaited != nullptr && endpoint(rank) != nullptr)
            awaited->add_names("an answer: " + endpoint(rank)->silence_text());
        if (Endpoint* const other = endpoint(rank))
            other->require_present();
        else if (has_endpoints())
            require_other_jobs();
    }
    void need_any(const std::vector<int>& ranks) const;
    /// For errors of deadlines: "; process 1 of 'viewer' was last heard 12 s ago"; "" for a process
    /// of this job.
    std::string silence_text(int rank) const {
        const Endpoint* const other = endpoint(rank);
        return other == nullptr ? "" : "; " + other->silence_text();
    }
    std::int64_t process(int rank) const {
        return processes_ ? (*processes_)[static_cast<std::size_t>(rank)] : 0;
    }
    /// Its id on its own host, equal on all hosts; 0: unknown.
    std::int64_t process_id(int rank) const;

    /// Starts a message of any number of bytes; more than MPI counts in an int travel as several
    /// messages, which stay in order. Both sides must name the same number of bytes; but if `data`
    /// is nullptr, all of these arrive empty (Requests::watch_lengths).
    void send(Requests& requests, const void* data, std::int64_t bytes, int to, int tag);
    void receive(Requests& requests, void* data, std::int64_t bytes, int from, int tag);

    /// The next text with this tag that has arrived, if there is one; the caller starts its
    /// receive, unless it came through shared memory.
    std::optional<ProbeResult> probe(int from, int tag);
    /// Starts a short text; through shared memory within the node. The text must live until it has
    /// been sent.
    void send_text(Requests& requests, const std::string& text, int to, int tag);

    /// Messages that this process sent by MPI, less those that it began to receive.
    std::int64_t unreceived() const;
    /// Whether a message of this process was abandoned before its end.
    bool given_up() const;
    /// Frees the communicator. Only when no process sends on it any more.
    void free();

  private:
    std::shared_ptr<Handle> handle_;
    int rank_ = 0, size_ = 0, highest_tag_ = 0;
    std::shared_ptr<const std::vector<int>> nodes_;
    std::shared_ptr<const std::vector<std::int64_t>> processes_;
    std::shared_ptr<NodeInbox> node_inbox_;
    int number_ = 0;
    std::vector<std::shared_ptr<Endpoint>> endpoints_;  // by rank
    int first_ = 0, own_size_ = 0;                      // of its own processes
    mutable double next_look_ = 0, lost_since_ = 0;     // at other jobs
    void require_other_jobs() const;
    std::uint64_t message_number(Purpose purpose, int tag) const;
    std::optional<ProbeResult> probe_in_node(int from, int tag);
    std::optional<ProbeResult> probe_endpoints(int from, int tag);
    // Texts of the link's end go by MPI, because its messages are counted.
    bool goes_in_node(int rank, int tag) const { return tag != closing_tag() && in_node(rank); }
};

/// Short texts of unknown length, by which processes agree on a call.
Protocol<> send_text(Link& link, std::string text, int to, int tag);
struct TextMessage {
    int from;
    std::string text;
};
Protocol<TextMessage> receive_text(Link& link, int from, int tag);
/// As above; nothing if `ended`, which must live as long, turns true before a text comes.
Protocol<std::optional<TextMessage>> receive_text(Link& link, int from, int tag,
                                                  const std::function<bool()>& ended);
/// Receives a text that a probe has found.
Protocol<TextMessage> receive_text(Link& link, ProbeResult arrival, int tag);
}  // namespace hocket::comm
