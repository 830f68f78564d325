/* SPDX-License-Identifier: BSD-3-Clause */
/* Written by tools/team_functions.py. */
/* Comparisons: how many have a lower value, or the same and a lower number; how many have the
 * same, and who. `bits`: only so many low bits of an unsigned value take part; 0: all. */
#ifndef HOCKET_C_TEAM_RANKS_H
#define HOCKET_C_TEAM_RANKS_H

#include "hocket/hocket.h"

#ifdef __cplusplus
extern "C" {
#endif

int hocket_team_rank_bool(hocket_team* team, bool value, int bits, double timeout, int* result);
int hocket_team_rank_int8(hocket_team* team, int8_t value, int bits, double timeout, int* result);
int hocket_team_rank_int16(hocket_team* team, int16_t value, int bits, double timeout, int* result);
int hocket_team_rank_int32(hocket_team* team, int32_t value, int bits, double timeout, int* result);
int hocket_team_rank_int64(hocket_team* team, int64_t value, int bits, double timeout, int* result);
int hocket_team_rank_uint8(hocket_team* team, uint8_t value, int bits, double timeout, int* result);
int hocket_team_rank_uint16(hocket_team* team, uint16_t value, int bits, double timeout,
                            int* result);
int hocket_team_rank_uint32(hocket_team* team, uint32_t value, int bits, double timeout,
                            int* result);
int hocket_team_rank_uint64(hocket_team* team, uint64_t value, int bits, double timeout,
                            int* result);
int hocket_team_rank_float32(hocket_team* team, float value, int bits, double timeout, int* result);
int hocket_team_rank_float64(hocket_team* team, double value, int bits, double timeout,
                             int* result);
int hocket_team_match_count_bool(hocket_team* team, bool value, int bits, double timeout,
                                 int* result);
int hocket_team_match_count_int8(hocket_team* team, int8_t value, int bits, double timeout,
                                 int* result);
int hocket_team_match_count_int16(hocket_team* team, int16_t value, int bits, double timeout,
                                  int* result);
int hocket_team_match_count_int32(hocket_team* team, int32_t value, int bits, double timeout,
                                  int* result);
int hocket_team_match_count_int64(hocket_team* team, int64_t value, int bits, double timeout,
                                  int* result);
int hocket_team_match_count_uint8(hocket_team* team, uint8_t value, int bits, double timeout,
                                  int* result);
int hocket_team_match_count_uint16(hocket_team* team, uint16_t value, int bits, double timeout,
                                   int* result);
int hocket_team_match_count_uint32(hocket_team* team, uint32_t value, int bits, double timeout,
                                   int* result);
int hocket_team_match_count_uint64(hocket_team* team, uint64_t value, int bits, double timeout,
                                   int* result);
int hocket_team_match_count_float32(hocket_team* team, float value, int bits, double timeout,
                                    int* result);
int hocket_team_match_count_float64(hocket_team* team, double value, int bits, double timeout,
                                    int* result);
int hocket_team_match_bool(hocket_team* team, bool value, int bits, double timeout,
                           int64_t capacity, uint64_t* words, int64_t* count);
int hocket_team_match_int8(hocket_team* team, int8_t value, int bits, double timeout,
                           int64_t capacity, uint64_t* words, int64_t* count);
int hocket_team_match_int16(hocket_team* team, int16_t value, int bits, double timeout,
                            int64_t capacity, uint64_t* words, int64_t* count);
int hocket_team_match_int32(hocket_team* team, int32_t value, int bits, double timeout,
                            int64_t capacity, uint64_t* words, int64_t* count);
int hocket_team_match_int64(hocket_team* team, int64_t value, int bits, double timeout,
                            int64_t capacity, uint64_t* words, int64_t* count);
int hocket_team_match_uint8(hocket_team* team, uint8_t value, int bits, double timeout,
                            int64_t capacity, uint64_t* words, int64_t* count);
int hocket_team_match_uint16(hocket_team* team, uint16_t value, int bits, double timeout,
                             int64_t capacity, uint64_t* words, int64_t* count);
int hocket_team_match_uint32(hocket_team* team, uint32_t value, int bits, double timeout,
                             int64_t capacity, uint64_t* words, int64_t* count);
int hocket_team_match_uint64(hocket_team* team, uint64_t value, int bits, double timeout,
                             int64_t capacity, uint64_t* words, int64_t* count);
int hocket_team_match_float32(hocket_team* team, float value, int bits, double timeout,
                              int64_t capacity, uint64_t* words, int64_t* count);
int hocket_team_match_float64(hocket_team* team, double value, int bits, double timeout,
                              int64_t capacity, uint64_t* words, int64_t* count);

#ifdef __cplusplus
}
#endif

#endif
