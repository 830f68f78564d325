/* SPDX-License-Identifier: BSD-3-Clause */
/* Handles, layouts, plans, kernels and operations: what one process does alone. */
#include "check.h"

void test_handles(void) {
    hocket_layout *layout = NULL, *freed, *null = NULL;
    hocket_plan* plan = NULL;
    int64_t size = -5;
    CHECK(strcmp(hocket_error_name(HOCKET_ERR_DEADLINE), "DeadlineError") == 0);
    CHECK(strcmp(hocket_error_name(12345), "unknown code") == 0);

    FAILS(HOCKET_ERR_ARGUMENT, hocket_layout_size(NULL, &size));
    SAYS("hocket_layout_size");
    SAYS("'layout' is NULL");
    FAILS(HOCKET_ERR_ARGUMENT, hocket_layout_free(NULL));
    FAILS(HOCKET_ERR_ARGUMENT, hocket_layout_free(&null));
    FAILS(HOCKET_ERR_ARGUMENT, hocket_layout_parse(NULL, &layout));
    FAILS(HOCKET_ERR_ARGUMENT, hocket_layout_parse("(3) (BLOCK) @ (2)", NULL));
    FAILS(HOCKET_ERR_ARGUMENT, hocket_layout_size((hocket_layout*)&size, &size));
    SAYS("no live handle");
    CHECK(layout == NULL && size == -5);

    layout = freed = layout_of("(3) (BLOCK) @ (2)");
    FAILS(HOCKET_ERR_ARGUMENT, hocket_layout_size(layout, NULL));
    OK(hocket_layout_size(layout, &size));
    CHECK(size == 2);
    /* A handle of another kind. */
    FAILS(HOCKET_ERR_ARGUMENT, hocket_plan_rounds((hocket_plan*)layout, &size));
    SAYS("another kind (layout)");
    OK(hocket_plan_make(layout, layout, NULL, &plan));
    FAILS(HOCKET_ERR_ARGUMENT, hocket_layout_free((hocket_layout**)&plan));
    CHECK(plan != NULL);
    OK(hocket_layout_free(&layout));
    CHECK(layout == NULL);
    /* Freed handles stay invalid, also after new ones are made. */
    layout = layout_of("(4) (BLOCK) @ (2)");
    FAILS(HOCKET_ERR_ARGUMENT, hocket_layout_size(freed, &size));
    SAYS("freed");
    FAILS(HOCKET_ERR_ARGUMENT, hocket_layout_free(&freed));
    OK(hocket_layout_free(&layout));
    /* A plan outlives its layouts' handles. */
    OK(hocket_plan_source(plan, &layout));
    OK(hocket_layout_size(layout, &size));
    CHECK(size == 2);
    OK(hocket_layout_free(&layout));
    OK(hocket_plan_free(&plan));
}

