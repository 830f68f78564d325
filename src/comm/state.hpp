// SPDX-License-Identifier: BSD-3-Clause
// The implementation of hocket::Comm.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "comm/closing.hpp"
#include "comm/link.hpp"
#include "comm/peers.hpp"

namespace hocket::comm {

/// The user's communicator and hocket's private duplicate of it, made at the first collective use.
class State {
  public:
    struct User;  // the MPI_Comm
    explicit State(std::unique_ptr<User> user);
    /// Of the processes of a link: of this one alone, which need not run MPI, or of several jobs
    /// (comm/joining.hpp).
    explicit State(OwnedLink link);
    ~State();

    int rank() const { return rank_; }
    int size() const { return size_; }
    bool by_mpi() const { return user_ != nullptr; }
    const User& user() const { return *user_; }  ///< by MPI only
    void forget_user();                          ///< the user has freed it

    /// Makes the private duplicate, if there is none yet. Every collective call begins with it.
    Protocol<> open();
    Link& link() { return *link_; }  ///< once open
    /// A tag for one collective call on the link. All processes make these calls in the same order,
    /// so all get the same tag.
    int next_tag();
    /// The number of issued tags: tags repeat, this number does not.
    std::int64_t tags_issued() const { return tags_given_; }
    /// A second tag of the same call, for replies.
    static int reply_tag(int tag) { return tag + 1; }
    /// A further duplicate, with tags of its own. Collective.
    Protocol<OwnedLink> new_link();
    /// A further duplicate that lives as long as this one, made once. Collective. For users whose
    /// messages may never be received: a link with messages left is never freed, so they share this
    /// one.
    Protocol<Link*> lasting_link();
    /// Two tags of the lasting link, for one user of it. The lowest process takes them, and sends
    /// them to the others.
    int next_lasting_tags();
    /// A communicator of the processes with the same color, ordered by `key`, for a user; it ends
    /// with its last handle. nullptr for color -1. Collective.
    std::shared_ptr<State> split(int color, int key);
    /// A description of the process of that rank, for errors that name it.
    void describe(int rank, const std::string& words);

  private:
    void introduce(Link& link, int number);
    int highest_tag() const;
    void require_alone() const;
    std::unique_ptr<User> user_;  // none: of a link
    OwnedLink link_, lasting_;
    int next_lasting_ = 0;
    // Not one of next_tag's: opening may end after a later call has taken its own.
    static constexpr int opening_tag = 0;
    int rank_ = 0, size_ = 0, next_tag_ = 2;
    std::int64_t tags_given_ = 0;
    std::vector<Peer> peers_;
    std::shared_ptr<const std::vector<int>> nodes_;  // of each process, a number
    std::shared_ptr<const std::vector<std::int64_t>> processes_;
    std::shared_ptr<Link::NodeInbox> node_inbox_;
    int links_ = 0;  // number of links made
    bool opening_ = false, opened_ = false;
};

}  // namespace hocket::comm
