# SPDX-License-Identifier: BSD-3-Clause
"""How a global array lies over processes. Needs no MPI."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any, Union

import numpy as np
import numpy.typing as npt

from . import _pure
from .errors import LayoutError

__all__ = ["Layout"]

Extents = Union[int, Iterable[int]]
Index = Union[int, Iterable[int]]

_MOST = 2**63 - 1


def integer(value: Any, what: str) -> int:
    """`value` as an int of at most 63 bits.

    Raises:
        LayoutError: it is no integer, or too large.
    """
    try:
        result = operator.index(value)
    except TypeError:
        raise LayoutError(f"{what} is {value!r}; give an integer") from None
    if not -_MOST <= result <= _MOST:
        raise LayoutError(f"{what} is {result}, which needs more than 63 bits")
    return result


def integers(values: Any, what: str) -> list[int]:
    """An int, or a sequence of them, as a list of ints of at most 63 bits each."""
    if isinstance(values, (str, bytes)):
        raise LayoutError(f"{what} is {values!r}; give integers")
    if hasattr(values, "__index__"):
        return [integer(values, what)]
    try:
        items = list(values)
    except TypeError:
        raise LayoutError(f"{what} is {values!r}; give an integer or several") from None
    return [integer(item, what) for item in items]


def _text(value: Any, what: str) -> str:
    if not isinstance(value, str):
        raise LayoutError(f"{what} is {value!r}; give a text")
    return value.encode("utf-8", "replace").decode("utf-8")


class Layout:
    """How a global N-d array lies over processes (HPF 1.0, chapter 3). An immutable value.

    Two layouts are equal when their shape, their size and every process's index sets are, however
    they were written. `Layout.parse(str(layout)) == layout`.

    Args:
        shape: extents of the global array; an int for one dimension.
        dist: HPF text with one format a dimension, any case: ``"(BLOCK, CYCLIC(3), *)"``.
        procs: one extent for each dimension that is not ``*``, in order, and one at each position
            named in `replicate`. Process ``r`` sits at row-major position ``r``.
        replicate: positions in `procs` that belong to no dimension and hold copies.

    Raises:
        LayoutError: malformed text (a caret points at the character), or extents that do not fit.
    """

    __slots__ = ("_native",)
    _native: _pure.Layout

    def __init__(
        self, shape: Extents, dist: str, procs: Extents = (), *, replicate: Extents = ()
    ) -> None:
        native = _pure.Layout(
            integers(shape, "shape"),
            _text(dist, "dist"),
            integers(procs, "procs"),
            integers(replicate, "replicate"),
        )
        object.__setattr__(self, "_native", native)

    @classmethod
    def _of(cls, native: _pure.Layout) -> Layout:
        """The layout around what `_pure` and `_mpi` give."""
        self = cls.__new__(cls)
        object.__setattr__(self, "_native", native)
        return self

    @classmethod
    def parse(cls, text: str, shape: Extents | None = None) -> Layout:
        """The layout whose ``str`` this is.

        With `shape`, the text may leave out the shape: ``Layout.parse("(BLOCK, *) @ 4", (12, 12))``.

        Raises:
            LayoutError: malformed text; a caret points at the character.
        """
        text = _text(text, "the layout's text")
        if shape is None:
            return cls._of(_pure.Layout.parse(text))
        return cls._of(_pure.Layout.parse_with(text, integers(shape, "shape")))

    @property
    def shape(self) -> tuple[int, ...]:
        """Extents of the global array."""
        return self._native.shape

    @property
    def dist(self) -> str:
        """HPF text, as ``"(BLOCK, CYCLIC(3), *)"``."""
        return self._native.dist

    @property
    def procs(self) -> tuple[int, ...]:
        """Extents of the processor arrangement."""
        return self._native.procs

    @property
    def replicate(self) -> tuple[int, ...]:
        """Positions in `procs` along which copies lie."""
        return self._native.replicate

    @property
    def size(self) -> int:
        """Number of processes."""
        return self._native.size

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    @property
    def elements(self) -> int:
        """Number of elements of the global array."""
        return self._native.elements

    def local_shape(self, rank: int) -> tuple[int, ...]:
        """Extents of process `rank`'s local array, which is dense and row-major."""
        return self._native.local_shape(integer(rank, "rank"))

    def local_elements(self, rank: int) -> int:
        """Number of elements of process `rank`'s local array."""
        return self._native.local_elements(integer(rank, "rank"))

    def global_indices(self, rank: int) -> list[npt.NDArray[np.int64]]:
        """For each dimension the global indices that process `rank` holds, increasing."""
        return self._native.global_indices(integer(rank, "rank"))

    def owners(self, index: Index) -> list[int]:
        """Every process that holds the element, increasing."""
        return self._native.owners(integers(index, "index"))

    def owner(self, index: Index) -> int:
        """The lowest of the processes that hold the element."""
        return self._native.owner(integers(index, "index"))

    def local_index(self, index: Index) -> tuple[int, ...]:
        """Where the element lies in an owner's local array."""
        return self._native.local_index(integers(index, "index"))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a layout does not change; make another one ({name!r} was set)")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a layout does not change; {name!r} stays")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Layout):
            return NotImplemented
        return self._native.equals(other._native)

    def __hash__(self) -> int:
        return hash(self._native.hash())

    def __str__(self) -> str:
        return self._native.text()

    def __repr__(self) -> str:
        return f"Layout.parse({str(self)!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return (Layout.parse, (str(self),))
