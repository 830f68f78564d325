// SPDX-License-Identifier: BSD-3-Clause
// Written by tools/team_functions.py.
#include "team_arguments.hpp"

using namespace hocket::c;
using hocket::Team;
using hocket::team::Op;

int hocket_team_scan_add_bool(hocket_team* team, bool value, int bits, double timeout,
                              bool* result) {
    return of_value(__func__, Op::scan_add, team, &Team::scan_add<bool>, value, bits, timeout,
                    result);
}
int hocket_team_scan_add_int8(hocket_team* team, int8_t value, int bits, double timeout,
                              int8_t* result) {
    return of_value(__func__, Op::scan_add, team, &Team::scan_add<int8_t>, value, bits, timeout,
                    result);
}
int hocket_team_scan_add_int16(hocket_team* team, int16_t value, int bits, double timeout,
                               int16_t* result) {
    return of_value(__func__, Op::scan_add, team, &Team::scan_add<int16_t>, value, bits, timeout,
                    result);
}
int hocket_team_scan_add_int32(hocket_team* team, int32_t value, int bits, double timeout,
                               int32_t* result) {
    return of_value(__func__, Op::scan_add, team, &Team::scan_add<int32_t>, value, bits, timeout,
                    result);
}
int hocket_team_scan_add_int64(hocket_team* team, int64_t value, int bits, double timeout,
                               int64_t* result) {
    return of_value(__func__, Op::scan_add, team, &Team::scan_add<int64_t>, value, bits, timeout,
                    result);
}
int hocket_team_scan_add_uint8(hocket_team* team, uint8_t value, int bits, double timeout,
                               uint8_t* result) {
    return of_value(__func__, Op::scan_add, team, &Team::scan_add<uint8_t>, value, bits, timeout,
                    result);
}
int hocket_team_scan_add_uint16(hocket_team* team, uint16_t value, int bits, double timeout,
                                uint16_t* result) {
    return of_value(__func__, Op::scan_add, team, &Team::scan_add<uint16_t>, value, bits, timeout,
                    result);
}
int hocket_team_scan_add_uint32(hocket_team* team, uint32_t value, int bits, double timeout,
                                uint32_t* result) {
    return of_value(__func__, Op::scan_add, team, &Team::scan_add<uint32_t>, value, bits, timeout,
                    result);
}
int hocket_team_scan_add_uint64(hocket_team* team, uint64_t value, int bits, double timeout,
                                uint64_t* result) {
    return of_value(__func__, Op::scan_add, team, &Team::scan_add<uint64_t>, value, bits, timeout,
                    result);
}
int hocket_team_scan_add_float32(hocket_team* team, float value, int bits, double timeout,
                                 float* result) {
    return of_value(__func__, Op::scan_add, team, &Team::scan_add<float>, value, bits, timeout,
                    result);
}
int hocket_team_scan_add_float64(hocket_team* team, double value, int bits, double timeout,
                                 double* result) {
    return of_value(__func__, Op::scan_add, team, &Team::scan_add<double>, value, bits, timeout,
                    result);
}
int hocket_team_scan_mul_bool(hocket_team* team, bool value, int bits, double timeout,
                              bool* result) {
    return of_value(__func__, Op::scan_mul, team, &Team::scan_mul<bool>, value, bits, timeout,
                    result);
}
int hocket_team_scan_mul_int8(hocket_team* team, int8_t value, int bits, double timeout,
                              int8_t* result) {
    return of_value(__func__, Op::scan_mul, team, &Team::scan_mul<int8_t>, value, bits, timeout,
                    result);
}
int hocket_team_scan_mul_int16(hocket_team* team, int16_t value, int bits, double timeout,
                               int16_t* result) {
    return of_value(__func__, Op::scan_mul, team, &Team::scan_mul<int16_t>, value, bits, timeout,
                    result);
}
int hocket_team_scan_mul_int32(hocket_team* team, int32_t value, int bits, double timeout,
                               int32_t* result) {
    return of_value(__func__, Op::scan_mul, team, &Team::scan_mul<int32_t>, value, bits, timeout,
                    result);
}
int hocket_team_scan_mul_int64(hocket_team* team, int64_t value, int bits, double timeout,
                               int64_t* result) {
    return of_value(__func__, Op::scan_mul, team, &Team::scan_mul<int64_t>, value, bits, timeout,
                    result);
}
int hocket_team_scan_mul_uint8(hocket_team* team, uint8_t value, int bits, double timeout,
                               uint8_t* result) {
    return of_value(__func__, Op::scan_mul, team, &Team::scan_mul<uint8_t>, value, bits, timeout,
                    result);
}
int hocket_team_scan_mul_uint16(hocket_team* team, uint16_t value, int bits, double timeout,
                                uint16_t* result) {
    return of_value(__func__, Op::scan_mul, team, &Team::scan_mul<uint16_t>, value, bits, timeout,
                    result);
}
int hocket_team_scan_mul_uint32(hocket_team* team, uint32_t value, int bits, double timeout,
                                uint32_t* result) {
    return of_value(__func__, Op::scan_mul, team, &Team::scan_mul<uint32_t>, value, bits, timeout,
                    result);
}
int hocket_team_scan_mul_uint64(hocket_team* team, uint64_t value, int bits, double timeout,
                                uint64_t* result) {
    return of_value(__func__, Op::scan_mul, team, &Team::scan_mul<uint64_t>, value, bits, timeout,
                    result);
}
int hocket_team_scan_mul_float32(hocket_team* team, float value, int bits, double timeout,
                                 float* result) {
    return of_value(__func__, Op::scan_mul, team, &Team::scan_mul<float>, value, bits, timeout,
                    result);
}
int hocket_team_scan_mul_float64(hocket_team* team, double value, int bits, double timeout,
                                 double* result) {
    return of_value(__func__, Op::scan_mul, team, &Team::scan_mul<double>, value, bits, timeout,
                    result);
}
int hocket_team_scan_min_bool(hocket_team* team, bool value, int bits, double timeout,
                              bool* result) {
    return of_value(__func__, Op::scan_min, team, &Team::scan_min<bool>, value, bits, timeout,
                    result);
}
int hocket_team_scan_min_int8(hocket_team* team, int8_t value, int bits, double timeout,
                              int8_t* result) {
    return of_value(__func__, Op::scan_min, team, &Team::scan_min<int8_t>, value, bits, timeout,
                    result);
}
int hocket_team_scan_min_int16(hocket_team* team, int16_t value, int bits, double timeout,
                               int16_t* result) {
    return of_value(__func__, Op::scan_min, team, &Team::scan_min<int16_t>, value, bits, timeout,
                    result);
}
int hocket_team_scan_min_int32(hocket_team* team, int32_t value, int bits, double timeout,
                               int32_t* result) {
    return of_value(__func__, Op::scan_min, team, &Team::scan_min<int32_t>, value, bits, timeout,
                    result);
}
int hocket_team_scan_min_int64(hocket_team* team, int64_t value, int bits, double timeout,
                               int64_t* result) {
    return of_value(__func__, Op::scan_min, team, &Team::scan_min<int64_t>, value, bits, timeout,
                    result);
}
int hocket_team_scan_min_uint8(hocket_team* team, uint8_t value, int bits, double timeout,
                               uint8_t* result) {
    return of_value(__func__, Op::scan_min, team, &Team::scan_min<uint8_t>, value, bits, timeout,
                    result);
}
int hocket_team_scan_min_uint16(hocket_team* team, uint16_t value, int bits, double timeout,
                                uint16_t* result) {
    return of_value(__func__, Op::scan_min, team, &Team::scan_min<uint16_t>, value, bits, timeout,
                    result);
}
int hocket_team_scan_min_uint32(hocket_team* team, uint32_t value, int bits, double timeout,
                                uint32_t* result) {
    return of_value(__func__, Op::scan_min, team, &Team::scan_min<uint32_t>, value, bits, timeout,
                    result);
}
int hocket_team_scan_min_uint64(hocket_team* team, uint64_t value, int bits, double timeout,
                                uint64_t* result) {
    return of_value(__func__, Op::scan_min, team, &Team::scan_min<uint64_t>, value, bits, timeout,
                    result);
}
int hocket_team_scan_min_float32(hocket_team* team, float value, int bits, double timeout,
                                 float* result) {
    return of_value(__func__, Op::scan_min, team, &Team::scan_min<float>, value, bits, timeout,
                    result);
}
int hocket_team_scan_min_float64(hocket_team* team, double value, int bits, double timeout,
                                 double* result) {
    return of_value(__func__, Op::scan_min, team, &Team::scan_min<double>, value, bits, timeout,
                    result);
}
int hocket_team_scan_max_bool(hocket_team* team, bool value, int bits, double timeout,
                              bool* result) {
    return of_value(__func__, Op::scan_max, team, &Team::scan_max<bool>, value, bits, timeout,
                    result);
}
int hocket_team_scan_max_int8(hocket_team* team, int8_t value, int bits, double timeout,
                              int8_t* result) {
    return of_value(__func__, Op::scan_max, team, &Team::scan_max<int8_t>, value, bits, timeout,
                    result);
}
int hocket_team_scan_max_int16(hocket_team* team, int16_t value, int bits, double timeout,
                               int16_t* result) {
    return of_value(__func__, Op::scan_max, team, &Team::scan_max<int16_t>, value, bits, timeout,
                    result);
}
int hocket_team_scan_max_int32(hocket_team* team, int32_t value, int bits, double timeout,
                               int32_t* result) {
    return of_value(__func__, Op::scan_max, team, &Team::scan_max<int32_t>, value, bits, timeout,
                    result);
}
int hocket_team_scan_max_int64(hocket_team* team, int64_t value, int bits, double timeout,
                               int64_t* result) {
    return of_value(__func__, Op::scan_max, team, &Team::scan_max<int64_t>, value, bits, timeout,
                    result);
}
int hocket_team_scan_max_uint8(hocket_team* team, uint8_t value, int bits, double timeout,
                               uint8_t* result) {
    return of_value(__func__, Op::scan_max, team, &Team::scan_max<uint8_t>, value, bits, timeout,
                    result);
}
int hocket_team_scan_max_uint16(hocket_team* team, uint16_t value, int bits, double timeout,
                                uint16_t* result) {
    return of_value(__func__, Op::scan_max, team, &Team::scan_max<uint16_t>, value, bits, timeout,
                    result);
}
int hocket_team_scan_max_uint32(hocket_team* team, uint32_t value, int bits, double timeout,
                                uint32_t* result) {
    return of_value(__func__, Op::scan_max, team, &Team::scan_max<uint32_t>, value, bits, timeout,
                    result);
}
int hocket_team_scan_max_uint64(hocket_team* team, uint64_t value, int bits, double timeout,
                                uint64_t* result) {
    return of_value(__func__, Op::scan_max, team, &Team::scan_max<uint64_t>, value, bits, timeout,
                    result);
}
int hocket_team_scan_max_float32(hocket_team* team, float value, int bits, double timeout,
                                 float* result) {
    return of_value(__func__, Op::scan_max, team, &Team::scan_max<float>, value, bits, timeout,
                    result);
}
int hocket_team_scan_max_float64(hocket_team* team, double value, int bits, double timeout,
                                 double* result) {
    return of_value(__func__, Op::scan_max, team, &Team::scan_max<double>, value, bits, timeout,
                    result);
}
int hocket_team_scan_and_bool(hocket_team* team, bool value, int bits, double timeout,
                              bool* result) {
    return of_value(__func__, Op::scan_and, team, &Team::scan_and<bool>, value, bits, timeout,
                    result);
}
int hocket_team_scan_and_int8(hocket_team* team, int8_t value, int bits, double timeout,
                              int8_t* result) {
    return of_value(__func__, Op::scan_and, team, &Team::scan_and<int8_t>, value, bits, timeout,
                    result);
}
int hocket_team_scan_and_int16(hocket_team* team, int16_t value, int bits, double timeout,
                               int16_t* result) {
    return of_value(__func__, Op::scan_and, team, &Team::scan_and<int16_t>, value, bits, timeout,
                    result);
}
int hocket_team_scan_and_int32(hocket_team* team, int32_t value, int bits, double timeout,
                               int32_t* result) {
    return of_value(__func__, Op::scan_and, team, &Team::scan_and<int32_t>, value, bits, timeout,
                    result);
}
int hocket_team_scan_and_int64(hocket_team* team, int64_t value, int bits, double timeout,
                               int64_t* result) {
    return of_value(__func__, Op::scan_and, team, &Team::scan_and<int64_t>, value, bits, timeout,
                    result);
}
int hocket_team_scan_and_uint8(hocket_team* team, uint8_t value, int bits, double timeout,
                               uint8_t* result) {
    return of_value(__func__, Op::scan_and, team, &Team::scan_and<uint8_t>, value, bits, timeout,
                    result);
}
int hocket_team_scan_and_uint16(hocket_team* team, uint16_t value, int bits, double timeout,
                                uint16_t* result) {
    return of_value(__func__, Op::scan_and, team, &Team::scan_and<uint16_t>, value, bits, timeout,
                    result);
}
int hocket_team_scan_and_uint32(hocket_team* team, uint32_t value, int bits, double timeout,
                                uint32_t* result) {
    return of_value(__func__, Op::scan_and, team, &Team::scan_and<uint32_t>, value, bits, timeout,
                    result);
}
int hocket_team_scan_and_uint64(hocket_team* team, uint64_t value, int bits, double timeout,
                                uint64_t* result) {
    return of_value(__func__, Op::scan_and, team, &Team::scan_and<uint64_t>, value, bits, timeout,
                    result);
}
int hocket_team_scan_or_bool(hocket_team* team, bool value, int bits, double timeout,
                             bool* result) {
    return of_value(__func__, Op::scan_or, team, &Team::scan_or<bool>, value, bits, timeout,
                    result);
}
int hocket_team_scan_or_int8(hocket_team* team, int8_t value, int bits, double timeout,
                             int8_t* result) {
    return of_value(__func__, Op::scan_or, team, &Team::scan_or<int8_t>, value, bits, timeout,
                    result);
}
int hocket_team_scan_or_int16(hocket_team* team, int16_t value, int bits, double timeout,
                              int16_t* result) {
    return of_value(__func__, Op::scan_or, team, &Team::scan_or<int16_t>, value, bits, timeout,
                    result);
}
int hocket_team_scan_or_int32(hocket_team* team, int32_t value, int bits, double timeout,
                              int32_t* result) {
    return of_value(__func__, Op::scan_or, team, &Team::scan_or<int32_t>, value, bits, timeout,
                    result);
}
int hocket_team_scan_or_int64(hocket_team* team, int64_t value, int bits, double timeout,
                              int64_t* result) {
    return of_value(__func__, Op::scan_or, team, &Team::scan_or<int64_t>, value, bits, timeout,
                    result);
}
int hocket_team_scan_or_uint8(hocket_team* team, uint8_t value, int bits, double timeout,
                              uint8_t* result) {
    return of_value(__func__, Op::scan_or, team, &Team::scan_or<uint8_t>, value, bits, timeout,
                    result);
}
int hocket_team_scan_or_uint16(hocket_team* team, uint16_t value, int bits, double timeout,
                               uint16_t* result) {
    return of_value(__func__, Op::scan_or, team, &Team::scan_or<uint16_t>, value, bits, timeout,
                    result);
}
int hocket_team_scan_or_uint32(hocket_team* team, uint32_t value, int bits, double timeout,
                               uint32_t* result) {
    return of_value(__func__, Op::scan_or, team, &Team::scan_or<uint32_t>, value, bits, timeout,
                    result);
}
int hocket_team_scan_or_uint64(hocket_team* team, uint64_t value, int bits, double timeout,
                               uint64_t* result) {
    return of_value(__func__, Op::scan_or, team, &Team::scan_or<uint64_t>, value, bits, timeout,
                    result);
}
