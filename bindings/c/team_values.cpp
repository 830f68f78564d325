// SPDX-License-Identifier: BSD-3-Clause
// Operations of teams on typed values.
#include <array>
#include <cstring>

#include "team_arguments.hpp"

using namespace hocket::c;
using hocket::Team;
using hocket::TeamOptions;
using hocket::team::Call;
using hocket::team::Op;
using hocket::team::Type;

namespace {

constexpr std::array<std::size_t, hocket::team::types> sizes{1, 1, 2, 4, 8, 1, 2, 4, 8, 4, 8};

std::size_t size_of(Type type) {
    return sizes[static_cast<std::size_t>(type)];
}

// The `operation` of a reduction or a scan, relative to `first`, the addition.
Op folding(Op first, int operation) {
    if (operation < HOCKET_ADD || operation > HOCKET_OR)
        throw ArgumentError("'op' is " + std::to_string(operation) +
                            "; give HOCKET_ADD, _MUL, _MIN, _MAX, _AND or _OR");
    return static_cast<Op>(static_cast<int>(first) + operation);
}

// The request of this process. For a bool any byte but 0 is true.
Call call_of(Op op, int type, const void* value, TeamOptions& options, int process = 0) {
    Call call{op, type_of(type, options), 0, process};
    require(value, "value");
    std::memcpy(&call.bits, value, size_of(call.type));
    if (call.type == Type::boolean) call.bits = call.bits != 0 ? 1 : 0;
    return call;
}

// Stores a result that has the type of the values.
void run_into(const Team& team, const Call& call, const TeamOptions& options, void* result) {
    const std::uint64_t bits = hocket::Binding::run(team, call, options);
    std::memcpy(result, &bits, size_of(call.type));
}

int fold_values(const char* function, Op first, hocket_team* team, int op, int type,
                const void* value, double timeout, void* result) noexcept {
    return with_team(
        function, first, team, timeout,
        [&](TeamOptions& options) {
            require(result, "result");
            return call_of(folding(first, op), type, value, options);
        },
        [&](const Team& on, const Call& call, const TeamOptions& options) {
            run_into(on, call, options, result);
        });
}

int count_processes(const char* function, Op op, hocket_team* team, int type, const void* value,
                    double timeout, int* result) noexcept {
    return with_team(
        function, op, team, timeout,
        [&](TeamOptions& options) {
            require(result, "result");
            return call_of(op, type, value, options);
        },
        [&](const Team& on, const Call& call, const TeamOptions& options) {
            *result = static_cast<int>(hocket::Binding::run(on, call, options));
        });
}

int broadcast(const char* function, hocket_team* team, int type, const void* value, double timeout,
              void* result) noexcept {
    return with_team(
        function, Op::bcast, team, timeout,
        [&](TeamOptions& options) {
            require(result, "result");
            return call_of(Op::bcast, type, value, options);
        },
        [&](const Team& on, const Call& call, const TeamOptions& options) {
            run_into(on, call, options, result);
        });
}

}  // namespace

Type hocket::c::type_of(int type, TeamOptions& options) {
    const int known = type & 0xff;
    if (type < 0 || known > HOCKET_TEAM_FLOAT64)
        throw ArgumentError("'type' is " + std::to_string(type) +
                            "; give one of enum hocket_team_type");
    options.narrow = type >> 8 & 0xff;
    options.barrier = (type & HOCKET_TEAM_NO_BARRIER) == 0;
    return static_cast<Type>(known);
}

int hocket_team_reduce(hocket_team* team, int op, int type, const void* value, double timeout,
                       void* result) {
    return fold_values(__func__, Op::reduce_add, team, op, type, value, timeout, result);
}

int hocket_team_scan(hocket_team* team, int op, int type, const void* value, double timeout,
                     void* result) {
    return fold_values(__func__, Op::scan_add, team, op, type, value, timeout, result);
}

int hocket_team_putget(hocket_team* team, int type, const void* value, int source, double timeout,
                       void* result) {
    return with_team(
        __func__, Op::putget, team, timeout,
        [&](TeamOptions& options) {
            require(result, "result");
            return call_of(Op::putget, type, value, options, source);
        },
        [&](const Team& on, const Call& call, const TeamOptions& options) {
            run_into(on, call, options, result);
        });
}

int hocket_team_gather(hocket_team* team, int type, const void* value, double timeout,
                       int64_t places, void* values) {
    return with_team(
        __func__, Op::gather, team, timeout,
        [&](TeamOptions& options) {
            require(values, "values");
            return call_of(Op::gather, type, value, options);
        },
        [&](const Team& on, const Call& call, const TeamOptions& options) {
            const auto room = static_cast<std::size_t>(places < 0 ? 0 : places);
            hocket::Binding::run_gather(on, call.type, call.bits, values, room, options);
        });
}

int hocket_team_bcast_put(hocket_team* team, int type, const void* value, double timeout,
                          void* result) {
    return broadcast(__func__, team, type, value, timeout, result);
}

int hocket_team_bcast_get(hocket_team* team, int type, double timeout, void* result) {
    const std::uint64_t nothing = 0;
    return broadcast(__func__, team, type, &nothing, timeout, result);
}

int hocket_team_rank(hocket_team* team, int type, const void* value, double timeout, int* result) {
    return count_processes(__func__, Op::rank, team, type, value, timeout, result);
}

int hocket_team_match_count(hocket_team* team, int type, const void* value, double timeout,
                            int* result) {
    return count_processes(__func__, Op::match_count, team, type, value, timeout, result);
}

int hocket_team_match(hocket_team* team, int type, const void* value, double timeout,
                      int64_t capacity, uint64_t* words, int64_t* count) {
    return with_team(
        __func__, Op::match, team, timeout,
        [&](TeamOptions& options) {
            const auto place = mask_of(team, capacity, words);
            return std::pair(call_of(Op::match, type, value, options), place);
        },
        [&](const Team& on, const auto& given, const TeamOptions& options) {
            const auto& [call, place] = given;
            write_mask(hocket::Binding::run_mask(on, call, options), place, count);
        });
}
