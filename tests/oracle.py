# SPDX-License-Identifier: BSD-3-Clause
"""Layouts and plans by brute force, from the words of the standard; slow, and hard to get wrong.

Everything follows from one function, `coordinates`: which process coordinate of its dimension owns
each index (High Performance Fortran 1.0, section 3.3). Index sets, local arrays and traffic are
then found from it element by element. Nothing here looks at the library.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Callable

import numpy as np

Index = tuple[int, ...]


@dataclass(frozen=True)
class Format:
    """How one dimension is distributed over its process extent: BLOCK, BLOCK(m), CYCLIC(k), `*`,
    BALANCED, GEN_BLOCK with its extents or INDIRECT with its owners."""

    kind: str
    size: int | None = None
    values: Index | None = None

    def __str__(self) -> str:
        if self.values is not None:
            return f"{self.kind}({', '.join(map(str, self.values))})"
        return self.kind if self.size is None else f"{self.kind}({self.size})"


BLOCK, CYCLIC, STAR = Format("BLOCK"), Format("CYCLIC"), Format("*")


@lru_cache(maxsize=512)
def coordinates(form: Format, extent: int, processes: int) -> np.ndarray:
    """int64 (extent,): the process coordinate that owns each index of a dimension, 0-based."""
    index = np.arange(extent)
    if form.kind == "*":
        return np.zeros_like(index)
    if form.kind == "CYCLIC":
        return index // (form.size or 1) % processes
    if form.kind == "INDIRECT":
        assert form.values is not None and len(form.values) == extent
        return np.array(form.values, dtype=np.int64)
    if form.kind == "GEN_BLOCK":
        assert form.values is not None and sum(form.values) == extent
        return np.repeat(np.arange(processes), form.values)
    if form.kind == "BALANCED":
        parts = np.array_split(index, processes)
        return np.repeat(np.arange(processes), [len(part) for part in parts])
    block = form.size if form.size is not None else -(-extent // processes)
    assert block * processes >= extent, "no HPF program: BLOCK(m) is too small"
    return index // max(block, 1)


@dataclass(frozen=True)
class Spec:
    """A layout, spelled out. `procs` has an extent for each dimension that is not `*`, in order,
    and one at each position in `replicate`, which holds copies."""

    shape: Index
    formats: tuple[Format, ...]
    procs: Index = ()
    replicate: Index = ()

    def __str__(self) -> str:
        copies = f", replicate={self.replicate}" if self.replicate else ""
        return f"Layout({self.shape}, {self.dist!r}, {self.procs}{copies})"

    @property
    def dist(self) -> str:
        return "(" + ", ".join(map(str, self.formats)) + ")"

    @property
    def size(self) -> int:
        return int(np.prod(self.procs, dtype=np.int64)) if self.procs else 1

    @property
    def copies(self) -> int:
        return int(np.prod([self.procs[k] for k in self.replicate], dtype=np.int64))

    @cached_property
    def positions(self) -> tuple[int | None, ...]:
        """For each dimension its position in `procs`, None for `*`."""
        free = iter(k for k in range(len(self.procs)) if k not in self.replicate)
        return tuple(None if form.kind == "*" else next(free) for form in self.formats)

    def layout(self, hk: Any) -> Any:
        """The same as the library's own Layout."""
        return hk.Layout(self.shape, self.dist, self.procs, replicate=self.replicate)

    def owners(self, index: Index) -> list[int]:
        """Every process that holds the element, increasing."""
        wanted: list[int | None] = [None] * len(self.procs)
        for form, extent, position, i in zip(self.formats, self.shape, self.positions, index):
            if position is not None:
                wanted[position] = int(coordinates(form, extent, self.procs[position])[i])
        grid = itertools.product(*map(range, self.procs))  # row-major: the last varies fastest
        return [
            rank
            for rank, place in enumerate(grid)
            if all(want is None or want == have for want, have in zip(wanted, place))
        ]

    def indices(self, rank: int) -> list[np.ndarray]:
        """For each dimension the global indices that `rank` holds, increasing."""
        place = np.unravel_index(rank, self.procs) if self.procs else ()
        return [
            np.arange(extent)
            if position is None
            else np.flatnonzero(coordinates(form, extent, self.procs[position]) == place[position])
            for form, extent, position in zip(self.formats, self.shape, self.positions)
        ]

    def local(self, whole: np.ndarray, rank: int) -> np.ndarray:
        """The local array of `rank`, given the whole one; ranks beyond `size` hold nothing."""
        if rank >= self.size:
            return np.empty((0,) * len(self.shape), dtype=whole.dtype)
        return np.ascontiguousarray(whole[np.ix_(*self.indices(rank))]).reshape(
            [len(held) for held in self.indices(rank)]
        )

    def mask(self) -> np.ndarray:
        """bool (size, *shape): does this process hold this element?"""
        held = np.zeros((self.size, *self.shape), dtype=bool)
        for rank in range(self.size):
            held[(rank, *np.ix_(*self.indices(rank)))] = True
        return held


