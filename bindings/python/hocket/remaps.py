# SPDX-License-Identifier: BSD-3-Clause
"""Remaps: permutations of distributed arrays within their own memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Optional

from hocket import _mpi
from hocket.arguments import as_threads
from hocket.arrays import Array
from hocket.calls import collective, no_array
from hocket.errors import LayoutError
from hocket.layouts import Layout, integer, integers
from hocket.redistribution import as_axes

__all__ = ["remap_inplace", "remap_layout", "remap_room"]


def remap_layout(lay: Layout, axes: Sequence[int]) -> Layout:
    """The layout that `remap_inplace` gives an array of this layout.

    Dimension ``k`` of its shape is dimension ``axes[k]`` of `lay`'s; formats, arrangement and
    order of processes stay.

    Raises
    ------
    LayoutError
        if `axes` is no permutation; for alignments, sections and explicit segments; if a cyclic
        dimension after the permutation has not whole rounds (a multiple of k times the processes)
        before or after it; if blocks of the given size are too small for the new dimension; and if
        dimensions over different numbers of processes change places and every dimension is
        distributed.

    Examples
    --------
    >>> str(hk.remap_layout(hk.Layout((4, 6, 2), "(BLOCK, *, *)", 2), (1, 0, 2)))
    '(6, 4, 2) (BLOCK, *, *) @ (2)'
    """
    if not isinstance(lay, Layout):
        raise LayoutError(f"{lay!r} is no layout")
    return Layout._of(_mpi.remap_layout(lay._native, as_axes(integers(axes, "axes"), lay.ndim)))


def remap_room(lay: Layout, axes: Sequence[int], rank: int) -> int:
    """The number of elements that the memory of process `rank` must hold for `remap_inplace`.

    The larger of the local arrays before and after, and of the intermediate ones if several
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
    if not isinstance(lay, Layout):
        raise LayoutError(f"{lay!r} is no layout")
    order = as_axes(integers(axes, "axes"), lay.ndim)
    return _mpi.remap_room(lay._native, order, integer(rank, "rank"))


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
        its local array dense and row-major, in memory for `remap_room` elements: from `empty` and
        other functions that allocate (up to their default), or from `wrap` with ``room=``
    axes
        the result is ``numpy.transpose(a, axes)``
    threads
        threads of each process for its local permutations; None: ``HOCKET_THREADS``, else the
        available cores
    timeout
        seconds after which the wait ends with `DeadlineError`; the operation goes on

    Returns
    -------
    Array
        The same memory with the layout ``remap_layout(a.layout, axes)``. The program must not use
        `a` afterwards.

    Raises
    ------
    LayoutError, Error
        on every process, if any process has wrong arguments; no element has moved then.

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
        count = as_threads(threads)
        a._require_home()
        core = a._wrapped()
    return a._remapped(Layout._of(_mpi.remap_inplace(core, order, count, seconds).layout()))
