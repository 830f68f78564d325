// SPDX-License-Identifier: BSD-3-Clause
#include "comm/state.hpp"

#include <mpi.h>

#include <algorithm>

#include "base/environment.hpp"
#include "base/platform.hpp"
#include "base/trace.hpp"
#include "comm/agree.hpp"
#include "comm/engine.hpp"
#include "comm/fork.hpp"
#include "comm/mpi/handle.hpp"
#include "comm/node_sharing.hpp"
#include "comm/polled.hpp"
#include "comm/surroundings.hpp"
#include "comm/vendor.hpp"
#include "hocket/comm.hpp"
#include "hocket/mpi.hpp"
#include "shm/cma.hpp"
#include "shm/mapping.hpp"
#include "shm/missing_ranks.hpp"
#include "shm/status_page.hpp"

namespace hocket::comm {

struct State::User {
    MPI_Comm comm = MPI_COMM_NULL;  // stays set after the communicator is freed
    bool ours = false;

    MPI_Comm in_use() const {
        if (comm == MPI_COMM_NULL)
            throw Error(
                "the communicator was freed (MPI_Comm_free), and is in use by this call; free it "
                "after the last call with its arrays, teams and tasks");
        return comm;
    }
};

namespace {

// The State of a communicator is an attribute of it, so that the same communicator always gives the
// same State. The user's communicator owns its State; a State owns a communicator that hocket made.
struct Attached {
    std::weak_ptr<State> state;
    std::shared_ptr<State> kept;
};

int release(MPI_Comm, int, void* value, void*) {
    const std::unique_ptr<Attached> attached(static_cast<Attached*>(value));
    if (const auto state = attached->state.lock()) state->forget_user();
    return MPI_SUCCESS;
}

int keyval() {
    static const int key = [] {
        int made = MPI_KEYVAL_INVALID;
        check(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, release, &made, nullptr),
              "MPI_Comm_create_keyval");
        return made;
    }();
    return key;
}

int on_leaving(MPI_Comm, int, void*, void*) {
    // simulated processes are threads of one process
    if constexpr (!platform::simulated) Engine::instance().end();
    shm::publish_departure();
    TextQueue::close_all();
    return MPI_SUCCESS;
}

// From hocket's first use on, processes that wait for a first collective call can see whether this
// process will make it. MPI_Finalize begins by deleting the attributes of MPI_COMM_SELF (MPI 4.1,
// section 11.2.4).
void be_present() {
    static const bool hung = [] {
        vendor::outlive_connections();
        try {
            static_cast<void>(shm::own_status_page());
        } catch (const Error&) {
            return false;  // an error of the first collective call, on all processes
        }
        int key = MPI_KEYVAL_INVALID;
        check(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_leaving, &key, nullptr),
              "MPI_Comm_create_keyval");
        check(MPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr), "MPI_Comm_set_attr");
        return true;
    }();
    static_cast<void>(hung);
}

// Without blocking, so that a process that never comes cannot delay the others past their deadline.
Protocol<OwnedLink> duplicate(MPI_Comm user) {
    auto handle = std::make_shared<Link::Handle>();
    if constexpr (platform::simulated) {  // SMPI has no MPI_Comm_idup
        check(MPI_Comm_dup(user, &handle->comm), "MPI_Comm_dup");
    } else {
        MPI_Request request = MPI_REQUEST_NULL;
        check(MPI_Comm_idup(user, &handle->comm, &request), "MPI_Comm_idup");
        shm::ExpectedRanks all(vendor::world_ranks(user), vendor::world_rank(), vendor::launcher(),
                               vendor::all_on_one_node());
        int done = 0;
        When made([&] {
            check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
            if (auto* const awaited = AwaitedPeers::collecting()) awaited->add_names(all.late());
            return done != 0 || all.any_missing();
        });
        co_await until(made);
        if (done == 0) {
            static_cast<void>(new auto(handle));  // MPI may still write into it
            throw PeerLostError(
                all.absent() + ", but this process waits for it to begin a collective call of " +
                std::to_string(all.size()) + " processes; let all of them make that call");
        }
    }
    co_return OwnedLink(new Link(std::move(handle)));
}

