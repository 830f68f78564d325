/* SPDX-License-Identifier: BSD-3-Clause */
/* Tasks for C; see hocket/task.hpp. Every verb is collective over the calling task. */
#ifndef HOCKET_C_TASK_H
#define HOCKET_C_TASK_H

#include <stddef.h>

#include "hocket/hocket.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A task as it is asked for: the next `count` ranks of the communicator (ranks = NULL), or the
 * `count` ranks listed. */
typedef struct hocket_task_request {
    const char* name;
    int64_t count;
    const int* ranks;
} hocket_task_request;

/* Which task is meant: the one of that name, or (name = NULL) of that index. */
typedef struct hocket_task_id {
    const char* name;
    int index;
} hocket_task_id;

static inline hocket_task_id hocket_task_named(const char* name) {
    hocket_task_id id = {NULL, -2}; /* a NULL name is no task, not any task */
    id.name = name;
    return id;
}
static inline hocket_task_id hocket_task_at(int index) {
    hocket_task_id id = {NULL, 0};
    id.index = index;
    return id;
}
/* As a source: whoever sends. */
static inline hocket_task_id hocket_any_task(void) {
    return hocket_task_at(-1);
}
enum { HOCKET_ANY_TAG = -1 };

/* Collective over `comm`: divides its processes into `count` tasks. Errors come on every process:
 * counts that do not sum to the communicator's size, ranks in no task, names that repeat. */
int hocket_tasks_make(int64_t count, const hocket_task_request* requests, MPI_Comm comm,
                      hocket_tasks** tasks);
/* As the launcher says: HOCKET_TASKS="rows=2,cols=2". */
int hocket_tasks_from_launcher(MPI_Comm comm, hocket_tasks** tasks);
int hocket_tasks_free(hocket_tasks** tasks);

/* Of my task: its name (NULL while I am in several), index and communicator (an error then). */
int hocket_tasks_name(const hocket_tasks* tasks, const char** name);
int hocket_tasks_rank(const hocket_tasks* tasks, int* rank);
int hocket_tasks_comm(const hocket_tasks* tasks, MPI_Comm* comm);
int hocket_tasks_size(const hocket_tasks* tasks, int* size); /* number of tasks */
int hocket_tasks_name_of(const hocket_tasks* tasks, int index, const char** name);
/* The view of one of my tasks, which it speaks through when I am in several: a new handle. */
int hocket_tasks_task(const hocket_tasks* tasks, hocket_task_id id, hocket_tasks** view);

/* How a message is sent or received; NULL: the defaults, each 0 or NULL:
 * `&(hocket_message_options){.tag = 3}`. Of strategy, stages and pieces, what one side leaves open
 * the other says; where both say something it must be the same. See hocket/task.hpp. */
typedef struct hocket_message_options {
    int tag; /* of a receive also HOCKET_ANY_TAG */
    bool
        later; /* isend, irecv: takes its place among the calls of the task now, and begins when
                  its request is started, once, as flows do; freed before, it fails on both sides */
    const char* strategy; /* NULL: "auto" */
    int64_t stages, pieces;
    int64_t reserved[4]; /* 0, for options of later versions */
} hocket_message_options;
typedef struct hocket_sendrecv_options {
    int send_tag, receive_tag;
    int64_t reserved[4];
} hocket_sendrecv_options;

/* `count` arrays as one message, which meets a receive of as many. HOCKET_ERR_MISMATCH on every
 * process of both tasks, the message naming both, if shape or dtype differ; nothing has moved then.
 * A `status` pointer may be NULL; what it gets is to be freed. */
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
/* The arrays may not be changed (isend) or used (irecv) until the request is done. */
int hocket_tasks_isend(hocket_tasks* tasks, int64_t count, hocket_array* const* arrays,
                       hocket_task_id destination, const hocket_message_options* options,
                       hocket_request** request);
int hocket_tasks_irecv(hocket_tasks* tasks, int64_t count, hocket_array* const* arrays,
                       hocket_task_id source, const hocket_message_options* options,
                       hocket_request** request);

/* How a persistent request is prepared; NULL: the defaults, each 0 or NULL. */
typedef struct hocket_init_options {
    int tag;
    const char* strategy; /* NULL: "auto" */
    int64_t stages;
    int64_t count;               /* how often it will be started; 0: not known, 1: preparing does
                                    not pay */
    const hocket_layout* layout; /* of any array of this layout, where `array` is NULL */
    int64_t reserved[4];
} hocket_init_options;
/* Prepares a send or receive that is started again and again: of this array or any other of its
 * layout and type. Returns at once; what the two sides find wrong is said when it is started or
 * waited for. */
int hocket_tasks_send_init(hocket_tasks* tasks, const hocket_array* array,
                           hocket_task_id destination, const hocket_init_options* options,
                           hocket_request** request);
int hocket_tasks_recv_init(hocket_tasks* tasks, const hocket_array* array, hocket_task_id source,
                           const hocket_init_options* options, hocket_request** request);
