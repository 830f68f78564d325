# SPDX-License-Identifier: BSD-3-Clause
"""Partial results of processes, combined and brought to the shape of the result."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Callable

import numpy as np
import numpy.typing as npt

from hocket import _mpi
from hocket.arrays import Array, shape_of_part
from hocket.computing.layouts import Shape, balanced, held, is_grid, is_local, kept, without
from hocket.computing.operands import made
from hocket.errors import MismatchError
from hocket.layouts import Layout
from hocket.local_arrays import address
from hocket.redistribution import redistribute

if TYPE_CHECKING:
    from mpi4py import MPI

AnyArray = npt.NDArray[Any]


def on_grid(a: Array) -> Array:
    """`a` in a layout whose parts are products of sets of indices. Collective."""
    layout = grid_of(a.layout)
    return a if layout is a.layout else redistribute(a, layout)


def grid_of(layout: Layout) -> Layout:
    return layout if is_grid(layout) else balanced(layout.shape, layout.size)


@kept
def remain(layout: Layout, axes: Shape) -> bool:
    """Whether the partial results over `axes` of an array of `layout` are the results, on the
    processes that shall have them."""
    lines = math.prod(layout.shape[d] for d in axes)
    whole = lines > 0 and all(is_local(layout, d) for d in axes)
    return whole and held(layout) == held(without(layout, axes, True)) * lines


@kept
def results_of(layout: Layout, axes: Shape, keepdims: bool, rank: int) -> tuple[Layout, Shape]:
    """The layout of a reduction over `axes`, and the shape of a process's part."""
    found = without(layout, axes, keepdims)
    return found, shape_of_part(found, rank)


def combined(
    call: str,
    partial: AnyArray,
    layout: Layout,
    comm: MPI.Comm,
    axes: Shape,
    combine: Callable[[AnyArray, AnyArray], AnyArray],
    identity: Any = 0,
    keepdims: bool = False,
) -> Array:
    """Partial results over `axes` of an array of `layout`, which have extent 1 there, as one array
    in the layout that the reduction leaves. Collective, unless they `remain`; `call` is the same on
    all processes."""
    if remain(layout, axes):
        return made(partial, without(layout, axes, keepdims), comm)
    target, shape = results_of(layout, axes, keepdims, _mpi.rank_and_size(comm.handle)[0])
    partial = np.ascontiguousarray(partial)
    found: Any = None  # what is combined so far

    def take(values: npt.NDArray[np.uint8], parts: int) -> None:
        nonlocal found
        for part in values.view(partial.dtype).reshape(parts, -1):
            found = part if found is None else combine(found, part)

    _mpi.collect(call, layout._native, axes, comm.handle, address(partial), partial.itemsize, take)
    if found is None:  # there are no elements
        value = np.asarray(identity).astype(partial.dtype)  # -1 of bitwise_and has no sign there
        found = np.full(shape, value)
    return Array(found.reshape(shape), target, comm)


def added(call: str, comm: MPI.Comm, terms: AnyArray) -> AnyArray:
    """The sum of the processes' arrays, which have one shape and dtype, on each. Collective."""
    from hocket.computing.collecting import allgather
    from hocket.computing.methods.base import numpy

    # Exact sums travel as numbers of one form, so their own messages tell no dtypes apart.
    allgather(comm, np.zeros(1, np.uint8), f"{call}, adding {terms.dtype} of shape {terms.shape}")
    rows = Layout((comm.size, terms.size), "(BLOCK, *)", comm.size)
    whole = made(terms, rows, comm)
    found: Array = numpy.sum(whole, 0, terms.dtype.newbyteorder("="))
    return found.local.reshape(terms.shape)


def finish(result: Array, out: Any, dtype: np.dtype[Any]) -> Any:
    """The result with elements of this dtype, or `out` with it. Collective."""
    if result._local.dtype != dtype:
        result = made(result._local.astype(dtype), result._layout, result._comm)
    return result if out is None else to_out(result, out)


def to_out(result: Any, out: Any, casting: Any = "same_kind") -> Any:
    """`result`, an array or a scalar, written to `out`, if NumPy's rule `casting` allows it.
    Collective."""
    from hocket.computing.indexing import put

    if not isinstance(out, Array):
        raise MismatchError(f"out is {type(out).__name__}; give an array made by hk.empty")
    shape = result.layout.shape if isinstance(result, Array) else np.shape(result)
    if out.layout.shape != shape:
        raise MismatchError(f"out has the shape {out.layout.shape}, and the result {shape}")
    has = result.dtype if isinstance(result, Array) else np.asarray(result).dtype
    if not np.can_cast(has, out.dtype, casting):
        raise MismatchError(
            f"out has elements of {out.dtype}, and the result has {has}, which does not convert by "
            f"the rule {casting!r}; give an out of {has}"
        )
    put(out, ..., result)
    return out


def scalar(value: Any, dtype: np.dtype[Any], keepdims: bool, a: Array, out: Any) -> Any:
    """A full reduction's result: a NumPy scalar, or an array for `keepdims` and `out`."""
    found = value
    if type(value) is not dtype.type or value.dtype != dtype:
        found = np.asarray(value).astype(dtype)[()]
    if keepdims:
        from hocket.computing.layouts import replicated_layout

        shape = (1,) * a.layout.ndim
        result = made(np.full(shape, found), replicated_layout(shape, a._rank_and_size[1]), a.comm)
        return result if out is None else to_out(result, out)
    return found if out is None else to_out(found, out)
