# SPDX-License-Identifier: BSD-3-Clause
"""One local permutation of dimensions: its arrays, and the check of every element.

An element is its row-major number in the source, counted from 1 (complex128: and minus that;
float32: modulo a prime), so that a check needs no second permutation. All are ordinary numbers: a
peer that multiplies by 1 meets no denormals, and rounds nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Callable, Union

import numpy as np
from numpy.typing import NDArray

from .harness import Step, WrongResultError

Array = NDArray[Any]
_AT_ONCE = 1 << 18  # elements checked at once
_WHOLE, _PRIME = 1 << 23, 8388593  # float32 counts exactly from 2^23 to 2^24


@dataclass
class Permutation:
    """An array of ``shape`` becomes its transposition by ``axes``; memory is made at first use."""

    shape: tuple[int, ...]
    axes: tuple[int, ...]
    dtype: str
    threads: int
    _made: dict[str, Array] = field(default_factory=dict)

    @property
    def result(self) -> tuple[int, ...]:
        """The shape of the transposition."""
        return tuple(self.shape[axis] for axis in self.axes)

    @property
    def bytes(self) -> int:
        """Read once and written once."""
        return 2 * math.prod(self.shape) * np.dtype(self.dtype).itemsize

    def _array(self, name: str, shape: tuple[int, ...]) -> Array:
        if name not in self._made:
            array: Array = np.empty(shape, self.dtype)
            array.view(np.uint8).fill(0)  # touches every page before any measurement
            self._made[name] = array
        return self._made[name]

    @property
    def source(self) -> Array:
        """The memory for contestants in place."""
        fresh = "source" not in self._made
        array = self._array("source", self.shape)
        if fresh:
            fill(array)
        return array

    @property
    def target(self) -> Array:
        """The memory for the results of contestants out of place."""
        return self._array("target", self.result)

    def out_of_place(self, run: Callable[[], object]) -> Step:
        """A step that writes the target from the source."""

        def spoil() -> None:
            fill(self.source)  # a contestant in place may have permuted it
            self.target.view(np.uint8).fill(0xFF)

        return Step(run, lambda: check(self.target, self.shape, self.axes), spoil)

    def in_place(self, run: Callable[[], object]) -> Step:
        """A step that permutes the source's memory."""

        def right() -> None:
            check(self.source.reshape(self.result), self.shape, self.axes)

        return Step(run, right, lambda: fill(self.source))


def _as_numbers(array: Array) -> Array:
    """The same memory as real numbers, with a last dimension of 1 or 2."""
    size = array.dtype.itemsize
    return array.view("f4" if size == 4 else "f8").reshape(*array.shape, 2 if size == 16 else 1)


def _expected(places: NDArray[np.int64], like: Array) -> Array:
    if like.dtype.itemsize == 4:
        return (_WHOLE + places % _PRIME).astype("f4")[..., None]
    values = 1.0 + places
    return np.stack((values, -values), -1) if like.shape[-1] == 2 else values[..., None]


def fill(array: Array) -> None:
    """Every element its row-major number."""
    flat = _as_numbers(array.reshape(-1))
    for first in range(0, len(flat), _AT_ONCE):
        last = min(first + _AT_ONCE, len(flat))
        flat[first:last] = _expected(np.arange(first, last), flat)


Index = tuple[Union[int, slice], ...]


def _slabs(shape: Sequence[int], strides: Sequence[int]) -> Iterator[tuple[Index, Any]]:
    """Parts of an array, with the numbers that `strides` give their elements."""
    if math.prod(shape) <= _AT_ONCE or not shape:
        places = np.zeros((1,) * len(shape), np.int64)
        for d, (extent, stride) in enumerate(zip(shape, strides)):
            along = (-1,) + (1,) * (len(shape) - d - 1)
            places = places + (np.arange(extent) * stride).reshape(along)
        yield (), places
        return
    inner = math.prod(shape[1:])
    if inner > _AT_ONCE:
        for i in range(shape[0]):
            for index, places in _slabs(shape[1:], strides[1:]):
                yield (i, *index), places + i * strides[0]
        return
    rows = max(1, _AT_ONCE // max(inner, 1))
    for first in range(0, shape[0], rows):
        last = min(first + rows, shape[0])
        for _, places in _slabs((last - first, *shape[1:]), strides):
            yield (slice(first, last),), places + first * strides[0]


def check(result: Array, shape: Sequence[int], axes: Sequence[int]) -> None:
    """Raise `WrongResultError` unless `result` is the transposition of the filled source."""
    steps = [math.prod(shape[axis + 1 :]) for axis in axes]
    found = _as_numbers(result)
    for index, places in _slabs(result.shape, steps):
        part = found[index]
        wanted = _expected(np.broadcast_to(places, part.shape[:-1]), part)
        if not np.array_equal(part, wanted):
            raise WrongResultError(f"elements at {index} are not those of the transposition")
