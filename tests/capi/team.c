/* SPDX-License-Identifier: BSD-3-Clause */
/* Teams: the whole one, and one of the even or the odd processes. */
#include "check.h"

typedef struct place {
    double size;
    int64_t row;
} place;

static void larger(void* into, const void* with, void* context) {
    place* best = into;
    const place* other = with;
    if (other->size > best->size) *best = *other;
    ++*(int*)context;
}

static team_numbers numbers(void) {
    team_numbers n = {0};
    n.everyone = ranks == 64 ? ~0ULL : (1ULL << ranks) - 1;
    n.reduce_mul = n.scan_mul = n.reduce_min = n.scan_min = 1;
    n.reduce_max = ranks;
    n.scan_max = rank + 1;
    n.reduce_and = n.scan_and = -1;
    for (int64_t v = 1; v <= ranks; ++v) {
        n.reduce_add += v;
        n.reduce_mul *= v;
        n.reduce_and &= v;
        n.reduce_or |= v;
        if (v > rank + 1) continue;
        n.scan_add += v;
        n.scan_mul *= v;
        n.scan_and &= v;
        n.scan_or |= v;
    }
    return n;
}

static void test_started(hocket_team* team, const team_numbers* expected) {
    hocket_team_result* result = NULL;
    hocket_operation* operation = NULL;
    bool done = false;
    uint64_t bits = 0;
    OK(hocket_team_start(team, HOCKET_TEAM_REDUCE_ADD, HOCKET_TEAM_INT32, (uint64_t)rank + 1, 0,
                         &result));
    OK(hocket_team_result_operation(result, &operation));
    OK(hocket_operation_wait(operation, 60));
    OK(hocket_team_result_test(result, &done));
    OK(hocket_team_result_bits(result, &bits));
    CHECK(done && (int64_t)bits == expected->reduce_add);
    OK(hocket_operation_free(&operation));
    OK(hocket_team_result_free(&result));
    FAILS(HOCKET_ERR_ARGUMENT, hocket_team_start(team, 99, HOCKET_TEAM_INT32, 0, 0, &result));
    FAILS(HOCKET_ERR_ERROR,
          hocket_team_start(team, HOCKET_TEAM_GATHER, HOCKET_TEAM_INT32, 0, 0, &result));
    SAYS("gather: the result of a started operation is one value");
}

static void test_subset(hocket_team* team) {
    uint64_t word = 0, found = 0;
    int64_t count = 0;
    hocket_team *half = NULL, *wrong = NULL;
    int number = -1, first = -1, one = -1, population = 0, size = 0;
    bool any = false, all = true, shares = false;
    for (int p = rank % 2; p < ranks; p += 2) word |= 1ULL << p;
    OK(hocket_team_enqueue(team, 1, &word, &half));
    OK(hocket_team_mask(half, 1, &found, &count));
    CHECK(count == 1 && found == word);
    OK(hocket_team_mask(half, 0, NULL, &count));
    CHECK(count == (ranks + 63) / 64);
    FAILS(HOCKET_ERR_ARGUMENT, hocket_team_mask(half, 0, &found, &count));
    SAYS("the masks of this team have");
    OK(hocket_team_population(half, &population));
    CHECK(population == (ranks + 1 - rank % 2) / 2);
    OK(hocket_team_enumerate(half, &number));
    OK(hocket_team_select_first(half, &first));
    OK(hocket_team_select_one(half, &one));
    OK(hocket_team_size(half, &size));
    OK(hocket_team_process(half, &number));
    CHECK(first == rank % 2 && one == first && size == ranks && number == rank);
    OK(hocket_team_shares_memory(half, &shares));
    OK(hocket_team_wait(half, 60));
    OK(hocket_team_any(half, rank == first, 60, &any));
    OK(hocket_team_all(half, rank == first, 60, &all));
    CHECK(any && all == (population == 1));
    OK(hocket_team_waitvec(half, true, 60, 1, &found, &count));
    CHECK(found == word);
    OK(hocket_team_vote_count(half, first, 60, &number));
    CHECK(number == (rank == first ? population : 0));
    OK(hocket_team_vote(half, first, 60, 1, &found, &count));
    CHECK(found == (rank == first ? word : 0));
    word &= ~(1ULL << rank);
    FAILS(HOCKET_ERR_ERROR, hocket_team_enqueue(team, 1, &word, &wrong));
    FAILS(HOCKET_ERR_ARGUMENT, hocket_team_vote(half, first, NAN, 1, &found, &count));
    const int64_t room = rank == first ? 0 : 1; /* too little on one process: all get an error */
    FAILS(room == 0 ? HOCKET_ERR_ARGUMENT : HOCKET_ERR_ERROR,
          hocket_team_vote(half, first, 60, room, &found, &count));
    FAILS(HOCKET_ERR_ERROR, hocket_team_vote_count(half, ranks, 60, &number));
    SAYS("not one of the team");
    OK(hocket_team_wait(half, 60));
    OK(hocket_team_free(&half));
}

void test_teams(void) {
    hocket_team* team = NULL;
    const team_numbers expected = numbers();
    OK(hocket_team_make(MPI_COMM_WORLD, 60, &team));
    test_team_values(team, &expected);
    test_team_types(team);
    test_subset(team);
    test_started(team, &expected);

    const place mine = {rank == ranks - 1 ? 7.5 : -rank, 100 + rank};
    place best = {0, 0}, all[64];
    int folds = 0;
    OK(hocket_team_fold(team, &mine, sizeof mine, larger, &folds, 60, &best));
    CHECK(best.size == 7.5 && best.row == 99 + ranks && folds == ranks - 1);
    OK(hocket_team_gather_bytes(team, &mine, sizeof mine, 60, all));
    CHECK(all[ranks - 1].row == 99 + ranks && all[rank].row == mine.row);
    FAILS(HOCKET_ERR_ERROR, hocket_team_fold(team, &mine, 57, larger, &folds, 60, &best));
    SAYS("57 bytes");
    FAILS(HOCKET_ERR_ERROR, hocket_team_refuse(team, HOCKET_TEAM_WAIT, "not today"));
    SAYS("not today");
    OK(hocket_team_wait(team, 60));

    hocket_team* other = NULL;
    OK(hocket_team_make(MPI_COMM_WORLD, 60, &other));
    OK(hocket_team_exit(other, 3));
    FAILS(HOCKET_ERR_ERROR, hocket_team_wait(other, 60));
    FAILS(HOCKET_ERR_ARGUMENT, hocket_team_error(other, NULL));
    FAILS(HOCKET_ERR_ERROR, hocket_team_error(other, "nobody hears this"));
    OK(hocket_team_free(&other));
    OK(hocket_team_wait(team, 60));
    OK(hocket_team_free(&team));
}