std::shared_ptr<State> attached(MPI_Comm user) {
    // A forked child may use its parent's communicators for its own arrays, without communication.
    if (!forked()) be_present();
    void* value = nullptr;
    int found = 0;
    check(MPI_Comm_get_attr(user, keyval(), &value, &found), "MPI_Comm_get_attr");
    if (found != 0) return static_cast<Attached*>(value)->state.lock();
    require_no_fork();
    auto made = std::make_unique<State::User>();
    made->comm = user;
    auto state = std::make_shared<State>(std::move(made));
    check(MPI_Comm_set_attr(user, keyval(), new Attached{state, state}), "MPI_Comm_set_attr");
    return state;
}

}  // namespace

State::State(std::unique_ptr<User> user) : user_(std::move(user)) {
    check(MPI_Comm_rank(user_->comm, &rank_), "MPI_Comm_rank");
    check(MPI_Comm_size(user_->comm, &size_), "MPI_Comm_size");
}

State::State(OwnedLink link)
    : link_(std::move(link)), rank_(link_->rank()), size_(link_->size()), opened_(true) {}

State::~State() {
    link_.reset();
    lasting_.reset();
    if (user_ != nullptr && user_->ours && user_->comm != MPI_COMM_NULL) {
        // Any thread may drop the last handle of a communicator, but not every thread may call MPI.
        const auto poll = [comm = user_->comm]() mutable {
            if (running()) check(MPI_Comm_free(&comm), "MPI_Comm_free");
            return true;
        };
        Engine::instance().post_background(std::make_shared<FunctionOperation>(
            poll, [] { return std::string("freeing a communicator"); }));
    }
}

void State::forget_user() {
    user_->comm = MPI_COMM_NULL;
}

int State::next_tag() {
    if (user_ != nullptr) require_running();
    const int tag = next_tag_;
    ++tags_given_;
    next_tag_ = next_tag_ > highest_tag() - 4 ? 2 : next_tag_ + 2;
    return tag;
}

int State::highest_tag() const {
    return user_ != nullptr ? vendor::highest_tag() - Link::own_tags : link_->highest_tag();
}

namespace {

class Opening {
  public:
    explicit Opening(bool& flag) : flag_(flag) {}
    ~Opening() { flag_ = false; }
    Opening(const Opening&) = delete;
    Opening& operator=(const Opening&) = delete;

  private:
    bool& flag_;
};

// An error of this process's environment becomes an error on all, here, and never in the middle of
// a transfer; so does a version or a setting that processes do not share.
CallSignature surroundings() {
    CallSignature mine;
    try {
        environment::check();
        static_cast<void>(vendor::node_name());
        static_cast<void>(shm::own_status_page());
        mine.text = packed(own_surroundings());
    } catch (const Error&) {
        mine.fault = Fault::current();
    }
    return mine;
}

}  // namespace

Protocol<> State::open() {
    if (opened_) co_return;
    require_running();
    if (opening_) {  // an earlier call opens it, and goes on whatever its caller does
        When done([&] { return !opening_; });
        co_await until(done);
        if (opened_) co_return;
    }
    opening_ = true;
    shm::take_part(vendor::world_rank());
    const Opening opening(opening_);  // after an error the next call may try again
    link_ = co_await duplicate(user_->in_use());
    co_await agree(Group::whole(*link_), opening_tag, surroundings(), surroundings_differ);
    peers_ = co_await find_peers(*link_, opening_tag);
    watch(peers_);
    describe(rank_, "");
    auto nodes = std::make_shared<std::vector<int>>();
    for (const auto& peer : peers_) nodes->push_back(peer.node);
    // Processes that a launcher has bound to other cores do not count, but those of a pretended
    // other node do.
    Engine::instance().add_node_processes(
        static_cast<int>(std::count_if(peers_.begin(), peers_.end(), [](const Peer& peer) {
            const bool known = peer.identity.pid_namespace == shm::own_identity().pid_namespace;
            return peer.same_host && (!known || platform::shares_cores(peer.identity.process));
        })));
    NodeSharing sharing = co_await find_node_sharing(*link_, opening_tag, nodes);
    nodes_ = std::move(sharing.nodes);
    node_inbox_ = std::move(sharing.node_inbox);
    watch(peers_);  // again, because memory may be accessible now
    auto processes = std::make_shared<std::vector<std::int64_t>>();
    for (const auto& peer : peers_) processes->push_back(number_of(peer));
    processes_ = std::move(processes);
    introduce(*link_, 0);
    opened_ = true;
}

