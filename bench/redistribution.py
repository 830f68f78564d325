# SPDX-License-Identifier: BSD-3-Clause
"""One redistribution on one communicator: its messages, and its check.

Element values are global row-major indices, so that a check needs no second implementation: it
finds any element in the wrong position, or never written (NaN).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Callable

import numpy as np
from numpy.typing import NDArray

from .formats import Common, Index, Indices, Lay, Places, Run, common, index, list_places
from .harness import Step, WrongResultError

if TYPE_CHECKING:
    from mpi4py import MPI

Array = NDArray[np.float64]
_NO_RUN = 1 << 62
_SLAB = 1 << 13  # elements checked at once: temporaries stay in cache


def fill(local: Array, indices: Sequence[Indices], shape: Sequence[int]) -> None:
    """Set every element to its global row-major index."""
    for rows, expected in _slabs(indices, shape):
        local[rows] = expected


def check(local: Array, indices: Sequence[Indices], shape: Sequence[int]) -> None:
    """Raise `WrongResultError` at the first element that is not its global index."""
    for rows, expected in _slabs(indices, shape):
        wrong = ~(local[rows] == expected)
        if wrong.any():
            where = np.argwhere(wrong)[0]
            where[0] += rows.start
            raise WrongResultError(
                f"local element {tuple(int(w) for w in where)} is {local[tuple(where)]!r}, "
                f"not {expected[tuple(np.argwhere(wrong)[0])]!r}"
            )


def _slabs(indices: Sequence[Indices], shape: Sequence[int]) -> Iterator[tuple[slice, Array]]:
    dimensions = len(shape)
    weights = [int(np.prod(shape[d + 1 :], dtype=np.int64)) for d in range(dimensions)]
    inner = np.zeros((1,) * dimensions)
    for d in range(1, dimensions):
        along = (1,) * d + (-1,) + (1,) * (dimensions - d - 1)
        inner = inner + (indices[d] * float(weights[d])).reshape(along)
    height = max(1, _SLAB // max(inner.size, 1))
    for first in range(0, len(indices[0]), height):
        rows = slice(first, min(first + height, len(indices[0])))
        outer = (indices[0][rows] * float(weights[0])).reshape((-1,) + (1,) * (dimensions - 1))
        yield rows, outer + inner


@dataclass(frozen=True)
class Piece:
    """The elements from one process to another: a `Common` for each dimension."""

    dimensions: Sequence[Common]

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(c.count for c in self.dimensions)

    @property
    def size(self) -> int:
        return int(np.prod(self.shape, dtype=np.int64))

    def source_index(self) -> tuple[Index, ...]:
        """Index of the piece in the sender's local array: a view if every part is a slice."""
        return _together([c.source for c in self.dimensions])

    def target_index(self) -> tuple[Index, ...]:
        """Index of the piece in the receiver's local array."""
        return _together([c.target for c in self.dimensions])


def _together(places: Sequence[Places]) -> tuple[Index, ...]:
    each = [index(p) for p in places]
    if all(isinstance(i, slice) for i in each):
        return tuple(each)
    # NumPy would broadcast lists against each other.
    return tuple(np.ix_(*(list_places(p) for p in places)))


class Problem:
    """``source`` → ``target`` of float64; both on processes of ``comm``."""

    def __init__(self, comm: MPI.Intracomm, source: Lay, target: Lay) -> None:
        self.comm, self.source_lay, self.target_lay = comm, source, target
        self.shape = source.shape
        rank, size = comm.Get_rank(), comm.Get_size()
        self.source_indices = source.indices(rank)
        self.target_indices = target.indices(rank)
        self.source: Array = np.empty(tuple(len(i) for i in self.source_indices))
        self.target: Array = np.empty(tuple(len(i) for i in self.target_indices))
        fill(self.source, self.source_indices, self.shape)
        self.target.fill(np.nan)
        self.sends: list[Piece] = []
        self.recvs: list[Piece] = []
        for peer in range(size):
            self.sends.append(_piece(source, rank, target, peer))
            self.recvs.append(_piece(source, peer, target, rank))

    @property
    def bytes(self) -> int:
        """Bytes of the whole array."""
        return 8 * int(np.prod(self.shape, dtype=np.int64))

    @property
    def disjoint(self) -> bool:
        """Whether no process is both a source and a destination."""
        return self.target_lay.first >= self.source_lay.first + self.source_lay.size

    @property
    def shortest_run(self) -> int:
        """Bytes of the shortest run that this process receives (huge if it gets nothing)."""
        lays = [self.source_lay.indices(peer) for peer in range(self.comm.Get_size())]
        return min(
            (
                _run_bytes(piece, [len(i) for i in held], self.target.shape)
                for piece, held in zip(self.recvs, lays)
                if piece.size
            ),
            default=_NO_RUN,
        )

    def step(self, run: Callable[[], object], close: Callable[[], None] = lambda: None) -> Step:
        """A step whose result is ``target``."""
        return Step(run, lambda: self.verify(self.target), lambda: self.target.fill(np.nan), close)

    def verify(self, local: Array) -> None:
        """Raise `WrongResultError` unless ``local`` is this process's part of the result."""
        if local.shape != self.target.shape:
            raise WrongResultError(f"local shape {local.shape} is not {self.target.shape}")
        check(local, self.target_indices, self.shape)


def _piece(source: Lay, sender: int, target: Lay, receiver: int) -> Piece:
    if not (source.holds(sender) and target.holds(receiver)):
        nothing = np.empty(0, np.int64)
        return Piece([Common(0, nothing, nothing) for _ in source.formats])
    spreads = zip(source.spreads(), source.parts(sender), target.spreads(), target.parts(receiver))
    return Piece([common(*each) for each in spreads])


def _run_bytes(piece: Piece, source: Sequence[int], target: Sequence[int]) -> int:
    """Bytes that are contiguous on both sides; 8 if that is irregular."""
    run = 1
    for c, here, there in zip(reversed(piece.dimensions), reversed(source), reversed(target)):
        if not isinstance(c.source, Run) or not isinstance(c.target, Run):
            break
        together = c.source.contiguous and c.target.contiguous
        run *= c.count if together else c.source.length
        # The next dimension's runs are adjacent only if this one is whole, on both sides.
        if not (together and c.count == here == there):
            break
    return 8 * run
