/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans for C; see hocket/plan.hpp. Nothing communicates here. */
#ifndef HOCKET_C_PLAN_H
#define HOCKET_C_PLAN_H

#include "hocket/hocket.h"

#ifdef __cplusplus
extern "C" {
#endif

enum hocket_side { HOCKET_SOURCE = 0, HOCKET_DESTINATION = 1 };

/* What messages cost, in seconds; see hocket/plan.hpp. A cost between nodes (far_…) that is 0 is
 * the one within a node. */
typedef struct hocket_model {
    double message, byte, copy, relay, far_message, far_byte, far_relay;
} hocket_model;

/* What is 0 or NULL takes its default: `hocket_plan_options options = {0};` */
typedef struct hocket_plan_options {
    const int64_t* axes;       /* destination = transpose(source, axes), one a dimension */
    int64_t itemsize;          /* bytes of one element; 0: 8 */
    const char* strategy;      /* NULL: "auto" */
    const int64_t* overlap;    /* for each destination process the source process that is the same
                                * one, or -1; NULL: the two sides are disjoint */
    int64_t stages;            /* of "staged" and "centralized": how many processes collect */
    const hocket_model* model; /* NULL: the one that is kept */
    const int64_t *source_nodes, *destination_nodes; /* of each process; NULL: see plan.hpp */
} hocket_plan_options;

/* Elements exchanged with one process of the other side. */
typedef struct hocket_traffic {
    int64_t process, elements;
} hocket_traffic;

/* One message of the strategy, seen from one process. */
typedef struct hocket_step {
    int64_t round;
    bool send;     /* else a receive */
    int peer_side; /* HOCKET_SOURCE or HOCKET_DESTINATION */
    int64_t peer, elements;
} hocket_step;

/* Seconds that a strategy is expected to take. */
typedef struct hocket_prediction {
    char strategy[24];
    double seconds;
} hocket_prediction;

/* Elements on their way from one source process to one destination process. */
typedef struct hocket_parcel {
    int64_t source, destination, elements;
} hocket_parcel;

/* One strided box that two processes exchange. Loop k, outermost first, takes extent[k] steps of
 * source_step[k] local indices along dimension source_dimension[k] of the sender's local array,
 * from source_first on; likewise the receiver's. */
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

/* New handles, to be freed. */
int hocket_plan_source(const hocket_plan* plan, hocket_layout** layout);
int hocket_plan_destination(const hocket_plan* plan, hocket_layout** layout);
int hocket_plan_strategy(const hocket_plan* plan, const char** strategy);
int hocket_plan_text(const hocket_plan* plan, const char** text);
/* The options as the plan holds them; the lists live as long as the plan. */
int hocket_plan_options_get(const hocket_plan* plan, hocket_plan_options* options);

/* Whom source process `rank` sends, and from whom destination process `rank` receives, how many
 * elements, whatever the strategy: sorted, zeros left out, itself included. */
int hocket_plan_sends(const hocket_plan* plan, int64_t rank, int64_t capacity,
                      hocket_traffic* values, int64_t* count);
int hocket_plan_recvs(const hocket_plan* plan, int64_t rank, int64_t capacity,
                      hocket_traffic* values, int64_t* count);
/* The messages that process `rank` of `side` takes part in; what stays on it is no message. */
int hocket_plan_steps(const hocket_plan* plan, int side, int64_t rank, int64_t capacity,
                      hocket_step* values, int64_t* count);
/* What message number `step` of hocket_plan_steps carries, in the order in which it lies there. */
int hocket_plan_cargo(const hocket_plan* plan, int side, int64_t rank, int64_t step,
                      int64_t capacity, hocket_parcel* values, int64_t* count);
/* What process `rank` of `side` and each process of the other side both hold, every copy listed. */
int hocket_plan_common(const hocket_plan* plan, int side, int64_t rank, int64_t capacity,
                       hocket_traffic* values, int64_t* count);
/* What process `rank` of `side` exchanges with process `peer` of the other side; the lists of the
 * boxes live until the next call for this plan, or its end. */
int hocket_plan_boxes(hocket_plan* plan, int side, int64_t rank, int64_t peer, int64_t capacity,
                      hocket_box* values, int64_t* count);
int hocket_plan_rounds(const hocket_plan* plan, int64_t* rounds);
int hocket_plan_message_count(const hocket_plan* plan, int64_t* messages);
int hocket_plan_elements_moved(const hocket_plan* plan, int64_t* elements);
/* The source process that destination process `rank` also is, or -1. */
int hocket_plan_same_process(const hocket_plan* plan, int64_t rank, int64_t* source_rank);
/* Of every strategy; `model` may be NULL: the plan's. */
int hocket_plan_predict(const hocket_plan* plan, const hocket_model* model, int64_t capacity,
                        hocket_prediction* values, int64_t* count);

/* The default costs, those that `hocket calibrate` keeps (else the default), and where it does. */
int hocket_model_default(hocket_model* model);
int hocket_model_kept(hocket_model* model);
int hocket_model_kept_path(const char** path);
/* As the text of that file, and back. Texts live until the next such call of this thread. */
int hocket_model_text(const hocket_model* model, const char** text);
int hocket_model_parse(const char* text, hocket_model* model);

/* The processes that take the destination's parts so that the fewest elements move: values[r] takes
 * part r; `axes`, which may be NULL, as in hocket_plan_options. `moved` and `moved_without` (where
 * process r takes part r) may be NULL. */
int hocket_relabel(const hocket_layout* source, const hocket_layout* destination,
                   const int64_t* axes, int64_t capacity, int64_t* values, int64_t* count,
                   int64_t* moved, int64_t* moved_without);

#ifdef __cplusplus
}
#endif

#endif
