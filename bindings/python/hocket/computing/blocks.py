# SPDX-License-Identifier: BSD-3-Clause
"""A function of each process's part, with a border if it needs one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Callable, Union

import numpy as np

from hocket.arrays import Array
from hocket.calls import collective, no_array
from hocket.computing.operands import made
from hocket.dtypes import from_name, name_of, resolve
from hocket.errors import Error, MismatchError
from hocket.halos import Halo, widths

if TYPE_CHECKING:
    from mpi4py import MPI


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
    name = b"" if result is None else name_of(result.dtype).encode()
    found = [from_name(each) for each in _of_all(name, a.comm) if each]
    with collective(a.comm, None):
        dtype = resolve(np.result_type(*found)) if found else a.dtype
    if result is None:
        result = np.empty(a.local.shape, dtype)
    return made(result.astype(dtype, copy=False), a.layout, a.comm)


def _of_all(name: bytes, comm: MPI.Comm, room: int = 24) -> list[str]:
    """The names of all processes. Those of structured elements take a second message."""
    from hocket.computing.collecting import allgather

    row = len(name).to_bytes(8, "little") + name[:room].ljust(room, b"\0")
    rows = [each.tobytes() for each in allgather(comm, np.frombuffer(row, np.uint8))]
    longest = max(int.from_bytes(each[:8], "little") for each in rows)
    if longest > room:
        return _of_all(name, comm, longest)
    return [each[8:].rstrip(b"\0").decode() for each in rows]
