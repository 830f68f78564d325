# SPDX-License-Identifier: BSD-3-Clause
"""Moves of data without a layout: one row a process, and elements that choose a process."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hocket import _mpi
from hocket.local_arrays import address

if TYPE_CHECKING:
    from mpi4py import MPI


def allgather(
    comm: MPI.Comm, row: npt.NDArray[Any], call: str = "a gather of rows"
) -> npt.NDArray[Any]:
    """Gathers every process's row, which have one shape and dtype: a read-only array with one row
    a process. Processes that make calls of different texts get an error."""
    size = _mpi.rank_and_size(comm.handle)[1]
    if row.nbytes == 0 or size == 1:
        return np.broadcast_to(row.copy(), (size, *row.shape))
    found = _mpi.allgather(comm.handle, call, row.tobytes())
    return np.frombuffer(found, row.dtype).reshape((size, *row.shape))


def exchange(
    comm: MPI.Comm, to: npt.NDArray[np.int64], *columns: npt.NDArray[Any]
) -> tuple[list[npt.NDArray[Any]], npt.NDArray[np.int64]]:
    """Sends element k of each column to process ``to[k]``, and receives what others sent here.

    Elements arrive in the order of their senders, and those of one sender in their order.

    Returns
    -------
    (columns, counts)
        ``counts[p]``: the number of elements from process p
    """
    names = [f"f{k}" for k in range(len(columns))]
    rows = np.empty(len(to), [(name, column.dtype) for name, column in zip(names, columns)])
    for name, column in zip(names, columns):
        rows[name] = column
    to = np.ascontiguousarray(to, np.int64)
    found, counts = _mpi.exchange(comm.handle, to, address(rows), rows.itemsize)
    came = found.view(rows.dtype)
    return [np.ascontiguousarray(came[name]) for name in names], np.asarray(counts)
