// SPDX-License-Identifier: BSD-3-Clause
#include "comm/state.hpp"

#include <mpi.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include "base/pack.hpp"
#include "base/port.hpp"
#include "comm/agree.hpp"
#include "comm/engine.hpp"
#include "comm/handle.hpp"
#include "comm/vendor.hpp"
#include "hocket/comm.hpp"
#include "hocket/memory.hpp"
#include "hocket/mpi.hpp"
#include "node/sharing.hpp"

namespace hocket::comm {

struct State::User {
    MPI_Comm comm = MPI_COMM_NULL;
    bool ours = false;
};

namespace {

void require_running() {
    int initialized = 0, finalized = 0;
    MPI_Initialized(&initialized);
    if (initialized == 0)
        throw Error("MPI is not running yet: call MPI_Init or MPI_Init_thread first");
    MPI_Finalized(&finalized);
    if (finalized != 0)
        throw Error("MPI has ended: nothing can be communicated after MPI_Finalize");
}

// The State of a communicator hangs on it as an attribute, so that the same communicator always
// gives the same State. The user's communicator keeps its State; one that hocket made is kept by
// it.
struct Attached {
    std::weak_ptr<State> state;
    std::shared_ptr<State> kept;
};

int release(MPI_Comm, int, void* value, void*) {
    delete static_cast<Attached*>(value);
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

// Without blocking, so that a process that never comes cannot keep the others past their deadline.
Protocol<std::unique_ptr<Link>> duplicate(MPI_Comm user) {
    auto handle = std::make_unique<Link::Handle>();
    if constexpr (port::simulated) {  // SMPI has no MPI_Comm_idup
        check(MPI_Comm_dup(user, &handle->comm), "MPI_Comm_dup");
    } else {
        MPI_Request request = MPI_REQUEST_NULL;
        check(MPI_Comm_idup(user, &handle->comm, &request), "MPI_Comm_idup");
        When made([&] {
            int done = 0;
            check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
            return done != 0;
        });
        co_await until(made);
    }
    co_return std::make_unique<Link>(std::move(handle));
}

// The ranks on each node, by the node's name.
std::string merge_nodes(const std::string& low, const std::string& high) {
    std::map<std::string, std::vector<std::int64_t>> ranks;
    for (const auto& text : {low, high}) {
        Unpacker in(text);
        while (!in.empty()) {
            auto& on_node = ranks[in.text()];
            for (std::int64_t left = in.number(); left > 0; --left) on_node.push_back(in.number());
        }
    }
    Packer out;
    for (const auto& [node, on_node] : ranks) {
        out.text(node).number(static_cast<std::int64_t>(on_node.size()));
        for (const auto rank : on_node) out.number(rank);
    }
    return out.take();
}

Protocol<std::shared_ptr<const std::vector<int>>> find_nodes(Link& link, int tag) {
    const Group group = Group::whole(link);
    const std::string mine =
        Packer().text(vendor::node_name()).number(1).number(link.rank()).take();
    std::string all = co_await fold(group, tag, mine, merge_nodes);
    all = co_await spread(group, tag, std::move(all));
    auto nodes = std::make_shared<std::vector<int>>(static_cast<std::size_t>(link.size()));
    Unpacker in(all);
    for (int node = 0; !in.empty(); ++node) {
        static_cast<void>(in.text());
        for (std::int64_t left = in.number(); left > 0; --left)
            (*nodes)[static_cast<std::size_t>(in.number())] = node;
    }
    co_return nodes;
}

// Memory that says whether others can reach it.
struct Probe {
    static constexpr std::int64_t expected = 0x686f636b6574;
    std::shared_ptr<std::byte> memory = allocate(sizeof expected);
    Probe() { std::memcpy(memory.get(), &expected, sizeof expected); }
    std::optional<node::Place> place() const { return node::place_of(memory.get()); }
    static bool reached(const node::Place& place) {
        const auto there = place.process == 0 ? nullptr : node::map(place);
        return there != nullptr && std::memcmp(there.get(), &expected, sizeof expected) == 0;
    }
};

// Each process tries to reach the memory of the next one on its node. The nodes on which all can
// keep their numbers, the others get negative ones.
Protocol<std::shared_ptr<const std::vector<int>>> find_sharing(
    Link& link, int tag, std::shared_ptr<const std::vector<int>> nodes) {
    static const Probe* const probe = new Probe;  // outlives every communicator
    const int here = (*nodes)[static_cast<std::size_t>(link.rank())];
    std::vector<int> near;
    for (int rank = 0; rank < link.size(); ++rank)
        if ((*nodes)[static_cast<std::size_t>(rank)] == here) near.push_back(rank);
    const std::size_t me =
        static_cast<std::size_t>(std::find(near.begin(), near.end(), link.rank()) - near.begin());
    const std::optional<node::Place> shown = probe->place();
    const node::Place mine = shown ? *shown : node::Place{};
    node::Place next{};
    Requests requests;
    link.receive(requests, &next, sizeof next, near[(me + 1) % near.size()], tag);
    link.send(requests, &mine, sizeof mine, near[(me + near.size() - 1) % near.size()], tag);
    co_await until(requests);

    std::string failing = Probe::reached(next) ? "" : Packer().number(here).take();
    const Group group = Group::whole(link);
    failing = co_await fold(group, tag, failing, [](const std::string& low, std::string high) {
        std::set<std::int64_t> all;
        for (const auto& text : {low, high})
            for (Unpacker in(text); !in.empty();) all.insert(in.number());
        Packer out;
        for (const auto node : all) out.number(node);
        return out.take();
    });
    failing = co_await spread(group, tag, std::move(failing));
    if (failing.empty()) co_return nodes;
    auto sharing = std::make_shared<std::vector<int>>(*nodes);
    for (Unpacker in(failing); !in.empty();)
        std::replace(sharing->begin(), sharing->end(), static_cast<int>(in.number()), -1);
    std::shared_ptr<const std::vector<int>> result = std::move(sharing);
    co_return result;
}

std::shared_ptr<State> attached(MPI_Comm user) {
    void* value = nullptr;
    int found = 0;
    check(MPI_Comm_get_attr(user, keyval(), &value, &found), "MPI_Comm_get_attr");
    if (found != 0) return static_cast<Attached*>(value)->state.lock();
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

State::~State() {
    link_.reset();
    int finalized = 0;
    MPI_Finalized(&finalized);
    if (user_->ours && finalized == 0) MPI_Comm_free(&user_->comm);
}

int State::next_tag() {
    require_running();
    const int tag = next_tag_;
    next_tag_ = next_tag_ + 3 > vendor::highest_tag() ? 2 : next_tag_ + 2;
    return tag;
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

}  // namespace

Protocol<> State::open() {
    if (opened_) co_return;
    if (opening_) {  // by an earlier call, which goes on whatever its caller does
        When done([&] { return !opening_; });
        co_await until(done);
        if (opened_) co_return;
    }
    opening_ = true;
    const Opening opening(opening_);  // an error leaves the next call free to try again
    link_ = co_await duplicate(user_->comm);
    const auto nodes = co_await find_nodes(*link_, opening_tag);
    const int here = (*nodes)[static_cast<std::size_t>(rank_)];
    Engine::instance().expect_neighbours(
        static_cast<int>(std::count(nodes->begin(), nodes->end(), here)));
    nodes_ = co_await find_sharing(*link_, opening_tag, nodes);
    link_->know_nodes(nodes_);
    opened_ = true;
}

Protocol<std::unique_ptr<Link>> State::new_link() {
    std::unique_ptr<Link> made = co_await duplicate(user_->comm);
    made->know_nodes(nodes_);
    co_return made;
}

std::shared_ptr<State> State::split(bool in, int key) {
    require_running();
    MPI_Comm part = MPI_COMM_NULL;
    check(MPI_Comm_split(user_->comm, in ? 0 : MPI_UNDEFINED, key, &part), "MPI_Comm_split");
    if (!in) return nullptr;
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
    if (user == MPI_COMM_NULL) throw Error("the communicator is MPI_COMM_NULL");
    int between = 0;
    comm::check(MPI_Comm_test_inter(user, &between), "MPI_Comm_test_inter");
    if (between != 0)
        throw Error(
            "the communicator is an intercommunicator; merge it first (MPI_Intercomm_merge)");
    return Comm(comm::attached(user));
}

MPI_Comm to_mpi(const Comm& comm) {
    return comm.state().user().comm;
}

namespace {

class RequestOperation final : public Operation {
  public:
    explicit RequestOperation(MPI_Request request) : request_(request) {}
    ~RequestOperation() override {
        int finalized = 0;
        MPI_Finalized(&finalized);
        if (request_ != MPI_REQUEST_NULL && finalized == 0) MPI_Request_free(&request_);
    }
    bool poll() override {
        int done = 0;
        comm::check(MPI_Test(&request_, &done, MPI_STATUS_IGNORE), "MPI_Test");
        return done != 0;
    }
    std::string text() const override { return "an MPI request"; }

  private:
    MPI_Request request_;
};

}  // namespace

std::string mpi_library() {
    return comm::vendor::library();
}

std::unique_ptr<Operation> operation(MPI_Request request) {
    return std::make_unique<RequestOperation>(request);
}

}  // namespace hocket