void test_layouts(void) {
    const int64_t shape[2] = {7, 10}, procs[2] = {2, 3}, index[2] = {5, 4}, outside[2] = {7, 0};
    const int64_t copies[1] = {1};
    int64_t values[10], count, value;
    uint64_t hash[2];
    const char *text, *again, *dist;
    bool equal;
    hocket_layout *layout = NULL, *same = NULL, *other = NULL, *copied = NULL;

    OK(hocket_layout_make(2, shape, "(block, Cyclic(2))", 2, procs, 0, NULL, &layout));
    OK(hocket_layout_text(layout, &text));
    OK(hocket_layout_text(layout, &again));
    CHECK(text == again);
    OK(hocket_layout_dist(layout, &dist));
    CHECK(strcmp(dist, "(BLOCK, CYCLIC(2))") == 0);
    OK(hocket_layout_parse(text, &same));
    OK(hocket_layout_equal(layout, same, &equal));
    CHECK(equal);
    OK(hocket_layout_hash(layout, &hash[0]));
    OK(hocket_layout_hash(same, &hash[1]));
    CHECK(hash[0] == hash[1]);
    OK(hocket_layout_parse_with_shape("(BLOCK, *) @ (3)", 2, shape, &other));
    OK(hocket_layout_equal(layout, other, &equal));
    CHECK(!equal);

    OK(hocket_layout_dimensions(layout, &count));
    CHECK(count == 2);
    OK(hocket_layout_shape(layout, 0, NULL, &count));
    CHECK(count == 2);
    FAILS(HOCKET_ERR_ARGUMENT, hocket_layout_shape(layout, 1, values, &count));
    SAYS("there are 2");
    OK(hocket_layout_shape(layout, 10, values, NULL));
    CHECK(values[0] == 7 && values[1] == 10);
    OK(hocket_layout_procs(layout, 10, values, &count));
    CHECK(count == 2 && values[0] == 2 && values[1] == 3);
    OK(hocket_layout_replicate(layout, 10, values, &count));
    CHECK(count == 0);
    OK(hocket_layout_size(layout, &value));
    CHECK(value == 6);
    OK(hocket_layout_num_elements(layout, &value));
    CHECK(value == 70);
    /* Process 5 is at (1, 2): rows 4 to 6 of blocks of 4, columns 4, 5 of the third pair. */
    OK(hocket_layout_local_shape(layout, 5, 10, values, &count));
    CHECK(count == 2 && values[0] == 3 && values[1] == 2);
    OK(hocket_layout_local_elements(layout, 5, &value));
    CHECK(value == 6);
    OK(hocket_layout_global_indices(layout, 5, 1, 10, values, &count));
    CHECK(count == 2 && values[0] == 4 && values[1] == 5);
    OK(hocket_layout_owner(layout, index, &value));
    CHECK(value == 5);
    OK(hocket_layout_local_index(layout, index, 2, values, NULL));
    CHECK(values[0] == 1 && values[1] == 0);

    FAILS(HOCKET_ERR_LAYOUT, hocket_layout_owner(layout, outside, &value));
    FAILS(HOCKET_ERR_ARGUMENT, hocket_layout_owner(layout, NULL, &value));
    FAILS(HOCKET_ERR_LAYOUT, hocket_layout_local_shape(layout, 6, 10, values, NULL));
    FAILS(HOCKET_ERR_ARGUMENT, hocket_layout_global_indices(layout, 0, 2, 0, NULL, &count));
    FAILS(HOCKET_ERR_LAYOUT, hocket_layout_global_indices(layout, -1, 0, 0, NULL, &count));
    FAILS(HOCKET_ERR_LAYOUT,
          hocket_layout_make(2, shape, "(BLOCK, CYKLIC)", 2, procs, 0, NULL, &copied));
    SAYS("^"); /* points at the character */
    FAILS(HOCKET_ERR_LAYOUT,
          hocket_layout_make(1, shape, "(BLOCK, *)", 1, procs, 0, NULL, &copied));
    FAILS(HOCKET_ERR_ARGUMENT,
          hocket_layout_make(-1, shape, "(BLOCK)", 1, procs, 0, NULL, &copied));
    FAILS(HOCKET_ERR_ARGUMENT,
          hocket_layout_make(2, NULL, "(BLOCK, *)", 1, procs, 0, NULL, &copied));
    CHECK(copied == NULL);

    OK(hocket_layout_make(1, shape, "(BLOCK)", 2, procs, 1, copies, &copied));
    value = 3;
    OK(hocket_layout_owners(copied, &value, 10, values, &count));
    CHECK(count == 3 && values[0] == 0 && values[1] == 1 && values[2] == 2);
    OK(hocket_layout_replicate(copied, 10, values, &count));
    CHECK(count == 1 && values[0] == 1);
    OK(hocket_layout_free(&layout));
    OK(hocket_layout_free(&same));
    OK(hocket_layout_free(&other));
    OK(hocket_layout_free(&copied));
}

