/* SPDX-License-Identifier: BSD-3-Clause */
/* hocket for C (C99).
 *
 * Every function returns a code: HOCKET_SUCCESS or an error. hocket_error_message() describes
 * the last error. Results go to pointers, which come last; functions write them only on success.
 *
 * Objects are handles. The `free` function of a type frees a handle and sets it to NULL. A
 * handle that is NULL, freed, or of another type gives HOCKET_ERR_ARGUMENT.
 *
 * Functions that return lists write up to `capacity` entries to `values`, and the number of
 * entries to `*count`. With values = NULL they write only the number (masks: see team.h). A
 * capacity that is too small gives HOCKET_ERR_ARGUMENT. `count` may be NULL. A string belongs to
 * the handle that it comes from, and lives as long as this handle.
 *
 * Sizes are int64_t, strides are in bytes. An array has at most 64 dimensions. `timeout` is in
 * seconds; negative values and INFINITY mean no timeout. A deadline ends the wait, not the
 * operation: the caller keeps the operation's memory until it completes. Collective functions
 * report wrong arguments of one process on every process, with its number, if they can still
 * determine the communicator; no element has moved then. */
#ifndef HOCKET_HOCKET_H
#define HOCKET_HOCKET_H

#include <stdbool.h>
#include <stdint.h>

#ifdef HOCKET_NO_MPI                   /* for sources that use no communicator and no request */
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
    HOCKET_ERR_LAYOUT = 2,        /* an invalid layout or plan */
    HOCKET_ERR_MISMATCH = 3,      /* two sides of one operation disagree */
    HOCKET_ERR_DEADLINE = 4,      /* the timeout has passed */
    HOCKET_ERR_PEER_LOST = 5,     /* an awaited process has ended */
    HOCKET_ERR_END_OF_STREAM = 6, /* the sender has closed the channel */
    HOCKET_ERR_ARGUMENT = 7,      /* an invalid argument: NULL, a freed handle, too small a
                                     buffer */
    HOCKET_ERR_MEMORY = 8,        /* out of memory */
    HOCKET_ERR_INTERRUPTED = 9    /* the check of hocket_interrupt_check_set has ended a wait */
};

/* The message of this thread's last error; "" if there was none. Lives until this thread's next
 * error. */
const char* hocket_error_message(void);
/* "LayoutError", "DeadlineError", …; "unknown code" for other numbers. */
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
typedef struct hocket_port hocket_port;
typedef struct hocket_observer hocket_observer;
typedef struct hocket_annotated hocket_annotated;
typedef struct hocket_reduction hocket_reduction;
typedef struct hocket_started hocket_started; /* not a handle: see hocket/c/flow.h */

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
#include "hocket/c/port.h"
#include "hocket/c/remap.h"
#include "hocket/c/store.h"
#include "hocket/c/task.h"
#include "hocket/c/team.h"
#include "hocket/c/transfer.h"
/* flow.h uses types of task.h. */
#include "hocket/c/flow.h"

#endif
