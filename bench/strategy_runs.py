# SPDX-License-Identifier: BSD-3-Clause
"""One transfer between two tasks by each strategy, and the model's predictions."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from hocket.cli.message_costs import measure

from .formats import lay
from .group import Group
from .harness import Contestant, Step
from .redistribution import check, fill
from .subject import hocket

STRATEGIES = ("direct", "centralized", "staged", "multistage", "hybrid")
_REPEAT = 15
_SENDER, _RECEIVER = "sender", "receiver"


@dataclass(frozen=True)
class Transfer:
    """A source and a destination, the nodes of their processes, and the costs of messages."""

    source: Any
    destination: Any
    nodes: tuple[list[int], list[int]]
    costs: Mapping[str, float]

    def predicted(self, strategy: str) -> dict[str, Any]:
        """Seconds by the model, and its choice, as a figure's extras."""
        auto, plan = (
            hocket().plan(
                self.source, self.destination, strategy=name, model=self.costs, nodes=self.nodes
            )
            for name in ("auto", strategy)
        )
        return {
            "predicted": {"seconds": plan.predict()[strategy]},
            "messages": plan.message_count,
            "auto": auto.strategy,
        }


def layouts_of(
    shape: Sequence[int], source: str, destination: str, senders: int, receivers: int
) -> tuple[Any, Any]:
    """The two layouts, their processes arranged as square as `MPI_Dims_create` does."""
    sides = lay(shape, source, senders), lay(shape, destination, receivers)
    source_side, destination_side = (
        hocket().Layout(side.shape, side.text, side.procs) for side in sides
    )
    return source_side, destination_side


def costs_of(group: Group, senders: int) -> dict[str, float]:
    """The costs of messages in this run: between the first two processes of a side, and between
    the two sides; the same on every process."""
    assert group.comm is not None
    found: dict[str, float] = {}
    # A side of one process has no messages within it, so those between sides stand for both.
    near = (0, 1) if senders > 1 else (senders, senders + 1)
    for pair in (near, (0, senders)):
        if max(pair) >= group.size:
            continue
        mine = group.rank in pair
        part = group.comm.Split(0 if mine else 1, group.rank)
        if mine:
            found.update(measure(part, _REPEAT))
        _settle(group.comm.Ibarrier())
        found.update(group.comm.bcast(found, root=pair[0]))
        part.Free()
    return found


def _settle(request: Any) -> None:
    # Waiting processes leave the cores to the measuring ones.
    while not request.Test():
        time.sleep(1e-3)


def transfers(transfer: Transfer, group: Group, senders: int, receivers: int) -> list[Contestant]:
    """A contestant a strategy: persistent requests, so that mainly messages are timed."""
    hk = hocket()
    world = hk.tasks({_SENDER: senders, _RECEIVER: receivers}, comm=group.comm)
    sends = world.name == _SENDER
    layout = transfer.source if sends else transfer.destination
    array = hk.empty(layout, np.float64, comm=world.comm)
    indices, shape = layout.global_indices(world.comm.rank), layout.shape
    if sends:
        fill(array.local, indices, shape)

    def contestant(tag: int, strategy: str) -> Contestant:
        def prepare() -> Step:
            start = world.send_init if sends else world.recv_init
            there = _RECEIVER if sends else _SENDER
            request = start(array, there, tag, strategy=strategy)

            def run() -> None:
                request.start()
                request.wait()

            def verify() -> None:
                if not sends:
                    check(array.local, indices, shape)

            def spoil() -> None:
                if not sends:
                    array.local.fill(np.nan)

            extras = transfer.predicted(strategy)
            return Step(run, verify, spoil, request.free, lambda: extras)

        return Contestant(strategy, prepare)

    return [contestant(tag, name) for tag, name in enumerate(STRATEGIES)]
