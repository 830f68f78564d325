# SPDX-License-Identifier: BSD-3-Clause
"""The costs of messages between two processes, measured in the terms of the cost model."""

from __future__ import annotations

import os
import statistics
import time
from functools import partial
from operator import methodcaller
from typing import Any, Callable

import hocket as hk

_SMALL, _LARGE = 8, 1 << 22
_BURST = 64


def node() -> str:
    """The node of this process, as transfers see it: `HOCKET_NODES` may pretend others."""
    from mpi4py import MPI

    name = str(MPI.Get_processor_name())
    pretended = os.environ.get("HOCKET_NODES")
    return name + (f" {pretended.split(',')[MPI.COMM_WORLD.rank]}" if pretended else "")


def measure(comm: Any, repeat: int) -> dict[str, float]:
    """Seconds of each cost between the two processes of `comm`: medians, the slower of both ends.

    If the processes are on different nodes, the costs have the names of those between nodes.
    """
    import numpy as np

    # Not zeros: the system maps one page for all of them.
    small, large, other = (np.ones(n, np.uint8) for n in (_SMALL, _LARGE, _LARGE))
    rank = comm.rank

    def wait(requests: list[Any]) -> None:
        while not all(map(methodcaller("Test"), requests)):
            time.sleep(0)  # lets the other process run if both share a core

    def the_receivers_word() -> None:
        """It ends the sends of both."""
        wait([(comm.Irecv if rank == 0 else comm.Isend)(small[:1], 1 - rank, 2)])

    def burst(count: int) -> None:
        start = comm.Isend if rank == 0 else comm.Irecv
        wait([start(small, 1 - rank, 1) for _ in range(count)])
        the_receivers_word()

    def seconds(step: Callable[[], Any]) -> float:
        step()  # the first call opens connections
        times = []
        for _ in range(repeat):
            comm.Barrier()
            begun = time.perf_counter()
            step()
            times.append(time.perf_counter() - begun)
        return float(max(comm.allgather(statistics.median(times))))

    world = hk.tasks({"first": 1, "second": 1}, comm=comm)

    def request(values: Any, sender: int) -> Any:
        """Arrays move as in transfers: within a node in shared memory."""
        array = hk.empty(hk.Layout(values.shape, "(*)"), "uint8", comm=world.comm)
        array.local[...] = values
        init = world.send_init if rank == sender else world.recv_init
        return init(array, 1 - rank, strategy="direct")

    forth, back, long = request(small, 0), request(small, 1), request(large, 0)

    def move(one: Any) -> None:
        one.start()
        one.wait()

    def there_and_back() -> None:
        move(forth)
        move(back)

    def by_messages() -> None:
        for turn in (0, 1):
            wait([(comm.Isend if rank == turn else comm.Irecv)(small, 1 - rank, 3)])

    def one_array(one: Any) -> None:
        move(one)
        the_receivers_word()

    def more(much: float, little: float, by: int) -> float:
        return max(much - little, 0.0) / by

    message = more(seconds(partial(burst, _BURST)), seconds(partial(burst, 1)), _BURST - 1)
    whole, least = seconds(partial(one_array, long)), seconds(partial(one_array, forth))
    byte = more(whole, least, _LARGE - _SMALL)
    # The wait of a transfer spins, which takes time on a core that others need, too.
    turn = min(seconds(there_and_back), seconds(by_messages)) / 2
    relay = max(turn - message, 0.0)
    for one in (forth, back, long):
        one.free()
    copy = seconds(lambda: np.copyto(other, large)) / _LARGE
    far = "far_" if len(set(comm.allgather(node()))) > 1 else ""
    return {f"{far}message": message, f"{far}byte": byte, f"{far}relay": relay, "copy": copy}