/* Aligned, explicit segments, sections, other processes, and those of a program. */
void test_layout_makers(void) {
    static const char program[] =
        "      REAL A(8), B(N)\n"
        "!HPF$ PROCESSORS P(2)\n"
        "!HPF$ DISTRIBUTE A(BLOCK) ONTO P\n"
        "!HPF$ ALIGN B(I) WITH A(I+1)\n";
    const int64_t eight = 8, three = 3, counts[3] = {1, 0, 2}, swapped[2] = {1, 0};
    const hocket_segment segments[3] = {{6, 2}, {0, 1}, {2, 3}};
    const hocket_slice odd = {7, 4, -2, true}, beyond = {0, 9, 1, true};
    const hocket_parameter n = {"N", 3};
    hocket_layout *block = layout_of("(8) (BLOCK) @ (2)"), *made = NULL, *none = NULL;
    hocket_named_layout named[2] = {{NULL, NULL}, {NULL, NULL}};
    int64_t values[8], count, value;
    bool flag;

    /* Elements 0, 1, 2 sit with the template's 1, 3, 5. */
    OK(hocket_layout_aligned(1, &three, "A(i) WITH T(2*i+1)", block, &made));
    value = 2;
    OK(hocket_layout_owner(made, &value, &value));
    CHECK(value == 1);
    OK(hocket_layout_free(&made));
    FAILS(HOCKET_ERR_LAYOUT, hocket_layout_aligned(1, &eight, "A(i) WITH T(2*i+1)", block, &none));
    FAILS(HOCKET_ERR_ARGUMENT, hocket_layout_aligned(1, &eight, "A(i) WITH T(i)", NULL, &none));

    OK(hocket_layout_indexed(1, &eight, 3, counts, segments, &made));
    OK(hocket_layout_is_indexed(made, &flag));
    CHECK(flag);
    OK(hocket_layout_global_indices(made, 2, 0, 8, values, &count));
    CHECK(count == 4 && values[0] == 0 && values[1] == 2 && values[3] == 4);
    value = 1;
    OK(hocket_layout_owners(made, &value, 8, values, &count));
    CHECK(count == 0);
    OK(hocket_layout_free(&made));
    FAILS(HOCKET_ERR_ARGUMENT, hocket_layout_indexed(1, &eight, 3, counts, NULL, &none));
    FAILS(HOCKET_ERR_LAYOUT, hocket_layout_indexed(1, &three, 3, counts, segments, &none));

    /* a[7:0:-2] is 7, 5, 3, 1: process 1 holds the first two. */
    OK(hocket_layout_is_indexed(block, &flag));
    CHECK(!flag);
    OK(hocket_layout_section(block, &odd, &made));
    OK(hocket_layout_global_indices(made, 1, 0, 8, values, &count));
    CHECK(count == 2 && values[0] == 0 && values[1] == 1);
    OK(hocket_layout_section_places(block, &odd, 1, 0, 8, values, &count));
    CHECK(count == 2 && values[0] == 3 && values[1] == 1);
    OK(hocket_layout_free(&made));
    FAILS(HOCKET_ERR_LAYOUT, hocket_layout_section(block, &beyond, &none));
    FAILS(HOCKET_ERR_ARGUMENT, hocket_layout_section(block, NULL, &none));

    OK(hocket_layout_relabeled(block, swapped, 0, &made));
    value = 0;
    OK(hocket_layout_owner(made, &value, &value));
    CHECK(value == 1);
    OK(hocket_layout_free(&made));

    FAILS(HOCKET_ERR_ARGUMENT, hocket_layout_from_hpf(program, 1, &n, 1, named, &count));
    CHECK(named[0].layout == NULL);
    OK(hocket_layout_from_hpf(program, 1, &n, 2, named, &count));
    CHECK(count == 2);
    for (int i = 0; i < 2; ++i) {
        OK(hocket_layout_num_elements(named[i].layout, &value));
        CHECK(value == (strcmp(named[i].name, "A") == 0 ? 8 : 3));
        OK(hocket_layout_free(&named[i].layout));
    }
    OK(hocket_layout_free(&block));
    CHECK(none == NULL);
}

