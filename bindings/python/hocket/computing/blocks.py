# SPDX-License-Identifier: BSD-3-Clause
"""A function of each process's part, with a border if it needs one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Callable, Union

import numpy as np

from hocket.arrays import Array
from hocket.calls import collective, no_array
from hocket.computing.operands import made
from hocket.errors import Error, MismatchError
from hocket.halos import Halo, widths


def map_blocks(
    f: Callable[[Any], Any],
    a: Array,
    *,
    halo: Union[int, Sequence[int]] = 0,
    periodic: Union[bool, Sequence[bool]] = False,
    fill: Any = 0,
) -> Array:
    """Applies ``f`` to each process's part; the result has the same layout. Collective with a
    border.

    Parameters
    ----------
    f
        function of the local elements as a NumPy array, ``2*halo[d]`` longer in dimension ``d``; it
        returns values of the part's own shape, of any dtype. hocket calls it on each process that
        holds elements.
    a : Array
    halo
        elements of the neighbours on each side of every dimension, or one number a dimension
    periodic
        whether the dimensions go round, or one flag a dimension
    fill
        a scalar: the border beyond the edges of the array

    Raises
    ------
    LayoutError
        as `Array.halo`, on every process.
    MismatchError
        on every process, if one's values have another shape.
    Error
        if `f` is not callable, or `a` no array. If `f` raises on one process, all raise.

    Examples
    --------
    On two processes:

    >>> a = hk.arange(hk.Layout(6, "(BLOCK)", 2))
    >>> b = hk.map_blocks(lambda x: x[:-2] + x[2:], a, halo=1)
    >>> hk.replicated(b)
    array([1, 2, 4, 6, 8, 4])
    """
    if not isinstance(a, Array):
        no_array(f"cannot map blocks of {type(a).__name__}", None)
    from hocket.computing.collecting import allgather

    with collective(a.comm, None):
        if not callable(f):
            raise Error(f"f is {f!r}; give a function of a NumPy array")
        width = widths(halo, a.ndim)
    block = a.local
    if any(width):
        with collective(a.comm, None):
            border = Halo(a, width, periodic)
            border.local[...] = fill
            border.array.local[...] = block
        border.exchange()
        block = border.local
    with collective(a.comm, None):
        result = np.asarray(f(block)) if a.local.size else None
        if result is not None and result.shape != a.local.shape:
            raise MismatchError(
                f"f returned the shape {result.shape} for a part of shape {a.local.shape}; give "
                "values of the part's own shape"
            )
    name = np.zeros(16, np.uint8)
    if result is not None:
        text = result.dtype.str.encode()[:16]
        name[: len(text)] = np.frombuffer(text, np.uint8)
    names = [bytes(row).rstrip(b"\0").decode() for row in allgather(a.comm, name)]
    found = [np.dtype(each) for each in names if each]
    with collective(a.comm, None):
        dtype = np.result_type(*found) if found else a.dtype
    if result is None:
        result = np.empty(a.local.shape, dtype)
    return made(result.astype(dtype, copy=False), a.layout, a.comm)
