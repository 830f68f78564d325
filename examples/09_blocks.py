# SPDX-License-Identifier: BSD-3-Clause
"""A Poisson solver on two blocks, each a task, that exchange strips of their common edge.

From Foster, Kohr, Krishnaiyer, Choudhary: "Double Standards: Bringing Task Parallelism to HPF via
the Message Passing Interface", Figure 11. Run me: python 09_blocks.py
"""

import numpy as np

import hocket as hk

ROWS, COLS, STEPS = 12, 10, 60  # of each block; the right one continues the left one's rows


def solve(world):
    left = world.name == "left"
    layout = hk.Layout((ROWS, COLS), "(BLOCK, *)", world.comm.size)
    edge = COLS - 1 if left else 0
    now, then = (hk.zeros(layout, "float64", comm=world.comm).halo(1) for _ in range(2))
    for halo in (now, then):
        halo.local[...] = 0.0
    for _ in range(STEPS):
        own = now.array.section((slice(None), slice(edge, edge + 1)))
        beside = now.local[1:-1, -1:] if left else now.local[1:-1, :1]
        border = hk.wrap(beside, own.layout, comm=world.comm)
        world.sendrecv(own, 1 - world.rank, border, 1 - world.rank)
        now.exchange()
        u = now.local
        then.array.local[...] = (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] + 1) / 4
        now, then = then, now
    return now.array.local.copy()


if __name__ == "__main__":
    parts = hk.run(solve, tasks={"left": 2, "right": 1})
    found = np.hstack([np.vstack(parts["left"]), np.vstack(parts["right"])])
    u = np.zeros((ROWS + 2, 2 * COLS + 2))
    for _ in range(STEPS):
        u[1:-1, 1:-1] = (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] + 1) / 4
    assert np.allclose(found, u[1:-1, 1:-1], rtol=1e-14, atol=0)
    print(f"both blocks have the solution of one grid; in the middle it is {found.max():.3f}")
