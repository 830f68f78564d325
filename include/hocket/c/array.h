/* SPDX-License-Identifier: BSD-3-Clause */
/* Arrays for C, and transfers between layouts; see hocket/array.hpp and hocket/transfer.hpp. */
#ifndef HOCKET_C_ARRAY_H
#define HOCKET_C_ARRAY_H

#include "hocket/c/layout.h"
#include "hocket/hocket.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Allocates an array. `dtype` is NumPy's name: "float64", "complex128", "int32", …; itemsize may
 * be 0 for these. Other names require an itemsize. Local, not collective; a process beyond the
 * layout gets an empty local array. HOCKET_ERR_LAYOUT: the communicator has fewer processes than
 * the layout. */
int hocket_array_empty(const hocket_layout* layout, const char* dtype, int64_t itemsize,
                       MPI_Comm comm, hocket_array** array);
/* Wraps the caller's memory without a copy. The memory must live until the array is freed and
 * its requests are complete. `strides` are in bytes, one a dimension, of any sign; NULL: dense
 * and row-major. */
int hocket_array_wrap(void* data, const hocket_layout* layout, const char* dtype, int64_t itemsize,
                      MPI_Comm comm, const int64_t* strides, hocket_array** array);
/* Wraps read-only memory: a source of transfers. */
int hocket_array_wrap_const(const void* data, const hocket_layout* layout, const char* dtype,
                            int64_t itemsize, MPI_Comm comm, const int64_t* strides,
                            hocket_array** array);
/* a[slices], one slice a dimension, in the same memory, which must live as long.
 * HOCKET_ERR_LAYOUT: slices that leave the shape, and elements that are not equally spaced on
 * this process. */
int hocket_array_section(const hocket_array* array, const hocket_slice* slices,
                         hocket_array** section);
/* A new array with the elements converted to another type, with the values of NumPy's astype, in
 * row-major memory, or column-major like the array's. Local. HOCKET_ERR_MISMATCH: types other than
 * bool, integers, float16, 32 and 64, and complex64 and 128. */
int hocket_array_astype(const hocket_array* array, const char* dtype, hocket_array** result);
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
/* This process's number in the layout; -1 for a process beyond it. */
int hocket_array_process(const hocket_array* array, int64_t* process);
/* The strides of a dense row-major array, one a dimension. */
int hocket_dense_strides(int64_t dimensions, const int64_t* shape, int64_t itemsize,
                         int64_t* strides);

/* The seconds that this process has spent in the six steps of its transfers. */
typedef struct hocket_profile {
    double inquiry, call, descriptor, schedule, pack, move;
} hocket_profile;

/* Members that are 0 or NULL have defaults: `hocket_transfer_options options = {0};` */
typedef struct hocket_transfer_options {
    const int64_t* axes;     /* the result is transpose(source, axes), one a dimension */
    const char* strategy;    /* NULL: "auto" */
    hocket_profile* profile; /* adds the seconds of this call */
    int64_t max_buffer;      /* the most bytes of buffers beside the arrays, 2 MiB or more; 0:
                                HOCKET_MAX_BUFFER, else 256 MiB */
    bool convert;            /* of hocket_redistribute and hocket_iredistribute: converts numbers
                                if the arrays have different types, as hocket_array_astype;
                                its copy of the local elements is not in max_buffer */
} hocket_transfer_options;

/* Copies `source` into `destination`, which has its own layout. Collective over the communicator
 * of both. `options` may be NULL. HOCKET_ERR_MISMATCH, on every process: arrays or calls that do
 * not match; no element has moved then. */
int hocket_redistribute(const hocket_array* source, hocket_array* destination,
                        const hocket_transfer_options* options, double timeout);
/* Copies the whole array, dense and row-major, from `whole` on process `root` (scatter) or to it
 * (gather). Other processes ignore `whole`. Collective. */
int hocket_scatter(const void* whole, hocket_array* destination, int root, double timeout);
int hocket_gather(const hocket_array* source, void* whole, int root, double timeout);

/* Joins a collective call that this process cannot make. Every process of the call gets this
 * code (HOCKET_ERR_ERROR, _LAYOUT, _MISMATCH, …) and message, and no data moves. */
int hocket_refuse(MPI_Comm comm, int code, const char* message, double timeout);
/* The text of process `root`, on every process. It lives until this thread's next hocket_tell.
 * Collective; only the root's `text` is read. */
int hocket_tell(MPI_Comm comm, const char* text, int root, double timeout, const char** heard);

/* The layout of which each process gives its own part: a box, as for hocket_layout_boxes, or a
 * list, as for hocket_layout_elements. `shape` NULL: the smallest one that holds all parts (for
 * lists: of one dimension; hocket ignores `dimensions`). Collective; rank r is process r. */
int hocket_layout_from_local_box(MPI_Comm comm, int64_t dimensions, const int64_t* start,
                                 const int64_t* stop, const int64_t* shape, double timeout,
                                 hocket_layout** layout);
int hocket_layout_from_local_elements(MPI_Comm comm, int64_t count, const int64_t* elements,
                                      int64_t dimensions, const int64_t* shape, double timeout,
                                      hocket_layout** layout);

/* The numbers of plans found in the cache of plans, made, and kept. */
typedef struct hocket_cache_counts {
    int64_t found, made, kept;
} hocket_cache_counts;
int hocket_plan_cache_counts(hocket_cache_counts* counts);
/* The numbers of this process's short messages that agree on calls. Between nodes, some carry the
   elements of a short array, which is then no message of `hocket_transfer_counts`. */
typedef struct hocket_message_counts {
    int64_t sent, received;
} hocket_message_counts;
int hocket_descriptor_counts(hocket_message_counts* counts);
/* The numbers of messages with data that this process has started to send and to receive. */
int hocket_transfer_counts(hocket_message_counts* counts);

#ifdef __cplusplus
}
#endif

#endif
