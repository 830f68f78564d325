# SPDX-License-Identifier: BSD-3-Clause
"""Moves of data without a layout: one row a process, and elements that choose a process."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hocket import _mpi
from hocket.arrays import Array
from hocket.communicators import communicator
from hocket.computing.layouts import replicated_layout
from hocket.creation import empty_as, wrap
from hocket.layouts import Layout
from hocket.redistribution import redistribute

if TYPE_CHECKING:
    from mpi4py import MPI


@functools.lru_cache(maxsize=64)
def one_each(size: int) -> tuple[Layout, Layout]:
    """One element a process; and all of them on every process."""
    return Layout((size,), "(BLOCK)", size), replicated_layout((size,), size)


def allgather(comm: MPI.Comm, row: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Gathers every process's row, which have one shape and dtype: an array with one row a
    process."""
    row, size = np.ascontiguousarray(row), communicator(comm).size
    if row.nbytes == 0 or size == 1:
        alone: npt.NDArray[Any] = np.broadcast_to(row, (size, *row.shape)).copy()
        return alone
    element = np.dtype((np.void, row.nbytes))
    own, everywhere = one_each(size)
    mine = Array(row.reshape(-1).view(np.uint8).view(element), own, comm)
    found = empty_as(mine, element, everywhere)
    _mpi.redistribute(mine._wrapped(), found._wrapped(), [], "auto", None, None)
    return found.local.view(np.uint8).view(row.dtype).reshape((size, *row.shape))


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
    size, rank = comm.size, comm.rank
    order = np.argsort(to, kind="stable")
    matrix = allgather(comm, np.bincount(to, minlength=size).astype(np.int64))
    # Element numbers: first all that process 0 sends, ordered by destination, then all of process
    # 1, …
    begins = np.cumsum(matrix.reshape(-1)) - matrix.reshape(-1)
    begins = begins.reshape(size, size)
    total = int(matrix.sum())
    sent = [[(int(begins[p, 0]), int(matrix[p].sum()))] for p in range(size)]
    received = [
        [(int(begins[p, q]), int(matrix[p, q])) for p in range(size) if matrix[p, q]]
        for q in range(size)
    ]
    source = Layout.indexed((total,), [[run for run in each if run[1]] for each in sent])
    destination = Layout.indexed((total,), received)
    found = []
    for column in columns:
        mine = wrap(np.ascontiguousarray(column[order]), source, comm)
        found.append(redistribute(mine, destination).local)
    return found, matrix[:, rank]
