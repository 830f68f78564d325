# SPDX-License-Identifier: BSD-3-Clause
"""Tests that several processes run together, under plain `pytest`.

A test function declares its rank counts, or named groups of ranks; every rank calls it:

    @ranks(1, 2, 3)
    def test_sum(comm): ...

    @ranks({"rows": 2, "cols": 3})
    def test_send(comm, groups): ...        # groups == {"rows": 2, "cols": 3}

`comm` is COMM_WORLD of a job with that many ranks. Jobs stay alive between tests, because starting
one costs about a second; a failure ends its job and the next test gets a new one. Every other
argument (`pytest.mark.parametrize`, fixtures) is made once, in the process that runs pytest, and
pickled. The idea of naming the groups a test needs is preCICE's (`src/testing`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Union

import pytest

Count = Union[int, Mapping[str, int]]


def ranks(
    *counts: Count, soak: Sequence[Count] = (), seconds: float = 180.0, nodes: str | None = None
) -> pytest.MarkDecorator:
    """Runs the function at each of `counts`: a number of ranks, or {group: number of ranks}. At
    those of `soak` it runs with `-m soak` only.

    `seconds` is the time limit of one call at one count. `nodes` is the value of HOCKET_NODES for
    it; None passes the environment's on, spread over the ranks there are.
    """
    if not counts:
        raise ValueError("ranks() needs at least one rank count, such as ranks(1, 2, 3)")
    for count in (*counts, *soak):
        sizes = [count] if isinstance(count, int) else list(count.values())
        if any(size < 1 for size in sizes) or not sizes:
            raise ValueError(f"ranks({count!r}): every count must be at least 1")
    return pytest.mark.ranks(*counts, soak=soak, seconds=seconds, nodes=nodes)
