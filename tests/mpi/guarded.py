# SPDX-License-Identifier: BSD-3-Clause
"""Arrays in odd places of memory, every byte of which is watched."""

from __future__ import annotations

from typing import Any

import numpy as np

GUARD = 0xA5

PAIR = np.dtype([("key", "<i4"), ("place", "<f8", (2,)), ("flag", "?")])  # packed: 21 bytes
DTYPES = [
    np.dtype(name)
    for name in ("f8", "f4", "f2", "i8", "i4", "u2", "i1", "?", "c16", "c8", "M8[ns]", "m8[s]")
] + [np.dtype("S5"), np.dtype("U3"), np.dtype("V3"), np.dtype(">i4"), PAIR]


def filled(places: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Values of `dtype` that tell apart the int64 `places` (bool only by a scrambled bit)."""
    if dtype.names:
        result = np.empty(places.shape, dtype)
        result["key"] = places
        result["place"][..., 0] = places * 0.5
        result["place"][..., 1] = -places
        result["flag"] = filled(places, np.dtype("?"))
        return result
    if dtype.kind == "?" or dtype == np.dtype("?"):
        return (places * 0x9E3779B1 >> 13) & 1 == 1
    if dtype.kind == "V":
        return np.ascontiguousarray(places).astype("<i4").view("V4").astype(dtype)
    if dtype.kind == "c":
        return (places - 1j * places).astype(dtype)
    return places.astype(dtype)


def shown(array: np.ndarray) -> str:
    try:
        return repr(array)
    except Exception:  # guard bytes are no characters of a Unicode string
        return array.tobytes().hex(" ")


class Guarded:
    """`view` is a writable array of this shape and dtype: any order of axes, gaps, negative
    strides, perhaps unaligned; around and between its elements lie guard bytes."""

    def __init__(
        self, shape: tuple[int, ...], dtype: Any, rng: np.random.Generator | None = None
    ) -> None:
        self.shape, self.dtype = tuple(shape), np.dtype(dtype)
        rng = rng or np.random.default_rng(0)
        dimensions = len(self.shape)
        self._order = rng.permutation(dimensions) if rng.random() < 0.4 else np.arange(dimensions)
        plain = rng.random() < 0.3
        self._steps = [1 if plain else int(rng.choice([1, 1, 2, 3, -1, -2])) for _ in self.shape]
        self._margins = [0 if plain else int(rng.integers(0, 3)) for _ in self.shape]
        self._offset = 64 + (int(rng.integers(1, 8)) if rng.random() < 0.2 else 0)
        outer = self._outer()
        self._bytes = int(np.prod(outer, dtype=np.int64)) * self.dtype.itemsize
        self.raw = np.full(self._offset + self._bytes + 64, GUARD, dtype=np.uint8)
        self.view = self._view(self.raw)
        self._before = self.raw.copy()

    def _outer(self) -> list[int]:
        return [
            max(1, abs(step) * n) + 2 * margin
            for n, step, margin in zip(self.shape, self._steps, self._margins)
        ]

    def _view(self, raw: np.ndarray) -> np.ndarray:
        outer = self._outer()
        memory = raw[self._offset : self._offset + self._bytes].view(self.dtype)
        whole = memory.reshape([outer[axis] for axis in self._order])
        whole = whole.transpose(np.argsort(self._order))
        for axis, (n, step, margin) in enumerate(zip(self.shape, self._steps, self._margins)):
            places = slice(margin, margin + abs(step) * n, abs(step))
            cut = whole[(slice(None),) * axis + (places,)]
            if step < 0:
                cut = cut[(slice(None),) * axis + (slice(None, None, -1),)]
            whole = cut
        assert whole.shape == self.shape
        return whole

    def set(self, values: np.ndarray) -> np.ndarray:
        """Puts `values` in place and returns the view."""
        self.view[...] = values
        self._before = self.raw.copy()
        return self.view

    def check(self, values: np.ndarray, what: str = "") -> None:
        """The elements are `values`, and no other byte has changed."""
        expected = self._before.copy()
        self._view(expected)[...] = values
        wrong = np.flatnonzero(self.raw != expected)
        if wrong.size:
            raise AssertionError(
                f"{what}: {wrong.size} bytes are wrong, the first at {wrong[0]} of "
                f"{self.raw.size} (strides {self.view.strides}, offset {self._offset}); got\n"
                f"{shown(self.view)}\nnot\n{shown(values)}"
            )

    def check_untouched(self, what: str = "") -> None:
        """No byte has changed since `set`, or since the beginning."""
        wrong = np.flatnonzero(self.raw != self._before)
        assert not wrong.size, f"{what}: {wrong.size} bytes were written, the first at {wrong[0]}"
