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
/* The number of arrays, and the name of one of them, in sorted order: "run/t". */
int hocket_store_size(const hocket_store* store, int64_t* size);
int hocket_store_name_of(const hocket_store* store, int64_t index, const char** name);

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
/* The name of one of its dimensions; "" if it has none. */
int hocket_store_dimension_name(const hocket_store* store, const char* name, int64_t dimension,
                                const char** dimension_name);

/* Options of the calls below; NULL: the defaults, each 0 or NULL. */

/* `chunks`: extents of the unit of compression; none: hocket chooses by size. `shards`: extents of
 * a file, a multiple of `chunks`. `codec`: "zstd", "gzip" or "none"; NULL: zstd, and none in .npy
 * and .h5 files. `fill`: the value of elements that no call has written, as JSON; NULL: 0.
 * `attributes`: a JSON object. `dimension_names`: one for each dimension; none: "dim_0", "dim_1".
 */
typedef struct hocket_create_options {
    int64_t chunk_dimensions;
    const int64_t* chunks;
    int64_t shard_dimensions;
    const int64_t* shards;
    const char *codec, *fill, *attributes;
    int64_t named_dimensions;
    const char* const* dimension_names;
    int64_t reserved[4]; /* 0, for options of later versions */
} hocket_create_options;

/* A region of the stored array, lower[d] <= i < upper[d]; 0 dimensions: all of it. `writers`: the
 * number of writing processes; 0: one a file, at most as many on a node as `hocket calibrate
 * --writers` has found best. `max_buffer`: the most bytes of elements that one of them holds beside
 * the array; 0: 256 MiB. `copy`, of hocket_store_iwrite: copies the array first, so that the
 * program may change it at once. */
typedef struct hocket_write_options {
    int64_t lower_dimensions;
    const int64_t* lower;
    int64_t upper_dimensions;
    const int64_t* upper;
    int64_t writers, max_buffer;
    bool copy;
    int64_t reserved[4];
} hocket_write_options;

/* Dimension d of the array is dimension order[d] of the region, as by transpose(stored, order); 0
 * dimensions: in their order. `dtype`: the type of the array if it is not the stored one; elements
 * are converted as by NumPy's astype. */
typedef struct hocket_read_options {
    int64_t lower_dimensions;
    const int64_t* lower;
    int64_t upper_dimensions;
    const int64_t* upper;
    int64_t order_dimensions;
    const int64_t* order;
    const char* dtype;
    int64_t max_buffer;
    int64_t reserved[4];
} hocket_read_options;

/* `attributes`: a JSON object. `codec`: as above. `keep`: the number of earlier checkpoints to
 * keep, as PATH.1, PATH.2, ... */
typedef struct hocket_save_options {
    const char *attributes, *codec;
    int64_t keep, max_buffer;
    int64_t reserved[4];
} hocket_save_options;

/* Adds an array. Collective. */
int hocket_store_create(hocket_store* store, const char* name, int64_t dimensions,
                        const int64_t* shape, const char* dtype, int64_t itemsize,
                        const hocket_create_options* options, double timeout);
int hocket_store_set_attributes(hocket_store* store, const char* json, double timeout);

/* Writes the array's elements to a region of the stored array. Collective. */
int hocket_store_write(hocket_store* store, const char* name, const hocket_array* array,
                       const hocket_write_options* options, double timeout);
/* Reads a region's elements into the array. Collective. */
int hocket_store_read(hocket_store* store, const char* name, hocket_array* array,
                      const hocket_read_options* options, double timeout);
/* Starts a write or read, as the two above. */
int hocket_store_iwrite(hocket_store* store, const char* name, const hocket_array* array,
                        const hocket_write_options* options, hocket_operation** operation);
int hocket_store_iread(hocket_store* store, const char* name, hocket_array* array,
                       const hocket_read_options* options, hocket_operation** operation);
/* Begins at its first poll; takes its position among the collective calls now. */
int hocket_store_write_later(hocket_store* store, const char* name, const hocket_array* array,
                             hocket_operation** operation);
int hocket_store_read_later(hocket_store* store, const char* name, hocket_array* array,
                            hocket_operation** operation);
/* Extends the stored array along its first dimension by the array, in one step. Collective. */
int hocket_store_append(hocket_store* store, const char* name, const hocket_array* array,
                        int64_t max_buffer, double timeout);

/* Writes a checkpoint of `count` arrays with these names. It replaces the last one in one step.
 * Collective. */
int hocket_save(const char* path, const char* const* names, int64_t count,
                const hocket_array* const* arrays, const hocket_save_options* options,
                double timeout);
/* Reads the named arrays of a checkpoint, on any number of processes, into arrays of any layout. */
int hocket_load(const char* path, const char* const* names, int64_t count,
                hocket_array* const* arrays, double timeout);

/* The numbers of file operations of this process so far. `seeks`: reads and writes that do not
 * begin where the last one of the open file ended. */
int hocket_store_counts(int64_t* opened, int64_t* reads, int64_t* writes, int64_t* bytes_read,
                        int64_t* bytes_written, int64_t* seeks);

#ifdef __cplusplus
}
#endif

#endif
