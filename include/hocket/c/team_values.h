/* SPDX-License-Identifier: BSD-3-Clause */
/* Written by tools/team_functions.py. */
/* Values from process to process. putget gives that of process `source`; gather, values[p] of
 * the processes p of the team, among `places` (as many as the root team has); bcast, the bits of
 * all that put, joined by or. `bits`: only so many low bits of an unsigned value take part; 0:
 * all. */
#ifndef HOCKET_C_TEAM_VALUES_H
#define HOCKET_C_TEAM_VALUES_H

#include "hocket/hocket.h"

#ifdef __cplusplus
extern "C" {
#endif

int hocket_team_putget_bool(hocket_team* team, bool value, int source, int bits, double timeout,
                            bool* result);
int hocket_team_putget_int8(hocket_team* team, int8_t value, int source, int bits, double timeout,
                            int8_t* result);
int hocket_team_putget_int16(hocket_team* team, int16_t value, int source, int bits, double timeout,
                             int16_t* result);
int hocket_team_putget_int32(hocket_team* team, int32_t value, int source, int bits, double timeout,
                             int32_t* result);
int hocket_team_putget_int64(hocket_team* team, int64_t value, int source, int bits, double timeout,
                             int64_t* result);
int hocket_team_putget_uint8(hocket_team* team, uint8_t value, int source, int bits, double timeout,
                             uint8_t* result);
int hocket_team_putget_uint16(hocket_team* team, uint16_t value, int source, int bits,
                              double timeout, uint16_t* result);
int hocket_team_putget_uint32(hocket_team* team, uint32_t value, int source, int bits,
                              double timeout, uint32_t* result);
int hocket_team_putget_uint64(hocket_team* team, uint64_t value, int source, int bits,
                              double timeout, uint64_t* result);
int hocket_team_putget_float32(hocket_team* team, float value, int source, int bits, double timeout,
                               float* result);
int hocket_team_putget_float64(hocket_team* team, double value, int source, int bits,
                               double timeout, double* result);
int hocket_team_gather_bool(hocket_team* team, bool value, int bits, double timeout, int64_t places,
                            bool* values);
int hocket_team_gather_int8(hocket_team* team, int8_t value, int bits, double timeout,
                            int64_t places, int8_t* values);
int hocket_team_gather_int16(hocket_team* team, int16_t value, int bits, double timeout,
                             int64_t places, int16_t* values);
int hocket_team_gather_int32(hocket_team* team, int32_t value, int bits, double timeout,
                             int64_t places, int32_t* values);
int hocket_team_gather_int64(hocket_team* team, int64_t value, int bits, double timeout,
                             int64_t places, int64_t* values);
int hocket_team_gather_uint8(hocket_team* team, uint8_t value, int bits, double timeout,
                             int64_t places, uint8_t* values);
int hocket_team_gather_uint16(hocket_team* team, uint16_t value, int bits, double timeout,
                              int64_t places, uint16_t* values);
int hocket_team_gather_uint32(hocket_team* team, uint32_t value, int bits, double timeout,
                              int64_t places, uint32_t* values);
int hocket_team_gather_uint64(hocket_team* team, uint64_t value, int bits, double timeout,
                              int64_t places, uint64_t* values);
int hocket_team_gather_float32(hocket_team* team, float value, int bits, double timeout,
                               int64_t places, float* values);
int hocket_team_gather_float64(hocket_team* team, double value, int bits, double timeout,
                               int64_t places, double* values);
int hocket_team_bcast_put_bool(hocket_team* team, bool value, int bits, double timeout,
                               bool* result);
int hocket_team_bcast_put_int8(hocket_team* team, int8_t value, int bits, double timeout,
                               int8_t* result);
int hocket_team_bcast_put_int16(hocket_team* team, int16_t value, int bits, double timeout,
                                int16_t* result);
int hocket_team_bcast_put_int32(hocket_team* team, int32_t value, int bits, double timeout,
                                int32_t* result);
int hocket_team_bcast_put_int64(hocket_team* team, int64_t value, int bits, double timeout,
                                int64_t* result);
int hocket_team_bcast_put_uint8(hocket_team* team, uint8_t value, int bits, double timeout,
                                uint8_t* result);
int hocket_team_bcast_put_uint16(hocket_team* team, uint16_t value, int bits, double timeout,
                                 uint16_t* result);
int hocket_team_bcast_put_uint32(hocket_team* team, uint32_t value, int bits, double timeout,
                                 uint32_t* result);
int hocket_team_bcast_put_uint64(hocket_team* team, uint64_t value, int bits, double timeout,
                                 uint64_t* result);
int hocket_team_bcast_put_float32(hocket_team* team, float value, int bits, double timeout,
                                  float* result);
int hocket_team_bcast_put_float64(hocket_team* team, double value, int bits, double timeout,
                                  double* result);
int hocket_team_bcast_get_bool(hocket_team* team, int bits, double timeout, bool* result);
int hocket_team_bcast_get_int8(hocket_team* team, int bits, double timeout, int8_t* result);
int hocket_team_bcast_get_int16(hocket_team* team, int bits, double timeout, int16_t* result);
int hocket_team_bcast_get_int32(hocket_team* team, int bits, double timeout, int32_t* result);
int hocket_team_bcast_get_int64(hocket_team* team, int bits, double timeout, int64_t* result);
int hocket_team_bcast_get_uint8(hocket_team* team, int bits, double timeout, uint8_t* result);
int hocket_team_bcast_get_uint16(hocket_team* team, int bits, double timeout, uint16_t* result);
int hocket_team_bcast_get_uint32(hocket_team* team, int bits, double timeout, uint32_t* result);
int hocket_team_bcast_get_uint64(hocket_team* team, int bits, double timeout, uint64_t* result);
int hocket_team_bcast_get_float32(hocket_team* team, int bits, double timeout, float* result);
int hocket_team_bcast_get_float64(hocket_team* team, int bits, double timeout, double* result);

#ifdef __cplusplus
}
#endif

#endif
