/* SPDX-License-Identifier: BSD-3-Clause */
/* Arrays in files, for C; see hocket/store.hpp. */
#ifndef HOCKET_C_STORE_H
#define HOCKET_C_STORE_H

#include "hocket/hocket.h"

#ifdef __cplusplus
extern "C" {
#endif

/* `mode`: "r", "r+", "w" or "w-" (new, refuses what is there), "a". Collective. */
int hocket_store_open(const char* path, const char* mode, MPI_Comm comm, double timeout,
                      hocket_store** store);
/* Ends writing on all processes; the handle stays. Collective. Without it the store stays marked.
 */
int hocket_store_close(hocket_store* store, double timeout);
int hocket_store_free(hocket_store** store);
int hocket_store_path(const hocket_store* store, const char** path);
int hocket_store_mode(const hocket_store* store, const char** mode);
/* A JSON object. */
int hocket_store_attributes(const hocket_store* store, const char** attributes);
/* Who began to write and never closed the store; "": nobody. */
int hocket_store_unfinished(const hocket_store* store, const char** text);
/* The names of all arrays, sorted, with commas between them: "run/t,run/u". */
int hocket_store_names(const hocket_store* store, const char** names);

/* What the store has of an array. No shards: each chunk is a file. */
int hocket_store_shape(const hocket_store* store, const char* name, int64_t capacity,
                       int64_t* values, int64_t* count);
int hocket_store_chunks(const hocket_store* store, const char* name, int64_t capacity,
                        int64_t* values, int64_t* count);
int hocket_store_shards(const hocket_store* store, const char* name, int64_t capacity,
                        int64_t* values, int64_t* count);
int hocket_store_dtype(const hocket_store* store, const char* name, const char** dtype);
int hocket_store_array_attributes(const hocket_store* store, const char* name,
                                  const char** attributes);

/* A new array. `chunks`: extents of what is compressed as one, none (0 dimensions): what suits its
 * size. `shards`: extents of a file, a multiple of them. `codec`: "zstd", "gzip" or "none"; `fill`:
 * the value of elements that are never written, as JSON; `attributes`: a JSON object. NULL of these
 * three: zstd, 0, none. Collective. */
int hocket_store_create(hocket_store* store, const char* name, int64_t dimensions,
                        const int64_t* shape, const char* dtype, int64_t itemsize,
                        int64_t chunk_dimensions, const int64_t* chunks, int64_t shard_dimensions,
                        const int64_t* shards, const char* codec, const char* fill,
                        const char* attributes, double timeout);
int hocket_store_set_attributes(hocket_store* store, const char* json, double timeout);

/* The array's elements to a region of the stored array, lower[d] <= i < upper[d]; no bounds (0
 * dimensions): all of it. `writers`: how many processes write, 0: one a file. `max_buffer`: bytes
 * of elements that one of them holds beside the array, 0: 256 MiB. Collective. */
int hocket_store_write(hocket_store* store, const char* name, const hocket_array* array,
                       int64_t lower_dimensions, const int64_t* lower, int64_t upper_dimensions,
                       const int64_t* upper, int64_t writers, int64_t max_buffer, double timeout);
/* The region's elements to the array. */
int hocket_store_read(hocket_store* store, const char* name, hocket_array* array,
                      int64_t lower_dimensions, const int64_t* lower, int64_t upper_dimensions,
                      const int64_t* upper, int64_t max_buffer, double timeout);
/* The same, started. `copy`: takes a copy first, so that the array may change at once. */
int hocket_store_iwrite(hocket_store* store, const char* name, const hocket_array* array, bool copy,
                        hocket_operation** operation);
int hocket_store_iread(hocket_store* store, const char* name, hocket_array* array,
                       hocket_operation** operation);
/* The same, begun when it is first polled; its place among the collective calls is taken now. */
int hocket_store_write_later(hocket_store* store, const char* name, const hocket_array* array,
                             hocket_operation** operation);
int hocket_store_read_later(hocket_store* store, const char* name, hocket_array* array,
                            hocket_operation** operation);
/* Grows the stored array along its first dimension by the array, in one step. Collective. */
int hocket_store_append(hocket_store* store, const char* name, const hocket_array* array,
                        int64_t max_buffer, double timeout);

/* A checkpoint of `count` arrays, named in `names` with commas between: "t,u". It takes the place
 * of the last one in one step. `attributes`: a JSON object, NULL: none; `codec`: NULL: zstd.
 * `keep`: how many earlier ones stay, as PATH.1, PATH.2, ... Collective. */
int hocket_save(const char* path, const char* names, int64_t count,
                const hocket_array* const* arrays, const char* attributes, const char* codec,
                int64_t keep, double timeout);
/* The named arrays of a checkpoint, on any number of processes, into arrays of any layout. */
int hocket_load(const char* path, const char* names, int64_t count, hocket_array* const* arrays,
                double timeout);

/* What this process has asked of files so far. */
int hocket_store_counts(int64_t* opened, int64_t* reads, int64_t* writes, int64_t* bytes_read,
                        int64_t* bytes_written);

#ifdef __cplusplus
}
#endif

#endif
