/* SPDX-License-Identifier: BSD-3-Clause */
/* What the parts of the C test share. */
#ifndef HOCKET_TESTS_CHECK_H
#define HOCKET_TESTS_CHECK_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hocket/hocket.h"

extern int rank, ranks;
extern long checks;

/* Macros, because only they know the line. */
#define CHECK(condition) check((condition), #condition, __FILE__, __LINE__)
#define OK(call) expect(HOCKET_SUCCESS, (call), #call, __FILE__, __LINE__)
#define FAILS(code, call) expect((code), (call), #call, __FILE__, __LINE__)
/* The message of the last failure has this in it. */
#define SAYS(words) says((words), __FILE__, __LINE__)

void check(bool holds, const char* what, const char* file, int line);
void expect(int wanted, int got, const char* call, const char* file, int line);
void says(const char* words, const char* file, int line);

/* Options that have a tag alone. */
#define TAG(number) (&(const hocket_message_options){.tag = (number)})
#define INIT_TAG(number) (&(const hocket_init_options){.tag = (number)})

/* A float64 array of this layout in hocket's own memory, every element 1 + its row-major global
 * index; and how many of its elements are not that (guard bytes are the caller's affair). */
hocket_array* numbered(const hocket_layout* layout, MPI_Comm comm);
void number(hocket_array* array);
void clear(hocket_array* array);
int64_t wrong_numbers(const hocket_array* array);
hocket_layout* layout_of(const char* text);

/* The result of each operation if process p has p + 1. */
typedef struct team_numbers {
    uint64_t everyone; /* the mask of all */
    int64_t reduce_add, reduce_mul, reduce_min, reduce_max, reduce_and, reduce_or;
    int64_t scan_add, scan_mul, scan_min, scan_max, scan_and, scan_or;
} team_numbers;
void test_team_values(hocket_team* team, const team_numbers* expected);
void test_team_types(hocket_team* team);

void test_handles(void);
void test_layouts(void);
void test_layout_makers(void);
void test_layout_ownership(void);
void test_layout_blacs(void);
void test_plans(void);
void test_kernels(void);
void test_rows(void);
void test_counts(void);
void test_operations(void);
void test_arrays(void);
void test_redistribute(void);
void test_refusals(void);
void test_remap(void);
void test_halo(void);
void test_intrinsics(void);
void test_transfer(void);
void test_stores(void);
void test_ports(void);
/* In a process of its own, without MPI: 0 if all is as it should be. */
int look_into(const char* port);
void test_tasks(void);
void test_persistent(void);
void test_many(void);
void test_hostile(void);
void test_teams(void);
void test_fortran(void);
void test_flow(void);
void keep_for_the_end(void);
void test_ended(void);

#endif
