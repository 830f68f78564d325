/* SPDX-License-Identifier: BSD-3-Clause */
/* Tasks for C; see hocket/task.hpp. Every verb is collective over the calling task. */
#ifndef HOCKET_C_TASK_H
#define HOCKET_C_TASK_H

#include <stddef.h>

#include "hocket/hocket.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A request for a task: the next `count` ranks of the communicator (ranks = NULL), or the
 * `count` ranks listed. */
typedef struct hocket_task_request {
    const char* name;
    int64_t count;
    const int* ranks;
} hocket_task_request;

/* A task: by its name, or (name = NULL) by its index. */
typedef struct hocket_task_id {
    const char* name;
    int index;
} hocket_task_id;

static inline hocket_task_id hocket_task_named(const char* name) {
    hocket_task_id id = {NULL, -2}; /* a NULL name is no task; it does not mean any task */
    id.name = name;
    return id;
}
static inline hocket_task_id hocket_task_at(int index) {
    hocket_task_id id = {NULL, 0};
    id.index = index;
    return id;
}
/* As a source: any sender. */
static inline hocket_task_id hocket_any_task(void) {
    return hocket_task_at(-1);
}
enum { HOCKET_ANY_TAG = -1 };

/* Collective over `comm`: divides its processes into `count` tasks. Errors come on every process:
 * counts that do not sum to the communicator's size, ranks in no task, names that repeat. */
int hocket_tasks_make(int64_t count, const hocket_task_request* requests, MPI_Comm comm,
                      hocket_tasks** tasks);
/* The tasks that the launcher has set: HOCKET_TASKS="rows=2,cols=2". */
int hocket_tasks_from_launcher(MPI_Comm comm, hocket_tasks** tasks);
int hocket_tasks_free(hocket_tasks** tasks);

/* The name of this process's task (NULL if it is in several), its index and communicator (an
 * error if it is in several). */
int hocket_tasks_name(const hocket_tasks* tasks, const char** name);
int hocket_tasks_rank(const hocket_tasks* tasks, int* rank);
int hocket_tasks_comm(const hocket_tasks* tasks, MPI_Comm* comm);
int hocket_tasks_size(const hocket_tasks* tasks, int* size); /* number of tasks */
int hocket_tasks_name_of(const hocket_tasks* tasks, int index, const char** name);
/* The tasks as one of this process's tasks sees them, for a process in several: a new handle. */
int hocket_tasks_task(const hocket_tasks* tasks, hocket_task_id id, hocket_tasks** view);

/* Options of a message; NULL: the defaults, each 0 or NULL: `&(hocket_message_options){.tag =
 * 3}`. Either side may set strategy, stages and pieces; if both set one of them, the values must
 * be equal. See hocket/task.hpp. */
typedef struct hocket_message_options {
    int tag;    /* a receive may also pass HOCKET_ANY_TAG */
    bool later; /* isend, irecv: takes its position among the calls of the task now, and begins at
                   the one start of its request, for flows; if freed before, it fails on both
                   sides */
    const char* strategy; /* NULL: "auto" */
    int64_t stages, pieces;
    int64_t reserved[4]; /* 0, for options of later versions */
} hocket_message_options;
typedef struct hocket_sendrecv_options {
    int send_tag, receive_tag;
    int64_t reserved[4];
} hocket_sendrecv_options;

/* Sends or receives `count` arrays as one message; the other side passes as many.
 * HOCKET_ERR_MISMATCH on every process of both tasks, naming both values, if shape or dtype
 * differ; no element has moved then. A `status` pointer may be NULL; the caller frees the
 * status. */
int hocket_tasks_send(hocket_tasks* tasks, int64_t count, hocket_array* const* arrays,
                      hocket_task_id destination, const hocket_message_options* options,
                      double timeout);
int hocket_tasks_recv(hocket_tasks* tasks, int64_t count, hocket_array* const* arrays,
                      hocket_task_id source, const hocket_message_options* options, double timeout,
                      hocket_status** status);
