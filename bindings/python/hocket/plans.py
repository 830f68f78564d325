# SPDX-License-Identifier: BSD-3-Clause
"""Who sends which elements to whom, from one layout to another. Needs no MPI."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, Union

import numpy as np

from . import _pure
from .arguments import integer, integers
from .errors import LayoutError
from .layouts import Layout
from .relabeling import Relabeling, relabel

__all__ = ["Plan", "plan", "relabel"]

Overlap = Union[Mapping[int, int], Iterable[int], None]
Traffic = list[tuple[int, int]]
Step = tuple[int, str, tuple[str, int], int]

_SOURCE = {"src", "source"}
_DESTINATION = {"dst", "destination"}

#: Seconds a message and seconds a byte, as `predict` reckons where it is not told better.
DEFAULT_MODEL = {"message": 2e-6, "byte": 1.5e-10}


def _overlap_list(overlap: Overlap, size: int) -> list[int]:
    """For each process of the destination the source process that is the same one, or -1."""
    if overlap is None:
        return []
    if isinstance(overlap, Relabeling):
        return [there if there < overlap.source_size else -1 for there in overlap]
    if not isinstance(overlap, Mapping):
        if isinstance(overlap, (str, bytes)) or not np.iterable(overlap):
            raise LayoutError(
                f"overlap is {overlap!r}; give for each destination process the source process "
                "that is the same one, as {0: 0, 1: 1}"
            )
        return [-1 if item is None else integer(item, "overlap") for item in overlap]
    result = [-1] * size
    for key, value in overlap.items():
        here, there = integer(key, "overlap"), integer(value, "overlap")
        if not 0 <= here < size:
            raise LayoutError(
                f"overlap names destination process {here}, but the destination's processes are "
                f"0 to {size - 1}"
            )
        if there < 0:
            raise LayoutError(
                f"overlap says that destination process {here} is source process {there}; leave "
                f"out the processes that are none"
            )
        result[here] = there
    return result


def _model(model: Mapping[str, float] | None) -> dict[str, float]:
    try:
        given = dict(model or {})
    except (TypeError, ValueError):
        raise LayoutError(f"model is {model!r}; give a dict, as {DEFAULT_MODEL}") from None
    unknown = sorted(set(given) - set(DEFAULT_MODEL))
    if unknown:
        raise LayoutError(f"model has no {unknown[0]!r}; it has {sorted(DEFAULT_MODEL)}")
    values = {**DEFAULT_MODEL, **given}
    for name, value in values.items():
        try:
            values[name] = float(value)
        except (TypeError, ValueError):
            values[name] = math.nan
        if not 0 <= values[name] < math.inf:
            raise LayoutError(
                f"model has {value!r} for a {name!r}; give the seconds that one costs, as "
                f"{DEFAULT_MODEL[name]}"
            )
    return values


class Plan:
    """For a source and a destination layout: who sends which elements to whom. See `plan`."""

    __slots__ = ("_model", "_native", "destination", "itemsize", "source")

    def __init__(
        self,
        source: Layout,
        destination: Layout,
        native: _pure.Plan,
        itemsize: int,
        model: dict[str, float],
    ) -> None:
        self.source = source
        self.destination = destination
        self.itemsize = itemsize
        self._native = native
        self._model = model

    @property
    def strategy(self) -> str:
        """The chosen strategy, never ``"auto"``."""
        return self._native.strategy

    @property
    def axes(self) -> tuple[int, ...]:
        """The destination is the source transposed by these, as in `numpy.transpose`."""
        return self._native.axes

    def sends(self, rank: int) -> Traffic:
        """Whom source process `rank` sends how many elements, whatever the strategy.

        Sorted by process, zeros left out, itself included.

        Raises:
            LayoutError: there is no process `rank` of the source.
        """
        return self._native.sends(integer(rank, "rank"))

    def recvs(self, rank: int) -> Traffic:
        """From whom destination process `rank` receives how many elements; as `sends`.

        Raises:
            LayoutError: there is no process `rank` of the destination.
        """
        return self._native.recvs(integer(rank, "rank"))

    def common(self, side: str, rank: int) -> Traffic:
        """What process `rank` of `side` and each process of the other side both hold.

        Sorted, zeros left out. Every copy of the source is listed, though one of them sends.

        Raises:
            LayoutError: there is no such side or process.
        """
        return self._native.common(self._is_source(side), integer(rank, "rank"))

    def steps(self, side: str, rank: int) -> list[Step]:
        """The messages that process `rank` of `side` (``"src"`` or ``"dst"``) takes part in.

        Returns:
            ``[(round, "send" or "recv", (side, rank) of the peer, elements), …]`` in the order of
            rounds. What stays on its process is no message.

        Raises:
            LayoutError: there is no such side or process.
        """
        return self._native.steps(self._is_source(side), integer(rank, "rank"))

    def boxes(self, side: str, rank: int) -> list[tuple[int, list[Any]]]:
        """What process `rank` of `side` exchanges, as strided boxes of the two local arrays.

        Returns:
            ``[(peer, [(first in the source's local array, first in the destination's, loops), …]),
            …]`` with loops ``(extent, source dimension, source step, destination dimension,
            destination step)``, outermost first: the order of elements in the message.

        Raises:
            LayoutError: there is no such side or process.
        """
        return self._native.boxes(self._is_source(side), integer(rank, "rank"))

    @staticmethod
    def _is_source(side: str) -> bool:
        if isinstance(side, str) and side in _SOURCE | _DESTINATION:
            return side in _SOURCE
        raise LayoutError(f"there is no side {side!r}; name 'src' or 'dst'")

    @property
    def rounds(self) -> int:
        """Turns in which each process sends to one process and receives from one, at most."""
        return self._native.rounds

    @property
    def message_count(self) -> int:
        """Messages between different processes."""
        return self._native.message_count

    @property
    def elements_moved(self) -> int:
        """Elements that all messages carry together."""
        return self._native.elements_moved

    def predict(self, model: Mapping[str, float] | None = None) -> dict[str, float]:
        """Seconds by strategy, as a linear model sees the slowest process.

        `model` gives the seconds a ``"message"`` and a ``"byte"`` cost; of a process's sends and
        receives the larger sum counts.

        Raises:
            LayoutError: the model has other names, or values that are no seconds.
        """
        used = self._model if model is None else _model(model)
        return self._native.predict(used["message"], used["byte"])

    def table(self) -> str:
        """The strategies with their predicted seconds, the chosen one marked."""
        rows = [
            f"{'*' if name == self.strategy else ' '} {name:<12} {seconds:.3g} s"
            for name, seconds in sorted(self.predict().items(), key=lambda item: item[1])
        ]
        return "\n".join(["  strategy     predicted", *rows])

    def explain(self) -> str:
        """In words: the layouts, the totals, and the first processes' traffic."""
        lines = [
            f"source       {self.source}",
            f"destination  {self.destination}",
        ]
        if self.axes != tuple(range(len(self.axes))):
            lines.append(f"axes         {self.axes}")
        lines += [
            f"strategy     {self.strategy}: {self.rounds} rounds, {self.message_count} messages, "
            f"{self.elements_moved} elements ({self.elements_moved * self.itemsize} bytes) move",
            "",
        ]
        shown = min(self.source.size, 16)
        for rank in range(shown):
            peers = self.sends(rank)
            parts = [f"{elements} to {process}" for process, elements in peers[:12]]
            if len(peers) > 12:
                parts.append(f"… and to {len(peers) - 12} more")
            lines.append(f"process {rank} sends {', '.join(parts) if parts else 'nothing'}")
        if shown < self.source.size:
            lines.append(f"… and {self.source.size - shown} more processes")
        return "\n".join([*lines, "", self.table()])

    def plot(self, path: str) -> None:
        """Draws who sends how much to whom, and both layouts, to an image file.

        Raises:
            Error: matplotlib is not installed, or the file cannot be written.
        """
        from . import plotting

        plotting.plot_plan(self, path)

    def _repr_html_(self) -> str:
        from .notebook import plan_html

        return plan_html(self)

    def __str__(self) -> str:
        return self._native.text()

    def __repr__(self) -> str:
        return f"<Plan {self.source} -> {self.destination}, {self.strategy}>"


