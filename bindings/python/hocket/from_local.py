# SPDX-License-Identifier: BSD-3-Clause
"""Layouts from processes that know only their own parts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional

from hocket import _mpi, _pure
from hocket.arguments import index_box, integer_array, integers
from hocket.calls import collective
from hocket.communicators import communicator

if TYPE_CHECKING:
    from mpi4py import MPI


def layout_from_local(
    comm: Optional[MPI.Comm], part: Any, shape: Any, timeout: Optional[float]
) -> _pure.Layout:
    """Implements `Layout.from_local`."""
    on = communicator(comm)
    with collective(on, timeout) as seconds:
        extents = [] if shape is None else integers(shape, "shape")
        box = index_box(part, on.rank) if isinstance(part, tuple) else None
        elements = [] if box else integer_array(part, f"the elements of process {on.rank}").tolist()
    if box is not None:
        return _mpi.layout_of_box(on.handle, *box, extents, seconds)
    return _mpi.layout_of_elements(on.handle, elements, extents, seconds)
