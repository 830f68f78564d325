/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts that nobody can have meant, beside lists that are shorter: no function reads beyond. */
#include "check.h"

static int nothing(void* const* arguments) {
    (void)arguments;
    return 0;
}
static int no_step(void* context, void* const* parts) {
    (void)context;
    (void)parts;
    return 0;
}
static int starts_nothing(void* context, hocket_started* started) {
    (void)context;
    (void)started;
    return 0;
}

static void test_dimensions(int64_t wrong) {
    const int64_t one[1] = {1};
    double data[1] = {5}, copy[1];
    int64_t out[1], count;
    hocket_cycle cycle;
    hocket_copy* made = NULL;
    hocket_layout *layout = NULL, *target = layout_of("(1) (*) @ ()");
    hocket_array* array = NULL;
    const char* text;
    FAILS(HOCKET_ERR_ARGUMENT, hocket_permute_inplace(data, wrong, one, 8, one, NULL));
    FAILS(HOCKET_ERR_ARGUMENT, hocket_permute(data, wrong, one, NULL, 8, one, copy, NULL, NULL));
    FAILS(HOCKET_ERR_ARGUMENT, hocket_permute_explain(wrong, one, 8, one, NULL, &text));
    FAILS(HOCKET_ERR_ARGUMENT, hocket_cycles(wrong, one, one, 1, &cycle, &count));
    FAILS(HOCKET_ERR_ARGUMENT, hocket_cycle_path(wrong, one, one, 0, 1, out, &count));
    FAILS(HOCKET_ERR_ARGUMENT, hocket_copy_make(wrong, one, 8, one, one, &made));
    FAILS(HOCKET_ERR_ARGUMENT, hocket_dense_strides(wrong, one, 8, out));
    FAILS(HOCKET_ERR_ARGUMENT, hocket_layout_make(wrong, one, "(*)", 0, NULL, 0, NULL, &layout));
    FAILS(HOCKET_ERR_ARGUMENT, hocket_layout_make(1, one, "(*)", wrong, one, 0, NULL, &layout));
    FAILS(HOCKET_ERR_ARGUMENT, hocket_layout_make(1, one, "(*)", 0, NULL, wrong, one, &layout));
    const hocket_format whole = {"*", 0, NULL};
    FAILS(HOCKET_ERR_ARGUMENT,
          hocket_layout_make_formats(wrong, one, &whole, 0, NULL, 0, NULL, &layout));
    FAILS(HOCKET_ERR_ARGUMENT,
          hocket_layout_make_formats(1, one, &whole, 0, NULL, wrong, one, &layout));
    FAILS(HOCKET_ERR_ARGUMENT, hocket_layout_parse_with_shape("(*) @ ()", wrong, one, &layout));
    FAILS(HOCKET_ERR_ARGUMENT,
          hocket_layout_aligned(wrong, one, "A(i) WITH T(i)", target, &layout));
    FAILS(HOCKET_ERR_ARGUMENT,
          hocket_layout_aligned_fortran(wrong, one, "A(i) WITH T(i)", target, &layout));
    FAILS(HOCKET_ERR_ARGUMENT, hocket_layout_indexed(wrong, one, 0, NULL, NULL, &layout));
    FAILS(HOCKET_ERR_ARGUMENT, hocket_array_wrap_fortran(data, wrong, one, one, target, "float64",
                                                         0, MPI_Comm_c2f(MPI_COMM_SELF), &array));
    CHECK(data[0] == 5 && layout == NULL && made == NULL && array == NULL);
    OK(hocket_layout_free(&target));
}

static void test_lists(int64_t wrong) {
    const int64_t one[1] = {1};
    const uint64_t word[1] = {1};
    const hocket_task_request request = {"all", ranks, NULL}, endless = {"all", wrong, &rank};
    const hocket_segment segment = {0, 1};
    const hocket_parameter parameter = {"N", 3};
    const hocket_access access = {HOCKET_READS, "key", NULL, 0, 0, NULL, NULL, NULL},
                        box = {HOCKET_READS, NULL, one, 8, wrong, one, one, NULL};
    const hocket_matrix_form form = {1, 1, 8, 8};
    const int kind[1] = {HOCKET_READS};
    double data[1] = {5}, copy[1];
    hocket_layout* layout = NULL;
    hocket_tasks* tasks = NULL;
    hocket_team *team = NULL, *made = NULL;
    hocket_flow* flow = NULL;
    hocket_annotated* annotated = NULL;
    hocket_request* request_of = NULL;
    int64_t index;
    FAILS(HOCKET_ERR_ARGUMENT, hocket_tasks_make(wrong, &request, MPI_COMM_WORLD, &tasks));
    FAILS(HOCKET_ERR_ARGUMENT, hocket_tasks_make(1, &endless, MPI_COMM_WORLD, &tasks));
    FAILS(HOCKET_ERR_ARGUMENT, hocket_request_wait_all(wrong, &request_of, 1, NULL));
    FAILS(HOCKET_ERR_ARGUMENT, hocket_request_wait_any(wrong, &request_of, 1, &index));
    FAILS(HOCKET_ERR_ARGUMENT, hocket_layout_indexed(1, one, wrong, one, &segment, &layout));
    FAILS(HOCKET_ERR_ARGUMENT, hocket_layout_indexed(1, one, 1, &wrong, &segment, &layout));
    FAILS(HOCKET_ERR_ARGUMENT,
          hocket_layout_from_hpf("      END\n", wrong, &parameter, 0, NULL, &index));
    FAILS(HOCKET_ERR_ARGUMENT, hocket_take_rows(data, &form, wrong, one, 8, copy, &form));
    FAILS(HOCKET_ERR_ARGUMENT, hocket_put_rows(data, &form, wrong, one, 8, copy, &form));
    FAILS(HOCKET_ERR_ARGUMENT, hocket_swap_rows(data, &form, wrong, one, one, 8));
    OK(hocket_team_make(MPI_COMM_WORLD, 60, &team));
    FAILS(HOCKET_ERR_ARGUMENT, hocket_team_enqueue(team, wrong, word, &made));
    OK(hocket_team_free(&team));
    OK(hocket_flow_make(NULL, &flow));
    FAILS(HOCKET_ERR_ARGUMENT, hocket_flow_task(flow, no_step, NULL, wrong, &access, 0, NULL));
    FAILS(HOCKET_ERR_ARGUMENT,
          hocket_flow_comm(flow, starts_nothing, NULL, wrong, &access, 0, NULL));
    FAILS(HOCKET_ERR_ARGUMENT, hocket_flow_task(flow, no_step, NULL, 1, &box, 0, NULL));
    FAILS(HOCKET_ERR_ARGUMENT, hocket_flow_wait_on(flow, &box, 1));
    OK(hocket_flow_free(&flow));
    FAILS(HOCKET_ERR_ARGUMENT, hocket_annotated_make("f", nothing, wrong, kind, 0, &annotated));
    OK(hocket_annotated_make("f", nothing, 1, kind, 0, &annotated));
    FAILS(HOCKET_ERR_ARGUMENT, hocket_annotated_call(annotated, wrong, &access));
    OK(hocket_annotated_free(&annotated));
}

void test_counts(void) {
    const int64_t wrong[] = {65, (int64_t)1 << 40, INT64_MAX, INT64_MIN, -1};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
        test_dimensions(wrong[i]);
        if (wrong[i] != 65) test_lists(wrong[i]);
    }
}
