/* SPDX-License-Identifier: BSD-3-Clause */
/* A port of this job, and a process of its own that looks into it. */
#define _POSIX_C_SOURCE 200809L
#include <spawn.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

enum { rows = 7, cols = 5 };

extern char** environ;

/* The parameters that the job has published. */
static void look_at_parameters(hocket_observer* observer) {
    const char* text = NULL;
    double real = 0;
    int64_t whole = 0;
    OK(hocket_observer_parameters(observer, &text));
    CHECK(strcmp(text, "viscosity,steps,title") == 0);
    OK(hocket_observer_value_real(observer, "viscosity", &real));
    CHECK(real == 0.1);
    OK(hocket_observer_value_int(observer, "steps", &whole));
    CHECK(whole == 100);
    OK(hocket_observer_value_text(observer, "title", &text));
    CHECK(strcmp(text, "a run") == 0);
    FAILS(HOCKET_ERR_ERROR, hocket_observer_value_real(observer, "title", &real));
    SAYS("no number");
    FAILS(HOCKET_ERR_ERROR, hocket_observer_set_text(observer, "viscosity", "thick"));
    SAYS("a real number");
}

int look_into(const char* port) {
    hocket_observer* observer = NULL;
    const char* text = NULL;
    double values[rows * cols];
    int64_t shape[2], count, polls;
    bool swapped = true;
    OK(hocket_observe(port, NULL, true, 60, &observer));
    OK(hocket_observer_arrays(observer, &text));
    CHECK(strcmp(text, "t") == 0);
    OK(hocket_observer_shape(observer, "t", 2, shape, &count));
    CHECK(count == 2 && shape[0] == rows && shape[1] == cols);
    OK(hocket_observer_dtype(observer, "t", &text));
    CHECK(strcmp(text, "float64") == 0);
    OK(hocket_observer_swapped(observer, &swapped));
    CHECK(!swapped);
    look_at_parameters(observer);
    OK(hocket_observer_read(observer, "t", 0, NULL, 0, NULL, 0, NULL, sizeof values, values));
    for (int k = 0; k < rows * cols; ++k) CHECK(values[k] == k + 1);
    OK(hocket_observer_step(observer, &polls));
    CHECK(polls > 0);
    const int64_t lower[2] = {1, 0}, upper[2] = {6, 4}, every[2] = {2, 3};
    OK(hocket_observer_read(observer, "t", 2, lower, 2, upper, 2, every, sizeof values, values));
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 2; ++j) CHECK(values[2 * i + j] == (1 + 2 * i) * cols + 3 * j + 1);
    OK(hocket_observer_read_fortran(observer, "t", 2, lower, 2, upper, 2, every, sizeof values,
                                    values));
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 2; ++j) CHECK(values[i + 3 * j] == (1 + 2 * i) * cols + 3 * j + 1);
    FAILS(HOCKET_ERR_ARGUMENT,
          hocket_observer_read(observer, "t", 2, lower, 2, upper, 2, every, 40, values));
    FAILS(HOCKET_ERR_ERROR,
          hocket_observer_read(observer, "u", 0, NULL, 0, NULL, 0, NULL, 8, values));
    OK(hocket_observer_set_text(observer, "title", "another run"));
    OK(hocket_observer_set_real(observer, "viscosity", 0.25));
    OK(hocket_observer_set_int(observer, "steps", 7));
    OK(hocket_observer_free(&observer));
    return 0;
}

