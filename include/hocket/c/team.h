/* SPDX-License-Identifier: BSD-3-Clause */
/* Teams for C; see hocket/team.hpp.
 *
 * A call names a type; values and results are memory of this type. In C11,
 * HOCKET_TEAM_TYPE(value) is the type of a variable: hocket_team_reduce(team, HOCKET_MAX,
 * HOCKET_TEAM_TYPE(mine), &mine, -1, &largest).
 *
 * A mask is words of 64 bits: bit p % 64 of word p / 64 stands for process p. Functions that
 * return a mask write all ceil(size / 64) words of the root team's processes; only
 * hocket_team_mask accepts NULL instead of memory for them.
 *
 * Every function that communicates is a barrier of the team (but see HOCKET_TEAM_NO_BARRIER);
 * wrong arguments of one process are an error on all. */
#ifndef HOCKET_C_TEAM_H
#define HOCKET_C_TEAM_H

#include "hocket/hocket.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The root team: all processes of a communicator. Collective. */
int hocket_team_make(MPI_Comm comm, double timeout, hocket_team** team);
/* A team of the masked processes of the root team, which include the caller. Does not
 * communicate. */
int hocket_team_enqueue(hocket_team* team, int64_t count, const uint64_t* words,
                        hocket_team** made);
int hocket_team_free(hocket_team** team);

int hocket_team_process(hocket_team* team, int* process); /* as in the root team */
int hocket_team_size(hocket_team* team, int* size);       /* of the root team */
int hocket_team_mask(hocket_team* team, int64_t capacity, uint64_t* words, int64_t* count);
int hocket_team_shares_memory(hocket_team* team, bool* shares);
int hocket_team_population(hocket_team* team, int* count);
int hocket_team_enumerate(hocket_team* team, int* number);
int hocket_team_select_first(hocket_team* team, int* process);
int hocket_team_select_one(hocket_team* team, int* process);

int hocket_team_wait(hocket_team* team, double timeout);
int hocket_team_any(hocket_team* team, bool flag, double timeout, bool* result);
int hocket_team_all(hocket_team* team, bool flag, double timeout, bool* result);
int hocket_team_waitvec(hocket_team* team, bool flag, double timeout, int64_t capacity,
                        uint64_t* words, int64_t* count);
int hocket_team_vote_count(hocket_team* team, int process, double timeout, int* result);
int hocket_team_vote(hocket_team* team, int process, double timeout, int64_t capacity,
                     uint64_t* words, int64_t* count);

enum hocket_team_type {
    HOCKET_TEAM_BOOL,
    HOCKET_TEAM_INT8,
    HOCKET_TEAM_INT16,
    HOCKET_TEAM_INT32,
    HOCKET_TEAM_INT64,
    HOCKET_TEAM_UINT8,
    HOCKET_TEAM_UINT16,
    HOCKET_TEAM_UINT32,
    HOCKET_TEAM_UINT64,
    HOCKET_TEAM_FLOAT32,
    HOCKET_TEAM_FLOAT64
};
/* An unsigned type, of whose values only the lowest `bits` bits take part. */
#define HOCKET_TEAM_BITS(type, bits) ((type) | (bits) << 8)
/* Added to the type of a scan or a putget: no barrier, as TeamOptions::barrier of C++. */
#define HOCKET_TEAM_NO_BARRIER 65536

#if defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
/* clang-format off */
#define HOCKET_TEAM_TYPE(value) _Generic((value), \
    bool: HOCKET_TEAM_BOOL, \
    signed char: HOCKET_TEAM_INT8, \
    short: HOCKET_TEAM_INT16, \
    int: HOCKET_TEAM_INT32, \
    long: HOCKET_TEAM_INT64, \
    long long: HOCKET_TEAM_INT64, \
    unsigned char: HOCKET_TEAM_UINT8, \
    unsigned short: HOCKET_TEAM_UINT16, \
    unsigned: HOCKET_TEAM_UINT32, \
    unsigned long: HOCKET_TEAM_UINT64, \
    unsigned long long: HOCKET_TEAM_UINT64, \
    float: HOCKET_TEAM_FLOAT32, \
    double: HOCKET_TEAM_FLOAT64)
/* clang-format on */
#endif

/* Integers wrap; bool adds as or and multiplies as and; NaN wins in min and max. `and` and `or`
 * are bitwise: HOCKET_ERR_ERROR for floating-point numbers. */
