# SPDX-License-Identifier: BSD-3-Clause
"""Layouts from processes that know only their own parts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional

from hocket import _mpi, _pure
from hocket.arguments import index_box, integer_array, integers
from hocket.calls import collective
from hocket.communicators import communicator
from hocket.errors import LayoutError

if TYPE_CHECKING:
    from mpi4py import MPI


def layout_from_local(
    comm: Optional[MPI.Comm], part: Any, shape: Any, timeout: Optional[float]
) -> _pure.Layout:
    """Implements `Layout.from_local`."""
    on = communicator(comm)
    with collective(on, timeout) as seconds:
        extents = [] if shape is None else integers(shape, "shape")
        if isinstance(part, slice) or _are_slices(part):
            part = _box_of((part,) if isinstance(part, slice) else part, extents, on.rank)
        box = index_box(part, on.rank) if isinstance(part, tuple) else None
        elements = [] if box else integer_array(part, f"the elements of process {on.rank}").tolist()
    if box is not None:
        return _mpi.layout_of_box(on.handle, *box, extents, seconds)
    return _mpi.layout_of_elements(on.handle, elements, extents, seconds)


def _are_slices(part: Any) -> bool:
    return isinstance(part, tuple) and any(isinstance(each, slice) for each in part)


def _box_of(slices: tuple[Any, ...], extents: list[int], process: int) -> tuple[Any, ...]:
    """Slices with step 1 as a (start, stop) pair. Raises `LayoutError`."""
    start, stop = [], []
    for d, each in enumerate(slices):
        whole = extents[d] if d < len(extents) else None
        end = getattr(each, "stop", None)
        end = whole if end is None else end
        if not isinstance(each, slice) or each.step not in (None, 1) or end is None:
            raise LayoutError(
                f"the part of process {process} is {each!r} in dimension {d}; give a slice with a "
                "stop and step 1, or the element numbers of the part as a list"
            )
        start.append(each.start or 0)
        stop.append(end)
    return start, stop
