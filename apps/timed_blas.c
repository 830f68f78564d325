// SPDX-License-Identifier: BSD-3-Clause
// BLAS for HPL on simulated processes (docs/guide/simulation.md): a call spends the simulated time
// of its operations and computes nothing, except that pivots are found and rows are moved.
// HOCKET_TIMED_BLAS: seconds of an operation of a product, and of one on a column at a time.
#undef MPI_Iprobe
#include <math.h>
#include <smpi/smpi.h>
#include <stdio.h>
#include <stdlib.h>

static double seconds_of_product = -1, seconds_of_panel;

static int waits;

// HPL waits for a panel in a loop of probes, which would never let simulated time pass. After a
// second probe without computing in between, HPL receives, and thereby waits.
int timed_iprobe(int source, int tag, MPI_Comm comm, int* found, MPI_Status* status) {
    const int result = PMPI_Iprobe(source, tag, comm, found, status);
    if (*found == 0 && waits) *found = 1;
    waits = !*found;
    return result;
}

static void products(double operations) {
    waits = 0;
    if (seconds_of_product < 0) {
        const char* const given = getenv("HOCKET_TIMED_BLAS");
        if (given == NULL ||
            sscanf(given, "%lf,%lf", &seconds_of_product, &seconds_of_panel) != 2) {
            fprintf(stderr, "HOCKET_TIMED_BLAS: give two numbers of seconds, by commas\n");
            exit(1);
        }
    }
    if (operations > 0) smpi_execute(operations * seconds_of_product);
}

static void of_panel(double operations) {
    products(0);
    if (operations > 0) smpi_execute(operations * seconds_of_panel);
}

int cblas_idamax(int n, const double* x, int stride) {
    int best = 0;
    for (int i = 1; i < n; ++i)
        if (fabs(x[(size_t)i * stride]) > fabs(x[(size_t)best * stride])) best = i;
    of_panel(n);
    return best;
}

void cblas_dswap(int n, double* x, int x_stride, double* y, int y_stride) {
    for (int i = 0; i < n; ++i) {
        const double kept = x[(size_t)i * x_stride];
        x[(size_t)i * x_stride] = y[(size_t)i * y_stride];
        y[(size_t)i * y_stride] = kept;
    }
}

void cblas_dcopy(int n, const double* x, int x_stride, double* y, int y_stride) {
    for (int i = 0; i < n; ++i) y[(size_t)i * y_stride] = x[(size_t)i * x_stride];
}

void cblas_daxpy(int n, double factor, const double* x, int x_stride, double* y, int y_stride) {
    of_panel(2.0 * n);
}

void cblas_dscal(int n, double factor, double* x, int stride) {
    of_panel(n);
}

void cblas_dgemv(int order, int transposed, int m, int n, double alpha, const double* a, int lda,
                 const double* x, int x_stride, double beta, double* y, int y_stride) {
    of_panel(2.0 * m * n);
}

void cblas_dger(int order, int m, int n, double alpha, const double* x, int x_stride,
                const double* y, int y_stride, double* a, int lda) {
    of_panel(2.0 * m * n);
}

void cblas_dtrsv(int order, int upper, int transposed, int unit, int n, const double* a, int lda,
                 double* x, int stride) {
    of_panel((double)n * n);
}

void cblas_dgemm(int order, int a_transposed, int b_transposed, int m, int n, int k, double alpha,
                 const double* a, int lda, const double* b, int ldb, double beta, double* c,
                 int ldc) {
    products(2.0 * m * n * k);
}

void cblas_dtrsm(int order, int side, int upper, int transposed, int unit, int m, int n,
                 double alpha, const double* a, int lda, double* b, int ldb) {
    const int side_left = 141;
    products((double)m * n * (side == side_left ? m : n));
}
