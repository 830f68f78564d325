# SPDX-License-Identifier: BSD-3-Clause
"""Layouts of PETSc and mpi4py-fft objects, by the methods of the objects. Imports neither
library."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional

import numpy as np

from . import _pure
from .arguments import integer_array, integers
from .errors import LayoutError

if TYPE_CHECKING:
    from mpi4py import MPI


def _has(given: Any, *names: str) -> bool:
    return all(callable(getattr(given, name, None)) for name in names)


def _extents(ranges: Any) -> Any:
    """The lengths of consecutive ownership ranges, which begin with 0."""
    bounds = integer_array(ranges, "the ownership ranges")
    if len(bounds) < 2 or bounds[0] != 0 or (np.diff(bounds) < 0).any():
        raise LayoutError(
            f"the ownership ranges are {bounds.tolist()}; give 0, and where each process's end, "
            f"increasing"
        )
    return np.diff(bounds)


def _of_da(da: Any) -> _pure.Layout:
    """In PETSc's local arrays x is the fastest index, so it is the layout's last dimension."""
    owned = [integer_array(each, "the DMDA's extents") for each in da.getOwnershipRanges()][::-1]
    shape = integers(da.getSizes(), "the DMDA's sizes")[::-1]
    formats = [_pure.Format.gen_block(extents) for extents in owned]
    if da.getDof() > 1:
        shape.append(int(da.getDof()))
        formats.append(_pure.Format("*"))
    return _pure.Layout(shape, formats, [len(extents) for extents in owned], [])


def layout_from_petsc(given: Any, shape: Any, timeout: Optional[float]) -> _pure.Layout:
    """Implements `Layout.from_petsc`."""
    lists = _has(given, "getIndices", "getComm")
    if shape is not None and not lists:
        raise LayoutError("shape= is for index sets; other objects of PETSc have their own")
    if lists:
        from .from_local import layout_from_local

        comm = given.getComm()
        indices = np.asarray(given.getIndices())
        return layout_from_local(comm.tompi4py(), indices, shape, timeout)
    if _has(given, "getProcSizes", "getOwnershipRanges", "getSizes", "getDof"):
        return _of_da(given)
    ranges, columns = given, []
    if _has(given, "getOwnershipRanges"):
        ranges = given.getOwnershipRanges()
        sizes: Any = given.getSizes() if _has(given, "getSizes") else ()
        if len(sizes) == 2 and np.ndim(sizes[1]) == 1:  # a matrix: (local, global) a dimension
            columns = [int(sizes[1][1])]
    elif isinstance(given, (str, bytes)) or not np.iterable(given):
        raise LayoutError(
            f"{given!r} is nothing of PETSc's that has a layout; give a DMDA, Vec, Mat, IS or "
            f"LGMap of petsc4py, or ownership ranges"
        )
    extents = _extents(ranges)
    formats = [_pure.Format.gen_block(extents), *(_pure.Format("*") for _ in columns)]
    return _pure.Layout([int(extents.sum()), *columns], formats, [len(extents)], [])


def layout_from_mpi4py_fft(
    given: Any, comm: Optional[MPI.Comm], timeout: Optional[float]
) -> _pure.Layout:
    """Implements `Layout.from_mpi4py_fft`."""
    from .calls import collective
    from .communicators import communicator
    from .from_local import layout_from_local

    pencil = hasattr(given, "subshape")  # else a DistArray, whose shape is the local one
    own = getattr(given, "subshape" if pencil else "shape", None)
    whole = getattr(given, "shape" if pencil else "global_shape", None)
    start = getattr(given, "substart", None)
    with collective(communicator(comm), timeout):
        if own is None or whole is None or start is None:
            raise LayoutError(
                f"{given!r:.60} is nothing of mpi4py-fft's that has a layout; give a "
                "DistArray or a Pencil"
            )
        part = (tuple(start), tuple(np.add(start, own).tolist()))
    return layout_from_local(comm, part, whole, timeout)
