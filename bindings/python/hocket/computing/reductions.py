# SPDX-License-Identifier: BSD-3-Clause
"""Reductions over global axes: each process reduces its part, and then processes combine partial
results."""

from __future__ import annotations

import functools
from contextlib import suppress
from typing import Any, Callable, Optional

import numpy as np
import numpy.typing as npt

from hocket import _mpi
from hocket.arrays import Array
from hocket.calls import collective
from hocket.computing import columns
from hocket.computing.combining import combined, finish, on_grid, results_of, scalar, to_out
from hocket.computing.layouts import Shape, held, kept, reduced_axes
from hocket.computing.operands import made, without_copies
from hocket.errors import Error, MismatchError
from hocket.layouts import Layout
from hocket.local_memory import as_array

AnyArray = npt.NDArray[Any]


#: each process reduces its part, and then all combine theirs
ASSOCIATIVE = frozenset(
    [np.add, np.multiply, np.maximum, np.minimum, np.fmax, np.fmin, np.hypot, np.gcd, np.lcm]
).union(
    [np.logical_and, np.logical_or, np.logical_xor, np.logaddexp, np.logaddexp2],
    [np.bitwise_and, np.bitwise_or, np.bitwise_xor],
)


def require_associative(ufunc: np.ufunc, method: str) -> None:
    """Raises `TypeError` for others, whose result would depend on the layout."""
    if ufunc not in ASSOCIATIVE:
        raise TypeError(
            f"np.{ufunc.__name__}.{method} of distributed arrays: {ufunc.__name__} is not "
            "associative; use np.add, a.local or hk.map_blocks"
        )


def loop_type(dtype: np.dtype[Any]) -> Any:
    """`dtype` as a ufunc takes it: dates and durations without a unit, which the operands have."""
    return dtype.type if dtype.kind in "mM" else dtype


#: the reduction of a part: over all axes (None) to a number, or over some, which keep extent 1
Find = Callable[[AnyArray, Optional[Shape]], Any]


def by_ufunc(ufunc: np.ufunc, wanted: np.dtype[Any], whole: bool) -> Find:
    kind = loop_type(wanted)
    if whole:  # called as find(x, None)
        return functools.partial(ufunc.reduce, dtype=kind)
    fold = columns.fold_of(ufunc, wanted)

    def find(x: AnyArray, axes: Optional[Shape]) -> Any:
        if fold is not None and axes and x.size >= 4096 and x.dtype == wanted:
            found = columns.folded(fold, x, axes)
            if found is not None:
                return found
        return ufunc.reduce(x, axis=axes, dtype=kind, keepdims=True)

    return find


#: the axes (None: all), the dtype of the result and that of NumPy's loop, and the name of the call;
#: the reduction of a part, and that of all elements by one call of the extension, if there are
Plan = tuple[
    Optional[Shape], np.dtype[Any], Any, str, Optional[Find], Optional[Callable[[Array], Any]]
]

#: plans by what they depend on, of reductions whose arguments passed the checks
_plans: dict[tuple[Any, ...], Plan] = {}


def planned(ufunc: np.ufunc, a: Array, axis: Any, dtype: Any = None) -> Plan:
    """Checks the arguments. Collective where it raises."""
    # Code that runs for the first time since other work takes half of a call's time. An array with
    # elements here has none of the extents that are refused.
    quick = dtype is None and (axis is None or type(axis) is int) and a._local.size > 0
    key: tuple[Any, ...] = (ufunc, a._local.dtype)
    if axis is not None:
        key = (*key, axis, a._layout.ndim)
    found = _plans.get(key) if quick else None
    if found is not None:
        return found
    require_associative(ufunc, "reduce")
    with collective(a.comm, None):
        axes = reduced_axes(axis, a.layout.ndim)
        try:
            kind = None if dtype is None else np.dtype(dtype)
            wanted = reduced_type(ufunc, a.dtype, kind, len(axes))
            shape = a.layout.shape
            if ufunc.identity is None and 0 in shape and any(shape[d] == 0 for d in axes):
                raise ValueError("no elements to reduce, and no identity")
        except (TypeError, ValueError) as error:
            raise MismatchError(f"np.{ufunc.__name__} does not reduce {a.dtype}: {error}") from None
    call = f"np.{ufunc.__name__}.reduce of {a.dtype}"
    whole = len(axes) == a.layout.ndim
    exact = ufunc is np.add and is_exact(wanted)
    find = None if exact else by_ufunc(ufunc, wanted, whole)
    at_once = None
    if whole and exact:
        at_once = total_in(wanted)
    elif whole and a.dtype.kind == "b" and ufunc in (np.logical_and, np.logical_or):
        at_once = truth_by(ufunc is np.logical_or, call)
    plan = (None if whole else axes), wanted, loop_type(wanted), call, find, at_once
    if quick and len(_plans) < 1024:
        _plans[key] = plan
    return plan


def total_in(wanted: np.dtype[Any]) -> Callable[[Array], Any]:
    """The exact sum of all elements."""

    def total(a: Array) -> Any:
        terms = a if a._local.dtype == wanted else of_part(a, terms_of, a, wanted)
        return np.frombuffer(_mpi.exact_total(terms._wrapped()), wanted)[0]

    return total


