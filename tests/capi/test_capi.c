/* SPDX-License-Identifier: BSD-3-Clause */
/* Every room's C functions, on any number of processes:
 *     mpiexec -n 3 test_capi */
#include "check.h"

int main(int argc, char** argv) {
    if (argc == 2) return look_into(argv[1]);
    /* Before MPI runs, an error and no crash. */
    hocket_array* early = NULL;
    hocket_layout* layout = NULL;
    OK(hocket_layout_parse("(3) (*) @ ()", &layout));
    FAILS(HOCKET_ERR_ERROR, hocket_array_empty(layout, "int8", 0, MPI_COMM_WORLD, &early));
    SAYS("MPI_Init");
    OK(hocket_layout_free(&layout));

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    test_handles();
    test_layouts();
    test_layout_makers();
    test_layout_ownership();
    test_layout_blacs();
    test_plans();
    test_kernels();
    test_rows();
    test_counts();
    test_operations();
    test_arrays();
    test_redistribute();
    test_refusals();
    test_remap();
    test_halo();
    test_intrinsics();
    test_transfer();
    test_stores();
    /* QEMU invents the start time of a process, by which a list of ports knows the living ones. */
    if (getenv("HOCKET_TEST_QEMU") == NULL) test_ports();
    test_tasks();
    test_persistent();
    test_many();
    test_hostile();
    test_teams();
    test_fortran();
    test_flow();
    keep_for_the_end();

    long all = 0;
    MPI_Reduce(&checks, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("capi: %ld checks on %d processes\n", all, ranks);
    OK(hocket_mpi_finalize());
    OK(hocket_mpi_finalize()); /* MPI has ended */
    FAILS(HOCKET_ERR_ERROR, hocket_mpi_init());
    test_ended();
    return 0;
}