static void test_refused(hocket_port* port, const char* name) {
    hocket_port* second = NULL;
    const char* text = NULL;
    FAILS(HOCKET_ERR_ERROR, hocket_port_open(name, MPI_COMM_WORLD, NULL, NULL, true, 60, &second));
    SAYS("there is a port");
    FAILS(HOCKET_ERR_ERROR, hocket_port_open_fortran(name, (int)MPI_Comm_c2f(MPI_COMM_WORLD), NULL,
                                                     NULL, true, 60, &second));
    FAILS(HOCKET_ERR_ERROR, hocket_port_open("a/b", MPI_COMM_WORLD, NULL, NULL, true, 60, &second));
    FAILS(HOCKET_ERR_ARGUMENT,
          hocket_port_open(NULL, MPI_COMM_WORLD, NULL, NULL, true, 60, &second));
    FAILS(HOCKET_ERR_ERROR, hocket_port_value_text(port, "steps", &text));
    FAILS(HOCKET_ERR_ERROR, hocket_port_parameter_real(port, "steps", 1, 60));
    SAYS("published already");
    FAILS(HOCKET_ERR_ARGUMENT, hocket_port_poll(NULL, 60));
    hocket_tasks* tasks = NULL;
    FAILS(HOCKET_ERR_DEADLINE, hocket_port_accept(port, 0.05, &tasks));
    SAYS("no job has connected");
    FAILS(HOCKET_ERR_DEADLINE,
          hocket_connect("capi-nowhere", MPI_COMM_WORLD, "viewer", NULL, true, 0.05, 0, &tasks));
    FAILS(HOCKET_ERR_DEADLINE,
          hocket_connect_fortran("capi-nowhere", (int)MPI_Comm_c2f(MPI_COMM_WORLD), "viewer", NULL,
                                 true, 0.05, 0, &tasks));
    FAILS(HOCKET_ERR_ARGUMENT, hocket_disconnect(NULL, 60));
    FAILS(HOCKET_ERR_ERROR, hocket_give_key("no.key", "read", "read.key"));
}

void test_ports(void) {
    char name[64];
    long process = (long)getpid();
    MPI_Bcast(&process, 1, MPI_LONG, 0, MPI_COMM_WORLD);
    snprintf(name, sizeof name, "capi-%ld", process);
    hocket_port* port = NULL;
    const char* text = NULL;
    int64_t steps = 0, polls = 0;
    double viscosity = 0;
    OK(hocket_port_open(name, MPI_COMM_WORLD, NULL, NULL, true, 60, &port));
    OK(hocket_port_name(port, &text));
    CHECK(strcmp(text, name) == 0);
    OK(hocket_port_address(port, &text));
    CHECK(text[0] == '/'); /* the path of its socket */
    OK(hocket_port_key(port, &text));
    CHECK(strcmp(text, "") == 0);
    OK(hocket_ports(&text));
    CHECK(rank != 0 || strstr(text, name) != NULL);  // its file is on the host of process 0

    char words[64];
    snprintf(words, sizeof words, "(%d, %d) (CYCLIC, *) @ %d", rows, cols, ranks);
    hocket_layout* layout = layout_of(words);
    hocket_array* array = numbered(layout, MPI_COMM_WORLD);
    OK(hocket_port_publish(port, "t", array, 60));
    OK(hocket_port_parameter_real(port, "viscosity", 0.1, 60));
    OK(hocket_port_parameter_int(port, "steps", 100, 60));
    OK(hocket_port_parameter_text(port, "title", "a run", 60));
    test_refused(port, name);

    pid_t child = 0;
    if (rank == 0) {
        char* arguments[] = {(char*)"test_capi", name, NULL};
        CHECK(posix_spawn(&child, "/proc/self/exe", NULL, NULL, arguments, environ) == 0);
    }
    for (long left = 600000; steps != 7 && left > 0; --left) {
        OK(hocket_port_poll(port, 60));
        OK(hocket_port_value_int(port, "steps", &steps));
        const struct timespec pause = {0, 100000};
        nanosleep(&pause, NULL);
    }
    CHECK(steps == 7);
    OK(hocket_port_value_real(port, "viscosity", &viscosity));
    CHECK(viscosity == 0.25);
    OK(hocket_port_value_text(port, "title", &text));
    CHECK(strcmp(text, "another run") == 0);
    OK(hocket_port_polls(port, &polls));
    CHECK(polls > 0);
    OK(hocket_port_close(port, 60));
    if (rank == 0) {
        int status = 1;
        CHECK(waitpid(child, &status, 0) == child && status == 0);
    }
    FAILS(HOCKET_ERR_ERROR, hocket_port_poll(port, 60));
    SAYS("was closed");
    OK(hocket_port_free(&port));
    OK(hocket_array_free(&array));
    OK(hocket_layout_free(&layout));
}
