# SPDX-License-Identifier: BSD-3-Clause
"""Distributed arrays permuted within their own memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional

from hocket import _mpi
from hocket.arguments import as_number
from hocket.arrays import Array
from hocket.calls import collective, no_array
from hocket.errors import Error, LayoutError
from hocket.layouts import Layout, integer, integers
from hocket.redistribution import as_axes

__all__ = ["remap_inplace", "remap_layout", "remap_room"]


def _threads(threads: Any) -> int:
    """0 where the library decides."""
    if threads is None:
        return 0
    number = as_number(threads, "threads")
    if number < 1:
        raise Error(f"threads is {number}; give 1 or more, or None for what the process may use")
    return number


def remap_layout(layout: Layout, axes: Sequence[int]) -> Layout:
    """The layout that `remap_inplace` gives an array of this one.

    Its dimension ``k`` is dimension ``axes[k]`` of `layout`'s shape; formats, arrangement and order
    of processes stay.

    Raises
    ------
    LayoutError
        if `axes` is no permutation; if another dimension would be dealt out cyclically and
        either has not whole rounds (a multiple of k times the processes), or blocks of the written
        size are too small for it; for alignments, sections and explicit segments;
        and where dimensions dealt out over different numbers of processes change places with no
        undistributed one to rest in.

    Examples
    --------
    >>> str(hk.remap_layout(hk.Layout((4, 6, 2), "(BLOCK, *, *)", 2), (1, 0, 2)))
    '(6, 4, 2) (BLOCK, *, *) @ (2)'
    """
    if not isinstance(layout, Layout):
        raise LayoutError(f"{layout!r} is no layout")
    return Layout._of(
        _mpi.remap_layout(layout._native, as_axes(integers(axes, "axes"), layout.ndim))
    )


def remap_room(layout: Layout, axes: Sequence[int], rank: int) -> int:
    """Elements that process `rank` must have room for while `remap_inplace` runs.

    The larger of the local arrays before and after, and of those in between where several
    dimensions are distributed.

    Raises
    ------
    LayoutError
        as `remap_layout`, and if there is no process `rank`.

    Examples
    --------
    >>> hk.remap_room(hk.Layout((4, 6), "(BLOCK, *)", 2), (1, 0), rank=0)
    12
    """
    if not isinstance(layout, Layout):
        raise LayoutError(f"{layout!r} is no layout")
    order = as_axes(integers(axes, "axes"), layout.ndim)
    return _mpi.remap_room(layout._native, order, integer(rank, "rank"))


def remap_inplace(
    a: Array,
    axes: Sequence[int],
    *,
    threads: Optional[int] = None,
    timeout: Optional[float] = None,
) -> Array:
    """Permutes a distributed array within its own memory. Collective over ``a.comm``.

    Local permutations and a pairwise exchange in place: He and Ding, "MPI and OpenMP Paradigms on
    Cluster of SMP Architectures", section 3.2. Beside the array each process uses 1 % of its part
    and 4 MiB a thread for local permutations, and 2 MiB for messages.

    Parameters
    ----------
    a
        its local array dense and row-major, in memory with room for `remap_room` elements: from
        `empty` and its like (as far as their default room goes), or `wrap` with ``room=``
    axes
        the result is ``numpy.transpose(a, axes)``
    threads
        of each process for its local permutations; None: what it may use (``HOCKET_THREADS``)
    timeout
        seconds after which the wait ends with `DeadlineError`; the operation goes on

    Returns
    -------
    Array
        The same memory with the layout ``remap_layout(a.layout, axes)``. `a` is not to be used any
        more.

    Raises
    ------
    LayoutError, Error
        on every process, whichever of them has wrong arguments; nothing has moved then.

    Examples
    --------
    On two processes:

    >>> a = hk.from_function(lambda i, j: 10 * i + j, hk.Layout((4, 6), "(BLOCK, *)", 2), "int64")
    >>> b = hk.remap_inplace(a, (1, 0))
    >>> str(b.layout)
    '(6, 4) (BLOCK, *) @ (2)'
    >>> b.local.tolist() == [[10 * i + j + 3 * b.comm.rank for i in range(4)] for j in range(3)]
    True
    """
    if not isinstance(a, Array):
        no_array(f"cannot remap {type(a).__name__}", timeout)
    with collective(a.comm, timeout) as seconds:
        order = as_axes(axes, len(a.layout.shape))
        count = _threads(threads)
        a._require_home()
        core = a._wrapped()
    return a._remapped(Layout._of(_mpi.remap_inplace(core, order, count, seconds).layout()))