void State::introduce(Link& link, int number) {
    link.set_nodes(nodes_);
    link.set_processes(processes_);
    link.set_inbox(node_inbox_, number);
    const auto elsewhere = [&](int node) { return node < 0 || node != nodes_->front(); };
    if (std::any_of(nodes_->begin(), nodes_->end(), elsewhere)) link.queue_texts();
}

void State::require_alone() const {
    if (size_ > 1)
        throw Error("this call needs a communicator of one job; its processes are of several");
}

Protocol<OwnedLink> State::new_link() {
    if (user_ == nullptr) {
        require_alone();
        co_return OwnedLink(new Link);
    }
    const int number = ++links_;  // all processes make them in the same order
    OwnedLink made = co_await duplicate(user_->in_use());
    introduce(*made, number);
    co_return made;
}

Protocol<Link*> State::lasting_link() {
    if (lasting_ == nullptr) {
        OwnedLink made = co_await new_link();
        if (lasting_ == nullptr) lasting_ = std::move(made);
    }
    co_return lasting_.get();
}

int State::next_lasting_tags() {
    const int tags = next_lasting_;
    next_lasting_ = next_lasting_ > highest_tag() - 4 ? 0 : next_lasting_ + 2;
    return tags;
}

void State::describe(int rank, const std::string& words) {
    if (static_cast<std::size_t>(rank) >= peers_.size()) return;
    const Peer& peer = peers_[static_cast<std::size_t>(rank)];
    if (rank == rank_) trace::name_process(name_of(peer, words), peer.world_rank);
    if (!words.empty()) comm::describe(peer, words);
}

std::shared_ptr<State> State::split(int color, int key) {
    if (user_ == nullptr) {
        require_alone();
        return color < 0 ? nullptr : std::make_shared<State>(OwnedLink(new Link));
    }
    require_running();
    MPI_Comm part = MPI_COMM_NULL;
    check(MPI_Comm_split(user_->in_use(), color < 0 ? MPI_UNDEFINED : color, key, &part),
          "MPI_Comm_split");
    if (color < 0) return nullptr;
    auto made = std::make_unique<User>();
    made->comm = part;
    made->ours = true;
    auto state = std::make_shared<State>(std::move(made));
    check(MPI_Comm_set_attr(part, keyval(), new Attached{state, nullptr}), "MPI_Comm_set_attr");
    return state;
}

}  // namespace hocket::comm

namespace hocket {

Comm Comm::world() {
    return from_mpi(MPI_COMM_WORLD);
}
Comm Comm::self() {
    return from_mpi(MPI_COMM_SELF);
}
int Comm::rank() const {
    return state_->rank();
}
int Comm::size() const {
    return state_->size();
}

Comm from_mpi(MPI_Comm user) {
    comm::require_running();
    if (user == MPI_COMM_NULL)
        throw Error(
            "the communicator is MPI_COMM_NULL: it was freed, or this process is not in it; free "
            "it after the last call with its arrays, teams and tasks");
    int between = 0;
    comm::check(MPI_Comm_test_inter(user, &between), "MPI_Comm_test_inter");
    if (between != 0)
        throw Error(
            "the communicator is an intercommunicator; merge it first (MPI_Intercomm_merge)");
    return Comm(comm::attached(user));
}

MPI_Comm to_mpi(const Comm& comm) {
    comm::require_running();
    if (!comm.state().by_mpi())
        throw Error(
            "these processes share no MPI communicator: they are of several jobs, or run without "
            "MPI");
    return comm.state().user().in_use();
}

std::string mpi_library() {
    return comm::vendor::library();
}

}  // namespace hocket
