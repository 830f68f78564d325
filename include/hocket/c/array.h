/* SPDX-License-Identifier: BSD-3-Clause */
/* Arrays for C, and how they move between layouts; see hocket/array.hpp and hocket/transfer.hpp. */
#ifndef HOCKET_C_ARRAY_H
#define HOCKET_C_ARRAY_H

#include "hocket/c/layout.h"
#include "hocket/hocket.h"

#ifdef __cplusplus
extern "C" {
#endif

/* `dtype` is NumPy's name: "float64", "complex128", "int32", …, whose size is known: itemsize may
 * be 0. Any other name needs its itemsize. Local, not collective; on a process beyond the
 * layout's, the local array is empty. HOCKET_ERR_LAYOUT: the communicator has fewer processes than
 * the layout. */
int hocket_array_empty(const hocket_layout* layout, const char* dtype, int64_t itemsize,
                       MPI_Comm comm, hocket_array** array);
/* The caller's memory, never copied, which lives until the array is freed and its requests are
 * done. `strides` in bytes, one a dimension, of any sign; NULL: dense and row-major. */
int hocket_array_wrap(void* data, const hocket_layout* layout, const char* dtype, int64_t itemsize,
                      MPI_Comm comm, const int64_t* strides, hocket_array** array);
/* The same, read-only: a source of transfers. */
int hocket_array_wrap_const(const void* data, const hocket_layout* layout, const char* dtype,
                            int64_t itemsize, MPI_Comm comm, const int64_t* strides,
                            hocket_array** array);
/* a[slices], one slice a dimension, in the same memory, which must live as long. HOCKET_ERR_LAYOUT:
 * slices that leave the shape, and elements that are not equally spaced in this process's memory.
 */
int hocket_array_section(const hocket_array* array, const hocket_slice* slices,
                         hocket_array** section);
int hocket_array_free(hocket_array** array);

int hocket_array_data(const hocket_array* array, void** data);
int hocket_array_layout(const hocket_array* array, hocket_layout** layout); /* a new handle */
int hocket_array_dtype(const hocket_array* array, const char** dtype, int64_t* itemsize);
int hocket_array_comm(const hocket_array* array, MPI_Comm* comm);
int hocket_array_local_shape(const hocket_array* array, int64_t capacity, int64_t* values,
                             int64_t* count);
int hocket_array_strides(const hocket_array* array, int64_t capacity, int64_t* values,
                         int64_t* count);
int hocket_array_writable(const hocket_array* array, bool* writable);
/* This process's number in the layout, or -1 beyond it. */
int hocket_array_process(const hocket_array* array, int64_t* process);
/* The strides of a dense row-major array, one a dimension. */
int hocket_dense_strides(int64_t dimensions, const int64_t* shape, int64_t itemsize,
                         int64_t* strides);

/* Seconds that this process spent in the six steps of a transfer. */
typedef struct hocket_profile {
    double inquiry, call, descriptor, schedule, pack, move;
} hocket_profile;

/* What is NULL takes its default: `hocket_transfer_options options = {0};` */
typedef struct hocket_transfer_options {
    const int64_t* axes;     /* the result is transpose(source, axes), one a dimension */
    const char* strategy;    /* NULL: "auto" */
    hocket_profile* profile; /* gets this call's seconds added */
    int64_t max_buffer;      /* bytes of buffers beside the arrays, 2 MiB or more; 0: as
                                HOCKET_MAX_BUFFER says, else 256 MiB */
} hocket_transfer_options;

/* Copies `source` into `destination`, which has a layout of its own. Collective over the
 * communicator of both. `options` may be NULL. HOCKET_ERR_MISMATCH, on every process: arrays or
 * calls that do not fit each other; nothing has moved then. */
int hocket_redistribute(const hocket_array* source, hocket_array* destination,
                        const hocket_transfer_options* options, double timeout);
/* The whole array, dense and row-major, at `whole` on process `root`; elsewhere it is ignored.
 * Collective. */
int hocket_scatter(const void* whole, hocket_array* destination, int root, double timeout);
int hocket_gather(const hocket_array* source, void* whole, int root, double timeout);

/* Takes part in a collective call that this process cannot make: every process of it gets this
 * code (HOCKET_ERR_ERROR, _LAYOUT, _MISMATCH, …) and message instead of moving anything. */
int hocket_refuse(MPI_Comm comm, int code, const char* message, double timeout);
/* Process `root`'s text on every process, where it lives until this thread's next tell.
 * Collective; only the root's `text` is read. */
int hocket_tell(MPI_Comm comm, const char* text, int root, double timeout, const char** heard);

/* The layout of each process's own part: a box, as hocket_layout_boxes has it, or a list, as
 * hocket_layout_elements. `shape` may be NULL, the least that holds all parts (of lists: of one
 * dimension, and `dimensions` is ignored). Collective; rank r is process r. */
int hocket_layout_from_local_box(MPI_Comm comm, int64_t dimensions, const int64_t* start,
                                 const int64_t* stop, const int64_t* shape, double timeout,
                                 hocket_layout** layout);
int hocket_layout_from_local_elements(MPI_Comm comm, int64_t count, const int64_t* elements,
                                      int64_t dimensions, const int64_t* shape, double timeout,
                                      hocket_layout** layout);

/* How often a plan was found in the cache of plans, had to be made, and how many are kept. */
typedef struct hocket_cache_counts {
    int64_t found, made, kept;
} hocket_cache_counts;
int hocket_plan_cache_counts(hocket_cache_counts* counts);
/* The short messages of this process so far by which calls are agreed on: no data. */
typedef struct hocket_message_counts {
    int64_t sent, received;
} hocket_message_counts;
int hocket_descriptor_counts(hocket_message_counts* counts);
/* The messages with data that this process has started to send and to receive so far. */
int hocket_transfer_counts(hocket_message_counts* counts);

#ifdef __cplusplus
}
#endif

#endif