int hocket_tasks_sendrecv(hocket_tasks* tasks, int64_t sent_count, hocket_array* const* sent,
                          hocket_task_id destination, int64_t received_count,
                          hocket_array* const* received, hocket_task_id source,
                          const hocket_sendrecv_options* options, double timeout,
                          hocket_status** status);
/* The program may not change (isend) or use (irecv) the arrays until the request completes. */
int hocket_tasks_isend(hocket_tasks* tasks, int64_t count, hocket_array* const* arrays,
                       hocket_task_id destination, const hocket_message_options* options,
                       hocket_request** request);
int hocket_tasks_irecv(hocket_tasks* tasks, int64_t count, hocket_array* const* arrays,
                       hocket_task_id source, const hocket_message_options* options,
                       hocket_request** request);

/* Options of a persistent request; NULL: the defaults, each 0 or NULL. */
typedef struct hocket_init_options {
    int tag;
    const char* strategy; /* NULL: "auto" */
    int64_t stages;
    int64_t count;               /* the number of starts; 0: unknown; 1: hocket prepares nothing */
    const hocket_layout* layout; /* for any array of this layout, if `array` is NULL */
    int64_t reserved[4];
} hocket_init_options;
/* Prepares a send or receive that the program starts again and again, with this array or any
 * other of its layout and type. Returns at once; the start or the wait returns errors that the
 * two sides find. */
int hocket_tasks_send_init(hocket_tasks* tasks, const hocket_array* array,
                           hocket_task_id destination, const hocket_init_options* options,
                           hocket_request** request);
int hocket_tasks_recv_init(hocket_tasks* tasks, const hocket_array* array, hocket_task_id source,
                           const hocket_init_options* options, hocket_request** request);

/* Options of a channel, the same in both tasks; NULL: the defaults, each 0 or NULL. */
typedef struct hocket_channel_options {
    int64_t keep; /* The sender numbers the frames and keeps copies of so many, so that each frame
                     arrives exactly once, also after one of two jobs that met by a port was
                     restarted. */
    bool resume;  /* With `keep`: this job has sent or received the frames up to `last`, counted
                     from 1. Otherwise a receiver takes the first frame that was not acknowledged,
                     and a sender begins with frame 1. */
    int64_t last;
    const char* backpressure; /* NULL: "block": a send waits for the receiver. "latest": it never
                                 waits, and the receiver gets the newest array. "every N": one of N
                                 sends waits, the others send nothing. */
    int64_t reserved[4];
} hocket_channel_options;
/* A named stream of arrays between this task and another: a new handle. */
int hocket_tasks_channel(const hocket_tasks* tasks, const char* name, hocket_task_id other,
                         const hocket_channel_options* options, hocket_channel** channel);
/* With `keep`: the numbers of the last frames that this task has sent and received. */
int hocket_channel_sent(const hocket_channel* channel, int64_t* frames);
int hocket_channel_received(const hocket_channel* channel, int64_t* frames);
int hocket_channel_send(hocket_channel* channel, const hocket_array* array, double timeout);
/* HOCKET_ERR_END_OF_STREAM once the sender has closed the channel and this task has received all
 * arrays. */
int hocket_channel_recv(hocket_channel* channel, hocket_array* array, double timeout,
                        hocket_status** status);
int hocket_channel_close(hocket_channel* channel, double timeout);
int hocket_channel_name(const hocket_channel* channel, const char** name);
/* Joins a send or receive that this process cannot make; all processes of the task get this
 * code. */
int hocket_channel_refuse(hocket_channel* channel, bool sending, int code, const char* message,
                          double timeout);
int hocket_channel_free(hocket_channel** channel);

/* Describes the message that the next matching receive would find; iprobe: if there is one now. */
int hocket_tasks_probe(hocket_tasks* tasks, hocket_task_id source, int tag, double timeout,
                       hocket_status** status);
int hocket_tasks_iprobe(hocket_tasks* tasks, hocket_task_id source, int tag, bool* found,
                        hocket_status** status);
