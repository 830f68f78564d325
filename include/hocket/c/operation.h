/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations, waits and memory for C; see hocket/operation.hpp, mpi.hpp and memory.hpp. */
#ifndef HOCKET_C_OPERATION_H
#define HOCKET_C_OPERATION_H

#include "hocket/hocket.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Something of the caller's that can be polled until it is done. `poll` makes what progress it can
 * without blocking, sets `done`, and returns 0, or a code of its own, which ends the operation with
 * HOCKET_ERR_ERROR. `text` says what a process that waits for it waits for. */
int hocket_operation_make(int (*poll)(void* context, bool* done), const char* text, void* context,
                          hocket_operation** operation);
/* A pending MPI request, which is taken over: *request becomes MPI_REQUEST_NULL. */
int hocket_operation_from_request(MPI_Request* request, hocket_operation** operation);
/* The same, but it leaves the request to its owner, who still has to wait for it or free it. */
int hocket_operation_watch_request(MPI_Request request, hocket_operation** operation);
/* Polls it once, and everything else that this process has under way. */
int hocket_operation_poll(hocket_operation* operation, bool* done);
/* Polls it, and everything else that this process has under way, until it is done. A deadline
 * ends the wait, not the operation. */
int hocket_operation_wait(hocket_operation* operation, double timeout);
int hocket_operation_text(hocket_operation* operation, const char** text);
int hocket_operation_free(hocket_operation** operation);

/* `check` is called some times a second by every wait, and ends it with HOCKET_ERR_INTERRUPTED by
 * returning anything but 0. NULL: none. */
int hocket_interrupt_check_set(int (*check)(void));
/* The lock of an interpreter under which some operations run. Whoever holds it and would wait lets
 * go of it meanwhile: what is waited for may be a thread that polls one of them. `let_go` gives
 * what `take_back` takes, or NULL where this thread does not hold the lock. NULL twice: there is
 * none. */
int hocket_interpreter_lock_set(void* (*let_go)(void), void (*take_back)(void* held));
/* What is told: each choice and what it was made by; what holds for the whole program. */
enum hocket_log_level { HOCKET_LOG_DEBUG = 10, HOCKET_LOG_INFO = 20 };
/* `sink` gets what hocket chooses and why, from this level on, in the thread that makes the choice;
 * NULL: nobody does. It must not call hocket. */
int hocket_log_set(void (*sink)(int level, const char* text), int from);
/* The waits that this process is in, a line each; lives until this thread's next call of it. */
int hocket_pending_waits(const char** text);
/* The MPI that hocket runs on, as "Open MPI 5.0.11". */
int hocket_mpi_library(const char** name);

/* Memory as hocket_array_empty takes it: uninitialised, aligned to 64 bytes. 0 bytes are allowed.
 * Freeing sets the pointer NULL. */
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
