// SPDX-License-Identifier: BSD-3-Clause
// Teams for C, except for the operations on typed values in team_values.cpp.
#include "hocket/team.hpp"

#include <cstring>

#include "hocket/mpi.hpp"
#include "team_arguments.hpp"

using namespace hocket::c;
using hocket::Mask;
using hocket::Team;
using hocket::TeamOptions;
using hocket::team::Op;

int hocket_team_make(MPI_Comm comm, double timeout, hocket_team** team) {
    return guard(__func__, [&] {
        require(team, "team");
        give(team, Team(hocket::from_mpi(comm), deadline_of(timeout)));
    });
}

int hocket_team_enqueue(hocket_team* team, int64_t count, const uint64_t* words,
                        hocket_team** made) {
    return guard(__func__, [&] {
        require(made, "made");
        give(made, behind(team)->value.enqueue(Mask(list(count, words, "words"))));
    });
}

int hocket_team_free(hocket_team** team) {
    return free_handle(__func__, team);
}

int hocket_team_process(hocket_team* team, int* process) {
    return guard(__func__, [&] { required(process, "process") = behind(team)->value.process(); });
}

int hocket_team_size(hocket_team* team, int* size) {
    return guard(__func__, [&] { required(size, "size") = behind(team)->value.size(); });
}

int hocket_team_mask(hocket_team* team, int64_t capacity, uint64_t* words, int64_t* count) {
    return guard(__func__, [&] {
        const auto held = behind(team);
        if (words != nullptr)
            write_mask(held->value.mask(), mask_of(team, capacity, words), count);
        else if (count != nullptr)
            *count = words_of(team);
    });
}

int hocket_team_shares_memory(hocket_team* team, bool* shares) {
    return guard(__func__,
                 [&] { required(shares, "shares") = behind(team)->value.shares_memory(); });
}

int hocket_team_population(hocket_team* team, int* count) {
    return guard(__func__, [&] { required(count, "count") = behind(team)->value.population(); });
}

int hocket_team_enumerate(hocket_team* team, int* number) {
    return guard(__func__, [&] { required(number, "number") = behind(team)->value.enumerate(); });
}

int hocket_team_select_first(hocket_team* team, int* process) {
    return guard(__func__,
                 [&] { required(process, "process") = behind(team)->value.select_first(); });
}

int hocket_team_select_one(hocket_team* team, int* process) {
    return guard(__func__,
                 [&] { required(process, "process") = behind(team)->value.select_one(); });
}

int hocket_team_wait(hocket_team* team, double timeout) {
    return with_team(
        __func__, Op::wait, team, timeout, [](TeamOptions&) { return 0; },
        [](const Team& on, int, const TeamOptions& options) { on.wait(options); });
}

int hocket_team_any(hocket_team* team, bool flag, double timeout, bool* result) {
    return to_result(
        __func__, Op::any, team, timeout, result,
        [&](const Team& on, const TeamOptions& options) { return on.any(flag, options); });
}

int hocket_team_all(hocket_team* team, bool flag, double timeout, bool* result) {
    return to_result(
        __func__, Op::all, team, timeout, result,
        [&](const Team& on, const TeamOptions& options) { return on.all(flag, options); });
}

int hocket_team_waitvec(hocket_team* team, bool flag, double timeout, int64_t capacity,
                        uint64_t* words, int64_t* count) {
    return to_mask(
        __func__, Op::waitvec, team, timeout, capacity, words, count,
        [&](const Team& on, const TeamOptions& options) { return on.waitvec(flag, options); });
}

int hocket_team_vote_count(hocket_team* team, int process, double timeout, int* result) {
    return to_result(__func__, Op::vote_count, team, timeout, result,
                     [&](const Team& on, const TeamOptions& options) {
                         return on.vote_count(process, options);
                     });
}

int hocket_team_vote(hocket_team* team, int process, double timeout, int64_t capacity,
                     uint64_t* words, int64_t* count) {
    return to_mask(
        __func__, Op::vote, team, timeout, capacity, words, count,
        [&](const Team& on, const TeamOptions& options) { return on.vote(process, options); });
}

int hocket_team_fold(hocket_team* team, const void* value, int64_t bytes,
                     void (*fold)(void* into, const void* with, void* context), void* context,
                     double timeout, void* result) {
    const auto read = [&](TeamOptions&) {
        require(value, "value");
        require(result, "result");
        if (fold == nullptr) throw ArgumentError("'fold' is NULL; give a function");
        return 0;
    };
    return with_team(__func__, Op::reduce, team, timeout, read,
                     [&](const Team& on, int, const TeamOptions& options) {
                         if (bytes < 1 || bytes > static_cast<int64_t>(hocket::team::longest_value))
                             hocket::Binding::refuse(
                                 on, Op::reduce,
                                 "a value of " + std::to_string(bytes) + " bytes; one has 1 to " +
                                     std::to_string(hocket::team::longest_value));
                         const auto size = static_cast<std::size_t>(bytes);
                         const auto population = static_cast<std::size_t>(on.population());
                         std::vector<std::byte> values(population * size);
                         on.gather_bytes(value, size, values.data(), options);
                         for (std::size_t i = 1; i < population; ++i)
                             fold(values.data(), values.data() + i * size, context);
                         std::memcpy(result, values.data(), size);
                     });
}

int hocket_team_gather_bytes(hocket_team* team, const void* value, int64_t bytes, double timeout,
                             void* values) {
    const auto read = [&](TeamOptions&) {
        require(value, "value");
        require(values, "values");
        return static_cast<std::size_t>(bytes < 0 ? 0 : bytes);
    };
    return with_team(__func__, Op::reduce, team, timeout, read,
                     [&](const Team& on, std::size_t size, const TeamOptions& options) {
                         on.gather_bytes(value, size, values, options);
                     });
}

int hocket_team_start(hocket_team* team, int operation, int type, uint64_t value, int process,
                      hocket_team_result** result) {
    return guard(__func__, [&] {
        require(result, "result");
        if (operation < HOCKET_TEAM_WAIT || operation > HOCKET_TEAM_MATCH_COUNT)
            throw ArgumentError("'operation' is " + std::to_string(operation) +
                                "; give one of enum hocket_team_op");
        TeamOptions options;
        const hocket::team::Type known = type_of(type, options);
        give(result, behind(team)->value.start({static_cast<Op>(operation), known, value, process},
                                               options));
    });
}

int hocket_team_result_operation(hocket_team_result* result, hocket_operation** operation) {
    return guard(__func__, [&] { give(operation, behind(result)->value.operation()); });
}

int hocket_team_result_test(hocket_team_result* result, bool* done) {
    return guard(__func__, [&] { required(done, "done") = behind(result)->value.test(); });
}

int hocket_team_result_bits(hocket_team_result* result, uint64_t* bits) {
    return guard(__func__, [&] { required(bits, "bits") = behind(result)->value.bits(); });
}

int hocket_team_result_free(hocket_team_result** result) {
    return free_handle(__func__, result);
}

int hocket_team_exit(hocket_team* team, int code) {
    return guard(__func__, [&] { behind(team)->value.exit(code); });
}

int hocket_team_error(hocket_team* team, const char* message) {
    return guard(__func__, [&] { behind(team)->value.error(text_of(message, "message")); });
}

int hocket_team_refuse(hocket_team* team, int operation, const char* message) {
    return guard(__func__, [&] {
        hocket::Binding::refuse(behind(team)->value, static_cast<Op>(operation),
                                text_of(message, "message"));
    });
}
