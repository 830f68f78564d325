/* SPDX-License-Identifier: BSD-3-Clause */
/* What the Fortran module calls: integers for communicators, column-major memory. */
#include "check.h"

static void test_communicators(void) {
    int comm = -1, value = -1;
    const char* text;
    hocket_tasks* tasks = NULL;
    hocket_team* team = NULL;
    const hocket_task_request request = {"only", ranks, NULL};
    OK(hocket_mpi_init()); /* MPI runs already */
    OK(hocket_comm_world(&comm));
    CHECK(MPI_Comm_f2c(comm) == MPI_COMM_WORLD);
    OK(hocket_comm_rank(comm, &value));
    CHECK(value == rank);
    OK(hocket_comm_size(comm, &value));
    CHECK(value == ranks);
    FAILS(HOCKET_ERR_ERROR, hocket_comm_size(987654321, &value));
    SAYS("no communicator of");
    FAILS(HOCKET_ERR_ERROR, hocket_comm_rank(-5, &value));
    FAILS(HOCKET_ERR_ERROR, hocket_comm_rank(MPI_Comm_c2f(MPI_COMM_NULL), &value));
    SAYS("MPI_COMM_NULL");
    FAILS(HOCKET_ERR_ARGUMENT, hocket_comm_world(NULL));

    OK(hocket_tasks_make_fortran(1, &request, comm, &tasks));
    OK(hocket_tasks_comm_fortran(tasks, &value));
    OK(hocket_comm_size(value, &value));
    CHECK(value == ranks);
    OK(hocket_tasks_free(&tasks));
    FAILS(HOCKET_ERR_ERROR, hocket_tasks_make_fortran(1, &request, 987654321, &tasks));
    FAILS(HOCKET_ERR_ERROR, hocket_tasks_from_launcher_fortran(comm, &tasks)); /* no HOCKET_TASKS */
    OK(hocket_team_make_fortran(comm, 60, &team));
    OK(hocket_team_free(&team));
    FAILS(HOCKET_ERR_ERROR, hocket_team_make_fortran(987654321, 60, &team));
    FAILS(HOCKET_ERR_MISMATCH, hocket_refuse_fortran(comm, HOCKET_ERR_MISMATCH, "no", 60));
    {
        const int64_t start = rank, stop = rank + 1;
        hocket_layout *made = NULL, *same = NULL;
        bool equal;
        OK(hocket_layout_from_local_box_fortran(comm, 1, &start, &stop, NULL, 60, &made));
        OK(hocket_layout_from_local_elements_fortran(comm, 1, &start, 0, NULL, 60, &same));
        OK(hocket_layout_equal(made, same, &equal));
        CHECK(!equal);
        OK(hocket_layout_free(&made));
        OK(hocket_layout_free(&same));
    }
    OK(hocket_tell_fortran(comm, rank == 0 ? "word" : NULL, 0, 60, &text));
    CHECK(strcmp(text, "word") == 0);
    CHECK(hocket_fail(HOCKET_ERR_LAYOUT, "a reason") == HOCKET_ERR_LAYOUT);
    SAYS("a reason");
    CHECK(hocket_fail(77, "a reason") != HOCKET_SUCCESS);
}

static void test_intercommunicators(void) {
    const hocket_task_request all = {"all", 1, NULL};
    const bool even = rank % 2 == 0;
    MPI_Comm half, between;
    hocket_layout* layout;
    hocket_array* array = NULL;
    hocket_tasks* tasks = NULL;
    hocket_team* team = NULL;
    int fortran, value;
    if (ranks == 1) return;
    layout = layout_of("(3) (*) @ ()");
    MPI_Comm_split(MPI_COMM_WORLD, even, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, even ? 1 : 0, 5, &between);
    fortran = MPI_Comm_c2f(between);
    FAILS(HOCKET_ERR_ERROR, hocket_array_empty(layout, "int8", 0, between, &array));
    SAYS("intercommunicator");
    FAILS(HOCKET_ERR_ERROR, hocket_array_empty_fortran(layout, "int8", 0, fortran, &array));
    SAYS("intercommunicator");
    FAILS(HOCKET_ERR_ERROR, hocket_tasks_make(1, &all, between, &tasks));
    FAILS(HOCKET_ERR_ERROR, hocket_tasks_make_fortran(1, &all, fortran, &tasks));
    FAILS(HOCKET_ERR_ERROR, hocket_team_make(between, 60, &team));
    FAILS(HOCKET_ERR_ERROR, hocket_team_make_fortran(fortran, 60, &team));
    SAYS("intercommunicator");
    FAILS(HOCKET_ERR_ERROR, hocket_comm_rank(fortran, &value));
    MPI_Comm_free(&between);
    MPI_Comm_free(&half);
    OK(hocket_layout_free(&layout));
}

