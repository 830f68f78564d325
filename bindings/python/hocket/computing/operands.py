# SPDX-License-Identifier: BSD-3-Clause
"""Operands of an operation, brought to the layout of its result."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hocket.arrays import Array, local_shape
from hocket.calls import collective, no_array
from hocket.computing.layouts import Shape, aligned_with, held, numbers, replicated_layout
from hocket.creation import empty
from hocket.dtypes import resolve
from hocket.errors import Error, LayoutError, MismatchError
from hocket.layouts import Layout
from hocket.redistribution import redistribute

if TYPE_CHECKING:
    from mpi4py import MPI

_checks: ContextVar[bool] = ContextVar("hocket_checked", default=False)
_checks_always = os.environ.get("HOCKET_CHECK", "") not in ("", "0")


@contextmanager
def checked() -> Iterator[None]:
    """Within this context, hocket compares plain NumPy operands across processes, which must have
    the same.

    Operations treat a NumPy operand as a replicated array, and read only the part that they need.
    The setting ``HOCKET_CHECK=1`` checks the whole program. Costs a message to each process for
    every NumPy operand.

    Raises
    ------
    MismatchError
        by the operation, on every process, if an operand differs; names the processes.

    Examples
    --------
    >>> a = hk.ones(hk.Layout(4, "(*)"))
    >>> with hk.checked():
    ...     b = a + np.arange(4)
    """
    token = _checks.set(True)
    try:
        yield
    finally:
        _checks.reset(token)


def communicator_of(arrays: Sequence[Array]) -> MPI.Comm:
    """The common communicator. Raises `Error`."""
    comm = arrays[0]._comm
    for other in arrays[1:]:
        if other._comm is not comm and other._comm != comm:
            raise Error(
                f"the arrays are over different communicators, of {comm.size} and "
                f"{other._comm.size} processes; make them with the same comm="
            )
    return comm


def first_communicator(given: Sequence[Any]) -> Any:
    """That of the first distributed array among arguments, and lists of them; None without one."""
    for x in given:
        found = x.comm if isinstance(x, Array) else None
        if isinstance(x, (list, tuple)):
            found = first_communicator(x)
        if found is not None:
            return found
    return None


def shape_of(x: Any) -> Shape:
    """The global shape."""
    return x.layout.shape if isinstance(x, Array) else np.shape(x)


def broadcast_shape(operands: Sequence[Any]) -> Shape:
    """The shape of the result. Raises `LayoutError` naming all shapes."""
    shapes = [shape_of(x) for x in operands]
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        raise LayoutError(
            f"the shapes {' and '.join(map(str, dict.fromkeys(shapes)))} do not broadcast to one; "
            "extents must be equal, or 1"
        ) from None


def indices_in(shape: Shape, layout: Layout, rank: int) -> list[npt.NDArray[np.int64]]:
    """For an indexed `layout`: for each local element, its index in an operand of `shape`."""
    found = np.unravel_index(numbers(layout, rank), layout.shape)
    offset = layout.ndim - len(shape)
    return [
        found[offset + d]
        if extent == layout.shape[offset + d]
        else np.zeros_like(found[offset + d])
        for d, extent in enumerate(shape)
    ]


def part_of(x: npt.NDArray[Any], layout: Layout, rank: int) -> npt.NDArray[Any]:
    """The elements of a replicated array, broadcast to `layout`, that process `rank` needs."""
    if rank >= layout.size:
        return np.empty((0,) * max(1, x.ndim), x.dtype)
    if layout._native.is_indexed:
        return x[tuple(indices_in(x.shape, layout, rank))]
    held_here = layout.global_indices(rank)
    offset = layout.ndim - x.ndim
    part = x
    for d, extent in enumerate(x.shape):
        if extent == layout.shape[offset + d]:
            part = part[(slice(None),) * d + (runs(held_here[offset + d]),)]
    return part


def runs(indices: npt.NDArray[np.int64]) -> Any:
    """Equally spaced indices as a slice."""
    from hocket.arguments import regular

    return regular(indices)


def bring(x: Any, layout: Layout, rank: int, comm: MPI.Comm) -> Any:
    """The operand as a local array that broadcasts to the local part of `layout`. Collective."""
    if isinstance(x, Array):
        if x._layout == layout and (x._local.size or x._layout is layout):
            return x.local
        if layout.num_elements == 0:
            return np.empty(local_shape(layout, comm), x.dtype)
        needed = aligned_with(x._layout.shape, layout)
        here = x if x._layout in (layout, needed) else redistribute(x, needed)
        if is_empty(layout, rank):
            return np.empty(local_shape(layout, comm), x.dtype)
        if layout._native.is_indexed and rank < layout.size and x._layout.shape != layout.shape:
            shape = needed.shape
            own = numbers(needed, rank).reshape(-1)
            wanted = indices_in(shape, layout, rank)
            flat = (
                np.ravel_multi_index(wanted, shape)
                if shape
                else np.zeros(layout.local_shape(rank), int)
            )
            order = np.argsort(own, kind="stable")
            return here.local.reshape(-1)[order[np.searchsorted(own[order], flat)]]
        return here.local
    if isinstance(x, (bool, int, float, complex, np.generic)):
        return x
    x = np.asarray(x)
    if x.ndim == 0:
        return x[()]
    if is_empty(layout, rank):
        return np.empty(local_shape(layout, comm), x.dtype)
    return part_of(x, layout, rank)


def is_empty(layout: Layout, rank: int) -> bool:
    """Whether the process has no elements."""
    return rank >= layout.size or layout.local_elements(rank) == 0


def checks() -> bool:
    """Whether operations compare NumPy operands across processes."""
    return _checks_always or _checks.get()


def check_alike(operands: Sequence[Any], comm: MPI.Comm) -> None:
    """In checking mode: verifies that all processes pass the same NumPy operands. Collective."""
    if not checks():
        return
    from hocket.computing.collecting import allgather

    for place, x in enumerate(operands):
        if isinstance(x, Array):
            continue
        value = np.ascontiguousarray(x)
        text = f"{value.dtype.str} {value.shape} ".encode() + value.tobytes()
        digest = np.frombuffer(hashlib.sha256(text).digest(), np.uint8)
        all_of_them = allgather(comm, digest)
        differ = np.flatnonzero((all_of_them != all_of_them[0]).any(axis=1))
        if len(differ):
            raise MismatchError(
                f"operand {place} is a NumPy array, so it counts as replicated, but process "
                f"{differ[0]} has another one than process 0; give all the same, or hk.wrap() it "
                "with the layout that it has"
            )


def as_array(x: Any, comm: MPI.Comm) -> Array:
    """A NumPy array or a scalar as a replicated array."""
    if isinstance(x, Array):
        return x
    return made(np.asarray(x), replicated_layout(np.shape(x), comm.size), comm)


def as_arrays(*operands: Any) -> tuple[Array, ...]:
    """All as distributed arrays; NumPy's become replicated."""
    comm = communicator_of([x for x in operands if isinstance(x, Array)])
    with collective(comm, None):
        values = [x if isinstance(x, Array) else np.asarray(x) for x in operands]
        for value in values:
            resolve(value.dtype)
    return tuple(as_array(x, comm) for x in values)