def plan(
    src: Layout,
    dst: Layout,
    *,
    axes: Iterable[int] | None = None,
    itemsize: int = 8,
    strategy: str = "auto",
    stages: int | None = None,
    overlap: Overlap = None,
    model: Mapping[str, float] | None = None,
) -> Plan:
    """Plans the move of an array from one layout to another. Pure: no MPI, nothing moves.

    Args:
        src: the source layout.
        dst: the destination layout: of the same shape, or of `src`'s transposed by `axes`.
        axes: as in `numpy.transpose`.
        itemsize: bytes of one element.
        strategy: ``"auto"`` or ``"direct"``.
        stages: how many processes a side's traffic passes through; belongs to no strategy that
            there is yet.
        overlap: destination process -> the source process that is the same one (a mapping, or one
            entry a process, -1 for none; or what `relabel` returned). None: the sides are
            disjoint.
        model: seconds a ``"message"`` and a ``"byte"`` cost; see `Plan.predict`.

    Raises:
        LayoutError: shapes that do not match, axes that are no permutation, an overlap that is not
            one-to-one, an unknown strategy.
    """
    for layout, name in ((src, "src"), (dst, "dst")):
        if not isinstance(layout, Layout):
            raise LayoutError(f"{name} is {layout!r}; give a Layout")
    size = integer(itemsize, "itemsize")
    given_axes = [] if axes is None else integers(axes, "axes")
    if axes is not None and not given_axes and src.ndim > 0:
        raise LayoutError(f"axes () do not fit the shape {src.shape}; name each dimension once")
    native = _pure.Plan(
        src._native,
        dst._native,
        given_axes,
        size,
        str(strategy),
        _overlap_list(overlap, dst.size),
    )
    if stages is not None:  # last, so that a wrong strategy is told first
        raise LayoutError(
            f"stages={stages!r} says through how many processes a side's traffic passes, but the "
            f"strategy {native.strategy!r} sends every message straight to its receiver, and "
            "there is no other strategy yet; leave stages out"
        )
    return Plan(src, dst, native, size, _model(model))
