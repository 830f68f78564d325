/* SPDX-License-Identifier: BSD-3-Clause */
/* Written by tools/team_functions.py. */
#include "check.h"

/* Process p has the value p + 1, or true. */
void test_team_reduce(hocket_team* team, const team_numbers* expected) {
    const int mine = rank + 1;
    {
        bool found = 0;
        OK(hocket_team_reduce_add_bool(team, mine > 0, 0, 60, &found));
        CHECK(found == 1);
    }
    {
        int8_t found = 0;
        OK(hocket_team_reduce_add_int8(team, (int8_t)mine, 0, 60, &found));
        CHECK(found == (int8_t)expected->reduce_add);
    }
    {
        int16_t found = 0;
        OK(hocket_team_reduce_add_int16(team, (int16_t)mine, 0, 60, &found));
        CHECK(found == (int16_t)expected->reduce_add);
    }
    {
        int32_t found = 0;
        OK(hocket_team_reduce_add_int32(team, (int32_t)mine, 0, 60, &found));
        CHECK(found == (int32_t)expected->reduce_add);
    }
    {
        int64_t found = 0;
        OK(hocket_team_reduce_add_int64(team, (int64_t)mine, 0, 60, &found));
        CHECK(found == (int64_t)expected->reduce_add);
    }
    {
        uint8_t found = 0;
        OK(hocket_team_reduce_add_uint8(team, (uint8_t)mine, 0, 60, &found));
        CHECK(found == (uint8_t)expected->reduce_add);
    }
    {
        uint16_t found = 0;
        OK(hocket_team_reduce_add_uint16(team, (uint16_t)mine, 0, 60, &found));
        CHECK(found == (uint16_t)expected->reduce_add);
    }
    {
        uint32_t found = 0;
        OK(hocket_team_reduce_add_uint32(team, (uint32_t)mine, 0, 60, &found));
        CHECK(found == (uint32_t)expected->reduce_add);
    }
    {
        uint64_t found = 0;
        OK(hocket_team_reduce_add_uint64(team, (uint64_t)mine, 0, 60, &found));
        CHECK(found == (uint64_t)expected->reduce_add);
    }
    {
        float found = 0;
        OK(hocket_team_reduce_add_float32(team, (float)mine, 0, 60, &found));
        CHECK(found == (float)expected->reduce_add);
    }
    {
        double found = 0;
        OK(hocket_team_reduce_add_float64(team, (double)mine, 0, 60, &found));
        CHECK(found == (double)expected->reduce_add);
    }
    {
        bool found = 0;
        OK(hocket_team_reduce_mul_bool(team, mine > 0, 0, 60, &found));
        CHECK(found == 1);
    }
    {
        int8_t found = 0;
        OK(hocket_team_reduce_mul_int8(team, (int8_t)mine, 0, 60, &found));
        CHECK(found == (int8_t)expected->reduce_mul);
    }
    {
        int16_t found = 0;
        OK(hocket_team_reduce_mul_int16(team, (int16_t)mine, 0, 60, &found));
        CHECK(found == (int16_t)expected->reduce_mul);
    }
    {
        int32_t found = 0;
        OK(hocket_team_reduce_mul_int32(team, (int32_t)mine, 0, 60, &found));
        CHECK(found == (int32_t)expected->reduce_mul);
    }
    {
        int64_t found = 0;
        OK(hocket_team_reduce_mul_int64(team, (int64_t)mine, 0, 60, &found));
        CHECK(found == (int64_t)expected->reduce_mul);
    }
    {
        uint8_t found = 0;
        OK(hocket_team_reduce_mul_uint8(team, (uint8_t)mine, 0, 60, &found));
        CHECK(found == (uint8_t)expected->reduce_mul);
    }
    {
        uint16_t found = 0;
        OK(hocket_team_reduce_mul_uint16(team, (uint16_t)mine, 0, 60, &found));
        CHECK(found == (uint16_t)expected->reduce_mul);
    }
    {
        uint32_t found = 0;
        OK(hocket_team_reduce_mul_uint32(team, (uint32_t)mine, 0, 60, &found));
        CHECK(found == (uint32_t)expected->reduce_mul);
    }
    {
        uint64_t found = 0;
        OK(hocket_team_reduce_mul_uint64(team, (uint64_t)mine, 0, 60, &found));
        CHECK(found == (uint64_t)expected->reduce_mul);
    }
    {
        float found = 0;
        OK(hocket_team_reduce_mul_float32(team, (float)mine, 0, 60, &found));
        CHECK(found == (float)expected->reduce_mul);
    }
    {
        double found = 0;
        OK(hocket_team_reduce_mul_float64(team, (double)mine, 0, 60, &found));
        CHECK(found == (double)expected->reduce_mul);
    }
    {
        bool found = 0;
        OK(hocket_team_reduce_min_bool(team, mine > 0, 0, 60, &found));
        CHECK(found == 1);
    }
    {
        int8_t found = 0;
        OK(hocket_team_reduce_min_int8(team, (int8_t)mine, 0, 60, &found));
        CHECK(found == (int8_t)expected->reduce_min);
    }
    {
        int16_t found = 0;
        OK(hocket_team_reduce_min_int16(team, (int16_t)mine, 0, 60, &found));
        CHECK(found == (int16_t)expected->reduce_min);
    }
    {
        int32_t found = 0;
        OK(hocket_team_reduce_min_int32(team, (int32_t)mine, 0, 60, &found));
        CHECK(found == (int32_t)expected->reduce_min);
    }
    {
        int64_t found = 0;
        OK(hocket_team_reduce_min_int64(team, (int64_t)mine, 0, 60, &found));
        CHECK(found == (int64_t)expected->reduce_min);
    }
    {
        uint8_t found = 0;
        OK(hocket_team_reduce_min_uint8(team, (uint8_t)mine, 0, 60, &found));
        CHECK(found == (uint8_t)expected->reduce_min);
    }
    {
        uint16_t found = 0;
        OK(hocket_team_reduce_min_uint16(team, (uint16_t)mine, 0, 60, &found));
        CHECK(found == (uint16_t)expected->reduce_min);
    }
    {
        uint32_t found = 0;
        OK(hocket_team_reduce_min_uint32(team, (uint32_t)mine, 0, 60, &found));
        CHECK(found == (uint32_t)expected->reduce_min);
    }
    {
        uint64_t found = 0;
        OK(hocket_team_reduce_min_uint64(team, (uint64_t)mine, 0, 60, &found));
        CHECK(found == (uint64_t)expected->reduce_min);
    }
    {
        float found = 0;
        OK(hocket_team_reduce_min_float32(team, (float)mine, 0, 60, &found));
        CHECK(found == (float)expected->reduce_min);
    }
    {
        double found = 0;
        OK(hocket_team_reduce_min_float64(team, (double)mine, 0, 60, &found));
        CHECK(found == (double)expected->reduce_min);
    }
    {
        bool found = 0;
        OK(hocket_team_reduce_max_bool(team, mine > 0, 0, 60, &found));
        CHECK(found == 1);
    }
    {
        int8_t found = 0;
        OK(hocket_team_reduce_max_int8(team, (int8_t)mine, 0, 60, &found));
        CHECK(found == (int8_t)expected->reduce_max);
    }
    {
        int16_t found = 0;
        OK(hocket_team_reduce_max_int16(team, (int16_t)mine, 0, 60, &found));
        CHECK(found == (int16_t)expected->reduce_max);
    }
    {
        int32_t found = 0;
        OK(hocket_team_reduce_max_int32(team, (int32_t)mine, 0, 60, &found));
        CHECK(found == (int32_t)expected->reduce_max);
    }
    {
        int64_t found = 0;
        OK(hocket_team_reduce_max_int64(team, (int64_t)mine, 0, 60, &found));
        CHECK(found == (int64_t)expected->reduce_max);
    }
    {
        uint8_t found = 0;
        OK(hocket_team_reduce_max_uint8(team, (uint8_t)mine, 0, 60, &found));
        CHECK(found == (uint8_t)expected->reduce_max);
    }
    {
        uint16_t found = 0;
        OK(hocket_team_reduce_max_uint16(team, (uint16_t)mine, 0, 60, &found));
        CHECK(found == (uint16_t)expected->reduce_max);
    }
    {
        uint32_t found = 0;
        OK(hocket_team_reduce_max_uint32(team, (uint32_t)mine, 0, 60, &found));
        CHECK(found == (uint32_t)expected->reduce_max);
    }
    {
        uint64_t found = 0;
        OK(hocket_team_reduce_max_uint64(team, (uint64_t)mine, 0, 60, &found));
        CHECK(found == (uint64_t)expected->reduce_max);
    }
    {
        float found = 0;
        OK(hocket_team_reduce_max_float32(team, (float)mine, 0, 60, &found));
        CHECK(found == (float)expected->reduce_max);
    }
    {
        double found = 0;
        OK(hocket_team_reduce_max_float64(team, (double)mine, 0, 60, &found));
        CHECK(found == (double)expected->reduce_max);
    }
    {
        bool found = 0;
        OK(hocket_team_reduce_and_bool(team, mine > 0, 0, 60, &found));
        CHECK(found == 1);
    }
    {
        int8_t found = 0;
        OK(hocket_team_reduce_and_int8(team, (int8_t)mine, 0, 60, &found));
        CHECK(found == (int8_t)expected->reduce_and);
    }
    {
        int16_t found = 0;
        OK(hocket_team_reduce_and_int16(team, (int16_t)mine, 0, 60, &found));
        CHECK(found == (int16_t)expected->reduce_and);
    }
    {
        int32_t found = 0;
        OK(hocket_team_reduce_and_int32(team, (int32_t)mine, 0, 60, &found));
        CHECK(found == (int32_t)expected->reduce_and);
    }
    {
        int64_t found = 0;
        OK(hocket_team_reduce_and_int64(team, (int64_t)mine, 0, 60, &found));
        CHECK(found == (int64_t)expected->reduce_and);
    }
    {
        uint8_t found = 0;
        OK(hocket_team_reduce_and_uint8(team, (uint8_t)mine, 0, 60, &found));
        CHECK(found == (uint8_t)expected->reduce_and);
    }
    {
        uint16_t found = 0;
        OK(hocket_team_reduce_and_uint16(team, (uint16_t)mine, 0, 60, &found));
        CHECK(found == (uint16_t)expected->reduce_and);
    }
    {
        uint32_t found = 0;
        OK(hocket_team_reduce_and_uint32(team, (uint32_t)mine, 0, 60, &found));
        CHECK(found == (uint32_t)expected->reduce_and);
    }
    {
        uint64_t found = 0;
        OK(hocket_team_reduce_and_uint64(team, (uint64_t)mine, 0, 60, &found));
        CHECK(found == (uint64_t)expected->reduce_and);
    }
    {
        bool found = 0;
        OK(hocket_team_reduce_or_bool(team, mine > 0, 0, 60, &found));
        CHECK(found == 1);
    }
    {
        int8_t found = 0;
        OK(hocket_team_reduce_or_int8(team, (int8_t)mine, 0, 60, &found));
        CHECK(found == (int8_t)expected->reduce_or);
    }
    {
        int16_t found = 0;
        OK(hocket_team_reduce_or_int16(team, (int16_t)mine, 0, 60, &found));
        CHECK(found == (int16_t)expected->reduce_or);
    }
    {
        int32_t found = 0;
        OK(hocket_team_reduce_or_int32(team, (int32_t)mine, 0, 60, &found));
        CHECK(found == (int32_t)expected->reduce_or);
    }
    {
        int64_t found = 0;
        OK(hocket_team_reduce_or_int64(team, (int64_t)mine, 0, 60, &found));
        CHECK(found == (int64_t)expected->reduce_or);
    }
    {
        uint8_t found = 0;
        OK(hocket_team_reduce_or_uint8(team, (uint8_t)mine, 0, 60, &found));
        CHECK(found == (uint8_t)expected->reduce_or);
    }
    {
        uint16_t found = 0;
        OK(hocket_team_reduce_or_uint16(team, (uint16_t)mine, 0, 60, &found));
        CHECK(found == (uint16_t)expected->reduce_or);
    }
    {
        uint32_t found = 0;
        OK(hocket_team_reduce_or_uint32(team, (uint32_t)mine, 0, 60, &found));
        CHECK(found == (uint32_t)expected->reduce_or);
    }
    {
        uint64_t found = 0;
        OK(hocket_team_reduce_or_uint64(team, (uint64_t)mine, 0, 60, &found));
        CHECK(found == (uint64_t)expected->reduce_or);
    }
}
