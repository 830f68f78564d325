# SPDX-License-Identifier: BSD-3-Clause
"""A plan's messages as MPI datatypes, for programs that move arrays with MPI itself."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from hocket.arguments import as_number
from hocket.errors import Error, LayoutError
from hocket.layouts import Layout

if TYPE_CHECKING:
    from mpi4py import MPI

Ends = tuple[list[int], list[int], list["MPI.Datatype"]]


def ends_of(plan: Any, rank: int, processes: int) -> tuple[Ends, Ends]:
    """The arguments of process `rank` for ``Alltoallw`` over `processes` processes."""
    if not 0 <= rank < processes:
        raise LayoutError(
            f"there is no process {rank} among {processes}; give 0 to {processes - 1}"
        )
    return (
        _end(plan, "src", plan.source, rank, processes),
        _end(plan, "dst", plan.destination, rank, processes),
    )


def processes_of(plan: Any, comm_size: Any) -> int:
    """The number of processes of the communicator: as many as either layout has, or more."""
    least: int = max(plan.source.size, plan.destination.size)
    if comm_size is None:
        return least
    size = as_number(comm_size, "comm_size")
    if size < least:
        raise LayoutError(f"comm_size is {size}, but the layouts have up to {least} processes")
    return size


def _end(plan: Any, side: str, layout: Layout, rank: int, processes: int) -> Ends:
    from mpi4py import MPI

    if MPI.Is_finalized():  # MPI would end the program
        raise Error("alltoallw makes datatypes of MPI, which has ended; call it before")
    itemsize = plan.itemsize
    # The caller frees all types, so peers without elements get copies, too.
    types = [MPI.BYTE.Dup() for _ in range(processes)]
    counts = [0] * processes
    if rank < layout.size:
        shape = layout.local_shape(rank)
        strides = [math.prod(shape[d + 1 :]) * itemsize for d in range(len(shape))]
        for peer, boxes in plan.boxes(side, rank):
            types[peer].Free()
            types[peer] = _datatype(boxes, side == "src", strides, itemsize).Commit()
            counts[peer] = 1
    return counts, [0] * processes, types


#: MPI counts elements with a C int.
_MOST = 1 << 30


def _repeated(part: MPI.Datatype, count: int, stride: int) -> MPI.Datatype:
    """`count` times the part, `stride` bytes apart."""
    from mpi4py import MPI

    if count > _MOST:
        blocks, rest = divmod(count, _MOST)
        block = _repeated(part, _MOST, stride)
        pieces = [_repeated(block, blocks, _MOST * stride), _repeated(part, rest, stride)]
        made = MPI.Datatype.Create_struct([1, 1], [0, blocks * _MOST * stride], pieces)
        for each in (block, *pieces):
            each.Free()
        return made
    if stride >= 0:
        return part.Create_hvector(count, 1, stride)
    # Open MPI 5.0 treats a vector of contiguous elements with a negative stride as one with a
    # positive stride.
    return part.Create_hindexed_block(1, [i * stride for i in range(count)])


def _datatype(boxes: list[Any], sending: bool, strides: list[int], itemsize: int) -> MPI.Datatype:
    """The boxes' elements in the order of the message, relative to the local array."""
    from mpi4py import MPI

    parts, places = [], []
    for source_first, destination_first, loops in boxes:
        first = source_first if sending else destination_first
        places.append(sum(at * stride for at, stride in zip(first, strides)))
        part = MPI.BYTE.Create_contiguous(itemsize)
        for extent, source, source_step, destination, destination_step in reversed(loops):
            d, step = (source, source_step) if sending else (destination, destination_step)
            inner, part = part, _repeated(part, extent, step * strides[d])
            inner.Free()
        parts.append(part)
    made = MPI.Datatype.Create_struct([1] * len(parts), places, parts)
    for part in parts:
        part.Free()
    return made
