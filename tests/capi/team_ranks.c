/* SPDX-License-Identifier: BSD-3-Clause */
/* Written by tools/team_functions.py. */
#include "check.h"

/* Process p has the value p + 1, or true. */
void test_team_ranks(hocket_team* team, const team_numbers* expected) {
    const int mine = rank + 1;
    uint64_t words[4];
    int64_t count;
    int found;
    OK(hocket_team_rank_bool(team, mine > 0, 0, 60, &found));
    CHECK(found == rank);
    OK(hocket_team_rank_int8(team, (int8_t)mine, 0, 60, &found));
    CHECK(found == rank);
    OK(hocket_team_rank_int16(team, (int16_t)mine, 0, 60, &found));
    CHECK(found == rank);
    OK(hocket_team_rank_int32(team, (int32_t)mine, 0, 60, &found));
    CHECK(found == rank);
    OK(hocket_team_rank_int64(team, (int64_t)mine, 0, 60, &found));
    CHECK(found == rank);
    OK(hocket_team_rank_uint8(team, (uint8_t)mine, 0, 60, &found));
    CHECK(found == rank);
    OK(hocket_team_rank_uint16(team, (uint16_t)mine, 0, 60, &found));
    CHECK(found == rank);
    OK(hocket_team_rank_uint32(team, (uint32_t)mine, 0, 60, &found));
    CHECK(found == rank);
    OK(hocket_team_rank_uint64(team, (uint64_t)mine, 0, 60, &found));
    CHECK(found == rank);
    OK(hocket_team_rank_float32(team, (float)mine, 0, 60, &found));
    CHECK(found == rank);
    OK(hocket_team_rank_float64(team, (double)mine, 0, 60, &found));
    CHECK(found == rank);
    OK(hocket_team_match_count_bool(team, mine > 0, 0, 60, &found));
    CHECK(found == ranks);
    OK(hocket_team_match_count_int8(team, (int8_t)mine, 0, 60, &found));
    CHECK(found == 1);
    OK(hocket_team_match_count_int16(team, (int16_t)mine, 0, 60, &found));
    CHECK(found == 1);
    OK(hocket_team_match_count_int32(team, (int32_t)mine, 0, 60, &found));
    CHECK(found == 1);
    OK(hocket_team_match_count_int64(team, (int64_t)mine, 0, 60, &found));
    CHECK(found == 1);
    OK(hocket_team_match_count_uint8(team, (uint8_t)mine, 0, 60, &found));
    CHECK(found == 1);
    OK(hocket_team_match_count_uint16(team, (uint16_t)mine, 0, 60, &found));
    CHECK(found == 1);
    OK(hocket_team_match_count_uint32(team, (uint32_t)mine, 0, 60, &found));
    CHECK(found == 1);
    OK(hocket_team_match_count_uint64(team, (uint64_t)mine, 0, 60, &found));
    CHECK(found == 1);
    OK(hocket_team_match_count_float32(team, (float)mine, 0, 60, &found));
    CHECK(found == 1);
    OK(hocket_team_match_count_float64(team, (double)mine, 0, 60, &found));
    CHECK(found == 1);
    OK(hocket_team_match_bool(team, mine > 0, 0, 60, 4, words, &count));
    CHECK(count == 1 && words[0] == expected->everyone);
    OK(hocket_team_match_int8(team, (int8_t)mine, 0, 60, 4, words, &count));
    CHECK(count == 1 && words[0] == 1ULL << rank);
    OK(hocket_team_match_int16(team, (int16_t)mine, 0, 60, 4, words, &count));
    CHECK(count == 1 && words[0] == 1ULL << rank);
    OK(hocket_team_match_int32(team, (int32_t)mine, 0, 60, 4, words, &count));
    CHECK(count == 1 && words[0] == 1ULL << rank);
    OK(hocket_team_match_int64(team, (int64_t)mine, 0, 60, 4, words, &count));
    CHECK(count == 1 && words[0] == 1ULL << rank);
    OK(hocket_team_match_uint8(team, (uint8_t)mine, 0, 60, 4, words, &count));
    CHECK(count == 1 && words[0] == 1ULL << rank);
    OK(hocket_team_match_uint16(team, (uint16_t)mine, 0, 60, 4, words, &count));
    CHECK(count == 1 && words[0] == 1ULL << rank);
    OK(hocket_team_match_uint32(team, (uint32_t)mine, 0, 60, 4, words, &count));
    CHECK(count == 1 && words[0] == 1ULL << rank);
    OK(hocket_team_match_uint64(team, (uint64_t)mine, 0, 60, 4, words, &count));
    CHECK(count == 1 && words[0] == 1ULL << rank);
    OK(hocket_team_match_float32(team, (float)mine, 0, 60, 4, words, &count));
    CHECK(count == 1 && words[0] == 1ULL << rank);
    OK(hocket_team_match_float64(team, (double)mine, 0, 60, 4, words, &count));
    CHECK(count == 1 && words[0] == 1ULL << rank);
}
