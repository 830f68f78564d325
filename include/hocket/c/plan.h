/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans for C; see hocket/plan.hpp. These functions do not communicate. */
#ifndef HOCKET_C_PLAN_H
#define HOCKET_C_PLAN_H

#include "hocket/hocket.h"

#ifdef __cplusplus
extern "C" {
#endif

enum hocket_side { HOCKET_SOURCE = 0, HOCKET_DESTINATION = 1 };

/* The cost of messages, in seconds; see hocket/plan.hpp. A cost between nodes (far_…) of 0 means
 * that within a node. */
typedef struct hocket_model {
    double message, byte, copy, relay, far_message, far_byte, far_relay;
} hocket_model;

/* Members that are 0 or NULL have defaults: `hocket_plan_options options = {0};` */
typedef struct hocket_plan_options {
    const int64_t* axes;       /* destination = transpose(source, axes), one a dimension */
    int64_t itemsize;          /* bytes of one element; 0: 8 */
    const char* strategy;      /* NULL: "auto" */
    const int64_t* overlap;    /* for each destination process, the source process that is the
                                  same process, or -1; NULL: the two sides are disjoint */
    int64_t stages;            /* of "staged" and "centralized": the number of collecting
                                  processes */
    const hocket_model* model; /* NULL: the model of `hocket calibrate` */
    const int64_t *source_nodes, *destination_nodes; /* the node of each process; NULL: see
                                                        plan.hpp */
} hocket_plan_options;

/* Elements exchanged with one process of the other side. */
typedef struct hocket_traffic {
    int64_t process, elements;
} hocket_traffic;

/* One message of the strategy, as one process sees it. */
typedef struct hocket_step {
    int64_t round;
    bool send;     /* else a receive */
    int peer_side; /* HOCKET_SOURCE or HOCKET_DESTINATION */
    int64_t peer, elements;
} hocket_step;

/* The predicted seconds of a strategy. */
typedef struct hocket_prediction {
    char strategy[24];
    double seconds;
} hocket_prediction;

/* Elements that travel from one source process to one destination process. */
typedef struct hocket_parcel {
    int64_t source, destination, elements;
} hocket_parcel;

/* A strided box that two processes exchange. Loop k, outermost first, has extent[k] iterations.
 * Each advances source_step[k] local indices along dimension source_dimension[k] of the sender's
 * local array, from source_first on; the destination_… members describe the receiver's. */
typedef struct hocket_box {
    int64_t source_dimensions, destination_dimensions, loops;
    const int64_t *source_first, *destination_first;
    const int64_t *extent, *source_dimension, *source_step, *destination_dimension,
        *destination_step;
} hocket_box;

/* `options` may be NULL. HOCKET_ERR_LAYOUT: shapes that do not match, axes that are no
 * permutation, an overlap that is not one-to-one, an unknown strategy. */
int hocket_plan_make(const hocket_layout* source, const hocket_layout* destination,
                     const hocket_plan_options* options, hocket_plan** plan);
int hocket_plan_free(hocket_plan** plan);

/* New handles; the caller frees them. */
int hocket_plan_source(const hocket_plan* plan, hocket_layout** layout);
int hocket_plan_destination(const hocket_plan* plan, hocket_layout** layout);
int hocket_plan_strategy(const hocket_plan* plan, const char** strategy);
int hocket_plan_text(const hocket_plan* plan, const char** text);
/* The plan's options; the lists live as long as the plan. */
int hocket_plan_options_get(const hocket_plan* plan, hocket_plan_options* options);

/* The receivers of source process `rank`, or the senders to destination process `rank`, and the
 * numbers of elements, whatever the strategy: sorted, without zeros, including itself. */
int hocket_plan_sends(const hocket_plan* plan, int64_t rank, int64_t capacity,
                      hocket_traffic* values, int64_t* count);
int hocket_plan_recvs(const hocket_plan* plan, int64_t rank, int64_t capacity,
                      hocket_traffic* values, int64_t* count);
/* The messages of process `rank` of `side`. Elements that stay on their process are no message. */
int hocket_plan_steps(const hocket_plan* plan, int side, int64_t rank, int64_t capacity,
                      hocket_step* values, int64_t* count);
/* The contents of message number `step` of hocket_plan_steps, in the order in which the message
 * stores them. */
int hocket_plan_cargo(const hocket_plan* plan, int side, int64_t rank, int64_t step,
                      int64_t capacity, hocket_parcel* values, int64_t* count);
/* The number of elements that process `rank` of `side` and each process of the other side both
 * hold. Counts every copy. */
int hocket_plan_common(const hocket_plan* plan, int side, int64_t rank, int64_t capacity,
                       hocket_traffic* values, int64_t* count);
/* The boxes that process `rank` of `side` exchanges with process `peer` of the other side. The
 * lists live until the next call for this plan, or its end. */
int hocket_plan_boxes(hocket_plan* plan, int side, int64_t rank, int64_t peer, int64_t capacity,
                      hocket_box* values, int64_t* count);
int hocket_plan_rounds(const hocket_plan* plan, int64_t* rounds);
int hocket_plan_message_count(const hocket_plan* plan, int64_t* messages);
int hocket_plan_elements_moved(const hocket_plan* plan, int64_t* elements);
/* The source process that is the same process as destination process `rank`, or -1. */
int hocket_plan_same_process(const hocket_plan* plan, int64_t rank, int64_t* source_rank);
/* The predicted seconds of every strategy; `model` may be NULL: the plan's. */
int hocket_plan_predict(const hocket_plan* plan, const hocket_model* model, int64_t capacity,
                        hocket_prediction* values, int64_t* count);

/* The default costs; the costs in the file of `hocket calibrate` (else the default); the path of
 * this file. */
int hocket_model_default(hocket_model* model);
int hocket_model_kept(hocket_model* model);
int hocket_model_kept_path(const char** path);
/* Writes and reads the text of that file. Strings live until this thread's next call of one of
 * these functions. */
int hocket_model_text(const hocket_model* model, const char** text);
int hocket_model_parse(const char* text, hocket_model* model);

/* Assigns processes to the destination's parts so that the fewest elements move: values[r] takes
 * part r. `axes` as in hocket_plan_options, or NULL. `moved` and `moved_without` (if process r
 * takes part r) may be NULL. */
int hocket_relabel(const hocket_layout* source, const hocket_layout* destination,
                   const int64_t* axes, int64_t capacity, int64_t* values, int64_t* count,
                   int64_t* moved, int64_t* moved_without);

#ifdef __cplusplus
}
#endif

#endif