/* Blocks of any extents, owners by list, boxes, and elements in any order. */
void test_layout_ownership(void) {
    static const int64_t owners[5] = {1, 0, 0, 1, 1}, extents[2] = {2, 2}, shape[2] = {5, 4};
    static const int64_t start[6] = {0, 0, 0, 2, 2, 0}, stop[6] = {2, 2, 5, 4, 5, 2};
    static const int64_t counts[2] = {3, 2}, elements[5] = {4, 0, 2, 1, 3}, place[2] = {3, 1};
    const hocket_format rows[2] = {{"indirect", 5, owners}, {"*", 0, NULL}};
    const hocket_format few = {"GEN_BLOCK", 2, extents}, valued = {"BLOCK", 2, extents};
    const int64_t two = 2, four = 4;
    hocket_layout *made = NULL, *none = NULL;
    hocket_slice slices[2];
    int64_t values[8], low[6], high[6], count, value;

    OK(hocket_layout_make_formats(2, shape, rows, 1, &two, 0, NULL, &made));
    OK(hocket_layout_global_indices(made, 1, 0, 8, values, &count));
    CHECK(count == 3 && values[0] == 0 && values[1] == 3 && values[2] == 4);
    OK(hocket_layout_slices(made, 0, 2, slices, &count));
    CHECK(count == 2 && slices[0].first == 1 && slices[0].count == 2 && slices[0].step == 1);
    FAILS(HOCKET_ERR_LAYOUT, hocket_layout_slices(made, 1, 2, slices, &count));
    SAYS("equally spaced");
    OK(hocket_layout_free(&made));
    FAILS(HOCKET_ERR_LAYOUT, hocket_layout_make_formats(1, shape, &few, 1, &two, 0, NULL, &none));
    SAYS("add up to 4");
    FAILS(HOCKET_ERR_ARGUMENT,
          hocket_layout_make_formats(1, &four, &valued, 1, &two, 0, NULL, &none));
    OK(hocket_layout_boxes(2, shape, 3, start, stop, &made));
    OK(hocket_layout_owner(made, place, &value));
    CHECK(value == 2);
    OK(hocket_layout_to_boxes(made, low, high));
    CHECK(memcmp(low, start, sizeof low) == 0 && memcmp(high, stop, sizeof high) == 0);
    OK(hocket_layout_free(&made));
    FAILS(HOCKET_ERR_LAYOUT, hocket_layout_boxes(2, shape, 3, stop, start, &none));
    FAILS(HOCKET_ERR_ARGUMENT, hocket_layout_boxes(2, shape, 3, start, NULL, &none));
    FAILS(HOCKET_ERR_ARGUMENT, hocket_layout_boxes(0, NULL, INT64_C(1) << 60, NULL, NULL, &none));
    FAILS(HOCKET_ERR_ARGUMENT, hocket_layout_boxes(0, NULL, INT32_MAX, NULL, NULL, &none));
    OK(hocket_layout_elements(1, shape, 2, counts, elements, &made));
    OK(hocket_layout_global_indices(made, 0, 0, 8, values, &count));
    CHECK(count == 3 && values[0] == 4 && values[1] == 0 && values[2] == 2);
    OK(hocket_layout_free(&made));
    FAILS(HOCKET_ERR_LAYOUT, hocket_layout_elements(1, &four, 2, counts, elements, &none));
    SAYS("element 4 of process 0");
    CHECK(none == NULL);
}