/* A named stream of arrays between this task and another: a new handle. */
int hocket_tasks_channel(const hocket_tasks* tasks, const char* name, hocket_task_id other,
                         hocket_channel** channel);
int hocket_channel_send(hocket_channel* channel, const hocket_array* array, double timeout);
/* HOCKET_ERR_END_OF_STREAM once the sender has closed it and all was received. */
int hocket_channel_recv(hocket_channel* channel, hocket_array* array, double timeout,
                        hocket_status** status);
int hocket_channel_close(hocket_channel* channel, double timeout);
int hocket_channel_name(const hocket_channel* channel, const char** name);
/* Joins a send or receive that this process cannot make, so that all of the task get this code. */
int hocket_channel_refuse(hocket_channel* channel, bool sending, int code, const char* message,
                          double timeout);
int hocket_channel_free(hocket_channel** channel);

/* What the next matching receive would find; iprobe: if there is a message now. */
int hocket_tasks_probe(hocket_tasks* tasks, hocket_task_id source, int tag, double timeout,
                       hocket_status** status);
int hocket_tasks_iprobe(hocket_tasks* tasks, hocket_task_id source, int tag, bool* found,
                        hocket_status** status);
/* Collective calls between tasks: every process of every task makes them, in the same order; see
 * hocket/task.hpp. `op`: "add" "mul" "min" "max" "and" "or". `result` is read on the root only (it
 * may be NULL elsewhere), as are the `count` results of gather, one a task. */
int hocket_tasks_bcast(hocket_tasks* tasks, hocket_array* array, hocket_task_id root,
                       double timeout);
int hocket_tasks_reduce(hocket_tasks* tasks, const hocket_array* array, hocket_array* result,
                        const char* op, hocket_task_id root, double timeout);
int hocket_tasks_allreduce(hocket_tasks* tasks, const hocket_array* array, hocket_array* result,
                           const char* op, double timeout);
int hocket_tasks_gather(hocket_tasks* tasks, const hocket_array* array, int64_t count,
                        hocket_array* const* results, hocket_task_id root, double timeout);
int hocket_tasks_barrier(hocket_tasks* tasks, double timeout);
/* Joins a call that this process cannot make, so that all of the task get this code. `verb`:
 * "send", "recv", "isend", …; "collective" stands for those between all tasks. */
int hocket_tasks_refuse(hocket_tasks* tasks, const char* verb, int code, const char* message,
                        double timeout);
/* Seconds that this process has spent in the six steps so far; adds a binding's own. */
int hocket_tasks_profile(const hocket_tasks* tasks, hocket_profile* profile);
int hocket_tasks_add_to_profile(hocket_tasks* tasks, const hocket_profile* more);

/* Persistent requests only. `array` NULL: the one that it was made with. Every process of the task
 * starts it; nothing is communicated to agree on that. */
int hocket_request_start(hocket_request* request, const hocket_array* array);
int hocket_request_persistent(const hocket_request* request, bool* persistent);
/* A deadline ends the wait, not the operation. Freeing does not stop the operation; a persistent
 * request that is under way cannot be freed. */
int hocket_request_wait(hocket_request* request, double timeout, hocket_status** status);
/* In how many pieces the array travels, and the wait for one of them: indices first to last - 1 of
 * the dimension. Local to the process; `dimension`, `first` and `last` may be NULL. */
int hocket_request_pieces(hocket_request* request, double timeout, int64_t* pieces);
int hocket_request_wait_piece(hocket_request* request, int64_t piece, double timeout,
                              int64_t* dimension, int64_t* first, int64_t* last);
/* Collective: true on all processes of the task or on none. */
int hocket_request_test(hocket_request* request, bool* done);
/* What a successful test found. */
int hocket_request_status(const hocket_request* request, hocket_status** status);
/* For hocket_operation_wait and the like: a new handle. */
int hocket_request_operation(const hocket_request* request, hocket_operation** operation);
int hocket_request_free(hocket_request** request);
/* `statuses` has `count` places, or is NULL. */
int hocket_request_wait_all(int64_t count, hocket_request* const* requests, double timeout,
                            hocket_status** statuses);
/* The index of one that is done: the same on every process of the task. */
int hocket_request_wait_any(int64_t count, hocket_request* const* requests, double timeout,
                            int64_t* index);

int hocket_status_source(const hocket_status* status, int* source);
int hocket_status_source_name(const hocket_status* status, const char** name);
int hocket_status_tag(const hocket_status* status, int* tag);
int hocket_status_layout(const hocket_status* status, hocket_layout** layout); /* a new handle */
int hocket_status_dtype(const hocket_status* status, const char** dtype, int64_t* itemsize);
/* How many arrays the message has, and the layout (a new handle) and dtype of one of them. */
int hocket_status_count(const hocket_status* status, int64_t* count);
int hocket_status_layout_at(const hocket_status* status, int64_t index, hocket_layout** layout);
int hocket_status_dtype_at(const hocket_status* status, int64_t index, const char** dtype,
                           int64_t* itemsize);
int hocket_status_free(hocket_status** status);

#ifdef __cplusplus
}
#endif

#endif
