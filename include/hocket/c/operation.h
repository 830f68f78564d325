/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations, waits and memory for C; see hocket/operation.hpp, mpi.hpp and memory.hpp. */
#ifndef HOCKET_C_OPERATION_H
#define HOCKET_C_OPERATION_H

#include "hocket/hocket.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An operation of the caller, which hocket polls until it completes. `poll` makes progress
 * without blocking, sets `done`, and returns 0; any other value ends the operation with
 * HOCKET_ERR_ERROR. `text` completes the clause "waiting for …". */
int hocket_operation_make(int (*poll)(void* context, bool* done), const char* text, void* context,
                          hocket_operation** operation);
/* Takes over a pending MPI request: *request becomes MPI_REQUEST_NULL. */
int hocket_operation_from_request(MPI_Request* request, hocket_operation** operation);
/* Watches an MPI request, which its owner still has to wait for or free. */
int hocket_operation_watch_request(MPI_Request request, hocket_operation** operation);
/* Polls `operation`, and everything else that this process has under way, once. */
int hocket_operation_poll(hocket_operation* operation, bool* done);
/* Polls `operation`, and everything else that this process has under way, until it completes. A
 * deadline ends the wait, not the operation. */
int hocket_operation_wait(hocket_operation* operation, double timeout);
/* Waits, in the same way, for the first of `count` operations: `index` is its number, from 0. It
 * may have failed: the wait for it returns its error. So a program waits for any of several calls
 * of hocket_iredistribute, hocket_transfer_operation and others. For requests of a task,
 * hocket_request_wait_any gives the same answer on all of its processes. */
int hocket_operation_wait_any(int64_t count, hocket_operation* const* operations, double timeout,
                              int64_t* index);
int hocket_operation_text(hocket_operation* operation, const char** text);
int hocket_operation_free(hocket_operation** operation);

/* Every wait calls `check` several times a second; a return value other than 0 ends the wait
 * with HOCKET_ERR_INTERRUPTED. NULL: no check. */
int hocket_interrupt_check_set(int (*check)(void));
/* Sets the lock of an interpreter under which some operations run. A wait releases this lock
 * while it blocks, because the awaited thread may need the lock to poll an operation. `let_go`
 * returns the argument of `take_back`, or NULL if this thread does not hold the lock. NULL
 * twice: no lock. */
int hocket_interpreter_lock_set(void* (*let_go)(void), void (*take_back)(void* held));
/* Debug: each choice and its reason; info: settings of the whole program. */
enum hocket_log_level { HOCKET_LOG_DEBUG = 10, HOCKET_LOG_INFO = 20 };
/* Passes messages of level `from` and above to `sink`, in the thread that makes the choice.
 * NULL: no messages. `sink` must not call hocket. */
int hocket_log_set(void (*sink)(int level, const char* text), int from);
/* The pending waits of this process, one line each; lives until this thread's next call. */
int hocket_pending_waits(const char** text);
/* The MPI library that hocket uses: "Open MPI 5.0.11". */
int hocket_mpi_library(const char** name);

/* Allocates memory as hocket_array_empty does: uninitialised, aligned to 64 bytes. 0 bytes are
 * allowed. Freeing sets the pointer to NULL. */
int hocket_memory_allocate(int64_t bytes, void** memory);
int hocket_memory_free(void** memory);
typedef struct hocket_memory_usage {
    int64_t in_use;       /* bytes handed out */
    int64_t kept;         /* bytes freed and kept for reuse */
    int64_t keep_at_most; /* bytes */
    bool shareable;       /* other processes of the node can map it */
} hocket_memory_usage;
int hocket_memory_usage_get(hocket_memory_usage* usage);

#ifdef __cplusplus
}
#endif

#endif
