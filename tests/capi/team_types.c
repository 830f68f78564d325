/* SPDX-License-Identifier: BSD-3-Clause */
/* HOCKET_TEAM_TYPE, which needs C11. */
#include "check.h"

void test_team_types(hocket_team* team) {
    const double size = rank;
    double largest = -1;
    OK(hocket_team_reduce(team, HOCKET_MAX, HOCKET_TEAM_TYPE(size), &size, 60, &largest));
    CHECK(largest == ranks - 1);
    CHECK(HOCKET_TEAM_TYPE((bool)true) == HOCKET_TEAM_BOOL);
    CHECK(HOCKET_TEAM_TYPE((int8_t)1) == HOCKET_TEAM_INT8);
    CHECK(HOCKET_TEAM_TYPE((int16_t)1) == HOCKET_TEAM_INT16);
    CHECK(HOCKET_TEAM_TYPE((int32_t)1) == HOCKET_TEAM_INT32);
    CHECK(HOCKET_TEAM_TYPE((int64_t)1) == HOCKET_TEAM_INT64);
    CHECK(HOCKET_TEAM_TYPE(1LL) == HOCKET_TEAM_INT64);
    CHECK(HOCKET_TEAM_TYPE((uint8_t)1) == HOCKET_TEAM_UINT8);
    CHECK(HOCKET_TEAM_TYPE((uint16_t)1) == HOCKET_TEAM_UINT16);
    CHECK(HOCKET_TEAM_TYPE((uint32_t)1) == HOCKET_TEAM_UINT32);
    CHECK(HOCKET_TEAM_TYPE((uint64_t)1) == HOCKET_TEAM_UINT64);
    CHECK(HOCKET_TEAM_TYPE(1ULL) == HOCKET_TEAM_UINT64);
    CHECK(HOCKET_TEAM_TYPE(1.0F) == HOCKET_TEAM_FLOAT32);
    CHECK(HOCKET_TEAM_TYPE(1.0) == HOCKET_TEAM_FLOAT64);
}
