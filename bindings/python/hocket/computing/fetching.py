# SPDX-License-Identifier: BSD-3-Clause
"""Elements that any process names by their row-major numbers: reads and writes by their owners."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np
import numpy.typing as npt

from hocket import _mpi
from hocket.arrays import Array
from hocket.computing.collecting import exchange
from hocket.computing.operands import made
from hocket.computing.rounds import elements_of_round
from hocket.local_arrays import address
from hocket.redistribution import redistribute

AnyArray = npt.NDArray[Any]
Numbers = npt.NDArray[np.int64]


def fetch(a: Array, wanted: Numbers) -> AnyArray:
    """The elements of these row-major numbers, which may be any on any process. Collective."""
    found = np.empty(len(wanted), a.dtype)
    _mpi.fetch(a._wrapped(), np.ascontiguousarray(wanted), address(found))
    return found


def elements_of_fetch(dtype: np.dtype[Any]) -> int:
    """How many elements a process fetches at a time."""
    return elements_of_round(56 + 3 * dtype.itemsize)


def elements_of_store(dtype: np.dtype[Any]) -> int:
    """How many elements a process stores at a time."""
    return elements_of_round(120 + 6 * dtype.itemsize)


def apart(x: Any, a: Array) -> Any:
    """An operand in other memory than that of `a`, which is written part by part: a part would
    overwrite what the next ones read. Local."""
    if isinstance(x, range) or not np.may_share_memory(root_of(x), root_of(a)):
        return x
    return made(x.local.copy(), x.layout, x.comm) if isinstance(x, Array) else np.array(x)


def root_of(x: Any) -> AnyArray:
    """The local memory from which each access reads the elements."""
    while isinstance(x, Array) and x._home is not None:
        x = x._home[0]
    return x._local if isinstance(x, Array) else np.asarray(x)


def store(
    a: Array, wanted: Numbers, values: AnyArray, order: Numbers, combine: Optional[np.ufunc] = None
) -> None:
    """Writes values to the elements of these numbers of an array without copies; of several values
    for one, the one with the highest `order`. With `combine`, all are combined with the element.

    Collective.
    """
    wanted = np.ascontiguousarray(wanted)
    if combine is None:
        values = np.ascontiguousarray(values)
        if np.may_share_memory(values, a._local):  # those that come late would be written already
            values = values.copy()
        _mpi.store(a._wrapped(), wanted, address(values), np.ascontiguousarray(order))
    else:
        owners, offsets = np.empty_like(wanted), np.empty_like(wanted)
        _mpi.locate(a.layout._native, wanted, address(owners), address(offsets))
        (places, arrived, turns), _ = exchange(a.comm, owners, offsets, values, order)
        by_turn = np.argsort(turns, kind="stable")
        local = a._current()
        combine.at(local, np.unravel_index(places[by_turn], local.shape), arrived[by_turn])
    a._settle()


def settle_copies(a: Array, alone: Array) -> None:
    """After writes into `alone`, which is `a` without copies. Collective."""
    if alone is not a:
        redistribute(alone, a.layout, out=a)
    a._settle()
