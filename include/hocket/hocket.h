/* SPDX-License-Identifier: BSD-3-Clause */
/* hocket for C (C99).
 *
 * Every function returns a code: HOCKET_SUCCESS, or what went wrong, which hocket_error_message()
 * says in words. Results go to pointers, which come last, and are written on success only.
 *
 * Objects are handles. What one function makes, the `free` of the same noun frees, and sets the
 * handle NULL. A handle that is NULL, was freed, or is of another kind gives HOCKET_ERR_ARGUMENT.
 *
 * A list of results comes into `capacity` places at `values`, and `*count` says how many there
 * are. With values = NULL only the count is given; too little room gives HOCKET_ERR_ARGUMENT.
 * `count` may be NULL. A text belongs to the handle that it came from, and lives as long.
 *
 * Sizes are int64_t, strides bytes. An array has at most 64 dimensions. `timeout` is in seconds; a
 * negative one or INFINITY: none. A deadline ends the wait, not the operation: the memory that it
 * uses lives until it is done. Collective functions report wrong arguments of one process on every
 * process, with its number, where the communicator can still be told from the other arguments;
 * nothing has moved then. */
#ifndef HOCKET_HOCKET_H
#define HOCKET_HOCKET_H

#include <stdbool.h>
#include <stdint.h>

#ifdef HOCKET_NO_MPI /* for sources that call nothing that takes a communicator or a request */
typedef struct hocket_no_mpi MPI_Comm; /* never defined: a use of it does not compile */
typedef struct hocket_no_mpi MPI_Request;
#else
#include <mpi.h>
#endif

#include "hocket/version.h"

#ifdef __cplusplus
extern "C" {
#endif

enum hocket_code {
    HOCKET_SUCCESS = 0,
    HOCKET_ERR_ERROR = 1,         /* any other error */
    HOCKET_ERR_LAYOUT = 2,        /* a layout or a plan that cannot be */
    HOCKET_ERR_MISMATCH = 3,      /* two sides of one operation disagree */
    HOCKET_ERR_DEADLINE = 4,      /* the timeout has passed */
    HOCKET_ERR_PEER_LOST = 5,     /* a process that was waited for is gone */
    HOCKET_ERR_END_OF_STREAM = 6, /* the sender has closed the channel */
    HOCKET_ERR_ARGUMENT = 7,      /* an argument of a C function that cannot be used at all */
    HOCKET_ERR_MEMORY = 8,        /* there is no more memory */
    HOCKET_ERR_INTERRUPTED = 9    /* the check of hocket_interrupt_check_set ended a wait */
};

/* What the last call that failed in this thread said; "" before any failed. Lives until the next
 * failure in this thread. */
const char* hocket_error_message(void);
/* "LayoutError", "DeadlineError", …; "unknown code" for a number that is no code. */
const char* hocket_error_name(int code);

typedef struct hocket_layout hocket_layout;
typedef struct hocket_plan hocket_plan;
typedef struct hocket_array hocket_array;
typedef struct hocket_halo hocket_halo;
typedef struct hocket_transfer hocket_transfer;
typedef struct hocket_tasks hocket_tasks;
typedef struct hocket_status hocket_status;
typedef struct hocket_request hocket_request;
typedef struct hocket_channel hocket_channel;
typedef struct hocket_operation hocket_operation;
typedef struct hocket_copy hocket_copy;
typedef struct hocket_team hocket_team;
typedef struct hocket_team_result hocket_team_result;
typedef struct hocket_flow hocket_flow;
typedef struct hocket_store hocket_store;
typedef struct hocket_annotated hocket_annotated;
typedef struct hocket_reduction hocket_reduction;
typedef struct hocket_started hocket_started; /* no handle: see hocket/c/flow.h */

#ifdef __cplusplus
}
#endif

#include "hocket/c/array.h"
#include "hocket/c/computing.h"
#include "hocket/c/fortran.h"
#include "hocket/c/halo.h"
#include "hocket/c/kernel.h"
#include "hocket/c/layout.h"
#include "hocket/c/operation.h"
#include "hocket/c/plan.h"
#include "hocket/c/remap.h"
#include "hocket/c/store.h"
#include "hocket/c/task.h"
#include "hocket/c/team.h"
#include "hocket/c/transfer.h"
/* Names types of task.h. */
#include "hocket/c/flow.h"

#endif
