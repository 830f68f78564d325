/* SPDX-License-Identifier: BSD-3-Clause */
/* Flows for C: graphs of steps that compute or communicate. A step runs as soon as the data that
 * it reads and writes allow; see hocket/flow.hpp. */
#ifndef HOCKET_C_FLOW_H
#define HOCKET_C_FLOW_H

#include "hocket/c/task.h"
#include "hocket/hocket.h"

#ifdef __cplusplus
extern "C" {
#endif

enum hocket_access_kind {
    HOCKET_READS = 0,
    HOCKET_WRITES = 1,
    HOCKET_UPDATES = 2,
    HOCKET_COMMUTES = 3, /* updates, one step at a time, in any order with others that commute */
    HOCKET_REDUCES = 4,  /* updates concurrently with others, in private buffers */
    HOCKET_VALUE = 5     /* of annotated functions: not accessed */
};

/* The region that a step accesses: a key, if `key` is not NULL; else, if `dimensions` is 0,
 * `bytes` bytes at `data`; else a strided box of items of `bytes` bytes (strides in bytes, any
 * sign). */
typedef struct hocket_access {
    int kind; /* HOCKET_READS, … */
    const char* key;
    const void* data;
    int64_t bytes;
    int64_t dimensions;
    const int64_t* extents;
    const int64_t* strides;
    const hocket_reduction* reduction; /* for HOCKET_REDUCES */
} hocket_access;

enum hocket_agent {
    HOCKET_AGENT_AUTOMATIC = 0, /* between steps if the flow has as many workers as cores */
    HOCKET_AGENT_BETWEEN_STEPS = 1,
    HOCKET_AGENT_THREAD = 2
};

/* A field that is 0 has its default. */
typedef struct hocket_flow_options {
    int workers;    /* threads that run steps, including the one that waits; 0, -1: one a core */
    int64_t window; /* the most unfinished steps; an insertion beyond helps to run them */
    int agent;      /* HOCKET_AGENT_AUTOMATIC, … */
    bool check;     /* check whether steps write data that they only declared to read; one worker
                       then */
    bool record;    /* record the steps, for hocket_flow_dot and hocket_flow_svg */
    int threads;    /* threads of hocket's kernels in a step, workers of the flow; usually 1 */
} hocket_flow_options;

int hocket_flow_options_default(hocket_flow_options* options);
/* `options` may be NULL: the defaults. */
int hocket_flow_make(const hocket_flow_options* options, hocket_flow** flow);
/* First runs all inserted steps to their end; prints an error that no wait has returned to
 * stderr. Not inside the flow (in a step of it, or between hocket_flow_enter and
 * hocket_flow_leave). */
int hocket_flow_free(hocket_flow** flow);

/* A reduction: how to combine the private buffers of steps into a region. Steps with a reduction
 * of the same name run concurrently. A buffer is contiguous, whatever the strides of the region.
 * `fill` initialises all of it; `combine` runs for each contiguous run of the region, in the
 * order of addresses. May be freed once the steps are inserted. */
int hocket_reduction_make(const char* name, void (*fill)(void* context, void* part, int64_t bytes),
                          void (*combine)(void* context, void* into, const void* part,
                                          int64_t bytes),
                          void* context, hocket_reduction** reduction);
int hocket_reduction_free(hocket_reduction** reduction);

/* Inserts a step that computes. `parts` has one buffer for each reduction. A return value other
 * than 0 makes the step fail. `name` may be NULL. */
int hocket_flow_task(hocket_flow* flow, int (*function)(void* context, void* const* parts),
                     void* context, int64_t count, const hocket_access* accesses, int priority,
                     const char* name);
/* Inserts a step whose function blocks: in hocket's own calls, and in functions of MPI (MPI_Recv,
 * MPI_Wait, …) if the program is linked with -lhocket-mpi before its MPI. It runs on a stack of its
 * own: while such a call waits, the worker runs other steps. Collective functions of MPI in these
 * steps begin in the order of insertion, the same on all processes. */
int hocket_flow_blocking_task(hocket_flow* flow, int (*function)(void* context), void* context,
                              int64_t count, const hocket_access* accesses, int priority,
                              const char* name);
/* Inserts a step that communicates: `function` starts operations without blocking, and passes
 * each to hocket_started_add. The step ends when all are complete. */
int hocket_flow_comm(hocket_flow* flow, int (*function)(void* context, hocket_started* started),
                     void* context, int64_t count, const hocket_access* accesses, int priority,
                     const char* name);
/* Takes the operation over: *operation becomes NULL. Only while the step's function runs. */
int hocket_started_add(hocket_started* started, hocket_operation** operation);
/* Sets the number of threads of kernels in steps that are inserted from now on. The threads are
 * workers of the flow, which join between two steps of their own. 0: as many as the flow's
 * options set. */
int hocket_flow_step_threads(hocket_flow* flow, int threads);
/* Inserts sends and receives between tasks, in the order of the program; collective over the
 * task. */
int hocket_flow_send(hocket_flow* flow, const hocket_tasks* tasks, const hocket_array* array,
                     hocket_task_id destination, int tag, int priority);
int hocket_flow_recv(hocket_flow* flow, const hocket_tasks* tasks, const hocket_array* array,
                     hocket_task_id source, int tag, int priority);
/* Inserts an exchange: reads the array within the border, writes the border. Collective over the
 * array's communicator, in the order of the program. */
int hocket_flow_exchange(hocket_flow* flow, const hocket_halo* halo, int priority);
/* Inserts hocket_transfer_start and wait as one step, which reads `source` and writes
 * `destination`. Steps of one transfer run one after the other. */
int hocket_flow_transfer(hocket_flow* flow, const hocket_transfer* transfer,
                         const hocket_array* source, hocket_array* destination, int priority);
/* Inserts hocket_store_write (read) for the whole stored array; reads (writes) `array`. Collective
 * over its communicator, in the order of the program. */
int hocket_flow_write(hocket_flow* flow, hocket_store* store, const char* name,
                      const hocket_array* array, int priority);
int hocket_flow_read(hocket_flow* flow, hocket_store* store, const char* name, hocket_array* array,
                     int priority);

/* Waits until all steps so far have ended; inside a step: its nested steps. Returns the code of
 * the first failed step; the message names the step. HOCKET_ERR_ERROR in a step of another flow
 * for whose end steps of this one wait. */
int hocket_flow_wait(hocket_flow* flow, double timeout);
/* Waits until all steps so far that touch the region have ended; ignores `kind`. */
int hocket_flow_wait_on(hocket_flow* flow, const hocket_access* region, double timeout);
/* Stops all steps that have not begun. */
int hocket_flow_cancel(hocket_flow* flow);
/* For steps that compute for long: lets communication progress, and runs ready steps of a higher
 * priority. These steps must not block on a result of this one. */
int hocket_flow_give_way(hocket_flow* flow);
int hocket_flow_workers(const hocket_flow* flow, int* workers);
int hocket_flow_agent_thread(const hocket_flow* flow, bool* agent_thread);
int hocket_flow_steps(const hocket_flow* flow, int64_t* steps);
/* The graph in Graphviz's language, and a picture over time; for recording flows. */
int hocket_flow_dot(hocket_flow* flow, const char** text);
int hocket_flow_svg(hocket_flow* flow, const char** text);

/* Annotates a function. Inside a flow (between hocket_flow_enter and hocket_flow_leave, or in a
 * step) every call is a step; outside it is an ordinary call. The function gets the `data` of
 * its arguments, which must live until the step has run. */
int hocket_annotated_make(const char* name, int (*function)(void* const* arguments), int64_t count,
                          const int* kinds, int priority, hocket_annotated** annotated);
/* Annotates a function that communicates, as for hocket_flow_comm: it passes started operations
 * to hocket_started_add. Outside of flows a call waits for them. No argument may be
 * HOCKET_COMMUTES. */
int hocket_annotated_make_comm(const char* name,
                               int (*function)(void* const* arguments, hocket_started* started),
                               int64_t count, const int* kinds, int priority,
                               hocket_annotated** annotated);
int hocket_annotated_call(const hocket_annotated* annotated, int64_t count,
                          const hocket_access* arguments);
/* As hocket_flow_step_threads, for steps of later calls. */
int hocket_annotated_step_threads(hocket_annotated* annotated, int threads);
int hocket_annotated_free(hocket_annotated** annotated);
/* Makes the flow the current one of this thread. Each needs one hocket_flow_leave, innermost
 * first. */
int hocket_flow_enter(hocket_flow* flow);
int hocket_flow_leave(hocket_flow* flow);
/* Whether this thread is in a flow. */
int hocket_flow_inside(bool* inside);

#ifdef __cplusplus
}
#endif

#endif