static void test_strategies(const hocket_layout* rows, const hocket_layout* columns) {
    hocket_plan* plan = NULL;
    hocket_plan_options options = {0}, kept;
    hocket_model model, same;
    hocket_parcel parcels[6];
    hocket_step steps[6];
    int64_t count = 0, value = 0;
    const char* text = NULL;
    OK(hocket_model_default(&model));
    CHECK(model.message > 0 && model.far_message == 0);
    model.far_message = 1e-3;
    OK(hocket_model_text(&model, &text));
    OK(hocket_model_parse(text, &same));
    CHECK(memcmp(&model, &same, sizeof model) == 0);
    FAILS(HOCKET_ERR_ERROR, hocket_model_parse("mesage = 1", &same));
    SAYS("did you mean");
    OK(hocket_model_kept_path(&text));
    OK(hocket_model_kept(&same));

    /* Gather on one of the three, one message, scatter to the second of the two. */
    options.strategy = "staged";
    options.stages = 1;
    options.model = &model;
    OK(hocket_plan_make(rows, columns, &options, &plan));
    OK(hocket_plan_options_get(plan, &kept));
    CHECK(kept.stages == 1 && kept.model->far_message == 1e-3 && kept.source_nodes == NULL);
    OK(hocket_plan_message_count(plan, &value));
    CHECK(value == 4);
    OK(hocket_plan_steps(plan, HOCKET_DESTINATION, 0, 6, steps, &count));
    CHECK(count == 2 && !steps[0].send && steps[0].elements == 24 && steps[1].send &&
          steps[1].peer_side == HOCKET_DESTINATION && steps[1].peer == 1);
    OK(hocket_plan_cargo(plan, HOCKET_DESTINATION, 0, 0, 6, parcels, &count));
    CHECK(count == 6 && parcels[5].source == 2 && parcels[5].destination == 1 &&
          parcels[5].elements == 4);
    FAILS(HOCKET_ERR_ARGUMENT,
          hocket_plan_cargo(plan, HOCKET_DESTINATION, 0, 2, 6, parcels, &count));
    OK(hocket_plan_free(&plan));
    options.stages = 4;
    FAILS(HOCKET_ERR_LAYOUT, hocket_plan_make(rows, columns, &options, &plan));
    SAYS("stages=4");
}

