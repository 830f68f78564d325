/* SPDX-License-Identifier: BSD-3-Clause */
/* Written by tools/team_functions.py. */
/* Scans: the values of the processes up to this one, itself included, folded. `bits`: only so
 * many low bits of an unsigned value take part; 0: all. */
#ifndef HOCKET_C_TEAM_SCAN_H
#define HOCKET_C_TEAM_SCAN_H

#include "hocket/hocket.h"

#ifdef __cplusplus
extern "C" {
#endif

int hocket_team_scan_add_bool(hocket_team* team, bool value, int bits, double timeout,
                              bool* result);
int hocket_team_scan_add_int8(hocket_team* team, int8_t value, int bits, double timeout,
                              int8_t* result);
int hocket_team_scan_add_int16(hocket_team* team, int16_t value, int bits, double timeout,
                               int16_t* result);
int hocket_team_scan_add_int32(hocket_team* team, int32_t value, int bits, double timeout,
                               int32_t* result);
int hocket_team_scan_add_int64(hocket_team* team, int64_t value, int bits, double timeout,
                               int64_t* result);
int hocket_team_scan_add_uint8(hocket_team* team, uint8_t value, int bits, double timeout,
                               uint8_t* result);
int hocket_team_scan_add_uint16(hocket_team* team, uint16_t value, int bits, double timeout,
                                uint16_t* result);
int hocket_team_scan_add_uint32(hocket_team* team, uint32_t value, int bits, double timeout,
                                uint32_t* result);
int hocket_team_scan_add_uint64(hocket_team* team, uint64_t value, int bits, double timeout,
                                uint64_t* result);
int hocket_team_scan_add_float32(hocket_team* team, float value, int bits, double timeout,
                                 float* result);
int hocket_team_scan_add_float64(hocket_team* team, double value, int bits, double timeout,
                                 double* result);
int hocket_team_scan_mul_bool(hocket_team* team, bool value, int bits, double timeout,
                              bool* result);
int hocket_team_scan_mul_int8(hocket_team* team, int8_t value, int bits, double timeout,
                              int8_t* result);
int hocket_team_scan_mul_int16(hocket_team* team, int16_t value, int bits, double timeout,
                               int16_t* result);
int hocket_team_scan_mul_int32(hocket_team* team, int32_t value, int bits, double timeout,
                               int32_t* result);
int hocket_team_scan_mul_int64(hocket_team* team, int64_t value, int bits, double timeout,
                               int64_t* result);
int hocket_team_scan_mul_uint8(hocket_team* team, uint8_t value, int bits, double timeout,
                               uint8_t* result);
int hocket_team_scan_mul_uint16(hocket_team* team, uint16_t value, int bits, double timeout,
                                uint16_t* result);
int hocket_team_scan_mul_uint32(hocket_team* team, uint32_t value, int bits, double timeout,
                                uint32_t* result);
int hocket_team_scan_mul_uint64(hocket_team* team, uint64_t value, int bits, double timeout,
                                uint64_t* result);
int hocket_team_scan_mul_float32(hocket_team* team, float value, int bits, double timeout,
                                 float* result);
int hocket_team_scan_mul_float64(hocket_team* team, double value, int bits, double timeout,
                                 double* result);
int hocket_team_scan_min_bool(hocket_team* team, bool value, int bits, double timeout,
                              bool* result);
int hocket_team_scan_min_int8(hocket_team* team, int8_t value, int bits, double timeout,
                              int8_t* result);
int hocket_team_scan_min_int16(hocket_team* team, int16_t value, int bits, double timeout,
                               int16_t* result);
int hocket_team_scan_min_int32(hocket_team* team, int32_t value, int bits, double timeout,
                               int32_t* result);
int hocket_team_scan_min_int64(hocket_team* team, int64_t value, int bits, double timeout,
                               int64_t* result);
int hocket_team_scan_min_uint8(hocket_team* team, uint8_t value, int bits, double timeout,
                               uint8_t* result);
int hocket_team_scan_min_uint16(hocket_team* team, uint16_t value, int bits, double timeout,
                                uint16_t* result);
int hocket_team_scan_min_uint32(hocket_team* team, uint32_t value, int bits, double timeout,
                                uint32_t* result);
int hocket_team_scan_min_uint64(hocket_team* team, uint64_t value, int bits, double timeout,
                                uint64_t* result);
int hocket_team_scan_min_float32(hocket_team* team, float value, int bits, double timeout,
                                 float* result);
int hocket_team_scan_min_float64(hocket_team* team, double value, int bits, double timeout,
                                 double* result);
int hocket_team_scan_max_bool(hocket_team* team, bool value, int bits, double timeout,
                              bool* result);
int hocket_team_scan_max_int8(hocket_team* team, int8_t value, int bits, double timeout,
                              int8_t* result);
int hocket_team_scan_max_int16(hocket_team* team, int16_t value, int bits, double timeout,
                               int16_t* result);
int hocket_team_scan_max_int32(hocket_team* team, int32_t value, int bits, double timeout,
                               int32_t* result);
int hocket_team_scan_max_int64(hocket_team* team, int64_t value, int bits, double timeout,
                               int64_t* result);
int hocket_team_scan_max_uint8(hocket_team* team, uint8_t value, int bits, double timeout,
                               uint8_t* result);
int hocket_team_scan_max_uint16(hocket_team* team, uint16_t value, int bits, double timeout,
                                uint16_t* result);
int hocket_team_scan_max_uint32(hocket_team* team, uint32_t value, int bits, double timeout,
                                uint32_t* result);
int hocket_team_scan_max_uint64(hocket_team* team, uint64_t value, int bits, double timeout,
                                uint64_t* result);
int hocket_team_scan_max_float32(hocket_team* team, float value, int bits, double timeout,
                                 float* result);
int hocket_team_scan_max_float64(hocket_team* team, double value, int bits, double timeout,
                                 double* result);
int hocket_team_scan_and_bool(hocket_team* team, bool value, int bits, double timeout,
                              bool* result);
int hocket_team_scan_and_int8(hocket_team* team, int8_t value, int bits, double timeout,
                              int8_t* result);
int hocket_team_scan_and_int16(hocket_team* team, int16_t value, int bits, double timeout,
                               int16_t* result);
int hocket_team_scan_and_int32(hocket_team* team, int32_t value, int bits, double timeout,
                               int32_t* result);
int hocket_team_scan_and_int64(hocket_team* team, int64_t value, int bits, double timeout,
                               int64_t* result);
int hocket_team_scan_and_uint8(hocket_team* team, uint8_t value, int bits, double timeout,
                               uint8_t* result);
int hocket_team_scan_and_uint16(hocket_team* team, uint16_t value, int bits, double timeout,
                                uint16_t* result);
int hocket_team_scan_and_uint32(hocket_team* team, uint32_t value, int bits, double timeout,
                                uint32_t* result);
int hocket_team_scan_and_uint64(hocket_team* team, uint64_t value, int bits, double timeout,
                                uint64_t* result);
int hocket_team_scan_or_bool(hocket_team* team, bool value, int bits, double timeout, bool* result);
int hocket_team_scan_or_int8(hocket_team* team, int8_t value, int bits, double timeout,
                             int8_t* result);
int hocket_team_scan_or_int16(hocket_team* team, int16_t value, int bits, double timeout,
                              int16_t* result);
int hocket_team_scan_or_int32(hocket_team* team, int32_t value, int bits, double timeout,
                              int32_t* result);
int hocket_team_scan_or_int64(hocket_team* team, int64_t value, int bits, double timeout,
                              int64_t* result);
int hocket_team_scan_or_uint8(hocket_team* team, uint8_t value, int bits, double timeout,
                              uint8_t* result);
int hocket_team_scan_or_uint16(hocket_team* team, uint16_t value, int bits, double timeout,
                               uint16_t* result);
int hocket_team_scan_or_uint32(hocket_team* team, uint32_t value, int bits, double timeout,
                               uint32_t* result);
int hocket_team_scan_or_uint64(hocket_team* team, uint64_t value, int bits, double timeout,
                               uint64_t* result);

#ifdef __cplusplus
}
#endif

#endif
