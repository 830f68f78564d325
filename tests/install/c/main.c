/* SPDX-License-Identifier: BSD-3-Clause */
/* A user's program in C: the whole array on process 0 is dealt out and collected again. */
#include <hocket/hocket.h>
#include <stdio.h>
#include <stdlib.h>

#if HOCKET_VERSION_NUMBER < 100 || HOCKET_VERSION_MAJOR > 1000
#error "the preprocessor compares versions"
#endif

static void ok(int code) {
    if (code == HOCKET_SUCCESS) return;
    fprintf(stderr, "%s: %s\n", hocket_error_name(code), hocket_error_message());
    MPI_Abort(MPI_COMM_WORLD, 1);
}

int main(int argc, char** argv) {
    const int64_t shape[2] = {5, 3};
    int64_t procs[1], held;
    double out[15], back[15] = {0};
    const char *library, *text;
    hocket_layout* layout;
    hocket_array* array;
    int rank, ranks, wrong = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int i = 0; i < 15; ++i) out[i] = i;
    procs[0] = ranks;
    ok(hocket_layout_make(2, shape, "(CYCLIC(2), *)", 1, procs, 0, NULL, &layout));
    ok(hocket_array_empty(layout, "float64", 0, MPI_COMM_WORLD, &array));
    ok(hocket_scatter(rank == 0 ? out : NULL, array, 0, 60));
    ok(hocket_gather(array, rank == 0 ? back : NULL, 0, 60));
    for (int i = 0; rank == 0 && i < 15; ++i) wrong += back[i] != out[i];
    ok(hocket_layout_local_elements(layout, rank, &held));
    ok(hocket_layout_text(layout, &text));
    ok(hocket_mpi_library(&library));
    if (rank == 0) printf("C on %s: %s, hocket %s\n", library, text, HOCKET_VERSION);
    ok(hocket_array_free(&array));
    ok(hocket_layout_free(&layout));
    MPI_Finalize();
    return wrong;
}
