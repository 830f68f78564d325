# SPDX-License-Identifier: BSD-3-Clause
"""Owners by HPF's definitions, independent of the measured library.

hocket's contestants (derived datatypes, packing by NumPy, plain copies) use these index sets:
process r is at row-major position r of the processor arrangement, with one extent for each
dimension that is not ``*`` (High Performance Fortran 1.0, chapter 3).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Union

import numpy as np
from numpy.typing import NDArray

from . import uneven
from .uneven import Uneven

Indices = NDArray[np.int64]

_FORMAT = re.compile(rf"^(?:(BLOCK|CYCLIC)(?:\((\d+)\))?|\*|{'|'.join(uneven.FORMATS)})$")
_KNOWN = "BLOCK, BLOCK(m), CYCLIC, CYCLIC(k), GEN_BLOCK, BALANCED, INDIRECT or *"
KINDS = ("boxes", "elements")


def parse(text: str) -> list[str]:
    """``"(BLOCK, cyclic(3), *)"`` → ``["BLOCK", "CYCLIC(3)", "*"]``. Raises ValueError."""
    plain = re.sub(r"\s", "", text).upper()
    if not (plain.startswith("(") and plain.endswith(")")):
        raise ValueError(f"'{text}': write a distribution in parentheses, as (BLOCK,*)")
    formats = plain[1:-1].split(",")
    for each in formats:
        if not _FORMAT.match(each):
            raise ValueError(f"'{each}' in '{text}': a format is {_KNOWN}")
    return formats


@dataclass(frozen=True)
class Spread:
    """One dimension: blocks of ``block`` elements, round robin over ``parts`` owners."""

    extent: int
    block: int
    parts: int

    def owned(self, part: int) -> Indices:
        """The increasing global indices that ``part`` owns."""
        firsts = np.arange(part * self.block, self.extent, self.parts * self.block, dtype=np.int64)
        indices = (firsts[:, None] + np.arange(self.block, dtype=np.int64)).ravel()
        return indices[indices < self.extent]

    def owner(self, indices: Indices) -> Indices:
        """The owners of these indices."""
        return indices // self.block % self.parts

    def place(self, indices: Indices) -> Indices:
        """The local indices of these at their owners."""
        rounds = indices // (self.block * self.parts)
        return rounds * self.block + indices % self.block


def spread(extent: int, form: str, parts: int) -> Spread | Uneven:
    """One format of `parse`. Raises ValueError for blocks that do not hold the extent."""
    found = _FORMAT.match(form)
    if found is None:
        raise ValueError(f"'{form}': a format is {_KNOWN}")
    if form in uneven.FORMATS:
        return Uneven(extent, form, parts)
    block = int(found[2]) if found[2] else 1
    if block < 1:
        raise ValueError(f"{form}: blocks have at least one element")
    if found[1] is None:
        return Spread(extent, max(extent, 1), 1)
    if found[1] == "CYCLIC":
        return Spread(extent, block, parts)
    if not found[2]:
        block = max(-(-extent // parts), 1)
    if block * parts < extent:
        raise ValueError(f"{form} over {parts} processes holds {block * parts}, not {extent}")
    return Spread(extent, block, parts)


@dataclass(frozen=True)
class Lay:
    """A distribution, as the baselines see it, over processes numbered from ``first`` on."""

    shape: tuple[int, ...]
    formats: tuple[str, ...]
    procs: tuple[int, ...]
    first: int = 0
    kind: str = ""  #: "boxes" or "elements": hocket gets the same parts in this form

    @property
    def dist(self) -> str:
        """For tables: HPF text, without lists of extents and owners."""
        return "(" + ",".join(self.formats) + ")"

    @property
    def text(self) -> str:
        """HPF text."""
        each = (getattr(s, "text", form) for s, form in zip(self.spreads(), self.formats))
        return "(" + ",".join(each) + ")"

    @property
    def size(self) -> int:
        """Number of processes."""
        return int(np.prod(self.procs, dtype=np.int64))

    def holds(self, rank: int) -> bool:
        """Whether process ``rank`` is part of the layout; others hold empty arrays."""
        return self.first <= rank < self.first + self.size

    def spreads(self) -> list[Spread | Uneven]:
        """One a dimension."""
        parts = iter(self.procs)
        return [
            spread(n, form, 1 if form == "*" else next(parts))
            for n, form in zip(self.shape, self.formats)
        ]

    def parts(self, rank: int) -> list[int]:
        """For each dimension the number of the part that process ``rank`` owns."""
        where = iter(np.unravel_index(rank - self.first, self.procs) if self.procs else ())
        return [0 if form == "*" else int(next(where)) for form in self.formats]

    def indices(self, rank: int) -> list[Indices]:
        """For each dimension the indices that process ``rank`` owns."""
        if not self.holds(rank):
            return [np.empty(0, np.int64) for _ in self.formats]
        return [s.owned(part) for s, part in zip(self.spreads(), self.parts(rank))]


def split_kind(text: str) -> tuple[str, str]:
    """``"(BLOCK, *) on 2x1 as boxes"`` → the text before the kind, and the kind or nothing."""
    words = re.split(r"\bas\b", text, maxsplit=1, flags=re.IGNORECASE)
    kind = words[1].strip().lower() if len(words) == 2 else ""
    if len(words) == 2 and kind not in KINDS:
        raise ValueError(f"'{text}': layouts are written as {' or '.join(KINDS)}")
    return words[0].strip(), kind


def split_grid(text: str) -> tuple[str, str]:
    """``"(BLOCK, *) on 2x1"`` → the distribution, and the arrangement or nothing."""
    text, _ = split_kind(text)
    words = re.split(r"\bon\b", text, maxsplit=1, flags=re.IGNORECASE)
    return words[0].strip(), words[1].strip() if len(words) == 2 else ""


def lay(shape: Sequence[int], text: str, ranks: int, first: int = 0) -> Lay:
    """``text`` over ``ranks`` processes from ``first`` on.

    Their arrangement is as square as `MPI_Dims_create` makes it, or the one in the text:
    ``(CYCLIC(2), CYCLIC(3)) on 2x3``, which may have fewer processes. ``as boxes`` and ``as
    elements`` after it are kinds of `Lay`. Raises ValueError.
    """
    dist, grid = split_grid(text)
    _, kind = split_kind(text)
    formats = parse(dist)
    if len(formats) != len(shape):
        raise ValueError(
            f"{dist} has {len(formats)} formats and the array {tuple(shape)} {len(shape)} "
            "dimensions; give one a dimension"
        )
    distributed = sum(form != "*" for form in formats)
    if grid:
        procs = _grid(text, grid, distributed, ranks)
        return Lay(tuple(shape), tuple(formats), procs, first, kind)
    if distributed == 0 and ranks != 1:
        raise ValueError(f"{text} distributes nothing over {ranks} processes; use --ranks 1")
    return Lay(tuple(shape), tuple(formats), _arrange(ranks, distributed), first, kind)


def _grid(text: str, grid: str, dimensions: int, ranks: int) -> tuple[int, ...]:
    words = grid.split("x")
    if not all(word.isdecimal() and int(word) > 0 for word in words):
        raise ValueError(f"'{text}': write an arrangement of processes as 2x3")
    procs = tuple(int(word) for word in words)
    if dimensions == 0 and procs == (1,):
        return ()
    if len(procs) != dimensions:
        raise ValueError(
            f"'{text}': {dimensions} dimensions are distributed, and {grid} has {len(procs)}"
        )
    if np.prod(procs, dtype=np.int64) > ranks:
        raise ValueError(f"'{text}': there are {ranks} processes; ask for more by --ranks")
    return procs


def _arrange(ranks: int, dimensions: int) -> tuple[int, ...]:
    extents = [1] * dimensions
    factor = 2
    factors = []
    while ranks > 1:
        while ranks % factor == 0:
            factors.append(factor)
            ranks //= factor
        factor += 1
    for each in sorted(factors, reverse=True):
        extents[extents.index(min(extents))] *= each
    return tuple(sorted(extents, reverse=True))


@dataclass(frozen=True)
class Run:
    """Local positions along one dimension: ``count`` runs of ``length``, their starts ``step``
    apart."""

    first: int
    count: int
    length: int
    step: int

    @property
    def contiguous(self) -> bool:
        return self.count == 1 or self.step == self.length

    def places(self) -> Indices:
        firsts = self.first + self.step * np.arange(self.count, dtype=np.int64)
        return (firsts[:, None] + np.arange(self.length, dtype=np.int64)).ravel()


Places = Union[Run, Indices]
Index = Union[slice, Indices]


@dataclass(frozen=True)
class Common:
    """The common indices of a sender and a receiver along one dimension, as positions in either's
    local array.

    Two `Run` of the same count and length if both sides are regular, else every position.
    """

    count: int
    source: Places
    target: Places


def common(source: Spread | Uneven, sender: int, target: Spread | Uneven, receiver: int) -> Common:
    """The indices that ``sender`` owns in one spread and ``receiver`` in the other."""
    shared = source.owned(sender)
    shared = shared[target.owner(shared) == receiver]
    here, there = source.place(shared), target.place(shared)
    if len(shared) == 0:
        return Common(0, here, there)
    breaks = np.flatnonzero((np.diff(here) != 1) | (np.diff(there) != 1)) + 1
    firsts = np.concatenate([np.zeros(1, np.int64), breaks])
    lengths = np.diff(np.append(firsts, len(shared)))
    if np.all(lengths == lengths[0]):
        length = int(lengths[0])
        source_run, target_run = _run(here[firsts], length), _run(there[firsts], length)
        if source_run is not None and target_run is not None:
            return Common(len(shared), source_run, target_run)
    return Common(len(shared), here, there)


def _run(firsts: Indices, length: int) -> Run | None:
    steps = np.diff(firsts)
    if len(steps) and not np.all(steps == steps[0]):
        return None
    return Run(int(firsts[0]), len(firsts), length, int(steps[0]) if len(steps) else length)


def stretches(shared: Common) -> list[tuple[Run, Run]]:
    """The same positions as pairs of runs of equal count and length, as few as possible."""
    if isinstance(shared.source, Run) and isinstance(shared.target, Run):
        return [(shared.source, shared.target)]
    here, there = list_places(shared.source), list_places(shared.target)
    breaks = np.flatnonzero((np.diff(here) != 1) | (np.diff(there) != 1)) + 1
    firsts = np.concatenate([np.zeros(min(len(here), 1), np.int64), breaks])
    lengths = np.diff(np.append(firsts, len(here)))
    source, target = here[firsts], there[firsts]
    along, across, alike = np.diff(source), np.diff(target), np.diff(lengths) == 0
    # A pair of runs continues as long as starts follow each other with the first steps.
    new = np.diff(along, prepend=0) != 0
    new |= np.diff(across, prepend=0) != 0
    ends = np.append(np.flatnonzero(new | ~alike), len(along))
    found: list[tuple[Run, Run]] = []
    begin = 0
    while begin < len(firsts):
        length, end = int(lengths[begin]), begin + 1
        steps = (length, length)
        if begin < len(along) and alike[begin]:
            end += int(ends[np.searchsorted(ends, begin + 1)]) - begin
            steps = (int(along[begin]), int(across[begin]))
        found.append(
            (
                Run(int(source[begin]), end - begin, length, steps[0]),
                Run(int(target[begin]), end - begin, length, steps[1]),
            )
        )
        begin = end
    return found


def list_places(places: Places) -> Indices:
    """Every position."""
    return places.places() if isinstance(places, Run) else places


def index(places: Places) -> Index:
    """A slice if the positions are equally spaced (a view, no copy), else the positions."""
    if isinstance(places, Run):
        if places.contiguous:
            return slice(places.first, places.first + places.count * places.length)
        if places.length == 1:
            last = places.first + (places.count - 1) * places.step
            return slice(places.first, last + 1, places.step)
        return places.places()
    return places if len(places) else slice(0, 0)
