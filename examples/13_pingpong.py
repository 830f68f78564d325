# SPDX-License-Identifier: BSD-3-Clause
"""Times an array that travels between two tasks, one with blocks of rows, one with columns.

From Foster, Kohr, Krishnaiyer, Choudhary: "Double Standards: Bringing Task Parallelism to HPF via
the Message Passing Interface", Figures 6 and 7. Run me: python 13_pingpong.py
"""

from time import perf_counter

import numpy as np

import hocket as hk

N, P, TIMES = 128, 2, 20


def pingpong(world):
    first = world.rank == 0
    layout = hk.Layout((N, N), "(BLOCK, *)" if first else "(*, BLOCK)", P)
    a = hk.from_function(lambda i, j: (N * i + j) * first, layout, "float32", comm=world.comm)
    there, back = world.send_init(a, 1 - world.rank), world.recv_init(a, 1 - world.rank)
    world.barrier()
    begun = perf_counter()
    for _ in range(TIMES):
        for request in (there, back) if first else (back, there):
            request.start()
            request.wait()
    seconds = (perf_counter() - begun) / (2 * TIMES)
    return a.local.copy(), seconds, world.profile()


if __name__ == "__main__":
    found = hk.run(pingpong, tasks={"ping": P, "pong": P})
    columns = np.hstack([local for local, *_ in found["pong"]])
    assert np.array_equal(columns, np.arange(N * N, dtype="float32").reshape(N, N))
    slowest = max(seconds for both in found.values() for _, seconds, _ in both)
    print(f"{TIMES} times to and fro, and every element is where it belongs")
    steps = ", ".join(f"{step} {1e3 * time:.3f}" for step, time in found["ping"][0][2].items())
    print(f"one way {1e3 * slowest:.3f} ms; in all, by steps, ms: {steps}")