void test_plans(void) {
    hocket_layout* rows = layout_of("(6, 4) (BLOCK, *) @ (3)");
    hocket_layout *columns = layout_of("(6, 4) (*, BLOCK) @ (2)"), *turned = NULL;
    hocket_layout* transposed = layout_of("(4, 6) (BLOCK, *) @ (2)");
    hocket_plan *plan = NULL, *none = NULL;
    hocket_plan_options options = {0}, kept;
    hocket_traffic traffic[3];
    hocket_step steps[4];
    hocket_box boxes[4];
    hocket_prediction predictions[8];
    const hocket_model model = {.message = 1.0, .far_message = 2.0};
    const int64_t axes[2] = {1, 0}, twice[2] = {0, 0}, overlap[2] = {0, 1};
    const int64_t order[3] = {1, 2, 0};
    int64_t count, value, perm[3], moved = -1, elements = 0;
    const char* text;
    bool equal;

    OK(hocket_plan_make(rows, columns, NULL, &plan));
    OK(hocket_plan_sends(plan, 2, 3, traffic, &count));
    CHECK(count == 2 && traffic[0].process == 0 && traffic[0].elements == 4 &&
          traffic[1].process == 1 && traffic[1].elements == 4);
    OK(hocket_plan_recvs(plan, 1, 0, NULL, &count));
    CHECK(count == 3);
    FAILS(HOCKET_ERR_ARGUMENT, hocket_plan_recvs(plan, 1, 2, traffic, &count));
    FAILS(HOCKET_ERR_LAYOUT, hocket_plan_sends(plan, 3, 3, traffic, &count));
    OK(hocket_plan_message_count(plan, &value));
    CHECK(value == 6);
    OK(hocket_plan_elements_moved(plan, &value));
    CHECK(value == 24);
    OK(hocket_plan_rounds(plan, &value));
    CHECK(value == 3);
    OK(hocket_plan_steps(plan, HOCKET_DESTINATION, 0, 4, steps, &count));
    CHECK(count == 3);
    for (int64_t i = 0; i < count; ++i) {
        CHECK(!steps[i].send && steps[i].peer_side == HOCKET_SOURCE && steps[i].round < value);
        elements += steps[i].elements;
    }
    CHECK(elements == 12);
    FAILS(HOCKET_ERR_ARGUMENT, hocket_plan_steps(plan, 2, 0, 4, steps, &count));
    /* Process 2 holds rows 4 and 5; of those, process 1 takes columns 2 and 3. */
    OK(hocket_plan_boxes(plan, HOCKET_SOURCE, 2, 1, 4, boxes, &count));
    CHECK(count == 1 && boxes[0].source_dimensions == 2 && boxes[0].source_first[0] == 0 &&
          boxes[0].source_first[1] == 2 && boxes[0].destination_first[0] == 4 &&
          boxes[0].destination_first[1] == 0);
    elements = 1;
    for (int64_t i = 0; i < boxes[0].loops; ++i) elements *= boxes[0].extent[i];
    CHECK(elements == 4);
    OK(hocket_plan_common(plan, HOCKET_DESTINATION, 1, 3, traffic, &count));
    CHECK(count == 3 && traffic[2].process == 2 && traffic[2].elements == 4);
    OK(hocket_plan_same_process(plan, 1, &value));
    CHECK(value == -1);
    OK(hocket_plan_strategy(plan, &text));
    CHECK(strcmp(text, "direct") == 0);
    OK(hocket_plan_text(plan, &text));
    CHECK(strlen(text) > 0);
    OK(hocket_plan_predict(plan, &model, 8, predictions, &count));
    CHECK(count == 5 && strcmp(predictions[0].strategy, "direct") == 0);
    CHECK(predictions[0].seconds == 6.0); /* the sides are two nodes, and each column needs 3 */
    OK(hocket_plan_predict(plan, NULL, 0, NULL, &count));
    OK(hocket_plan_destination(plan, &turned));
    OK(hocket_layout_equal(turned, columns, &equal));
    CHECK(equal);
    OK(hocket_layout_free(&turned));
    OK(hocket_plan_free(&plan));

    test_strategies(rows, columns);

    options.axes = axes;
    options.itemsize = 16;
    options.overlap = overlap;
    OK(hocket_plan_make(rows, transposed, &options, &plan));
    OK(hocket_plan_options_get(plan, &kept));
    CHECK(kept.axes[0] == 1 && kept.axes[1] == 0 && kept.itemsize == 16 && kept.overlap[1] == 1);
    OK(hocket_plan_same_process(plan, 1, &value));
    CHECK(value == 1);
    OK(hocket_plan_message_count(plan, &value));
    CHECK(value == 4); /* of 6, two stay on their process */
    OK(hocket_plan_free(&plan));
    options.axes = twice;
    FAILS(HOCKET_ERR_LAYOUT, hocket_plan_make(rows, transposed, &options, &none));
    FAILS(HOCKET_ERR_LAYOUT, hocket_plan_make(rows, transposed, NULL, &none));
    options.axes = axes;
    options.strategy = "teleport";
    FAILS(HOCKET_ERR_LAYOUT, hocket_plan_make(rows, transposed, &options, &none));
    SAYS("teleport");
    CHECK(none == NULL);

    /* Processes in another order: the one that holds a part already takes it. */
    OK(hocket_layout_relabeled(rows, order, 0, &turned));
    OK(hocket_relabel(rows, turned, NULL, 3, perm, &count, &moved, &elements));
    CHECK(count == 3 && perm[0] == 2 && perm[1] == 0 && perm[2] == 1);
    CHECK(moved == 0 && elements == 24);
    OK(hocket_relabel(rows, transposed, axes, 3, perm, &count, NULL, NULL));
    FAILS(HOCKET_ERR_LAYOUT, hocket_relabel(rows, transposed, NULL, 3, perm, &count, NULL, NULL));
    OK(hocket_layout_free(&turned));
    OK(hocket_layout_free(&rows));
    OK(hocket_layout_free(&columns));
    OK(hocket_layout_free(&transposed));
}

