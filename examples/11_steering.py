# SPDX-License-Identifier: BSD-3-Clause
"""A viewer watches and steers a simulation while it runs: it returns the changes.

Figure 2 of Foster, Kohr, Krishnaiyer, Choudhary, "Double Standards: Bringing Task Parallelism to
HPF via the Message Passing Interface", describes this. Run me: python 11_steering.py
"""

import numpy as np

import hocket as hk

N, FRAMES, STEPS = 40, 4, 25


def simulate(world):
    heat = hk.zeros(hk.Layout((N,), "(BLOCK)", world.comm.size), "float64", comm=world.comm).halo(1)
    heat.local[...] = 0.0
    source = hk.zeros(hk.Layout((1,), "(*)", world.comm.size, replicate=(0,)), "int64", world.comm)
    mine = heat.array.layout.global_indices(world.comm.rank)[0]
    for frame in range(FRAMES):
        for _ in range(STEPS):
            heat.exchange()
            around = heat.local[:-2] + heat.local[2:]
            heat.array.local[...] = 0.5 * around + (mine == source.local[0])
        shown = world.isend(heat.array, "viewer", tag=frame)
        world.recv(source, "viewer", tag=frame)
        shown.wait()


def view(world):
    picture = hk.empty(hk.Layout((N,), "(*)"), "float64", comm=world.comm)
    place = hk.empty(hk.Layout((1,), "(*)"), "int64", comm=world.comm)
    peaks = []
    for frame in range(FRAMES):
        world.recv(picture, "simulation", tag=frame)
        peaks.append(int(np.argmax(picture.local)))
        place.local[0] = (frame + 1) * N // FRAMES  # heat here from now on
        world.send(place, "simulation", tag=frame)
    return peaks


if __name__ == "__main__":
    program = lambda world: simulate(world) if world.name == "simulation" else view(world)  # noqa: E731
    [peaks] = hk.run(program, tasks={"simulation": 3, "viewer": 1})["viewer"]
    print(f"the hottest point follows the viewer: {peaks}")
