/* SPDX-License-Identifier: BSD-3-Clause */
/* Flows for C: steps that compute or communicate, run as soon as what they read and write allows;
 * see hocket/flow.hpp. */
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
    HOCKET_COMMUTES = 3, /* updates, in any order with others that commute, one at a time */
    HOCKET_REDUCES = 4,  /* updates at the same time as others, in parts of their own */
    HOCKET_VALUE = 5     /* of annotated functions: neither read nor written */
};

/* What a step touches: a key, if `key` is not NULL; else, if `dimensions` is 0, `bytes` bytes at
 * `data`; else the items of `bytes` bytes each in a strided box (strides in bytes, any sign). */
typedef struct hocket_access {
    int kind; /* HOCKET_READS, … */
    const char* key;
    const void* data;
    int64_t bytes;
    int64_t dimensions;
    const int64_t* extents;
    const int64_t* strides;
    const hocket_reduction* reduction; /* of HOCKET_REDUCES */
} hocket_access;

enum hocket_agent {
    HOCKET_AGENT_AUTOMATIC = 0, /* between steps where workers are as many as cores */
    HOCKET_AGENT_BETWEEN_STEPS = 1,
    HOCKET_AGENT_THREAD = 2
};

typedef struct hocket_flow_options {
    int workers;    /* threads that run steps, the one that waits among them; -1: one a core */
    int64_t window; /* unfinished steps at most; an insertion beyond helps to run them */
    int agent;      /* HOCKET_AGENT_AUTOMATIC, … */
    bool check;     /* look whether steps write what they only declared to read; one worker then */
    bool record;    /* keep what ran, for hocket_flow_dot and hocket_flow_svg */
    int threads;    /* that hocket's kernels use in a step, workers of the flow; 1 is usual */
} hocket_flow_options;

int hocket_flow_options_default(hocket_flow_options* options);
/* `options` may be NULL: the defaults. */
int hocket_flow_make(const hocket_flow_options* options, hocket_flow** flow);
/* Runs what was inserted to its end first; an error that nobody waited for goes to stderr. Not
 * inside the flow (in a step of it, or between hocket_flow_enter and hocket_flow_leave). */
int hocket_flow_free(hocket_flow** flow);

/* How parts of a reduction become one: steps with one of the same name run at the same time. A part
 * is contiguous, whatever the strides: `fill` gets all of it, `combine` is called for each
 * contiguous run of the memory, in the order of addresses. May be freed once the steps are
 * inserted. */
int hocket_reduction_make(const char* name, void (*fill)(void* context, void* part, int64_t bytes),
                          void (*combine)(void* context, void* into, const void* part,
                                          int64_t bytes),
                          void* context, hocket_reduction** reduction);
int hocket_reduction_free(hocket_reduction** reduction);

/* A step that computes. `parts` has one for each reduction. Anything but 0 makes the step fail.
 * `name` may be NULL. */
int hocket_flow_task(hocket_flow* flow, int (*function)(void* context, void* const* parts),
                     void* context, int64_t count, const hocket_access* accesses, int priority,
                     const char* name);
/* A step that communicates: `function` starts operations without blocking, and gives each to
 * hocket_started_add; the step ends when all are done. */
int hocket_flow_comm(hocket_flow* flow, int (*function)(void* context, hocket_started* started),
                     void* context, int64_t count, const hocket_access* accesses, int priority,
                     const char* name);
/* Takes the operation over: *operation becomes NULL. Only while the step's function runs. */
int hocket_started_add(hocket_started* started, hocket_operation** operation);
/* Kernels in steps that are inserted from now on use so many threads, workers of the flow that join
 * between two steps of theirs; 0: as many as the flow's options say. */
int hocket_flow_step_threads(hocket_flow* flow, int threads);
/* Sends and receives between tasks, in the order of the program; collective over the task. */
int hocket_flow_send(hocket_flow* flow, const hocket_tasks* tasks, const hocket_array* array,
                     hocket_task_id destination, int tag, int priority);
int hocket_flow_recv(hocket_flow* flow, const hocket_tasks* tasks, const hocket_array* array,
                     hocket_task_id source, int tag, int priority);
/* Fills the border: reads the array within, writes the border. Collective over the array's
 * communicator, in the order of the program. */
int hocket_flow_exchange(hocket_flow* flow, const hocket_halo* halo, int priority);
/* hocket_transfer_start and wait as a step: reads `source` and writes `destination`. Steps of one
 * transfer run one after the other. */
int hocket_flow_transfer(hocket_flow* flow, const hocket_transfer* transfer,
                         const hocket_array* source, hocket_array* destination, int priority);
/* hocket_store_write as a step, of all of the stored array: reads `array`. Collective over its
 * communicator, in the order of the program. */
int hocket_flow_write(hocket_flow* flow, hocket_store* store, const char* name,
                      const hocket_array* array, int priority);

/* Until all steps so far have ended; inside a step: its own. What a step failed with is the code;
 * the message names the step. In a step of another flow, for whose end steps of this one wait, an
 * error says so. */
int hocket_flow_wait(hocket_flow* flow, double timeout);
/* Until all steps so far that touch the region have ended; `kind` does not matter. */
int hocket_flow_wait_on(hocket_flow* flow, const hocket_access* region, double timeout);
/* Nothing that has not begun will. */
int hocket_flow_cancel(hocket_flow* flow);
/* For a step that computes for long, now and then: communication goes on, and steps of a higher
 * priority that may run do so now. None of them may block until something that comes of this one.
 */
int hocket_flow_give_way(hocket_flow* flow);
int hocket_flow_workers(const hocket_flow* flow, int* workers);
int hocket_flow_agent_thread(const hocket_flow* flow, bool* agent_thread);
int hocket_flow_steps(const hocket_flow* flow, int64_t* steps);
/* Graphviz's language, and a picture over time; of a recording flow. */
int hocket_flow_dot(hocket_flow* flow, const char** text);
int hocket_flow_svg(hocket_flow* flow, const char** text);

/* A function annotated once: inside a flow (between hocket_flow_enter and hocket_flow_leave, or in
 * a step) every call is a step of it, and outside an ordinary call. It gets the `data` of its
 * arguments. Those that a step uses must live until it has run. */
int hocket_annotated_make(const char* name, int (*function)(void* const* arguments), int64_t count,
                          const int* kinds, int priority, hocket_annotated** annotated);
/* The same of a function that communicates, as those of hocket_flow_comm: it gives what it starts
 * to hocket_started_add. Outside of flows a call waits for that. No argument HOCKET_COMMUTES. */
int hocket_annotated_make_comm(const char* name,
                               int (*function)(void* const* arguments, hocket_started* started),
                               int64_t count, const int* kinds, int priority,
                               hocket_annotated** annotated);
int hocket_annotated_call(const hocket_annotated* annotated, int64_t count,
                          const hocket_access* arguments);
/* As hocket_flow_step_threads, for the steps of calls from now on. */
int hocket_annotated_step_threads(hocket_annotated* annotated, int threads);
int hocket_annotated_free(hocket_annotated** annotated);
/* Makes the flow the current one of this thread; ends with hocket_flow_leave, innermost first. */
int hocket_flow_enter(hocket_flow* flow);
int hocket_flow_leave(hocket_flow* flow);
/* Whether this thread is in any flow. */
int hocket_flow_inside(bool* inside);

#ifdef __cplusplus
}
#endif

#endif
