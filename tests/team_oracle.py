# SPDX-License-Identifier: BSD-3-Clause
"""What each operation of a team gives, computed from the values of all, in plain NumPy."""

from __future__ import annotations

import math
from functools import reduce
from typing import Any

import numpy as np

TYPES = ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8"]
FOLDS = ["add", "mul", "min", "max", "and_", "or_"]


def members_of(mask: int) -> list[int]:
    """The processes of a mask."""
    return [p for p in range(mask.bit_length()) if mask >> p & 1]


def mask_of(processes: Any) -> int:
    """The mask of processes."""
    return sum(1 << p for p in processes)


def fold(name: str, a: Any, b: Any) -> Any:
    """Two values as one, by the contract: integers wrap, bool adds as or, NaN wins."""
    kind = type(a)
    if name in ("min", "max"):
        for x in (a, b):
            if math.isnan(x):
                return x
        return (min if name == "min" else max)(a, b)
    if kind is np.bool_:
        return np.bool_(a and b if name in ("mul", "and_") else a or b)
    if name in ("and_", "or_"):
        return kind(int(a) & int(b) if name == "and_" else int(a) | int(b))
    if np.dtype(kind).kind == "f":
        with np.errstate(all="ignore"):
            return kind(a + b if name == "add" else a * b)
    value = int(a) + int(b) if name == "add" else int(a) * int(b)
    return np.array(value & (2**64 - 1), np.uint64).astype(kind)[()]


def order(a: Any, b: Any) -> int:
    """-1, 0, 1; NaN is highest, and equal to itself."""
    if math.isnan(a) or math.isnan(b):
        return int(math.isnan(a)) - int(math.isnan(b))
    return int(a > b) - int(a < b)


class Oracle:
    """One round of the processes `members` of `size`, whose values are `values[p]`."""

    def __init__(self, size: int, members: list[int], values: list[Any], me: int) -> None:
        self.size, self.members, self.values, self.me = size, members, values, me

    def of(self, processes: list[int]) -> list[Any]:
        """Their values."""
        return [self.values[p] for p in processes]

    def reduce(self, name: str) -> Any:
        """All folded, in order."""
        return reduce(lambda a, b: fold(name, a, b), self.of(self.members))

    def scan(self, name: str) -> Any:
        """Up to me, in order."""
        upto = [p for p in self.members if p <= self.me]
        return reduce(lambda a, b: fold(name, a, b), self.of(upto))

    def gather(self, start: Any) -> Any:
        """A copy of `start` with the members' values."""
        out = start.copy()
        out[self.members] = self.of(self.members)
        return out

    def bcast(self, putters: list[int]) -> Any:
        """The bits of those who put."""
        kind = type(self.values[self.me])
        bits = bytes(kind(0).nbytes)
        for p in putters:
            bits = bytes(x | y for x, y in zip(bits, self.values[p].tobytes()))
        return np.frombuffer(bits, kind)[0]

    def rank(self) -> int:
        """Equal values rank by process."""
        mine = self.values[self.me]
        orders = [(order(self.values[p], mine), p) for p in self.members]
        return sum(o < 0 or (o == 0 and p < self.me) for o, p in orders)

    def match(self) -> int:
        """The processes with this process's value."""
        mine = self.values[self.me]
        return mask_of(p for p in self.members if order(self.values[p], mine) == 0)


def random_value(rng: np.random.Generator, name: str) -> Any:
    """A value of the type: small ones, so that some are equal, and any bits at all."""
    dtype = np.dtype(name)
    if name == "?":
        return np.bool_(rng.integers(2))
    if rng.integers(2):
        return dtype.type(rng.integers(0 if dtype.kind == "u" else -3, 4))
    if dtype.kind == "f":
        special = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.5e30]
        return dtype.type(special[rng.integers(6)] if rng.integers(4) == 0 else rng.normal())
    return np.frombuffer(rng.bytes(dtype.itemsize), dtype)[0]


def same(a: Any, b: Any) -> bool:
    """The same type and value; the same bits, except that NaN is NaN."""
    a, b = np.asarray(a), np.asarray(b)
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    if a.dtype.kind == "f":
        return bool(np.array_equal(a, b, equal_nan=True))
    return a.tobytes() == b.tobytes()