def made(local: npt.NDArray[Any], layout: Layout, comm: MPI.Comm) -> Array:
    """A result as a distributed array, whatever shape NumPy gave it."""
    shape = local_shape(layout, comm)
    local = np.asarray(local)
    if 0 in shape:  # an empty reduction has the identity, which no process holds
        local = np.empty(shape, local.dtype)
    return Array(local if local.shape == shape else local.reshape(shape), layout, comm)


def copied(x: Any, layout: Layout) -> Array:
    """`x` in `layout`, in new memory. Collective."""
    if x._layout != layout:
        return redistribute(x, layout)
    result = empty(layout, x.dtype, x.comm)
    result._local[...] = x.local
    return result


def without_copies(a: Array) -> Array:
    """`a` in a layout in which each element has one owner only. Collective."""
    if held(a.layout) == a.layout.num_elements:
        return a
    from hocket.computing.layouts import sole

    return redistribute(a, sole(a.layout))


def replicated(a: Array) -> npt.NDArray[Any]:
    """The whole array, on every process. Collective.

    Parameters
    ----------
    a : Array

    Returns
    -------
    numpy.ndarray
        of shape ``a.layout.shape``

    Raises
    ------
    LayoutError
        on every process, if no process holds some element.
    Error
        for an object that is no distributed array.

    Examples
    --------
    On two processes:

    >>> a = hk.arange(hk.Layout(4, "(BLOCK)", 2))
    >>> hk.replicated(a)
    array([0, 1, 2, 3])
    """
    if not isinstance(a, Array):
        no_array(f"cannot replicate {type(a).__name__}", None)
    return redistribute(a, replicated_layout(a.layout.shape, a._rank_and_size[1])).local
