# SPDX-License-Identifier: BSD-3-Clause
"""The gain of one copy and persistent requests: the pipeline's transfer alone, in three ways."""

from __future__ import annotations

import importlib
import time
from typing import Any, Callable

import numpy as np

#: the ways, the demo's own first
WAYS = ("persistent requests", "send and recv", "packed into MPI messages")
#: rounds of which the median is taken; the first is for warming up
ROUNDS = 16


def transfers(world: Any, part: Any, transfer: Any, everyone: Any) -> dict[str, list[float]]:
    """Seconds of each round by way, on this process; collective over both tasks.

    Args:
        world: the tasks "rows" and "cols".
        part: this task's array of one image.
        transfer: its persistent request.
        everyone: a communicator of all processes, in the order of the tasks.
    """
    sends = world.name == "rows"

    def persistent() -> None:
        transfer.start()
        transfer.wait()

    def once() -> None:
        if sends:
            world.send(part, "cols", tag=7)
        else:
            world.recv(part, "rows", tag=7)

    ways = dict(zip(WAYS, (persistent, once, _packed(world, part, everyone))))
    taken: dict[str, list[float]] = {way: [] for way in ways}
    wanted = None
    for number in range(ROUNDS):
        for way, run in ways.items():
            if number == 0 and not sends:
                part.local[...] = np.nan
            _settle(everyone)
            begun = time.perf_counter()
            run()
            taken[way].append(time.perf_counter() - begun)
            if number == 0 and not sends:
                wanted = part.local.copy() if wanted is None else wanted
                if not np.array_equal(part.local, wanted):
                    raise AssertionError(f"{way}: another array arrived")
    return {way: seconds[1:] for way, seconds in taken.items()}


def _packed(world: Any, part: Any, everyone: Any) -> Callable[[], None]:
    """By hand: a message for each pair, packed and unpacked by NumPy."""
    mpi = importlib.import_module("mpi4py.MPI")
    layout, local = part.layout, part.local
    rows = world.comm.size if world.name == "rows" else everyone.size - world.comm.size
    cols = everyone.size - rows
    blocks = []  # for either side's local array: the other's process, and the position of its block
    for other in range(cols if world.name == "rows" else rows):
        extent = layout.shape[1 if world.name == "rows" else 0]
        share = -(-extent // (cols if world.name == "rows" else rows))
        along = slice(min(other * share, extent), min((other + 1) * share, extent))
        place = (slice(None), along) if world.name == "rows" else (along, slice(None))
        blocks.append((rows + other if world.name == "rows" else other, place))
    buffers = [np.empty(local[place].shape, local.dtype) for _, place in blocks]

    def run() -> None:
        requests = []
        for (process, place), buffer in zip(blocks, buffers):
            if world.name == "rows":
                buffer[...] = local[place]
                requests.append(everyone.Isend(buffer, process))
            else:
                requests.append(everyone.Irecv(buffer, process))
        # Polls, because blocking waits spin if processes share cores.
        while not mpi.Request.Testall(requests):
            time.sleep(0)
        if world.name == "cols":
            for (_, place), buffer in zip(blocks, buffers):
                local[place] = buffer

    return run


def line(answers: dict[str, list[dict[str, Any]]]) -> tuple[str, dict[str, float]]:
    """One line for the report, and the medians in seconds by method; a round takes as long as
    its slowest process."""
    by_process = [answer["transfers"] for task in answers.values() for answer in task]
    medians = {
        way: float(np.median(np.max([each[way] for each in by_process], axis=0))) for way in WAYS
    }
    first = medians[WAYS[0]]
    said = [f"{way} {1e3 * medians[way]:.3f} ms" for way in WAYS]
    said[1:] = [f"{text} ({medians[way] / first:.2f} x)" for text, way in zip(said[1:], WAYS[1:])]
    return "the transfer alone: " + ", ".join(said), medians


def _settle(comm: Any) -> None:
    """A barrier that leaves the processor to working processes."""
    request = comm.Ibarrier()
    while not request.Test():
        time.sleep(0)
