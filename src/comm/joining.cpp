// SPDX-License-Identifier: BSD-3-Clause
#include "comm/joining.hpp"

#include <unistd.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/environment.hpp"
#include "base/pack.hpp"
#include "base/platform.hpp"
#include "comm/agree.hpp"
#include "comm/engine.hpp"
#include "comm/node_sharing.hpp"
#include "comm/vendor.hpp"

namespace hocket::comm {
namespace {

constexpr int joining_tag = 32766;  // every MPI has it (MPI 4.1, section 9.1.2)

// Under HOCKET_NODES with the number of the pretended node behind it.
std::string node_name() {
    std::string found = platform::host_name();
    if (!running()) return found;
    const std::string by_mpi = vendor::node_name();
    const auto mark = by_mpi.find(vendor::pretended_mark);
    return mark == std::string::npos ? found : found + by_mpi.substr(mark);
}

}  // namespace

Protocol<OwnedLink> join(OwnedLink own, int first, std::vector<std::shared_ptr<Endpoint>> endpoints,
                         std::string host) {
    own->add_endpoints(first, std::move(endpoints));
    Link& link = *own;
    const Group all = Group::whole(link);
    Packer mine;
    mine.number(link.rank()).text(host + '/' + node_name()).number(getpid());
    mine.number(link.highest_tag());
    const shm::ProcessIdentity process = shm::own_identity();
    mine.number(process.start).number(process.pid_namespace);
    std::string outcome =
        co_await reduce(all, joining_tag, mine.take(),
                        [](const std::string& low, const std::string& high) { return low + high; });
    outcome = co_await broadcast(all, joining_tag, std::move(outcome));

    std::vector<std::string> names(static_cast<std::size_t>(link.size()));
    auto processes = std::make_shared<std::vector<std::int64_t>>(names.size());
    std::vector<shm::ProcessIdentity> identities(names.size());
    for (Unpacker in(outcome); !in.empty();) {
        const auto rank = static_cast<std::size_t>(in.number());
        names.at(rank) = in.text();
        processes->at(rank) = in.number();
        link.set_highest_tag(
            static_cast<int>(std::min<std::int64_t>(link.highest_tag(), in.number())));
        identities[rank].process = processes->at(rank);
        identities[rank].start = in.number();
        identities[rank].pid_namespace = in.number();
    }
    std::map<std::string, int> numbers;
    auto nodes = std::make_shared<std::vector<int>>();
    for (const std::string& name : names)
        nodes->push_back(numbers.emplace(name, static_cast<int>(numbers.size())).first->second);
    const int here = nodes->at(static_cast<std::size_t>(link.rank()));
    for (std::size_t rank = 0; rank < nodes->size(); ++rank) {
        Endpoint* const other = link.endpoint(static_cast<int>(rank));
        if ((*nodes)[rank] != here)
            (*processes)[rank] = 0;
        else if (other != nullptr)
            other->watch(identities[rank]);
    }
    Engine::instance().add_node_processes(
        static_cast<int>(std::count(nodes->begin(), nodes->end(), here)));

    NodeSharing sharing = co_await find_node_sharing(link, joining_tag, std::move(nodes));
    link.set_nodes(std::move(sharing.nodes));
    link.set_inbox(std::move(sharing.node_inbox), 0);
    link.set_processes(std::move(processes));
    co_return own;
}

}  // namespace hocket::comm