void test_kernels(void) {
    const int64_t shape[3] = {3, 4, 2}, axes[3] = {1, 0, 2}, twice[3] = {1, 1, 2};
    int64_t strides[3], turned[3] = {16, 64, 8}, path[16], count;
    double from[24], to[24], back[24];
    bool contiguous;
    const char* text;
    hocket_copy* copy = NULL;
    hocket_cycle cycles[8];
    hocket_permute_options options = {0};
    for (int i = 0; i < 24; ++i) from[i] = i;

    OK(hocket_dense_strides(3, shape, 8, strides));
    CHECK(strides[0] == 64 && strides[1] == 16 && strides[2] == 8);
    FAILS(HOCKET_ERR_MEMORY, hocket_dense_strides(3, shape, INT64_MAX, strides));
    SAYS("2^63");
    /* Element (i, j, k) goes to (j, i, k) of a dense (4, 3, 2). */
    turned[0] = 16;
    turned[1] = 48;
    turned[2] = 8;
    OK(hocket_copy_make(3, shape, 8, strides, turned, &copy));
    OK(hocket_copy_bytes(copy, &count));
    CHECK(count == sizeof from);
    OK(hocket_copy_run(copy, from, to, 1, HOCKET_STORES_AUTOMATIC));
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 4; ++j)
            for (int k = 0; k < 2; ++k) CHECK(to[6 * j + 2 * i + k] == from[8 * i + 2 * j + k]);
    OK(hocket_copy_source_contiguous(copy, &contiguous));
    OK(hocket_copy_destination_contiguous(copy, &contiguous));
    FAILS(HOCKET_ERR_ARGUMENT, hocket_copy_run(copy, NULL, to, 1, HOCKET_STORES_AUTOMATIC));
    FAILS(HOCKET_ERR_ARGUMENT, hocket_copy_run(copy, from, to, 0, HOCKET_STORES_AUTOMATIC));
    FAILS(HOCKET_ERR_ARGUMENT, hocket_copy_run(copy, from, to, 1, 17));
    OK(hocket_copy_free(&copy));
    FAILS(HOCKET_ERR_ERROR, hocket_copy_make(3, shape, 0, strides, turned, &copy));

    OK(hocket_permute(from, 3, shape, NULL, 8, axes, back, NULL, NULL));
    CHECK(memcmp(back, to, sizeof to) == 0);
    options.threads = 1;
    memcpy(back, from, sizeof from);
    OK(hocket_permute_inplace(back, 3, shape, 8, axes, &options));
    CHECK(memcmp(back, to, sizeof to) == 0);
    FAILS(HOCKET_ERR_LAYOUT, hocket_permute_inplace(back, 3, shape, 8, twice, NULL));
    FAILS(HOCKET_ERR_LAYOUT, hocket_permute(from, 3, shape, NULL, 8, twice, back, NULL, NULL));
    options.method = "teleport";
    FAILS(HOCKET_ERR_ERROR, hocket_permute_inplace(back, 3, shape, 8, axes, &options));
    FAILS(HOCKET_ERR_ARGUMENT, hocket_permute_inplace(NULL, 3, shape, 8, axes, NULL));
    FAILS(HOCKET_ERR_ERROR, hocket_permute(from, 3, shape, NULL, 8, axes, from, NULL, NULL));
    options = (hocket_permute_options){.threads = -1};
    FAILS(HOCKET_ERR_ERROR, hocket_permute(from, 3, shape, NULL, 8, axes, back, NULL, &options));
    FAILS(HOCKET_ERR_ERROR, hocket_permute_inplace(back, 3, shape, 8, axes, &options));
    CHECK(memcmp(back, to, sizeof to) == 0);
    OK(hocket_permute_explain(3, shape, 8, axes, NULL, &text));
    CHECK(strlen(text) > 0);

    /* 3 x 4 transposed: place 1 gets what lies at 4, that what lies at 5, …: two cycles of 5. */
    OK(hocket_cycles(3, shape, axes, 8, cycles, &count));
    CHECK(count == 2 && cycles[0].start == 1 && cycles[0].length == 5 && cycles[1].length == 5);
    OK(hocket_cycle_path(3, shape, axes, 1, 16, path, &count));
    CHECK(count == 6 && path[0] == 1 && path[5] == 1);
    FAILS(HOCKET_ERR_LAYOUT, hocket_cycle_path(3, shape, axes, 99, 16, path, &count));
}

static int polls, checked_times;
static int done_at_third(void* context, bool* done) {
    *done = ++polls >= *(int*)context;
    return 0;
}
static int fails_with_42(void* context, bool* done) {
    (void)context;
    (void)done;
    return 42;
}
static int interrupt(void) {
    return ++checked_times;
}

/* The lock of an interpreter that this thread holds, and something that another would do under it.
 */