enum hocket_reduction_op {
    HOCKET_ADD = 0,
    HOCKET_MUL = 1,
    HOCKET_MIN = 2,
    HOCKET_MAX = 3,
    HOCKET_AND = 4,
    HOCKET_OR = 5
};
/* Combines the values of all processes by `op`; scan: those of the processes up to this one,
 * inclusive. */
int hocket_team_reduce(hocket_team* team, int op, int type, const void* value, double timeout,
                       void* result);
int hocket_team_scan(hocket_team* team, int op, int type, const void* value, double timeout,
                     void* result);
/* Puts a value, and returns the value of process `source`. */
int hocket_team_putget(hocket_team* team, int type, const void* value, int source, double timeout,
                       void* result);
/* Sets values[p] to the value of process p, for each process of the team; other entries keep
 * their values. `places`: the number of processes of the root team. */
int hocket_team_gather(hocket_team* team, int type, const void* value, double timeout,
                       int64_t places, void* values);
/* Some processes put, the others get: the values of all that put, combined by bitwise or; 0 if
 * none puts. */
int hocket_team_bcast_put(hocket_team* team, int type, const void* value, double timeout,
                          void* result);
int hocket_team_bcast_get(hocket_team* team, int type, double timeout, void* result);
/* The number of processes with a lower value, or with an equal value and a lower number. NaN is
 * the highest value. */
int hocket_team_rank(hocket_team* team, int type, const void* value, double timeout, int* result);
/* The number of processes with the same value as this process, itself included; these processes,
 * as a mask. */
int hocket_team_match_count(hocket_team* team, int type, const void* value, double timeout,
                            int* result);
int hocket_team_match(hocket_team* team, int type, const void* value, double timeout,
                      int64_t capacity, uint64_t* words, int64_t* count);

/* Folds the values of all processes, up to 56 bytes each, from the lowest process on: `fold`
 * replaces `into` by the fold of itself and `with`. */
int hocket_team_fold(hocket_team* team, const void* value, int64_t bytes,
                     void (*fold)(void* into, const void* with, void* context), void* context,
                     double timeout, void* result);
/* Gathers the values of all processes of the team into `values`, in order. */
int hocket_team_gather_bytes(hocket_team* team, const void* value, int64_t bytes, double timeout,
                             void* values);

enum hocket_team_op {
    HOCKET_TEAM_WAIT,
    HOCKET_TEAM_WAITVEC,
    HOCKET_TEAM_ANY,
    HOCKET_TEAM_ALL,
    HOCKET_TEAM_PUTGET,
    HOCKET_TEAM_GATHER,
    HOCKET_TEAM_BCAST,
    HOCKET_TEAM_REDUCE_ADD,
    HOCKET_TEAM_REDUCE_MUL,
    HOCKET_TEAM_REDUCE_MIN,
    HOCKET_TEAM_REDUCE_MAX,
    HOCKET_TEAM_REDUCE_AND,
    HOCKET_TEAM_REDUCE_OR,
    HOCKET_TEAM_SCAN_ADD,
    HOCKET_TEAM_SCAN_MUL,
    HOCKET_TEAM_SCAN_MIN,
    HOCKET_TEAM_SCAN_MAX,
    HOCKET_TEAM_SCAN_AND,
    HOCKET_TEAM_SCAN_OR,
    HOCKET_TEAM_RANK,
    HOCKET_TEAM_VOTE_COUNT,
    HOCKET_TEAM_VOTE,
    HOCKET_TEAM_MATCH_COUNT
};
/* Starts an operation whose result is one value; it progresses in every wait of hocket. `value`
 * and the result are the bits of the value, the lowest first, and 0 beyond its size.
 * `operation`: one of enum hocket_team_op; `process`: the source of a putget, or the process
 * that a vote is for. */
int hocket_team_start(hocket_team* team, int operation, int type, uint64_t value, int process,
                      hocket_team_result** result);
int hocket_team_result_operation(hocket_team_result* result, hocket_operation** operation);
int hocket_team_result_test(hocket_team_result* result, bool* done);
int hocket_team_result_bits(hocket_team_result* result, uint64_t* bits); /* after completion */
int hocket_team_result_free(hocket_team_result** result);

/* Leaves the root team and all teams within it. Processes that wait for this one get an error
 * with the code. */
int hocket_team_exit(hocket_team* team, int code);
/* Prints the message, leaves, and ends the waits of all other processes of the root team. */
int hocket_team_error(hocket_team* team, const char* message);
/* Joins an operation with invalid arguments. Returns HOCKET_ERR_ERROR with this message; the
 * others get an error that names this process. */
int hocket_team_refuse(hocket_team* team, int operation, const char* message);

#ifdef __cplusplus
}
#endif

#endif
