/* SPDX-License-Identifier: BSD-3-Clause */
/* A team's operations on values, of every type: process p has the value p + 1, or true. */
#include "check.h"

enum { TYPES = HOCKET_TEAM_FLOAT64 + 1 };

/* Writes a number as a value of the type; returns how many bytes it has. */
static size_t write_value(int type, int64_t number, void* at) {
    const bool truth = number != 0;
    const float single = (float)number;
    const double twice = (double)number;
    const size_t bytes[] = {1, 1, 2, 4, 8, 1, 2, 4, 8, 4, 8};
    const void* from = &number;
    if (type == HOCKET_TEAM_BOOL) from = &truth;
    if (type == HOCKET_TEAM_FLOAT32) from = &single;
    if (type == HOCKET_TEAM_FLOAT64) from = &twice;
    memcpy(at, from, bytes[type]);
    return bytes[type];
}

static bool is_value(int type, int64_t number, const void* at) {
    char wanted[8];
    return memcmp(at, wanted, write_value(type, number, wanted)) == 0;
}

static void test_combining(hocket_team* team, int type, const team_numbers* expected) {
    const int64_t reduced[] = {expected->reduce_add, expected->reduce_mul, expected->reduce_min,
                               expected->reduce_max, expected->reduce_and, expected->reduce_or};
    const int64_t scanned[] = {expected->scan_add, expected->scan_mul, expected->scan_min,
                               expected->scan_max, expected->scan_and, expected->scan_or};
    const bool truth = type == HOCKET_TEAM_BOOL; /* all have it */
    const bool floating = type >= HOCKET_TEAM_FLOAT32;
    char mine[8], found[8];
    write_value(type, rank + 1, mine);
    for (int op = HOCKET_ADD; op <= HOCKET_OR; ++op) {
        if (floating && op >= HOCKET_AND) {
            FAILS(HOCKET_ERR_ERROR, hocket_team_reduce(team, op, type, mine, 60, found));
            FAILS(HOCKET_ERR_ERROR, hocket_team_scan(team, op, type, mine, 60, found));
            continue;
        }
        OK(hocket_team_reduce(team, op, type, mine, 60, found));
        CHECK(is_value(type, truth ? 1 : reduced[op], found));
        for (int barrier = 0; barrier < 2; ++barrier) {
            const int given = barrier ? type : type | HOCKET_TEAM_NO_BARRIER;
            OK(hocket_team_scan(team, op, given, mine, 60, found));
            CHECK(is_value(type, truth ? 1 : scanned[op], found));
        }
    }
}

static void test_values(hocket_team* team, int type, const team_numbers* expected) {
    char mine[8], found[8], all[64 * 8] = {0};
    const size_t bytes = write_value(type, rank + 1, mine);
    OK(hocket_team_putget(team, type, mine, ranks - 1, 60, found));
    CHECK(is_value(type, ranks, found));
    OK(hocket_team_putget(team, type | HOCKET_TEAM_NO_BARRIER, mine, 0, 60, found));
    CHECK(is_value(type, 1, found));
    OK(hocket_team_gather(team, type, mine, 60, 64, all));
    for (int p = 0; p < ranks; ++p) CHECK(is_value(type, p + 1, all + (size_t)p * bytes));
    if (rank == ranks - 1)
        OK(hocket_team_bcast_put(team, type, mine, 60, found));
    else
        OK(hocket_team_bcast_get(team, type, 60, found));
    CHECK(is_value(type, ranks, found));
    OK(hocket_team_bcast_get(team, type, 60, found));
    CHECK(is_value(type, 0, found));

    uint64_t words[1];
    int64_t count;
    int number = -1;
    OK(hocket_team_rank(team, type, mine, 60, &number));
    CHECK(number == rank);
    const bool same = type == HOCKET_TEAM_BOOL;
    OK(hocket_team_match_count(team, type, mine, 60, &number));
    CHECK(number == (same ? ranks : 1));
    OK(hocket_team_match(team, type, mine, 60, 1, words, &count));
    CHECK(count == 1 && words[0] == (same ? expected->everyone : 1ULL << rank));
}

/* All processes get an error for one process's wrong arguments. */
static void test_wrong(hocket_team* team) {
    const int32_t mine = 1;
    int32_t sum = 0;
    const int last = rank == ranks - 1;
    const int wanted = last ? HOCKET_ERR_ARGUMENT : HOCKET_ERR_ERROR;
    FAILS(wanted,
          hocket_team_reduce(team, last ? 6 : HOCKET_ADD, HOCKET_TEAM_INT32, &mine, 60, &sum));
    SAYS(last ? "'op' is 6" : "process");
    FAILS(wanted,
          hocket_team_scan(team, HOCKET_ADD, last ? 11 : HOCKET_TEAM_INT32, &mine, 60, &sum));
    SAYS(last ? "'type' is 11" : "process");
    FAILS(wanted, hocket_team_rank(team, last ? -1 : HOCKET_TEAM_INT32, &mine, 60, &sum));
    FAILS(wanted, hocket_team_bcast_put(team, HOCKET_TEAM_INT32, last ? NULL : &mine, 60, &sum));
    SAYS(last ? "'value' is NULL" : "process");
    FAILS(wanted, hocket_team_putget(team, HOCKET_TEAM_INT32, &mine, 0, 60, last ? NULL : &sum));
    SAYS(last ? "hocket_team_putget: 'result' is NULL" : "putget");
    FAILS(HOCKET_ERR_ERROR,
          hocket_team_reduce(team, HOCKET_ADD, HOCKET_TEAM_BITS(HOCKET_TEAM_INT32, 5), &mine, 60,
                             &sum));
    FAILS(HOCKET_ERR_ERROR,
          hocket_team_gather(team, HOCKET_TEAM_INT32, &mine, 60, ranks - 1, &sum));
    OK(hocket_team_reduce(team, HOCKET_ADD, HOCKET_TEAM_INT32, &mine, 60, &sum));
    CHECK(sum == ranks);
}

void test_team_values(hocket_team* team, const team_numbers* expected) {
    for (int type = HOCKET_TEAM_BOOL; type < TYPES; ++type) {
        test_combining(team, type, expected);
        test_values(team, type, expected);
    }
    test_wrong(team);
    /* Of 0b10001 and 0b00001, the lowest four bits are the same. */
    const uint8_t mine = rank == 0 ? 17 : 1;
    int same = 0;
    OK(hocket_team_match_count(team, HOCKET_TEAM_BITS(HOCKET_TEAM_UINT8, 4), &mine, 60, &same));
    CHECK(same == ranks);
}
