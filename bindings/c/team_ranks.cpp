// SPDX-License-Identifier: BSD-3-Clause
// Written by tools/team_functions.py.
#include "team_arguments.hpp"

using namespace hocket::c;
using hocket::Team;
using hocket::team::Op;

int hocket_team_rank_bool(hocket_team* team, bool value, int bits, double timeout, int* result) {
    return count_of(__func__, Op::rank, team, &Team::rank<bool>, value, bits, timeout, result);
}
int hocket_team_rank_int8(hocket_team* team, int8_t value, int bits, double timeout, int* result) {
    return count_of(__func__, Op::rank, team, &Team::rank<int8_t>, value, bits, timeout, result);
}
int hocket_team_rank_int16(hocket_team* team, int16_t value, int bits, double timeout,
                           int* result) {
    return count_of(__func__, Op::rank, team, &Team::rank<int16_t>, value, bits, timeout, result);
}
int hocket_team_rank_int32(hocket_team* team, int32_t value, int bits, double timeout,
                           int* result) {
    return count_of(__func__, Op::rank, team, &Team::rank<int32_t>, value, bits, timeout, result);
}
int hocket_team_rank_int64(hocket_team* team, int64_t value, int bits, double timeout,
                           int* result) {
    return count_of(__func__, Op::rank, team, &Team::rank<int64_t>, value, bits, timeout, result);
}
int hocket_team_rank_uint8(hocket_team* team, uint8_t value, int bits, double timeout,
                           int* result) {
    return count_of(__func__, Op::rank, team, &Team::rank<uint8_t>, value, bits, timeout, result);
}
int hocket_team_rank_uint16(hocket_team* team, uint16_t value, int bits, double timeout,
                            int* result) {
    return count_of(__func__, Op::rank, team, &Team::rank<uint16_t>, value, bits, timeout, result);
}
int hocket_team_rank_uint32(hocket_team* team, uint32_t value, int bits, double timeout,
                            int* result) {
    return count_of(__func__, Op::rank, team, &Team::rank<uint32_t>, value, bits, timeout, result);
}
int hocket_team_rank_uint64(hocket_team* team, uint64_t value, int bits, double timeout,
                            int* result) {
    return count_of(__func__, Op::rank, team, &Team::rank<uint64_t>, value, bits, timeout, result);
}
int hocket_team_rank_float32(hocket_team* team, float value, int bits, double timeout,
                             int* result) {
    return count_of(__func__, Op::rank, team, &Team::rank<float>, value, bits, timeout, result);
}
int hocket_team_rank_float64(hocket_team* team, double value, int bits, double timeout,
                             int* result) {
    return count_of(__func__, Op::rank, team, &Team::rank<double>, value, bits, timeout, result);
}
int hocket_team_match_count_bool(hocket_team* team, bool value, int bits, double timeout,
                                 int* result) {
    return count_of(__func__, Op::match_count, team, &Team::match_count<bool>, value, bits, timeout,
                    result);
}
int hocket_team_match_count_int8(hocket_team* team, int8_t value, int bits, double timeout,
                                 int* result) {
    return count_of(__func__, Op::match_count, team, &Team::match_count<int8_t>, value, bits,
                    timeout, result);
}
int hocket_team_match_count_int16(hocket_team* team, int16_t value, int bits, double timeout,
                                  int* result) {
    return count_of(__func__, Op::match_count, team, &Team::match_count<int16_t>, value, bits,
                    timeout, result);
}
int hocket_team_match_count_int32(hocket_team* team, int32_t value, int bits, double timeout,
                                  int* result) {
    return count_of(__func__, Op::match_count, team, &Team::match_count<int32_t>, value, bits,
                    timeout, result);
}
int hocket_team_match_count_int64(hocket_team* team, int64_t value, int bits, double timeout,
                                  int* result) {
    return count_of(__func__, Op::match_count, team, &Team::match_count<int64_t>, value, bits,
                    timeout, result);
}
int hocket_team_match_count_uint8(hocket_team* team, uint8_t value, int bits, double timeout,
                                  int* result) {
    return count_of(__func__, Op::match_count, team, &Team::match_count<uint8_t>, value, bits,
                    timeout, result);
}
int hocket_team_match_count_uint16(hocket_team* team, uint16_t value, int bits, double timeout,
                                   int* result) {
    return count_of(__func__, Op::match_count, team, &Team::match_count<uint16_t>, value, bits,
                    timeout, result);
}
int hocket_team_match_count_uint32(hocket_team* team, uint32_t value, int bits, double timeout,
                                   int* result) {
    return count_of(__func__, Op::match_count, team, &Team::match_count<uint32_t>, value, bits,
                    timeout, result);
}
int hocket_team_match_count_uint64(hocket_team* team, uint64_t value, int bits, double timeout,
                                   int* result) {
    return count_of(__func__, Op::match_count, team, &Team::match_count<uint64_t>, value, bits,
                    timeout, result);
}
int hocket_team_match_count_float32(hocket_team* team, float value, int bits, double timeout,
                                    int* result) {
    return count_of(__func__, Op::match_count, team, &Team::match_count<float>, value, bits,
                    timeout, result);
}
int hocket_team_match_count_float64(hocket_team* team, double value, int bits, double timeout,
                                    int* result) {
    return count_of(__func__, Op::match_count, team, &Team::match_count<double>, value, bits,
                    timeout, result);
}
int hocket_team_match_bool(hocket_team* team, bool value, int bits, double timeout,
                           int64_t capacity, uint64_t* words, int64_t* count) {
    return mask_of(__func__, Op::match, team, &Team::match<bool>, value, bits, timeout, capacity,
                   words, count);
}
int hocket_team_match_int8(hocket_team* team, int8_t value, int bits, double timeout,
                           int64_t capacity, uint64_t* words, int64_t* count) {
    return mask_of(__func__, Op::match, team, &Team::match<int8_t>, value, bits, timeout, capacity,
                   words, count);
}
int hocket_team_match_int16(hocket_team* team, int16_t value, int bits, double timeout,
                            int64_t capacity, uint64_t* words, int64_t* count) {
    return mask_of(__func__, Op::match, team, &Team::match<int16_t>, value, bits, timeout, capacity,
                   words, count);
}
int hocket_team_match_int32(hocket_team* team, int32_t value, int bits, double timeout,
                            int64_t capacity, uint64_t* words, int64_t* count) {
    return mask_of(__func__, Op::match, team, &Team::match<int32_t>, value, bits, timeout, capacity,
                   words, count);
}
int hocket_team_match_int64(hocket_team* team, int64_t value, int bits, double timeout,
                            int64_t capacity, uint64_t* words, int64_t* count) {
    return mask_of(__func__, Op::match, team, &Team::match<int64_t>, value, bits, timeout, capacity,
                   words, count);
}
int hocket_team_match_uint8(hocket_team* team, uint8_t value, int bits, double timeout,
                            int64_t capacity, uint64_t* words, int64_t* count) {
    return mask_of(__func__, Op::match, team, &Team::match<uint8_t>, value, bits, timeout, capacity,
                   words, count);
}
int hocket_team_match_uint16(hocket_team* team, uint16_t value, int bits, double timeout,
                             int64_t capacity, uint64_t* words, int64_t* count) {
    return mask_of(__func__, Op::match, team, &Team::match<uint16_t>, value, bits, timeout,
                   capacity, words, count);
}
int hocket_team_match_uint32(hocket_team* team, uint32_t value, int bits, double timeout,
                             int64_t capacity, uint64_t* words, int64_t* count) {
    return mask_of(__func__, Op::match, team, &Team::match<uint32_t>, value, bits, timeout,
                   capacity, words, count);
}
int hocket_team_match_uint64(hocket_team* team, uint64_t value, int bits, double timeout,
                             int64_t capacity, uint64_t* words, int64_t* count) {
    return mask_of(__func__, Op::match, team, &Team::match<uint64_t>, value, bits, timeout,
                   capacity, words, count);
}
int hocket_team_match_float32(hocket_team* team, float value, int bits, double timeout,
                              int64_t capacity, uint64_t* words, int64_t* count) {
    return mask_of(__func__, Op::match, team, &Team::match<float>, value, bits, timeout, capacity,
                   words, count);
}
int hocket_team_match_float64(hocket_team* team, double value, int bits, double timeout,
                              int64_t capacity, uint64_t* words, int64_t* count) {
    return mask_of(__func__, Op::match, team, &Team::match<double>, value, bits, timeout, capacity,
                   words, count);
}
