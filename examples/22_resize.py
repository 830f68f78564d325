# SPDX-License-Identifier: BSD-3-Clause
"""A running program moves to another number of processes, and its result keeps every bit.

A new job connects to the port of the old one, takes the array in one message, and goes on; the old
one ends. Run me: python 22_resize.py, or with the numbers of processes: python 22_resize.py 2 3 1
"""

import os
import subprocess
import sys

import numpy as np

import hocket as hk

SHAPE, STEPS = (96, 64), 20


def heat(comm, name, turn, turns):
    u = hk.zeros(hk.Layout(SHAPE, "(BLOCK, *)", comm.size), comm=comm).halo((1, 0))
    if turn == 0:
        rows = u.array.layout.global_indices(comm.rank)[0]
        u.array.local[...] = np.sin(rows)[:, None] + np.cos(np.arange(SHAPE[1]))
    else:
        old = hk.connect(f"{name}-{turn - 1}", task="new", comm=comm, timeout=60)
        old.recv(u.array, "old")
        old.disconnect()
    for _ in range(STEPS):
        u.exchange()
        around = u.local[:-2] + u.local[2:] + np.roll(u.array.local, 1, 1)
        u.array.local[...] = 0.25 * (around + np.roll(u.array.local, -1, 1))
    if turn == turns - 1:
        return hk.replicated(u.array)
    with hk.open_port(f"{name}-{turn}", task="old", comm=comm) as port:
        new = port.accept(timeout=60)
        new.send(u.array, "new")
        new.disconnect()


def job(name, sizes, turn):
    words = [sys.executable, __file__, name, str(turn), *map(str, sizes)]
    return subprocess.Popen(words, stdout=subprocess.PIPE, text=True)


if __name__ == "__main__" and sys.argv[1:2] and not sys.argv[1].isdigit():
    name, turn, *sizes = sys.argv[1], *map(int, sys.argv[2:])
    result = hk.run(heat, args=(name, turn, len(sizes)), ranks=sizes[turn])[0]
    if result is not None:
        print(result.tobytes().hex())
elif __name__ == "__main__":
    sizes = [int(word) for word in sys.argv[1:]] or [2, 3, 1]
    resized, alone = f"resized-{os.getpid()}", f"alone-{os.getpid()}"
    jobs = [job(resized, sizes, turn) for turn in range(len(sizes))]
    ones = [job(alone, [1] * len(sizes), turn) for turn in range(len(sizes))]
    last, wanted = jobs[-1].communicate()[0], ones[-1].communicate()[0]
    print(f"{' -> '.join(map(str, sizes))} processes: the same bits as on one: {last == wanted}")
