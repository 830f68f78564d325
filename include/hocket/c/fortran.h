/* SPDX-License-Identifier: BSD-3-Clause */
/* What Fortran says in another manner than C: communicators and MPI requests are integers, as
 * MPI_Comm_c2f gives them, memory is column-major, and indices in texts count from 1. The module
 * in bindings/fortran calls these where it calls hocket_<name> without _fortran. */
#ifndef HOCKET_C_FORTRAN_H
#define HOCKET_C_FORTRAN_H

#include "hocket/c/task.h"
#include "hocket/hocket.h"

#ifdef __cplusplus
extern "C" {
#endif

/* MPI for programs that have no MPI module for their compiler. */
int hocket_mpi_init(void);     /* does nothing where MPI runs already */
int hocket_mpi_finalize(void); /* does nothing where MPI has ended */
int hocket_comm_world(int* comm);
int hocket_comm_rank(int comm, int* rank);
int hocket_comm_size(int comm, int* size);

/* Makes `message` that of this thread's last failure, and returns `code`: for bindings. */
int hocket_fail(int code, const char* message);

/* `align` counts from 1, in the array and in the template. */
int hocket_layout_aligned_fortran(int64_t dimensions, const int64_t* shape, const char* align,
                                  const hocket_layout* target, hocket_layout** layout);

/* The caller's memory as hocket_array_wrap. `extents` are those of the local array; where they are
 * not what this process holds of the layout, HOCKET_ERR_ARGUMENT says what it holds. */
int hocket_array_wrap_fortran(void* data, int64_t dimensions, const int64_t* extents,
                              const int64_t* strides, const hocket_layout* layout,
                              const char* dtype, int64_t itemsize, int comm, hocket_array** array);
/* The same, read-only: a source of transfers. */
int hocket_array_wrap_const_fortran(const void* data, int64_t dimensions, const int64_t* extents,
                                    const int64_t* strides, const hocket_layout* layout,
                                    const char* dtype, int64_t itemsize, int comm,
                                    hocket_array** array);
/* hocket's own memory, column-major. */
int hocket_array_empty_fortran(const hocket_layout* layout, const char* dtype, int64_t itemsize,
                               int comm, hocket_array** array);
/* Where the local array lies, and its extents, if it is `dtype` and dense in column-major order:
 * HOCKET_ERR_MISMATCH otherwise. */
int hocket_array_data_fortran(const hocket_array* array, const char* dtype, int64_t dimensions,
                              int64_t* extents, void** data);

/* A border around the array in column-major memory; `periodic` may be NULL. */
int hocket_halo_make_fortran(const hocket_array* array, const int64_t* width, const bool* periodic,
                             hocket_halo** halo);
/* Where the local elements with their border lie, as hocket_array_data_fortran. */
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
/* Of a dense column-major array, distributed along one dimension of the processor arrangement. */
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
/* A pending MPI request, taken over: *request becomes MPI_REQUEST_NULL. */
int hocket_operation_from_request_fortran(int* request, hocket_operation** operation);

#ifdef __cplusplus
}
#endif

#endif
