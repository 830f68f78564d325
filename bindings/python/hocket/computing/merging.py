# SPDX-License-Identifier: BSD-3-Clause
"""Brings each process its share of the sorted rows of all processes, in rounds with small temporary
arrays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Callable

import numpy as np
import numpy.typing as npt

from hocket import _mpi
from hocket.computing.dividing import AnyArray, Column, Numbers, divide, source_of
from hocket.computing.rounds import elements_of_round
from hocket.creation import empty
from hocket.formats import gen_block
from hocket.layouts import Layout
from hocket.redistribution import redistribute

#: the columns of some of this process's sorted rows
Take = Callable[[Numbers], Sequence[AnyArray]]


def merged(
    comm: Any,
    keys: Sequence[Column],
    take: Take,
    counts: Numbers,
    ends: Numbers,
    together: bool = False,
) -> Iterator[list[AnyArray]]:
    """The columns of this process's share of all rows, a run after the other. Equal rows have the
    order of their processes.

    Collective: all processes have equally many runs, some of them empty.

    Parameters
    ----------
    keys
        of this process's rows, which are sorted by them; the first is the most significant
    take
        gives the columns of some rows, the keys first
    counts
        the rows of each process
    ends
        of the processes' shares among all rows; with `together`, equal rows are in one run of one
        process, and shares are about that long
    """
    rank, size = _mpi.rank_and_size(comm.handle)
    kind = np.dtype([(f"f{k}", x.dtype) for k, x in enumerate(take(np.empty(0, np.int64)))])
    most = elements_of_round(4 * kind.itemsize + 32)  # of rows that are sent, received and sorted
    if size == 1:
        for first in range(0, int(counts[0]), most):
            yield list(take(np.arange(first, min(first + most, int(counts[0])))))
        return
    stops = np.column_stack([divide(comm, keys, counts, ends[:-1], together), counts])
    low = np.column_stack([np.zeros(size, np.int64), stops[:, :-1]])
    begins, last = low.sum(axis=0), stops.sum(axis=0)
    rounds = -(-int((last - begins).max()) // most)
    for k in range(1, rounds + 1):
        high = stops
        if k < rounds:
            wanted = np.minimum(begins + k * most, last)
            high = divide(comm, keys, counts, wanted, together)
            # A cut that keeps equal rows together may lie before those that end a share.
            high = np.where(wanted == last, stops, np.maximum(high, low))
        columns = send_shares(comm, kind, take, low[rank], high - low, 2 * most)
        by = order_of(columns[: len(keys)])
        yield [column[by] for column in columns]
        low = high


def order_of(keys: Sequence[AnyArray]) -> npt.NDArray[np.intp]:
    """The order that sorts rows which are one sorted run from each process."""
    return np.argsort(keys[0], kind="stable") if len(keys) == 1 else np.lexsort(keys[::-1])


def send_shares(
    comm: Any, kind: np.dtype[Any], take: Take, first: Numbers, shares: Numbers, most: int
) -> list[AnyArray]:
    """The columns of the rows that come here. ``first[t]``: of the rows that go to process t;
    ``shares[p, t]``: how many of process p go there. Collective."""
    rank, names = comm.rank, kind.names or ()
    here = np.empty(0, kind)
    for group in groups(shares, most):
        some = np.zeros_like(shares)
        some[:, group] = shares[:, group]
        if not some.any():
            continue
        records = empty(source_of(some), f"V{kind.itemsize}", comm)  # peers read its memory
        runs = [np.arange(f, f + n) for f, n in zip(first[group], shares[rank, group])]
        for name, column in zip(names, take(np.concatenate(runs))):
            records._local.view(kind)[name] = column
        total = some.sum(axis=0)
        came = redistribute(records, Layout((int(total.sum()),), [gen_block(total)], len(total)))
        if rank < len(total) and total[rank]:
            here = came._local.view(kind)
    return [np.ascontiguousarray(here[name]) for name in names]


def groups(shares: Numbers, most: int) -> Iterator[slice]:
    """Processes that receive at once: no process sends more than `most` rows, except to one."""
    begin, sent = 0, np.zeros(len(shares), np.int64)
    for process, share in enumerate(shares.T):
        sent = sent + share
        if process > begin and sent.max() > most:
            yield slice(begin, process)
            begin, sent = process, share
    yield slice(begin, shares.shape[1])
