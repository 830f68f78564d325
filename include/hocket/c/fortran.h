/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions for the Fortran module in bindings/fortran. Communicators and MPI requests are
 * integers, as in MPI_Comm_c2f; memory is column-major; indices in texts count from 1.
 * hocket_<name>_fortran has the semantics of hocket_<name>. */
#ifndef HOCKET_C_FORTRAN_H
#define HOCKET_C_FORTRAN_H

#include "hocket/c/task.h"
#include "hocket/hocket.h"

#ifdef __cplusplus
extern "C" {
#endif

/* MPI for programs whose compiler has no MPI module. */
int hocket_mpi_init(void);     /* no effect if MPI is initialised */
int hocket_mpi_finalize(void); /* no effect if MPI is finalised */
int hocket_comm_world(int* comm);
int hocket_comm_rank(int comm, int* rank);
int hocket_comm_size(int comm, int* size);

/* For bindings: sets this thread's error message, and returns `code`. */
int hocket_fail(int code, const char* message);

/* For bindings: the number of the first index and dimension in this thread's messages from now on,
 * 0 or 1. */
int hocket_first_index_set(int64_t first_index);

/* `align` counts from 1, in the array and in the template. */
int hocket_layout_aligned_fortran(int64_t dimensions, const int64_t* shape, const char* align,
                                  const hocket_layout* target, hocket_layout** layout);

/* Wraps the caller's memory as hocket_array_wrap does. `extents` are those of the local array.
 * If this process's part of the layout has others, HOCKET_ERR_ARGUMENT names them. */
int hocket_array_wrap_fortran(void* data, int64_t dimensions, const int64_t* extents,
                              const int64_t* strides, const hocket_layout* layout,
                              const char* dtype, int64_t itemsize, int comm, hocket_array** array);
/* Wraps read-only memory: a source of transfers. */
int hocket_array_wrap_const_fortran(const void* data, int64_t dimensions, const int64_t* extents,
                                    const int64_t* strides, const hocket_layout* layout,
                                    const char* dtype, int64_t itemsize, int comm,
                                    hocket_array** array);
/* Allocates column-major memory. */
int hocket_array_empty_fortran(const hocket_layout* layout, const char* dtype, int64_t itemsize,
                               int comm, hocket_array** array);
/* The address of the local array, and its extents. HOCKET_ERR_MISMATCH unless it has type
 * `dtype` and is dense in column-major order. */
int hocket_array_data_fortran(const hocket_array* array, const char* dtype, int64_t dimensions,
                              int64_t* extents, void** data);

/* A border around the array in column-major memory; `periodic` may be NULL. */
int hocket_halo_make_fortran(const hocket_array* array, const int64_t* width, const bool* periodic,
                             hocket_halo** halo);
/* The address of the local elements with their border, as hocket_array_data_fortran. */
int hocket_halo_data_fortran(const hocket_halo* halo, const char* dtype, int64_t dimensions,
                             int64_t* extents, void** data);

int hocket_array_comm_fortran(const hocket_array* array, int* comm);

/* `strides` of the whole array, in bytes, one a dimension; `extents` as above. */
int hocket_scatter_fortran(const void* whole, int64_t dimensions, const int64_t* extents,
                           const int64_t* strides, hocket_array* destination, const char* dtype,
                           int root, double timeout);
int hocket_gather_fortran(const hocket_array* source, void* whole, int64_t dimensions,
                          const int64_t* extents, const int64_t* strides, const char* dtype,
                          int root, double timeout);
/* For a dense column-major array, distributed along one dimension of the processor arrangement. */
int hocket_remap_inplace_fortran(hocket_array* array, int64_t dimensions, const int64_t* axes,
                                 int threads, double timeout);

int hocket_transfer_make_fortran(const hocket_layout* source, const hocket_layout* destination,
                                 const char* dtype, int64_t itemsize, int comm,
                                 const hocket_transfer_options* options, double timeout,
                                 hocket_transfer** transfer);
int hocket_tasks_make_fortran(int64_t count, const hocket_task_request* requests, int comm,
                              hocket_tasks** tasks);
int hocket_tasks_from_launcher_fortran(int comm, hocket_tasks** tasks);
int hocket_tasks_comm_fortran(const hocket_tasks* tasks, int* comm);
int hocket_store_open_fortran(const char* path, const char* mode, int comm, double timeout,
                              hocket_store** store);
int hocket_port_open_fortran(const char* name, int comm, const char* address, const char* key,
                             bool secure, double timeout, hocket_port** port);
int hocket_connect_fortran(const char* name, int comm, const char* task, const char* key,
                           bool secure, double timeout, double reconnect, hocket_tasks** tasks);
/* Dense and column-major. */
int hocket_observer_read_fortran(hocket_observer* observer, const char* name,
                                 int64_t lower_dimensions, const int64_t* lower,
                                 int64_t upper_dimensions, const int64_t* upper,
                                 int64_t every_dimensions, const int64_t* every, int64_t bytes,
                                 void* data);
int hocket_team_make_fortran(int comm, double timeout, hocket_team** team);
int hocket_refuse_fortran(int comm, int code, const char* message, double timeout);
int hocket_tell_fortran(int comm, const char* text, int root, double timeout, const char** heard);
int hocket_layout_from_local_box_fortran(int comm, int64_t dimensions, const int64_t* start,
                                         const int64_t* stop, const int64_t* shape, double timeout,
                                         hocket_layout** layout);
int hocket_layout_from_local_elements_fortran(int comm, int64_t count, const int64_t* elements,
                                              int64_t dimensions, const int64_t* shape,
                                              double timeout, hocket_layout** layout);
/* Takes over a pending MPI request: *request becomes MPI_REQUEST_NULL. */
int hocket_operation_from_request_fortran(int* request, hocket_operation** operation);

#ifdef __cplusplus
}
#endif

#endif
