// SPDX-License-Identifier: BSD-3-Clause
#include "comm/vendor.hpp"

#include <mpi.h>
#include <signal.h>
#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif

#include <numeric>

#include "base/environment.hpp"
#include "base/platform.hpp"
#include "comm/mpi/handle.hpp"
#include "hocket/error.hpp"
#include "shm/peer_registry.hpp"

namespace hocket::comm::vendor {

namespace {
const environment::JobSetting pretended_nodes("HOCKET_NODES", [] {
    std::string all;
    for (const std::int64_t node :
         environment::numbers("HOCKET_NODES").value_or(std::vector<std::int64_t>{}))
        all += (all.empty() ? "" : ",") + std::to_string(node);
    return all.empty() ? std::string("unset") : all;
});
}  // namespace

std::string library_version() {
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = {};
    int length = 0;
    MPI_Get_library_version(text, &length);
    return {text, static_cast<std::size_t>(length)};
}

std::string library() {
    std::string version = library_version();
    version = version.substr(0, version.find('\n'));
    // MPICH writes "MPICH Version:      5.0.2", Open MPI "Open MPI v5.0.11, package: …".
    if (const auto colon = version.find(" Version:"); colon != std::string::npos) {
        const auto digits = version.find_first_not_of(" \t", colon + 9);
        return version.substr(0, colon) +
               (digits == std::string::npos ? "" : " " + version.substr(digits));
    }
    version = version.substr(0, version.find(','));
    if (const auto v = version.find(" v"); v != std::string::npos) version.erase(v + 1, 1);
    return version;
}

bool is_communicator(MPI_Comm comm) {
    if (comm == MPI_COMM_NULL) return true;
    // An invalid communicator has no error handler of its own: MPI calls that of MPI_COMM_WORLD, or
    // MPI 4 that of MPI_COMM_SELF, which would end the program.
    const MPI_Comm asked[] = {MPI_COMM_WORLD, MPI_COMM_SELF};
    MPI_Errhandler before[2];
    for (int i = 0; i < 2; ++i) {
        MPI_Comm_get_errhandler(asked[i], &before[i]);
        MPI_Comm_set_errhandler(asked[i], MPI_ERRORS_RETURN);
    }
    int between = 0;
    const bool known = MPI_Comm_test_inter(comm, &between) == MPI_SUCCESS;
    for (int i = 0; i < 2; ++i) {
        MPI_Comm_set_errhandler(asked[i], before[i]);
        MPI_Errhandler_free(&before[i]);
    }
    return known;
}

int highest_tag() {
    int found = 0;
    int* value = nullptr;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &found);
    return found != 0 && value != nullptr ? *value : 32767;
}

int world_rank() {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

std::vector<int> world_ranks(MPI_Comm comm) {
    MPI_Group all = MPI_GROUP_NULL, some = MPI_GROUP_NULL;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Comm_group(comm, &some);
    int size = 0;
    MPI_Group_size(some, &size);
    std::vector<int> ranks(static_cast<std::size_t>(size)), found(ranks.size());
    std::iota(ranks.begin(), ranks.end(), 0);
    MPI_Group_translate_ranks(some, size, ranks.data(), all, found.data());
    MPI_Group_free(&all);
    MPI_Group_free(&some);
    return found;
}

std::string lost_processes() {
    std::string names;
#ifdef OMPI_HAVE_MPI_EXT_FTMPI
    MPI_Group lost = MPI_GROUP_NULL, all = MPI_GROUP_NULL;
    if (MPIX_Comm_get_failed(MPI_COMM_WORLD, &lost) != MPI_SUCCESS) return names;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    int size = 0;
    MPI_Group_size(lost, &size);
    for (int i = 0, rank = 0; i < size; ++i) {
        MPI_Group_translate_ranks(lost, 1, &i, all, &rank);
        names += (names.empty() ? "" : ", ") + shm::name_of_rank(rank);
    }
    MPI_Group_free(&lost);
    MPI_Group_free(&all);
#endif
    return names;
}

// Open MPI (4 and 5), MPICH and its relatives, and Slurm.
std::optional<shm::Launcher> launcher() {
    const std::string rank = std::to_string(world_rank());
    for (const char* variable : {"PMIX_RANK", "PMI_RANK", "OMPI_COMM_WORLD_RANK"}) {
        if (environment::value_of(variable) != rank) continue;
        shm::Launcher found{{"prterun", "prted", "orted", "mpirun", "mpiexec", "mpiexec.hydra",
                             "hydra_pmi_proxy", "slurmstepd"},
                            variable,
                            {}};
        // MPI_Comm_spawn starts other programs below the same launcher.
        for (const char* same : {"PMIX_NAMESPACE", "PMI_SPAWNED"})
            found.same[same] = environment::value_of(same);
        return found;
    }
    return std::nullopt;
}

bool tolerates_faults() {
    int found = 0;
    int* value = nullptr;
#ifdef OMPI_HAVE_MPI_EXT_FTMPI
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_FT, &value, &found);
#endif
    return found != 0 && value != nullptr && *value != 0;
}