static void test_requests(void) {
    char sent = 7, received = 0;
    MPI_Request requests[2];
    hocket_operation* operation = NULL;
    MPI_Irecv(&received, 1, MPI_CHAR, rank, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(&sent, 1, MPI_CHAR, rank, 1, MPI_COMM_WORLD, &requests[1]);
    for (int i = 0; i < 2; ++i) {
        int request = MPI_Request_c2f(requests[i]);
        OK(hocket_operation_from_request_fortran(&request, &operation));
        CHECK(MPI_Request_f2c(request) == MPI_REQUEST_NULL);
        OK(hocket_operation_wait(operation, 60));
        OK(hocket_operation_free(&operation));
    }
    CHECK(received == 7);
}

/* A part of one row: only with its border do the two orders of memory differ. */
static void test_column_major_border(void) {
    const int64_t width[2] = {1, 1};
    int64_t extents[2] = {0, 0};
    void* data = NULL;
    double* at;
    char text[60];
    hocket_layout* layout;
    hocket_array* array;
    hocket_halo* halo = NULL;
    snprintf(text, sizeof text, "(%d, 3) (BLOCK, *) @ (%d)", ranks, ranks);
    layout = layout_of(text);
    array = numbered(layout, MPI_COMM_WORLD);
    OK(hocket_halo_make_fortran(array, width, (const bool[]){true, false}, &halo));
    OK(hocket_halo_data_fortran(halo, "float64", 2, extents, &data));
    CHECK(extents[0] == 3 && extents[1] == 5);
    OK(hocket_halo_exchange(halo, 60));
    at = (double*)data + 3; /* the first column */
    for (int64_t j = 0; j < 3; ++j, at += 3) {
        CHECK(at[0] == (double)(3 * ((rank + ranks - 1) % ranks) + j + 1));
        CHECK(at[1] == (double)(3 * rank + j + 1));
        CHECK(at[2] == (double)(3 * ((rank + 1) % ranks) + j + 1));
    }
    FAILS(HOCKET_ERR_MISMATCH, hocket_halo_data_fortran(halo, "float32", 2, extents, &data));
    FAILS(HOCKET_ERR_MISMATCH, hocket_halo_data_fortran(halo, "float64", 1, extents, &data));
    FAILS(HOCKET_ERR_ARGUMENT, hocket_halo_data_fortran(halo, "float64", 2, extents, NULL));
    FAILS(HOCKET_ERR_ARGUMENT, hocket_halo_make_fortran(array, NULL, NULL, &halo));
    SAYS("hocket_halo_make: ");
    OK(hocket_halo_free(&halo));
    for (int first = 1; first >= 0; --first) {
        OK(hocket_first_index_set(first));
        FAILS(HOCKET_ERR_LAYOUT,
              hocket_halo_make_fortran(array, (const int64_t[2]){0, -1}, NULL, &halo));
        SAYS(first == 1 ? "along dimension 2 " : "along dimension 1 ");
    }
    FAILS(HOCKET_ERR_ARGUMENT, hocket_first_index_set(2));
    OK(hocket_array_free(&array));
    OK(hocket_layout_free(&layout));
}

static void test_column_major(void) {
    const int64_t shape[2] = {3, 4}, axes[2] = {1, 0};
    int64_t extents[2], strides[2], count;
    int world;
    bool writable = true;
    void* data = NULL;
    double whole[12] = {0}, back[12] = {0};
    hocket_layout *target = NULL, *layout = NULL, *aligned = NULL;
    hocket_array *array = NULL, *wrapped = NULL;
    OK(hocket_comm_world(&world));
    target = layout_of("(5) (BLOCK(1)) @ (5)");
    OK(hocket_layout_aligned_fortran(1, &shape[1], "A(i) WITH T(i+1)", target, &aligned));
    OK(hocket_layout_owner(aligned, (const int64_t[]){0}, &count));
    CHECK(count == 1);
    FAILS(HOCKET_ERR_LAYOUT,
          hocket_layout_aligned_fortran(1, &shape[1], "A(i) WITH T(i+2)", target, &aligned));

    OK(hocket_layout_make(2, shape, "(*, *)", 0, NULL, 0, NULL, &layout));
    OK(hocket_array_empty_fortran(layout, "float64", 0, world, &array));
    OK(hocket_array_data_fortran(array, "float64", 2, extents, &data));
    OK(hocket_array_strides(array, 2, strides, &count));
    if (rank == 0) {
        CHECK(extents[0] == 3 && extents[1] == 4);
        CHECK(strides[0] == 8 && strides[1] == 24);
    }
    FAILS(HOCKET_ERR_MISMATCH, hocket_array_data_fortran(array, "int64", 2, extents, &data));
    FAILS(HOCKET_ERR_MISMATCH, hocket_array_data_fortran(array, "float64", 1, extents, &data));
    for (int i = 0; i < 12; ++i) whole[i] = i;
    strides[0] = 8;
    strides[1] = 24;
    OK(hocket_scatter_fortran(whole, 2, shape, strides, array, "float64", 0, 60));
    if (rank == 0) CHECK(memcmp(whole, data, sizeof whole) == 0);
    OK(hocket_remap_inplace_fortran(array, 2, axes, 1, 60));
    OK(hocket_array_data_fortran(array, "float64", 2, extents, &data));
    if (rank == 0) CHECK(extents[0] == 4 && ((double*)data)[1] == 3);
    extents[0] = 4;
    extents[1] = 3;
    strides[1] = 32;
    OK(hocket_gather_fortran(array, back, 2, extents, strides, "float64", 0, 60));
    if (rank == 0) CHECK(back[1] == 3 && back[4] == 1);
    FAILS(HOCKET_ERR_ARGUMENT,
          hocket_gather_fortran(array, back, 2, shape, strides, "float64", 0, 60));
    FAILS(HOCKET_ERR_ARGUMENT,
          hocket_scatter_fortran(back, 2, shape, strides, array, "int8", 0, 60));
    FAILS(HOCKET_ERR_ARGUMENT, hocket_remap_inplace_fortran(array, 1, axes, 1, 60));

    OK(hocket_array_wrap_fortran(rank == 0 ? whole : NULL, 2,
                                 rank == 0 ? shape : (const int64_t[]){0, 0}, strides, layout,
                                 "float64", 0, world, &wrapped));
    OK(hocket_array_free(&wrapped));
    OK(hocket_array_wrap_const_fortran(rank == 0 ? whole : NULL, 2,
                                       rank == 0 ? shape : (const int64_t[]){0, 0}, strides, layout,
                                       "float64", 0, world, &wrapped));
    OK(hocket_array_writable(wrapped, &writable));
    CHECK(!writable);
    OK(hocket_array_comm_fortran(wrapped, &world));
    CHECK(MPI_Comm_f2c(world) == MPI_COMM_WORLD);
    OK(hocket_array_free(&wrapped));
    FAILS(HOCKET_ERR_ARGUMENT, hocket_array_wrap_fortran(whole, 2, (const int64_t[]){3, 5}, strides,
                                                         layout, "float64", 0, world, &wrapped));
    SAYS("(3, 5)");
    OK(hocket_array_free(&array));
    OK(hocket_layout_free(&layout));
    OK(hocket_layout_free(&aligned));
    OK(hocket_layout_free(&target));
}

void test_fortran(void) {
    test_communicators();
    test_intercommunicators();
    test_requests();
    test_column_major();
    test_column_major_border();
}
