/* SPDX-License-Identifier: BSD-3-Clause */
/* Transfers, which are plans ready to run, for C; see hocket::Transfer in hocket/transfer.hpp. */
#ifndef HOCKET_C_TRANSFER_H
#define HOCKET_C_TRANSFER_H

#include "hocket/c/array.h"
#include "hocket/hocket.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Agrees on the layouts, makes the plan and connects the processes. Collective over `comm`;
 * process r of either layout is rank r. `dtype` and `itemsize` as for hocket_array_empty;
 * `dtype` NULL: the arrays of the first start set it. `options` may be NULL; its profile is not
 * used. */
int hocket_transfer_make(const hocket_layout* source, const hocket_layout* destination,
                         const char* dtype, int64_t itemsize, MPI_Comm comm,
                         const hocket_transfer_options* options, double timeout,
                         hocket_transfer** transfer);
/* HOCKET_ERR_ERROR while the transfer is under way. */
int hocket_transfer_free(hocket_transfer** transfer);

/* Starts to copy `source` into `destination`, which may be other arrays each time. Every process
 * must start the transfer, in the same order. Until it completes, the program must not change
 * the source nor touch the destination. HOCKET_ERR_MISMATCH, _ARGUMENT, _ERROR: for arrays that
 * do not match. The receivers of this process then get this error from their wait in place of
 * elements, all others finish, and the program can start the transfer again. */
int hocket_transfer_start(hocket_transfer* transfer, const hocket_array* source,
                          hocket_array* destination);
/* Replaces a start that this process cannot make; returns `code`, as hocket_refuse. */
int hocket_transfer_refuse(hocket_transfer* transfer, int code, const char* message);
/* Waits until the program may use both arrays again on this process. A deadline ends the wait,
 * not the transfer. */
int hocket_transfer_wait(hocket_transfer* transfer, double timeout);
int hocket_transfer_test(hocket_transfer* transfer, bool* done);
/* The last start as an operation, for hocket_operation_wait or hocket_started_add. */
int hocket_transfer_operation(const hocket_transfer* transfer, hocket_operation** operation);
/* A start that begins at its first poll. See hocket_flow_transfer, too. */
int hocket_transfer_start_later(const hocket_transfer* transfer, const hocket_array* source,
                                hocket_array* destination, hocket_operation** operation);

/* Starts hocket_redistribute: for hocket_operation_wait or hocket_started_add. */
int hocket_iredistribute(const hocket_array* source, hocket_array* destination,
                         const hocket_transfer_options* options, hocket_operation** operation);

#ifdef __cplusplus
}
#endif

#endif