/* Collective calls between tasks: every process of every task makes them, in the same order; see
 * hocket/task.hpp. `op`: "add" "mul" "min" "max" "and" "or". Only the root reads `result` (it
 * may be NULL elsewhere), and the `count` results of gather, one a task. */
int hocket_tasks_bcast(hocket_tasks* tasks, hocket_array* array, hocket_task_id root,
                       double timeout);
int hocket_tasks_reduce(hocket_tasks* tasks, const hocket_array* array, hocket_array* result,
                        const char* op, hocket_task_id root, double timeout);
int hocket_tasks_allreduce(hocket_tasks* tasks, const hocket_array* array, hocket_array* result,
                           const char* op, double timeout);
int hocket_tasks_gather(hocket_tasks* tasks, const hocket_array* array, int64_t count,
                        hocket_array* const* results, hocket_task_id root, double timeout);
int hocket_tasks_barrier(hocket_tasks* tasks, double timeout);
/* Joins a call that this process cannot make; all processes of the task get this code. `verb`:
 * "send", "recv", "isend", …; "collective" stands for the calls between all tasks. */
int hocket_tasks_refuse(hocket_tasks* tasks, const char* verb, int code, const char* message,
                        double timeout);
/* The seconds that this process has spent in the six steps so far; adds those of a binding. */
int hocket_tasks_profile(const hocket_tasks* tasks, hocket_profile* profile);
int hocket_tasks_add_to_profile(hocket_tasks* tasks, const hocket_profile* more);

/* Persistent requests only. `array` NULL: the array of the request. Every process of the task
 * starts it; a start does not communicate. */
int hocket_request_start(hocket_request* request, const hocket_array* array);
int hocket_request_persistent(const hocket_request* request, bool* persistent);
/* A deadline ends the wait, not the operation. Freeing does not stop the operation; a persistent
 * request under way cannot be freed. */
int hocket_request_wait(hocket_request* request, double timeout, hocket_status** status);
/* The number of pieces of the array, and the wait for one of them: indices first to last - 1 of
 * the dimension. Local to the process; `dimension`, `first` and `last` may be NULL. */
int hocket_request_pieces(hocket_request* request, double timeout, int64_t* pieces);
int hocket_request_wait_piece(hocket_request* request, int64_t piece, double timeout,
                              int64_t* dimension, int64_t* first, int64_t* last);
/* Collective: true on all processes of the task or on none. */
int hocket_request_test(hocket_request* request, bool* done);
/* The message that a successful test has found. */
int hocket_request_status(const hocket_request* request, hocket_status** status);
/* For hocket_operation_wait and other functions of operations: a new handle. */
int hocket_request_operation(const hocket_request* request, hocket_operation** operation);
int hocket_request_free(hocket_request** request);
/* `statuses` has `count` entries, or is NULL. */
int hocket_request_wait_all(int64_t count, hocket_request* const* requests, double timeout,
                            hocket_status** statuses);
/* The index of a complete request: the same on every process of the task. */
int hocket_request_wait_any(int64_t count, hocket_request* const* requests, double timeout,
                            int64_t* index);

int hocket_status_source(const hocket_status* status, int* source);
int hocket_status_source_name(const hocket_status* status, const char** name);
int hocket_status_tag(const hocket_status* status, int* tag);
int hocket_status_layout(const hocket_status* status, hocket_layout** layout); /* a new handle */
int hocket_status_dtype(const hocket_status* status, const char** dtype, int64_t* itemsize);
/* The number of arrays of the message, and the layout (a new handle) and dtype of one of them. */
int hocket_status_count(const hocket_status* status, int64_t* count);
int hocket_status_layout_at(const hocket_status* status, int64_t index, hocket_layout** layout);
int hocket_status_dtype_at(const hocket_status* status, int64_t index, const char** dtype,
                           int64_t* itemsize);
int hocket_status_free(hocket_status** status);

#ifdef __cplusplus
}
#endif

#endif
