# SPDX-License-Identifier: BSD-3-Clause
"""A running program moves to another number of processes, and its result keeps every bit.

A new job connects to the port of the old one, takes all arrays in one message, and goes on; the old
one ends. Run me: python 22_resize.py, or with the numbers of processes: python 22_resize.py 2 3 1
"""

import os
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np

import hocket as hk

SHAPE, STEPS = (96, 64), 20


def heat(comm, name, turn, turns, steps):
    rows = hk.Layout(SHAPE, "(BLOCK, *)", comm.size)
    u, conductivity = hk.zeros(rows, comm=comm).halo((1, 0)), hk.zeros(rows, comm=comm)
    if turn == 0:
        i = rows.global_indices(comm.rank)[0][:, np.newaxis]
        u.array.local[...] = np.sin(i) + np.cos(np.arange(SHAPE[1]))
        conductivity.local[...] = 0.1 + 0.01 * (i % 10)
    else:
        old = hk.connect(f"{name}-{turn - 1}", task="new", comm=comm, timeout=60)
        old.recv([u.array, conductivity], "old")
        old.disconnect()
    for _ in range(steps):
        u.exchange()
        near = np.roll(u.array.local, 1, 1) + np.roll(u.array.local, -1, 1)
        near += u.local[:-2] + u.local[2:] - 4 * u.array.local
        u.array.local[...] += conductivity.local * near
    if turn == turns - 1:
        return hk.replicated(u.array)
    with hk.open_port(f"{name}-{turn}", task="old", comm=comm) as port:
        new = port.accept(timeout=60)
        new.send([u.array, conductivity], "new")
        new.disconnect()


if __name__ == "__main__":
    sizes = [int(word) for word in sys.argv[1:]] or [2, 3, 1]
    name = f"resize-{os.getpid()}"

    def job(turn):
        return hk.run(heat, args=(name, turn, len(sizes), STEPS), ranks=sizes[turn])[0]

    with ThreadPoolExecutor(2) as pool:  # the old job and the new one
        *_, result = pool.map(job, range(len(sizes)))
    alone = hk.run(heat, args=(name, 0, 1, STEPS * len(sizes)), ranks=1)[0]
    same = np.array_equal(result, alone)
    print(f"{' -> '.join(map(str, sizes))} processes: the same bits as on one: {same}")
