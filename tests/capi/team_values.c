/* SPDX-License-Identifier: BSD-3-Clause */
/* Written by tools/team_functions.py. */
#include "check.h"

/* Process p has the value p + 1, or true. */
void test_team_values(hocket_team* team, const team_numbers* expected) {
    const int mine = rank + 1;
    {
        bool found = 0;
        OK(hocket_team_putget_bool(team, mine > 0, ranks - 1, 0, 60, &found));
        CHECK(found == 1);
    }
    {
        int8_t found = 0;
        OK(hocket_team_putget_int8(team, (int8_t)mine, ranks - 1, 0, 60, &found));
        CHECK(found == (int8_t)ranks);
    }
    {
        int16_t found = 0;
        OK(hocket_team_putget_int16(team, (int16_t)mine, ranks - 1, 0, 60, &found));
        CHECK(found == (int16_t)ranks);
    }
    {
        int32_t found = 0;
        OK(hocket_team_putget_int32(team, (int32_t)mine, ranks - 1, 0, 60, &found));
        CHECK(found == (int32_t)ranks);
    }
    {
        int64_t found = 0;
        OK(hocket_team_putget_int64(team, (int64_t)mine, ranks - 1, 0, 60, &found));
        CHECK(found == (int64_t)ranks);
    }
    {
        uint8_t found = 0;
        OK(hocket_team_putget_uint8(team, (uint8_t)mine, ranks - 1, 0, 60, &found));
        CHECK(found == (uint8_t)ranks);
    }
    {
        uint16_t found = 0;
        OK(hocket_team_putget_uint16(team, (uint16_t)mine, ranks - 1, 0, 60, &found));
        CHECK(found == (uint16_t)ranks);
    }
    {
        uint32_t found = 0;
        OK(hocket_team_putget_uint32(team, (uint32_t)mine, ranks - 1, 0, 60, &found));
        CHECK(found == (uint32_t)ranks);
    }
    {
        uint64_t found = 0;
        OK(hocket_team_putget_uint64(team, (uint64_t)mine, ranks - 1, 0, 60, &found));
        CHECK(found == (uint64_t)ranks);
    }
    {
        float found = 0;
        OK(hocket_team_putget_float32(team, (float)mine, ranks - 1, 0, 60, &found));
        CHECK(found == (float)ranks);
    }
    {
        double found = 0;
        OK(hocket_team_putget_float64(team, (double)mine, ranks - 1, 0, 60, &found));
        CHECK(found == (double)ranks);
    }
    {
        bool found[64] = {0};
        OK(hocket_team_gather_bool(team, mine > 0, 0, 60, 64, found));
        CHECK(found[rank] && found[ranks - 1]);
    }
    {
        int8_t found[64] = {0};
        OK(hocket_team_gather_int8(team, (int8_t)mine, 0, 60, 64, found));
        CHECK(found[rank] == (int8_t)mine && found[ranks - 1] == (int8_t)ranks);
    }
    {
        int16_t found[64] = {0};
        OK(hocket_team_gather_int16(team, (int16_t)mine, 0, 60, 64, found));
        CHECK(found[rank] == (int16_t)mine && found[ranks - 1] == (int16_t)ranks);
    }
    {
        int32_t found[64] = {0};
        OK(hocket_team_gather_int32(team, (int32_t)mine, 0, 60, 64, found));
        CHECK(found[rank] == (int32_t)mine && found[ranks - 1] == (int32_t)ranks);
    }
    {
        int64_t found[64] = {0};
        OK(hocket_team_gather_int64(team, (int64_t)mine, 0, 60, 64, found));
        CHECK(found[rank] == (int64_t)mine && found[ranks - 1] == (int64_t)ranks);
    }
    {
        uint8_t found[64] = {0};
        OK(hocket_team_gather_uint8(team, (uint8_t)mine, 0, 60, 64, found));
        CHECK(found[rank] == (uint8_t)mine && found[ranks - 1] == (uint8_t)ranks);
    }
    {
        uint16_t found[64] = {0};
        OK(hocket_team_gather_uint16(team, (uint16_t)mine, 0, 60, 64, found));
        CHECK(found[rank] == (uint16_t)mine && found[ranks - 1] == (uint16_t)ranks);
    }
    {
        uint32_t found[64] = {0};
        OK(hocket_team_gather_uint32(team, (uint32_t)mine, 0, 60, 64, found));
        CHECK(found[rank] == (uint32_t)mine && found[ranks - 1] == (uint32_t)ranks);
    }
    {
        uint64_t found[64] = {0};
        OK(hocket_team_gather_uint64(team, (uint64_t)mine, 0, 60, 64, found));
        CHECK(found[rank] == (uint64_t)mine && found[ranks - 1] == (uint64_t)ranks);
    }
    {
        float found[64] = {0};
        OK(hocket_team_gather_float32(team, (float)mine, 0, 60, 64, found));
        CHECK(found[rank] == (float)mine && found[ranks - 1] == (float)ranks);
    }
    {
        double found[64] = {0};
        OK(hocket_team_gather_float64(team, (double)mine, 0, 60, 64, found));
        CHECK(found[rank] == (double)mine && found[ranks - 1] == (double)ranks);
    }
    {
        bool found = 0;
        OK(hocket_team_bcast_put_bool(team, mine > 0, 0, 60, &found));
        CHECK(found == 1);
    }
    {
        int8_t found = 0;
        OK(hocket_team_bcast_put_int8(team, (int8_t)mine, 0, 60, &found));
        CHECK(found == (int8_t)expected->reduce_or);
    }
    {
        int16_t found = 0;
        OK(hocket_team_bcast_put_int16(team, (int16_t)mine, 0, 60, &found));
        CHECK(found == (int16_t)expected->reduce_or);
    }
    {
        int32_t found = 0;
        OK(hocket_team_bcast_put_int32(team, (int32_t)mine, 0, 60, &found));
        CHECK(found == (int32_t)expected->reduce_or);
    }
    {
        int64_t found = 0;
        OK(hocket_team_bcast_put_int64(team, (int64_t)mine, 0, 60, &found));
        CHECK(found == (int64_t)expected->reduce_or);
    }
    {
        uint8_t found = 0;
        OK(hocket_team_bcast_put_uint8(team, (uint8_t)mine, 0, 60, &found));
        CHECK(found == (uint8_t)expected->reduce_or);
    }
    {
        uint16_t found = 0;
        OK(hocket_team_bcast_put_uint16(team, (uint16_t)mine, 0, 60, &found));
        CHECK(found == (uint16_t)expected->reduce_or);
    }
    {
        uint32_t found = 0;
        OK(hocket_team_bcast_put_uint32(team, (uint32_t)mine, 0, 60, &found));
        CHECK(found == (uint32_t)expected->reduce_or);
    }
    {
        uint64_t found = 0;
        OK(hocket_team_bcast_put_uint64(team, (uint64_t)mine, 0, 60, &found));
        CHECK(found == (uint64_t)expected->reduce_or);
    }
    {
        float found = 0;
        OK(hocket_team_bcast_put_float32(team, (float)mine, 0, 60, &found));
        CHECK(ranks > 1 || found == 1);
    }
    {
        double found = 0;
        OK(hocket_team_bcast_put_float64(team, (double)mine, 0, 60, &found));
        CHECK(ranks > 1 || found == 1);
    }
    {
        bool found = 0;
        OK(hocket_team_bcast_get_bool(team, 0, 60, &found));
        CHECK(found == 0);
    }
    {
        int8_t found = 0;
        OK(hocket_team_bcast_get_int8(team, 0, 60, &found));
        CHECK(found == 0);
    }
    {
        int16_t found = 0;
        OK(hocket_team_bcast_get_int16(team, 0, 60, &found));
        CHECK(found == 0);
    }
    {
        int32_t found = 0;
        OK(hocket_team_bcast_get_int32(team, 0, 60, &found));
        CHECK(found == 0);
    }
    {
        int64_t found = 0;
        OK(hocket_team_bcast_get_int64(team, 0, 60, &found));
        CHECK(found == 0);
    }
    {
        uint8_t found = 0;
        OK(hocket_team_bcast_get_uint8(team, 0, 60, &found));
        CHECK(found == 0);
    }
    {
        uint16_t found = 0;
        OK(hocket_team_bcast_get_uint16(team, 0, 60, &found));
        CHECK(found == 0);
    }
    {
        uint32_t found = 0;
        OK(hocket_team_bcast_get_uint32(team, 0, 60, &found));
        CHECK(found == 0);
    }
    {
        uint64_t found = 0;
        OK(hocket_team_bcast_get_uint64(team, 0, 60, &found));
        CHECK(found == 0);
    }
    {
        float found = 0;
        OK(hocket_team_bcast_get_float32(team, 0, 60, &found));
        CHECK(found == 0);
    }
    {
        double found = 0;
        OK(hocket_team_bcast_get_float64(team, 0, 60, &found));
        CHECK(found == 0);
    }
}
