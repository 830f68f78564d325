# SPDX-License-Identifier: BSD-3-Clause
"""Which processes take which parts of a layout, so that the fewest elements move."""

from __future__ import annotations

import importlib
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _pure
from .arguments import integers
from .errors import Error, LayoutError
from .layouts import Layout

__all__ = ["Relabeling", "relabel"]


class Relabeling(list[int]):
    """A permutation: entry r is the process that takes the destination's part r.

    Attributes:
        moved: elements that move between processes when it is used.
        moved_without: elements that move when process r takes part r.
        source_size: number of processes of the source; higher entries are processes beyond it.
    """

    def __init__(
        self, ranks: Iterable[int], moved: int, moved_without: int, source_size: int
    ) -> None:
        super().__init__(ranks)
        self.moved = moved
        self.moved_without = moved_without
        self.source_size = source_size

    @property
    def saving(self) -> float:
        """The part of the elements that need not move, of those that would have, 0 to 1."""
        if self.moved_without == 0:
            return 0.0
        return 1.0 - self.moved / self.moved_without

    def __str__(self) -> str:
        return (
            f"{list(self)}: {self.moved} elements move instead of {self.moved_without} "
            f"({100 * self.saving:.1f} % fewer)"
        )


def relabel(src: Layout, dst: Layout, *, axes: Iterable[int] | None = None) -> Relabeling:
    """The assignment of processes to the destination's parts that moves the fewest elements.

    Exact: SciPy's `linear_sum_assignment`, for each group of processes that exchange anything with
    each other. (COSTA's process relabeling, Kabic et al. 2021, is a greedy one.) Process r keeps
    part r where nothing is gained.

    Args:
        src: the source layout.
        dst: the destination layout.
        axes: as in `hocket.plan`.

    Returns:
        ``perm``, a list: process ``perm[r]`` of the source takes part r of the destination. It
        serves as ``overlap=`` of `hocket.plan`, and ``dst.relabeled(perm)`` is the layout to
        redistribute to. Where the destination has more processes than the source, entries may
        name processes beyond the source.

    Raises:
        LayoutError: shapes that do not match.
        Error: SciPy is missing.
    """
    for layout, name in ((src, "src"), (dst, "dst")):
        if not isinstance(layout, Layout):
            raise LayoutError(f"{name} is {layout!r}; give a Layout")
    given = [] if axes is None else integers(axes, "axes")
    plan = _pure.Plan(src._native, dst._native, given, 1, "direct", [])
    held = {part: dict(plan.common(False, part)) for part in range(dst.size)}
    ranks = _assign(held, dst.size, max(src.size, dst.size))
    total = plan.elements_moved
    kept = sum(held[part].get(process, 0) for part, process in enumerate(ranks))
    kept_without = sum(held[part].get(part, 0) for part in range(dst.size))
    if kept <= kept_without:
        ranks, kept = list(range(dst.size)), kept_without
    return Relabeling(ranks, total - kept, total - kept_without, src.size)


def _assign(held: dict[int, dict[int, int]], parts: int, processes: int) -> list[int]:
    """A process for each part, `held[part][process]` being what stays in place."""
    ranks = [-1] * parts
    for group in _groups(held):
        rows, columns = group
        weights = np.zeros((len(rows), len(columns)))
        column_of = {process: k for k, process in enumerate(columns)}
        for k, part in enumerate(rows):
            for process, elements in held[part].items():
                weights[k, column_of[process]] = elements
        for row, column in zip(*_solve(weights)):
            if weights[row, column] > 0:
                ranks[rows[row]] = columns[column]
    taken = set(ranks)
    for part in range(parts):  # the rest keep their own process where they can
        if ranks[part] < 0 and part not in taken:
            ranks[part] = part
            taken.add(part)
    free = (process for process in range(processes) if process not in taken)
    return [rank if rank >= 0 else next(free) for rank in ranks]


def _groups(held: dict[int, dict[int, int]]) -> list[tuple[list[int], list[int]]]:
    """Parts and processes that are connected by something held; each group is solved alone."""
    parts_of: dict[int, list[int]] = defaultdict(list)
    for part, processes in held.items():
        for process in processes:
            parts_of[process].append(part)
    seen: set[int] = set()
    groups = []
    for start in held:
        if start in seen or not held[start]:
            continue
        seen.add(start)
        rows, columns, waiting = [], set(), [start]
        while waiting:
            part = waiting.pop()
            rows.append(part)
            for process in held[part]:
                if process in columns:
                    continue
                columns.add(process)
                for neighbour in parts_of[process]:
                    if neighbour not in seen:
                        seen.add(neighbour)
                        waiting.append(neighbour)
        groups.append((sorted(rows), sorted(columns)))
    return groups


def _solve(weights: npt.NDArray[np.float64]) -> tuple[Any, Any]:
    try:
        solver = importlib.import_module("scipy.optimize").linear_sum_assignment
    except ImportError:
        raise Error("relabel needs SciPy's assignment solver; pip install scipy") from None
    rows, columns = solver(weights, maximize=True)
    return rows, columns
