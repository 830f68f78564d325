# SPDX-License-Identifier: BSD-3-Clause
"""Where to divide sorted rows of all processes among them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Union

import numpy as np
import numpy.typing as npt

from hocket import _mpi
from hocket.layouts import Layout

AnyArray = npt.NDArray[Any]
Numbers = npt.NDArray[np.int64]


class InOrder:
    """A column of rows in sorted order, without a copy of it."""

    def __init__(self, column: AnyArray, order: npt.NDArray[np.intp]) -> None:
        self.column, self.order, self.dtype = column, order, column.dtype

    def __len__(self) -> int:
        return len(self.order)

    def __getitem__(self, rows: Any) -> AnyArray:
        found: AnyArray = self.column[self.order[rows]]
        return found

    def searchsorted(self, values: AnyArray, side: Any) -> npt.NDArray[np.intp]:
        return self.column.searchsorted(values, side, self.order)


Column = Union[AnyArray, InOrder]


def divide(
    comm: Any, keys: Sequence[Column], counts: Numbers, wanted: Any, together: bool = False
) -> Numbers:
    """For each process (a row) and each of `wanted`, which increase: how many of its rows, which
    are sorted by `keys`, belong to the first `wanted` of all. Of equal rows, those of lower
    processes come first; if `together`, they are not divided. `counts`: the rows of each process.
    Collective.
    """
    wanted = np.asarray(wanted, np.int64)
    if len(wanted) == 0:
        return np.zeros((len(counts), 0), np.int64)
    row = np.dtype([(f"f{k}", key.dtype) for k, key in enumerate(keys)])

    def pick(rows: npt.NDArray[np.uint8]) -> bytes:
        chosen = rows.view(np.int64)
        found = np.empty(len(chosen), row)
        for name, key in zip(row.names or (), keys):
            found[name] = key[chosen]
        return found.tobytes()

    def place(memory: npt.NDArray[np.uint8]) -> bytes:
        given = memory.view(row)
        return np.concatenate(places(keys, [given[name] for name in row.names or ()])).tobytes()

    counts = np.ascontiguousarray(counts, np.int64)
    cuts = _mpi.divide(comm.handle, row.itemsize, pick, place, counts, wanted, together)
    return np.asarray(cuts, np.int64).reshape(len(counts), len(wanted))


def shares_of(counts: Numbers, cuts: Numbers) -> Numbers:
    """A matrix of how many sorted rows process i sends to process j."""
    return np.diff(np.column_stack([np.zeros(len(counts), np.int64), cuts, counts]))


def source_of(shares: Numbers) -> Layout:
    """A layout of the sorted rows of these shares, in which they have the order of the processes
    that they go to."""
    received = shares.sum(axis=0)
    firsts = np.cumsum(received) - received + np.cumsum(shares, axis=0) - shares
    runs = [
        [(int(first), int(share)) for first, share in zip(*rows) if share]
        for rows in zip(firsts, shares)
    ]
    return Layout.indexed((int(received.sum()),), runs)


def places(keys: Sequence[Column], wanted: list[AnyArray]) -> tuple[Numbers, Numbers]:
    """For each of the wanted rows: the number of rows, which are sorted by `keys`, before it, and
    with those that equal it."""
    first, *others = keys
    begins = first.searchsorted(wanted[0], "left").astype(np.int64, copy=False)
    ends = first.searchsorted(wanted[0], "right").astype(np.int64, copy=False)
    for key, values in zip(others, wanted[1:]):
        equal = np.flatnonzero(begins < ends)
        within = begins[equal], ends[equal], values[equal]
        begins[equal], ends[equal] = (search(key, *within, side) for side in ("left", "right"))
    return begins, ends


def search(key: Column, begins: Numbers, ends: Numbers, values: AnyArray, side: Any) -> Numbers:
    """`numpy.searchsorted` of each value in a part of its own, [begin, end), which is sorted."""
    if key.dtype.kind not in "biuSUfmM":  # complex: order by parts, which < and <= do not know
        parts = zip(begins.tolist(), ends.tolist(), values)
        found = [
            begin + np.searchsorted(key[begin:end], value, side) for begin, end, value in parts
        ]
        return np.asarray(found, np.int64)
    compare = np.less if side == "left" else np.less_equal

    def is_before(a: AnyArray, b: AnyArray) -> AnyArray:
        found = compare(a, b)
        if key.dtype.kind in "fmM":  # NaN is after all numbers, which < and <= do not say
            found |= np.isnan(b) & (~np.isnan(a) if side == "left" else True)
        return np.asarray(found)

    begins, ends = begins.copy(), ends.copy()
    for _ in range(int((ends - begins).max(initial=0)).bit_length()):
        middle = (begins + ends) >> 1
        after = is_before(key[np.minimum(middle, len(key) - 1)], values) & (begins < ends)
        begins, ends = np.where(after, middle + 1, begins), np.where(after, ends, middle)
    return begins