def traffic(source: Spec, destination: Spec, axes: Index | None = None) -> np.ndarray:
    """int64 (source.size, destination.size): how many elements both of them hold. If the source
    holds no copies, these are sent; otherwise they are an upper bound, see `check_traffic`."""
    have = source.mask()
    if axes is not None:
        have = have.transpose((0, *(axis + 1 for axis in axes)))
    have = have.reshape(source.size, -1).astype(np.int64)
    want = destination.mask().reshape(destination.size, -1).astype(np.int64)
    return np.asarray(have @ want.T)


def class_of(source: Spec) -> list[Index]:
    """For each process its coordinates without the replicated ones: equal ones hold copies."""
    grid = itertools.product(*map(range, source.procs))
    return [tuple(c for k, c in enumerate(place) if k not in source.replicate) for place in grid]


def check_traffic(source: Spec, destination: Spec, axes: Index | None, sent: np.ndarray) -> None:
    """Checks `sent`, an int64 (source.size, destination.size): to every destination process all of
    its elements, each from one holder."""
    both = traffic(source, destination, axes)
    if source.copies == 1:
        np.testing.assert_array_equal(sent, both)
        return
    assert (sent >= 0).all() and (sent <= both).all(), "someone sends what it does not hold"
    classes = class_of(source)
    for name in set(classes):
        members = [rank for rank, other in enumerate(classes) if other == name]
        np.testing.assert_array_equal(sent[members].sum(axis=0), both[members[0]])


def values(shape: Index, dtype: Any = np.float64) -> np.ndarray:
    """The whole array whose elements are 1, 2, 3, …: each says where it belongs, none is 0."""
    return (
        (np.arange(int(np.prod(shape, dtype=np.int64)), dtype=np.int64) + 1)
        .reshape(shape)
        .astype(dtype)
    )


def gen_block(choose: Callable[[int, int], int], extent: int, processes: int) -> Format:
    """Extents that add up, zeros among them; `choose(low, high)` includes both."""
    cuts = sorted(choose(0, extent) for _ in range(processes - 1))
    bounds = [0, *cuts, extent]
    return Format("GEN_BLOCK", None, tuple(b - a for a, b in zip(bounds, bounds[1:])))


def random_format(rng: np.random.Generator, extent: int, processes: int) -> Format:
    """Any format for a dimension that is distributed over `processes`."""
    kind = rng.integers(7)
    if kind == 4:
        return Format("BALANCED")
    if kind == 5:
        return gen_block(lambda low, high: int(rng.integers(low, high + 1)), extent, processes)
    if kind == 6:
        return Format("INDIRECT", None, tuple(rng.integers(processes, size=extent).tolist()))
    if kind == 0:
        return BLOCK
    if kind == 1:
        least = max(1, -(-extent // processes))
        return Format("BLOCK", int(least + rng.integers(4)))
    if kind == 2:
        return CYCLIC
    return Format("CYCLIC", int(1 + rng.integers(max(2, extent))))


def factorings(number: int, places: int) -> list[Index]:
    """Every way to write `number` as an ordered product of `places` factors."""
    if places == 0:
        return [()] if number == 1 else []
    return [
        (factor, *rest)
        for factor in range(1, number + 1)
        if number % factor == 0
        for rest in factorings(number // factor, places - 1)
    ]


def random_spec(rng: np.random.Generator, shape: Index, size: int, replicate: bool = True) -> Spec:
    """A random layout of `shape` over exactly `size` processes."""
    dimensions = len(shape)
    while True:
        distributed = [d for d in range(dimensions) if rng.random() < 0.6]
        extra = int(rng.integers(2)) if replicate and rng.random() < 0.4 else 0
        places = len(distributed) + extra
        choices = factorings(size, places)
        if choices:
            break
    procs = choices[int(rng.integers(len(choices)))]
    positions = sorted(rng.permutation(places)[:extra].tolist())
    free = iter(procs[k] for k in range(places) if k not in positions)
    formats = tuple(
        random_format(rng, shape[d], next(free)) if d in distributed else STAR
        for d in range(dimensions)
    )
    return Spec(shape, formats, procs, tuple(positions))


def random_shape(rng: np.random.Generator, dimensions: int, most: int = 120) -> Index:
    """Extents from 0 up, with about `most` elements; zeros and ones are among them."""
    side = max(2, round(most ** (1 / dimensions)))
    return tuple(int(n) for n in rng.integers(0 if rng.random() < 0.1 else 1, side + 2, dimensions))


def one_dimensional(extent: int, processes: int) -> list[Spec]:
    """Every layout of a 1-D array of `extent` on `processes`, up to blocks of extent + 1."""
    forms = [BLOCK, CYCLIC]
    forms += [Format("CYCLIC", k) for k in range(1, extent + 2)]
    forms += [Format("BLOCK", m) for m in range(max(1, -(-extent // processes)), extent + 2)]
    forms.append(Format("BALANCED"))
    forms.append(Format("INDIRECT", None, tuple(i * i % processes for i in range(extent))))
    sizes = [extent * (k + 1) // processes - extent * k // processes for k in range(processes)]
    forms.append(Format("GEN_BLOCK", None, tuple(reversed(sizes))))
    specs = [Spec((extent,), (form,), (processes,)) for form in forms]
    specs.append(Spec((extent,), (STAR,), (processes,), (0,)))
    if processes == 1:
        specs.append(Spec((extent,), (STAR,)))
    return specs
