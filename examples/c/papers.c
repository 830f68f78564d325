/* SPDX-License-Identifier: BSD-3-Clause */
/* Aggregate operations made of others, in the manner of Dietz, Chung, Mattox, "A Parallel
 * Processing Support Library Based On Synchronized Aggregate Communication" (PAPERS): a sum by
 * gathering and adding, a broadcast as an OR to which all others bring 0, and a parallel `if`,
 * whose two sides are two teams. Run me: mpiexec -n 4 papers */
#include <hocket/hocket.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 64 };

static hocket_team* all;
static int process, processes;

static void ok(int code) {
    if (code == HOCKET_SUCCESS) return;
    fprintf(stderr, "%s: %s\n", hocket_error_name(code), hocket_error_message());
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* The sum as a loop over everyone's value. */
static int32_t sum_by_gathering(hocket_team* team, int32_t value) {
    int32_t values[MOST] = {0}, sum = 0;
    ok(hocket_team_gather(team, HOCKET_TEAM_INT32, &value, 60, processes, values));
    for (int p = 0; p < processes; ++p) sum += values[p];
    return sum;
}

static void broadcast_put(hocket_team* team, uint32_t value) {
    uint32_t ignored;
    ok(hocket_team_reduce(team, HOCKET_OR, HOCKET_TEAM_UINT32, &value, 60, &ignored));
}

static uint32_t broadcast_get(hocket_team* team) {
    const uint32_t nothing = 0;
    uint32_t value;
    ok(hocket_team_reduce(team, HOCKET_OR, HOCKET_TEAM_UINT32, &nothing, 60, &value));
    return value;
}

/* The processes of the team for which the condition holds as for the caller. */
static hocket_team* side(hocket_team* team, bool condition) {
    uint64_t holds, members;
    hocket_team* made;
    ok(hocket_team_waitvec(team, condition, 60, 1, &holds, NULL));
    ok(hocket_team_mask(team, 1, &members, NULL));
    holds = condition ? holds : members & ~holds;
    ok(hocket_team_enqueue(team, 1, &holds, &made));
    return made;
}

int main(int argc, char** argv) {
    int32_t wrong = 0;
    int population;
    MPI_Init(&argc, &argv);
    ok(hocket_team_make(MPI_COMM_WORLD, 60, &all));
    ok(hocket_team_process(all, &process));
    ok(hocket_team_size(all, &processes));
    if (processes > MOST) MPI_Abort(MPI_COMM_WORLD, 2);

    const int32_t square = process * process;
    int32_t sum;
    ok(hocket_team_reduce(all, HOCKET_ADD, HOCKET_TEAM_INT32, &square, 60, &sum));
    wrong += sum_by_gathering(all, square) != sum;

    if (process == processes - 1)
        broadcast_put(all, 0xC0FFEE);
    else
        wrong += broadcast_get(all) != 0xC0FFEE;

    hocket_team* half = side(all, process % 2 == 0);
    ok(hocket_team_population(half, &population));
    wrong += sum_by_gathering(half, 1) != population;
    wrong += population != (processes + 1 - process % 2) / 2;
    ok(hocket_team_free(&half));

    ok(hocket_team_reduce(all, HOCKET_ADD, HOCKET_TEAM_INT32, &wrong, 60, &sum));
    if (process == 0) printf("papers: %d processes, %d wrong\n", processes, sum);
    ok(hocket_team_free(&all));
    MPI_Finalize();
    return sum != 0;
}
