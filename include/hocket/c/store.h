/* SPDX-License-Identifier: BSD-3-Clause */
/* Arrays in files, for C; see hocket/store.hpp. */
#ifndef HOCKET_C_STORE_H
#define HOCKET_C_STORE_H

#include "hocket/hocket.h"

#ifdef __cplusplus
extern "C" {
#endif

/* `mode`: "r", "r+", "w" or "w-" (new; refuses an existing path), "a". Collective. */
int hocket_store_open(const char* path, const char* mode, MPI_Comm comm, double timeout,
                      hocket_store** store);
/* Ends writing on all processes; the handle stays. Collective. Without it the store stays marked
 * as unfinished; also after a failed write, until later ones have written its region. */
int hocket_store_close(hocket_store* store, double timeout);
int hocket_store_free(hocket_store** store);
int hocket_store_path(const hocket_store* store, const char** path);
int hocket_store_mode(const hocket_store* store, const char** mode);
/* A JSON object. */
int hocket_store_attributes(const hocket_store* store, const char** attributes);
/* The job that began to write and never closed the store, or one of whose writes failed; "": none.
 */
int hocket_store_unfinished(const hocket_store* store, const char** text);
/* The names of all arrays, sorted, with commas between them: "run/t,run/u". */
int hocket_store_names(const hocket_store* store, const char** names);

/* Properties of a stored array. No shards: each chunk is a file. */
int hocket_store_shape(const hocket_store* store, const char* name, int64_t capacity,
                       int64_t* values, int64_t* count);
int hocket_store_chunks(const hocket_store* store, const char* name, int64_t capacity,
                        int64_t* values, int64_t* count);
int hocket_store_shards(const hocket_store* store, const char* name, int64_t capacity,
                        int64_t* values, int64_t* count);
int hocket_store_dtype(const hocket_store* store, const char* name, const char** dtype);
int hocket_store_array_attributes(const hocket_store* store, const char* name,
                                  const char** attributes);
/* The names of its dimensions, with commas between them: "time,x"; "" for one without a name. */
int hocket_store_dimension_names(const hocket_store* store, const char* name, const char** names);

/* Adds an array. `chunks`: extents of the unit of compression; 0 dimensions: hocket chooses by
 * size. `shards`: extents of a file, a multiple of `chunks`. `codec`: "zstd", "gzip" or "none";
 * `fill`: the value of elements that no call has written, as JSON; `attributes`: a JSON object.
 * NULL for these three: zstd (none in .npy and .h5 files), 0, none. `dimension_names`: with commas
 * between them, "time,x"; NULL: "dim_0,dim_1". Collective. */
int hocket_store_create(hocket_store* store, const char* name, int64_t dimensions,
                        const int64_t* shape, const char* dtype, int64_t itemsize,
                        int64_t chunk_dimensions, const int64_t* chunks, int64_t shard_dimensions,
                        const int64_t* shards, const char* codec, const char* fill,
                        const char* attributes, const char* dimension_names, double timeout);
int hocket_store_set_attributes(hocket_store* store, const char* json, double timeout);

/* Writes the array's elements to a region of the stored array, lower[d] <= i < upper[d]; 0
 * dimensions: all of it. `writers`: the number of writing processes; 0: one a file, at most as
 * many on a node as `hocket calibrate --writers` has found best.
 * `max_buffer`: the most bytes of elements that one of them holds beside the array; 0: 256 MiB.
 * Collective. */
int hocket_store_write(hocket_store* store, const char* name, const hocket_array* array,
                       int64_t lower_dimensions, const int64_t* lower, int64_t upper_dimensions,
                       const int64_t* upper, int64_t writers, int64_t max_buffer, double timeout);
/* Reads the region's elements into the array. Dimension d of the array is dimension order[d] of the
 * region, as by transpose(stored, order); 0 dimensions: in their order. */
int hocket_store_read(hocket_store* store, const char* name, hocket_array* array,
                      int64_t lower_dimensions, const int64_t* lower, int64_t upper_dimensions,
                      const int64_t* upper, int64_t order_dimensions, const int64_t* order,
                      int64_t max_buffer, double timeout);
/* Starts a write or read of a region, as the two above. `copy`: copies the array first, so that the
 * program may change it at once. */
int hocket_store_iwrite(hocket_store* store, const char* name, const hocket_array* array,
                        int64_t lower_dimensions, const int64_t* lower, int64_t upper_dimensions,
                        const int64_t* upper, int64_t writers, int64_t max_buffer, bool copy,
                        hocket_operation** operation);
int hocket_store_iread(hocket_store* store, const char* name, hocket_array* array,
                       int64_t lower_dimensions, const int64_t* lower, int64_t upper_dimensions,
                       const int64_t* upper, int64_t order_dimensions, const int64_t* order,
                       int64_t max_buffer, hocket_operation** operation);
/* Begins at its first poll; takes its position among the collective calls now. */
int hocket_store_write_later(hocket_store* store, const char* name, const hocket_array* array,
                             hocket_operation** operation);
int hocket_store_read_later(hocket_store* store, const char* name, hocket_array* array,
                            hocket_operation** operation);
/* Extends the stored array along its first dimension by the array, in one step. Collective. */
int hocket_store_append(hocket_store* store, const char* name, const hocket_array* array,
                        int64_t max_buffer, double timeout);

/* Writes a checkpoint of `count` arrays, named in `names` with commas between: "t,u". It
 * replaces the last one in one step. `attributes`: a JSON object, NULL: none; `codec`: as
 * above. `keep`: the number of earlier ones to keep, as PATH.1, PATH.2, ... Collective. */
int hocket_save(const char* path, const char* names, int64_t count,
                const hocket_array* const* arrays, const char* attributes, const char* codec,
                int64_t keep, double timeout);
/* Reads the named arrays of a checkpoint, on any number of processes, into arrays of any layout. */
int hocket_load(const char* path, const char* names, int64_t count, hocket_array* const* arrays,
                double timeout);

/* The numbers of file operations of this process so far. */
int hocket_store_counts(int64_t* opened, int64_t* reads, int64_t* writes, int64_t* bytes_read,
                        int64_t* bytes_written);

#ifdef __cplusplus
}
#endif

#endif
