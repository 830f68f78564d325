/* SPDX-License-Identifier: BSD-3-Clause */
/* ScaLAPACK's array descriptors. */
#include "check.h"

void test_layout_blacs(void) {
    static const int given[9] = {1, 5, 10, 8, 2, 4, 1, 0, 6}, huge[9] = {1, 0, 4, 4, 0, 1, 0, 0, 4};
    static const int64_t by_column[4] = {0, 2, 1, 3}, first[2] = {0, 0};
    hocket_layout *made = NULL, *turned = NULL, *none = NULL;
    int desc[9];
    int64_t values[4], rows, columns, count, value;

    OK(hocket_layout_from_blacs(given, 2, 2, by_column, 1, false, &made));
    OK(hocket_layout_owner(made, first, &value));
    CHECK(value == 1); /* at row 1 and column 0 */
    OK(hocket_layout_local_shape(made, 3, 4, values, &count));
    CHECK(count == 2 && values[0] == 6 && values[1] == 4);
    OK(hocket_layout_to_blacs(made, 1, 5, false, desc));
    CHECK(memcmp(desc, given, sizeof desc) == 0);
    OK(hocket_layout_blacs_grid(made, false, &rows, &columns, 4, values, &count));
    CHECK(rows == 2 && columns == 2 && count == 4 && memcmp(values, by_column, sizeof values) == 0);
    OK(hocket_layout_from_blacs(given, 2, 2, by_column, -1, true, &turned));
    OK(hocket_layout_local_shape(turned, 3, 4, values, &count));
    CHECK(values[0] == 4 && values[1] == 6);
    OK(hocket_layout_to_blacs(turned, 1, 5, true, desc));
    CHECK(memcmp(desc, given, sizeof desc) == 0);
    OK(hocket_layout_free(&turned));

    FAILS(HOCKET_ERR_LAYOUT, hocket_layout_from_blacs(given, 1, 4, NULL, -1, false, &none));
    SAYS("another grid");
    FAILS(HOCKET_ERR_LAYOUT, hocket_layout_from_blacs(huge, 2, 2, NULL, -1, false, &none));
    SAYS("MB_ is 0");
    desc[8] = 5;
    FAILS(HOCKET_ERR_LAYOUT, hocket_layout_from_blacs(desc, 2, 2, by_column, 1, false, &none));
    SAYS("LLD_ is 5");
    FAILS(HOCKET_ERR_ARGUMENT, hocket_layout_from_blacs(NULL, 2, 2, NULL, -1, false, &none));
    FAILS(HOCKET_ERR_ARGUMENT, hocket_layout_from_blacs(given, -1, 2, by_column, -1, false, &none));
    FAILS(HOCKET_ERR_LAYOUT, hocket_layout_to_blacs(made, 4, 0, false, desc));
    FAILS(HOCKET_ERR_ARGUMENT, hocket_layout_to_blacs(made, 0, 0, false, NULL));
    OK(hocket_layout_free(&made));
    OK(hocket_layout_parse("(4294967296, 1) (BLOCK, *) @ (2)", &made));
    FAILS(HOCKET_ERR_LAYOUT, hocket_layout_to_blacs(made, 0, 0, false, desc));
    SAYS("4294967296 does not fit");
    OK(hocket_layout_free(&made));
    CHECK(none == NULL);
}