bool all_on_one_node() {
    int size = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (const char* variable : {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"})
        if (environment::value_of(variable) == std::to_string(size)) return true;
    return false;
}

int test_some(std::vector<MPI_Request>& requests, std::vector<int>& indices, std::size_t& seen,
              std::vector<MPI_Status>* statuses) {
    indices.resize(requests.size());
    if (statuses != nullptr) statuses->resize(requests.size());
    const int size = static_cast<int>(requests.size());
    int count = 0;
    if (platform::simulated && requests.size() == seen) {
        for (int index = 0, done = 0;; indices[static_cast<std::size_t>(count++)] = index) {
            MPI_Status* const status = statuses != nullptr && count < size
                                           ? &(*statuses)[static_cast<std::size_t>(count)]
                                           : MPI_STATUS_IGNORE;
            check(MPI_Testany(size, requests.data(), &index, &done, status), "MPI_Testany");
            if (done == 0 || index == MPI_UNDEFINED) return count;
        }
    }
    seen = requests.size();
    check(MPI_Testsome(size, requests.data(), &count, indices.data(),
                       statuses != nullptr ? statuses->data() : MPI_STATUSES_IGNORE),
          "MPI_Testsome");
    return count;
}

// Open MPI writes to the connections of other hosts without MSG_NOSIGNAL, at last in MPI_Finalize,
// when the other process may have closed its end.
void outlive_connections() {
    struct sigaction now {};
    const bool known = sigaction(SIGPIPE, nullptr, &now) == 0;
    if (!known || (now.sa_flags & SA_SIGINFO) != 0 || now.sa_handler != SIG_DFL) return;
    // A handler, because programs that this one starts would inherit an ignored signal.
    now.sa_handler = [](int) {};
    now.sa_flags = SA_RESTART;
    sigaction(SIGPIPE, &now, nullptr);
}

std::string node_name() {
    char text[MPI_MAX_PROCESSOR_NAME] = {};
    int length = 0;
    MPI_Get_processor_name(text, &length);
    std::string name(text, static_cast<std::size_t>(length));
    const auto pretended = environment::numbers("HOCKET_NODES");
    if (!pretended) return name;
    const int rank = world_rank();
    int size = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    // Compared with all ranks, so that all of them raise.
    if (pretended->size() < static_cast<std::size_t>(size))
        throw Error("HOCKET_NODES='" + *environment::value_of("HOCKET_NODES") + "' has " +
                    std::to_string(pretended->size()) + " numbers for " + std::to_string(size) +
                    " ranks; give one a rank, as 0,0,1,1");
    return name + pretended_mark + std::to_string((*pretended)[static_cast<std::size_t>(rank)]);
}

}  // namespace hocket::comm::vendor
