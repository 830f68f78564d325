/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of a column-major matrix by number. */
#include "check.h"

void test_rows(void) {
    /* 4 x 3, with room for a fifth row in each column. */
    const hocket_matrix_form whole = {4, 3, sizeof(double), 5 * sizeof(double)};
    const hocket_matrix_form two = {2, 3, sizeof(double), 2 * sizeof(double)};
    const int64_t rows[2] = {3, 1}, outside[2] = {3, 4}, one[1] = {0}, last[1] = {3};
    double a[15], taken[6];
    for (int i = 0; i < 15; ++i) a[i] = i;

    OK(hocket_take_rows(a, &whole, 2, rows, 8, taken, &two));
    for (int j = 0; j < 3; ++j) CHECK(taken[2 * j] == 5 * j + 3 && taken[2 * j + 1] == 5 * j + 1);
    for (int i = 0; i < 6; ++i) taken[i] += 100;
    OK(hocket_put_rows(taken, &two, 2, rows, 8, a, &whole));
    OK(hocket_swap_rows(a, &whole, 1, one, last, 8));
    for (int j = 0; j < 3; ++j) {
        CHECK(a[5 * j] == 5 * j + 103 && a[5 * j + 1] == 5 * j + 101);
        CHECK(a[5 * j + 2] == 5 * j + 2 && a[5 * j + 3] == 5 * j && a[5 * j + 4] == 5 * j + 4);
    }

    FAILS(HOCKET_ERR_ERROR, hocket_take_rows(a, &whole, 2, outside, 8, taken, &two));
    SAYS("row 4");
    FAILS(HOCKET_ERR_MISMATCH, hocket_put_rows(taken, &two, 1, rows, 8, a, &whole));
    FAILS(HOCKET_ERR_ERROR, hocket_swap_rows(a, &whole, 2, rows, outside, 8));
    FAILS(HOCKET_ERR_ARGUMENT, hocket_take_rows(NULL, &whole, 2, rows, 8, taken, &two));
    FAILS(HOCKET_ERR_ARGUMENT, hocket_put_rows(taken, NULL, 2, rows, 8, a, &whole));
    FAILS(HOCKET_ERR_ARGUMENT, hocket_swap_rows(a, &whole, 2, NULL, rows, 8));
    CHECK(a[3] == 0 && a[0] == 103);
}