def truth_by(any_of_them: bool, call: str) -> Callable[[Array], Any]:
    """Whether all elements of an array of bool are true, or any is. Copies change no such
    result."""
    return lambda a: np.bool_(_mpi.truth(a._wrapped(), any_of_them, call))


@functools.lru_cache(maxsize=1024)
def reduced_type(
    ufunc: np.ufunc, dtype: np.dtype[Any], wanted: Any, axes: int = 1
) -> np.dtype[Any]:
    """The dtype of a reduction over so many axes. Raises as NumPy."""
    wanted = None if wanted is None else np.dtype(wanted).newbyteorder("=")
    one = np.ones((1,) * max(axes, 1), dtype)
    return ufunc.reduce(one, None, dtype=wanted).dtype  # type: ignore[no-any-return]


def reduce(
    ufunc: np.ufunc,
    a: Array,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: bool = False,
) -> Any:
    """``ufunc.reduce(a, axis)`` over global axes; sums of floating-point numbers are exact.
    Collective."""
    plan = planned(ufunc, a, axis, dtype)
    axes, wanted, _, call, find, _ = plan
    if axes is None:
        return scalar(reduce_all(ufunc, a, plan), wanted, keepdims, a, out)
    if find is None:
        return exact_sum(a, axes, wanted, out, keepdims)
    return of_parts(call, ufunc, find, a, axes, wanted, out, keepdims)


def of_part(a: Array, find: Callable[..., Any], *given: Any) -> Any:
    """`find(*given)`. An error, as ``np.errstate`` asks for, and Ctrl-C end the others' call."""
    try:
        return find(*given)
    except (Exception, KeyboardInterrupt) as error:
        with suppress(Error), collective(a.comm, None):
            raise error
        raise


def of_parts(
    call: str,
    ufunc: np.ufunc,
    find: Find,
    a: Array,
    axes: Shape,
    wanted: np.dtype[Any],
    out: Any,
    keepdims: bool,
) -> Any:
    """The results of `find` for the parts, combined by `ufunc`. Collective."""
    a = on_grid(a)
    local = a.local
    there = local.ndim == a.layout.ndim and a._rank_and_size[0] < a.layout.size
    if there and (ufunc.identity is not None or all(local.shape[d] for d in axes)):
        partial = of_part(a, find, local, axes)
    else:
        partial = local.astype(wanted)  # of no elements
    found = combined(call, partial, a.layout, a.comm, axes, ufunc, ufunc.identity or 0, keepdims)
    return finish(found, out, wanted)


@functools.lru_cache(maxsize=1024)
def is_exact(dtype: np.dtype[Any]) -> bool:
    """Whether its sums are exact: binary floating point of 16, 32 and 64 bits, and complex."""
    return dtype.newbyteorder("=").str[1:] in ("f2", "f4", "f8", "c8", "c16")


def terms_of(a: Array, wanted: np.dtype[Any]) -> Array:
    """The array with elements of this dtype. Local."""
    return a if a.dtype == wanted else made(a.local.astype(wanted), a.layout, a.comm)


def exact_sum(a: Array, axes: Shape, wanted: np.dtype[Any], out: Any, keepdims: bool) -> Any:
    """The exact sum over `axes`, rounded once to `wanted`. Collective."""
    terms = on_grid(of_part(a, terms_of, a, wanted))
    layout, shape = results_of(terms._layout, axes, keepdims, a._rank_and_size[0])
    _, memory = _mpi.exact_sum(terms._wrapped(), axes)
    result = Array(as_array(memory, shape, wanted), layout, a._comm)
    return result if out is None else to_out(result, out)


@kept
def sole_holders(layout: Layout) -> Optional[tuple[int, ...]]:
    """The processes that hold elements; None if some elements have several owners."""
    if held(layout) != layout.num_elements:
        return None
    return tuple(rank for rank in range(layout.size) if layout.local_elements(rank))


def reduce_all(ufunc: np.ufunc, a: Array, plan: Plan) -> Any:
    """The reduction of all elements, which `ufunc` combines. Collective."""
    _, wanted, loop, call, find, at_once = plan
    if at_once is not None or find is None:
        return at_once(a)  # type: ignore[misc]
    having = sole_holders(a._layout)
    if having is None:
        a = without_copies(a)
        having = sole_holders(a._layout) or ()
    rank, size = a._rank_and_size
    local = a._local if a._home is None else a._current()
    mine = of_part(a, find, local, None) if rank in having else np.zeros((), wanted)[()]
    if size == 1 and having:
        return mine
    if mine.dtype != wanted:
        mine = mine.astype(wanted)
    rows = np.frombuffer(_mpi.allgather(a._comm.handle, call, mine.tobytes()), wanted)
    return ufunc.reduce(rows if len(having) == size else rows[list(having)], None, loop)


def total(ufunc: np.ufunc, a: Array) -> Any:
    """The reduction of all elements, if such a call has passed the checks; else None. Collective.

    After other work, most of a call's time is the first touch of code and small objects, so the
    usual case takes few functions.
    """
    plan = _plans.get((ufunc, a._local.dtype))
    return None if plan is None else reduce_all(ufunc, a, plan)
