# SPDX-License-Identifier: BSD-3-Clause
"""The heat equation with snapshots in files, stopped on two processes and restarted on three.

Snapshots are steps of a flow, so that the next time steps are computed while one is written. Run
me: python 19_restart.py
"""

import tempfile
from pathlib import Path

import numpy as np

import hocket as hk

N, STEPS, EVERY = 24, 40, 10


def advance(u):
    """One explicit time step: each point goes towards the mean of its neighbours."""
    near = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
    u[1:-1, 1:-1] += 0.2 * (near - 4 * u[1:-1, 1:-1])


def simulate(comm, folder, first, last):
    """From the start, or from the checkpoint of step `first`, to step `last`."""
    lay = hk.Layout((N, N), "(BLOCK, *)", comm.size)
    if first == 0:
        a = hk.from_function(lambda i, j: 100.0 * ((i - 6) ** 2 + (j - 9) ** 2 < 20), lay)
    else:
        a = hk.load(folder / "checkpoint.zarr", lay)["heat"]
    halo = a.halo(1, periodic=True)
    with hk.open_store(folder / "snapshots.zarr", "a") as s, hk.Flow(workers=2) as f:
        for step in range(first + 1, last + 1):
            f.exchange(halo)
            f.task(lambda: advance(halo.local), inouts=[halo.local])
            if step % EVERY == 0:
                copy = hk.empty(lay)
                f.task(lambda c=copy: np.copyto(c.local, halo.array.local), [halo.local], [copy])
                s.create(f"step{step}", (N, N))
                f.write(s, f"step{step}", copy)
    hk.save(folder / "checkpoint.zarr", {"heat": halo.array}, attributes={"step": last})


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        folders = [Path(tempfile.mkdtemp(dir=name)) for _ in range(2)]
        hk.run(simulate, ranks=1, args=(folders[0], 0, STEPS))
        hk.run(simulate, ranks=2, args=(folders[1], 0, 23))
        hk.run(simulate, ranks=3, args=(folders[1], 23, STEPS))
        whole, parts = (hk.open_store(folder / "snapshots.zarr") for folder in folders)
        same = all(np.array_equal(whole[name], parts[name]) for name in whole)
        print(f"{len(parts)} snapshots; restarted on three processes: {same and 'bit for bit'}")
