# SPDX-License-Identifier: BSD-3-Clause
"""Layouts and ScaLAPACK's array descriptors."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np
import numpy.typing as npt

from . import _pure
from .arguments import as_flag, integer, integer_array
from .errors import LayoutError

_NAMES = ("DTYPE_", "CTXT_", "M_", "N_", "MB_", "NB_", "RSRC_", "CSRC_", "LLD_")


def _table(given: Any, what: str) -> npt.NDArray[np.int64]:
    """Converts to integers of one or two dimensions."""
    try:
        array = np.asarray(given)
    except (TypeError, ValueError, OverflowError):
        array = np.asarray(None)
    if array.ndim not in (1, 2) or array.dtype.kind not in "iu":
        raise LayoutError(f"{what} is {given!r}; give integers")
    flat = integer_array(array.reshape(-1), what)
    return flat.reshape(array.shape)


def _grid_of(given: Any) -> tuple[int, int, list[int]]:
    """Rows, columns and processes (None: row by row) of a user's grid."""
    grid = _table(given, "the grid")
    if grid.shape == (2,):
        return int(grid[0]), int(grid[1]), []
    if grid.ndim != 2 or not grid.size:
        raise LayoutError(
            f"the grid has shape {grid.shape}; give (rows, columns), or an array of the processes "
            f"in these rows and columns"
        )
    return grid.shape[0], grid.shape[1], grid.reshape(-1).tolist()


def layout_from_blacs(desc: Any, grid: Any, transposed: bool, rank: Optional[int]) -> _pure.Layout:
    """Implements `Layout.from_blacs`."""
    rows, columns, processes = _grid_of(grid)
    table = _table(desc, "the descriptor")
    if table.shape[-1] != len(_NAMES):
        raise LayoutError(
            f"the descriptor has {table.shape[-1]} entries; give ScaLAPACK's 9, from DTYPE_ to LLD_"
        )
    whose = -1 if rank is None else integer(rank, "rank")
    turned = as_flag(transposed, "transposed")
    if table.ndim == 1:
        return _pure.Layout.from_blacs(table.tolist(), rows, columns, processes, whose, turned)
    first = table[processes[0] if processes and 0 <= processes[0] < len(table) else 0]
    made = _pure.Layout.from_blacs(first.tolist(), rows, columns, processes, -1, turned)
    if len(table) < made.size:
        raise LayoutError(
            f"the grid has processes 0 to {made.size - 1}, but there are descriptors of "
            f"{len(table)}; give one for each: is the descriptor of another grid?"
        )
    for process in processes or range(made.size):
        differ = [n for n in range(9) if n not in (1, 8) and table[process, n] != first[n]]
        if differ:
            raise LayoutError(
                f"process {process}'s descriptor {table[process].tolist()} differs in "
                f"{_NAMES[differ[0]]} from {first.tolist()}; those of one matrix agree but for "
                f"CTXT_ and LLD_"
            )
        least = max(1, made.local_shape(process)[turned])
        if table[process, 8] < least:
            raise LayoutError(
                f"process {process}'s LLD_ is {table[process, 8]}, but its rows are {least}; "
                f"is the descriptor of another process or grid?"
            )
    return made


def blacs_of(
    native: _pure.Layout, context: Any, transposed: bool, dtype: npt.DTypeLike
) -> tuple[npt.NDArray[Any], npt.NDArray[np.int64]]:
    """Implements `Layout.to_blacs`."""
    handle, turned = integer(context, "context"), as_flag(transposed, "transposed")
    try:
        kind = np.dtype(dtype)
    except (TypeError, ValueError, SyntaxError):
        kind = np.dtype(object)
    if kind.kind != "i" or kind.itemsize < 4:
        raise LayoutError(f"dtype is {dtype!r}; give ScaLAPACK's integers, as np.intc")
    rows, columns, processes = native.blacs_grid(turned)
    table = np.empty((native.size, 9), dtype=np.int64)
    table[:] = native.to_blacs(processes[0], handle, turned)
    table[:, 1] = -1
    table[processes, 1] = handle
    table[:, 8] = [max(1, native.local_shape(r)[turned]) for r in range(native.size)]
    if table.size and table.max() > np.iinfo(kind).max:
        raise LayoutError(
            f"the descriptor's entry {table.max()} does not fit into {kind}; a ScaLAPACK of 64-bit "
            f"integers takes dtype=np.int64"
        )
    return table.astype(kind), np.array(processes).reshape(rows, columns)