static int locked = 1;
static void* let_go(void) {
    if (!locked) return NULL;
    locked = 0;
    return &locked;
}
static void take_back(void* held) {
    *(int*)held = 1;
}
static int done_without_the_lock(void* context, bool* done) {
    (void)context;
    *done = !locked;
    return 0;
}

void test_operations(void) {
    hocket_operation* operation = NULL;
    hocket_memory_usage before, during;
    MPI_Request request;
    int third = 3, never = 1 << 30, sent = rank, received = -1;
    bool done;
    void *memory = NULL, *stale;
    const char* text;

    OK(hocket_operation_make(done_at_third, "the third poll", &third, &operation));
    OK(hocket_operation_poll(operation, &done));
    CHECK(!done);
    OK(hocket_operation_text(operation, &text));
    CHECK(strcmp(text, "the third poll") == 0);
    OK(hocket_operation_wait(operation, -1));
    OK(hocket_operation_free(&operation));
    FAILS(HOCKET_ERR_ARGUMENT, hocket_operation_make(NULL, "nothing", NULL, &operation));

    OK(hocket_operation_make(done_at_third, "the last poll", &never, &operation));
    FAILS(HOCKET_ERR_DEADLINE, hocket_operation_wait(operation, 0.01));
    SAYS("the last poll");
    FAILS(HOCKET_ERR_ARGUMENT, hocket_operation_wait(operation, NAN));
    OK(hocket_interrupt_check_set(interrupt));
    FAILS(HOCKET_ERR_INTERRUPTED, hocket_operation_wait(operation, INFINITY));
    CHECK(checked_times == 1);
    OK(hocket_interrupt_check_set(NULL));
    OK(hocket_operation_free(&operation));

    FAILS(HOCKET_ERR_ARGUMENT, hocket_log_set(NULL, 3));
    SAYS("HOCKET_LOG_DEBUG");
    FAILS(HOCKET_ERR_ARGUMENT, hocket_interpreter_lock_set(let_go, NULL));
    SAYS("give both");
    OK(hocket_interpreter_lock_set(let_go, take_back));
    OK(hocket_operation_make(done_without_the_lock, "another thread", NULL, &operation));
    OK(hocket_operation_wait(operation, 60));
    CHECK(locked);
    OK(hocket_operation_free(&operation));
    OK(hocket_interpreter_lock_set(NULL, NULL));

    OK(hocket_operation_make(fails_with_42, "what fails", NULL, &operation));
    FAILS(HOCKET_ERR_ERROR, hocket_operation_wait(operation, -1));
    SAYS("42");
    OK(hocket_operation_free(&operation));

    /* A request of the caller's own. */
    MPI_Irecv(&received, 1, MPI_INT, (rank + ranks - 1) % ranks, 5, MPI_COMM_WORLD, &request);
    OK(hocket_operation_from_request(&request, &operation));
    CHECK(request == MPI_REQUEST_NULL);
    MPI_Send(&sent, 1, MPI_INT, (rank + 1) % ranks, 5, MPI_COMM_WORLD);
    OK(hocket_operation_wait(operation, 60));
    CHECK(received == (rank + ranks - 1) % ranks);
    OK(hocket_operation_free(&operation));

    OK(hocket_pending_waits(&text));
    CHECK(strstr(text, "nothing") != NULL);
    OK(hocket_mpi_library(&text));
    CHECK(strlen(text) > 0);

    OK(hocket_memory_usage_get(&before));
    OK(hocket_memory_allocate(1 << 20, &memory));
    OK(hocket_memory_usage_get(&during));
    CHECK(during.in_use >= before.in_use + (1 << 20));
    CHECK((uintptr_t)memory % 64 == 0);
    memset(memory, 1, 1 << 20);
    stale = memory;
    OK(hocket_memory_free(&memory));
    CHECK(memory == NULL);
    FAILS(HOCKET_ERR_ARGUMENT, hocket_memory_free(&stale));
    FAILS(HOCKET_ERR_ARGUMENT, hocket_memory_free(&memory));
    FAILS(HOCKET_ERR_ERROR, hocket_memory_allocate(-1, &memory));
}
