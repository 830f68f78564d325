# SPDX-License-Identifier: BSD-3-Clause
"""NumPy's functions that join arrays, split, repeat and surround them. All are collective."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

from hocket.arguments import integers
from hocket.arrays import Array
from hocket.calls import collective
from hocket.computing import shapes
from hocket.computing.algebra import require_dimensions
from hocket.computing.collecting import allgather
from hocket.computing.filling import full as filled
from hocket.computing.indexing import as_value
from hocket.computing.layouts import balanced, even, numbers, one_axis
from hocket.computing.methods.base import numpy as np  # of any type
from hocket.computing.operands import as_arrays, broadcast_shape, communicator_of, made
from hocket.creation import from_function
from hocket.errors import LayoutError
from hocket.formats import gen_block
from hocket.layouts import Layout
from hocket.redistribution import redistribute


def atleast(n: int, a: Any) -> Any:
    """`numpy.atleast_1d` to `numpy.atleast_3d`, which add dimensions where NumPy does."""
    while np.ndim(a) < n:
        a = np.expand_dims(a, np.ndim(a) if np.ndim(a) == 2 else 0)
    return a


def atleast_each(n: int) -> Any:
    """`numpy.atleast_1d` and similar functions of one array or several."""

    def compute(*arys: Any) -> Any:
        found = tuple(atleast(n, a) for a in arys)
        return found[0] if len(found) == 1 else found

    return compute


def vstack(tup: Sequence[Any], *, dtype: Any = None, casting: Any = "same_kind") -> Any:
    """`numpy.vstack`."""
    return np.concatenate([atleast(2, a) for a in tup], 0, dtype=dtype, casting=casting)


def hstack(tup: Sequence[Any], *, dtype: Any = None, casting: Any = "same_kind") -> Any:
    """`numpy.hstack`."""
    parts = [atleast(1, a) for a in tup]
    axis = 0 if np.ndim(parts[0]) == 1 else 1
    return np.concatenate(parts, axis, dtype=dtype, casting=casting)


def dstack(tup: Sequence[Any]) -> Any:
    """`numpy.dstack`."""
    return np.concatenate([atleast(3, a) for a in tup], 2)


def column_stack(tup: Sequence[Any]) -> Any:
    """`numpy.column_stack`."""
    parts = [atleast(1, a) for a in tup]
    return np.concatenate([np.expand_dims(a, 1) if np.ndim(a) == 1 else a for a in parts], 1)


def append(arr: Any, values: Any, axis: Any = None) -> Any:
    """`numpy.append`."""
    return np.concatenate([arr, values], axis)


def block(arrays: Any) -> Any:
    """`numpy.block`."""

    def depth(x: Any) -> int:
        return 1 + max(map(depth, x)) if isinstance(x, list) else 0

    def most(x: Any) -> int:
        return max(map(most, x)) if isinstance(x, list) else np.ndim(x)

    def joined(x: Any, level: int) -> Any:
        if isinstance(x, list):
            return np.concatenate([joined(each, level - 1) for each in x], -level)
        while np.ndim(x) < ndim:
            x = np.expand_dims(x, 0)
        return x

    ndim = max(depth(arrays), most(arrays))
    return joined(arrays, depth(arrays)) if isinstance(arrays, list) else np.copy(arrays)


def array_split(ary: Array, indices_or_sections: Any, axis: int = 0) -> list[Array]:
    """`numpy.array_split`: sections of the same memory."""
    with collective(ary.comm, None):
        d = one_axis(axis, ary.ndim)
        extent = ary.shape[d]
        if np.ndim(indices_or_sections):
            ends = [0, *integers(indices_or_sections, "an index to split at"), extent]
        else:
            count = operator.index(indices_or_sections)
            if count < 1:
                raise LayoutError(f"{count} sections; give 1 or more")
            ends = even(extent, count)
    parts = zip(ends[:-1], ends[1:])
    return [ary.section(shapes.at(d, slice(begin, end), ary.ndim)) for begin, end in parts]


def split(ary: Array, indices_or_sections: Any, axis: int = 0) -> list[Array]:
    """`numpy.split`: sections of the same memory."""
    with collective(ary.comm, None):
        extent = ary.shape[one_axis(axis, ary.ndim)]
        if not np.ndim(indices_or_sections) and extent % max(indices_or_sections, 1):
            raise LayoutError(
                f"an extent of {extent} has no {indices_or_sections} equal sections; use "
                "np.array_split"
            )
    return array_split(ary, indices_or_sections, axis)


def hsplit(ary: Array, indices_or_sections: Any) -> list[Array]:
    """`numpy.hsplit`: sections of the same memory."""
    return split(ary, indices_or_sections, 1 if ary.ndim > 1 else 0)


def vsplit(ary: Array, indices_or_sections: Any) -> list[Array]:
    """`numpy.vsplit`: sections of the same memory."""
    require_dimensions((ary, 2))
    return split(ary, indices_or_sections, 0)


def dsplit(ary: Array, indices_or_sections: Any) -> list[Array]:
    """`numpy.dsplit`: sections of the same memory."""
    require_dimensions((ary, 3))
    return split(ary, indices_or_sections, 2)


def unstack(x: Array, axis: int = 0) -> tuple[Any, ...]:
    """`numpy.unstack`: sections of the same memory, or scalars."""
    require_dimensions((x, 1))
    return tuple(np.moveaxis(x, axis, 0))


def broadcast_arrays(*args: Any) -> tuple[Any, ...]:
    """`numpy.broadcast_arrays`: copies."""
    args = as_arrays(*args)
    with collective(args[0].comm, None):
        shape = broadcast_shape(args)
    return tuple(shapes.broadcast_to(a, shape) for a in args)


def meshgrid(*xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy") -> Any:
    """`numpy.meshgrid`: copies."""
    lines = [shapes.ravel(x) for x in as_arrays(*xi)]
    with collective(lines[0].comm, None):
        if indexing not in ("xy", "ij"):
            raise LayoutError(f"indexing is {indexing!r}; give 'xy' or 'ij'")
    order = list(range(len(lines)))
    if indexing == "xy" and len(lines) > 1:
        order[:2] = 1, 0
    found = [
        shapes.expand_dims(line, [d for d in range(len(lines)) if d != place])
        for line, place in zip(lines, order)
    ]
    return tuple(found) if sparse else broadcast_arrays(*found)


def tile(A: Array, reps: Any) -> Any:
    """`numpy.tile`."""
    counts = tuple(map(operator.index, np.atleast_1d(reps).tolist()))
    result: Any = A
    while result.ndim < len(counts):
        result = np.expand_dims(result, 0)
    for axis, count in zip(range(result.ndim)[-len(counts) :], counts):
        if count == 0:
            result = result[shapes.at(axis, slice(0, 0), result.ndim)]
        elif count > 1:
            result = np.concatenate([result] * count, axis, dtype=A.dtype)
    return result.copy() if max(counts, default=1) < 2 else result


def repeat(a: Array, repeats: Any, axis: Any = None) -> Any:
    """`numpy.repeat`."""
    a, d = shapes.flattened(a, axis)
    if isinstance(repeats, Array):
        if repeats.shape not in ((), (1,)):
            return np.take(a, sources(a, repeats, a.shape[d]), axis=d)
        with collective(a.comm, None):
            communicator_of([a, repeats])
        repeats = repeats.reshape(())[()]
    with collective(a.comm, None):
        extent = a.shape[d]
        counts = np.asarray(repeats, None if np.size(repeats) else np.int64)
        if counts.shape not in ((), (1,), (extent,)) or counts.dtype.kind not in "biu":
            raise LayoutError(f"repeats is {repeats!r:.80}; give an integer, or {extent}")
        if (counts < 0).any():
            raise LayoutError(f"repeats is {repeats!r:.80}; give none below 0")
        ends = counts.reshape(()) if counts.size == 1 else np.cumsum(counts)
        total = int(counts.sum()) if ends.ndim else extent * int(ends)
    index = from_function(
        lambda i: np.searchsorted(ends, i, "right") if ends.ndim else i // ends,
        balanced((total,), a.layout.size),
        np.int64,
        a.comm,
    )
    return np.take(a, index, axis=d)


def sources(a: Array, repeats: Array, extent: int) -> Array:
    """For each element of `np.repeat` along an axis of `extent` elements, which one it repeats.
    Collective."""

    def refuse() -> None:
        raise LayoutError(f"repeats is {repeats!r:.80}; give {extent} integers of 0 or more")

    size = a.layout.size
    with collective(a.comm, None):
        communicator_of([a, repeats])
        if repeats.shape != (extent,) or not np.can_cast(repeats.dtype, np.int64, "safe"):
            refuse()
    parts = balanced((extent,), size)
    counts = redistribute(repeats, parts).local.reshape(-1).astype(np.int64)
    least = int(counts.min(initial=0))
    facts = allgather(a.comm, np.asarray([least, 0 if least < 0 else counts.sum()]))[:size]
    if (facts[:, 0] < 0).any():
        refuse()
    own = np.repeat(numbers(parts, a._rank_and_size[0]).reshape(-1), np.maximum(counts, 0))
    runs = Layout((int(facts[:, 1].sum()),), [gen_block(facts[:, 1])], size)
    return redistribute(made(own, runs, a.comm), balanced(runs.shape, size))


def delete(arr: Array, obj: Any, axis: Any = None) -> Any:
    """`numpy.delete`."""
    arr, d = shapes.flattened(arr, axis)
    with collective(arr.comm, None):
        if isinstance(obj, Sequence):
            obj = np.asarray(obj, None if len(obj) else np.int64)
    kept = filled(balanced((arr.shape[d],), arr.layout.size), True, comm=arr.comm)
    kept[obj] = False
    return arr[(slice(None),) * d + (kept,)]


def pad(array: Array, pad_width: Any, mode: Any = "constant", **options: Any) -> Any:
    """`numpy.pad` with constants, or with elements of the array."""
    allowed = {
        "constant": "constant_values",
        "reflect": "reflect_type",
        "symmetric": "reflect_type",
    }
    if mode not in (*allowed, "edge", "wrap") or options.get("reflect_type", "even") != "even":
        raise TypeError(
            f"np.pad of distributed arrays takes no {mode!r:.40} {options or ''}; use 'constant', "
            "'edge', 'reflect', 'symmetric' or 'wrap', or np.concatenate"
        )
    with collective(array.comm, None):
        wrong = [name for name in options if name != allowed.get(mode)]
        if wrong:
            raise LayoutError(f"the mode {mode!r} takes no {wrong[0]}=")
        widths = np.broadcast_to(np.asarray(pad_width), (array.ndim, 2))
        values = as_value(options.get("constant_values", 0), array.dtype)
        values = np.broadcast_to(values.astype(array.dtype), (array.ndim, 2))
        if widths.dtype.kind not in "iu" or (widths < 0).any():
            raise LayoutError(f"pad_width is {pad_width!r:.80}; give integers of 0 or more")
        if mode != "constant" and any(w.any() and not e for w, e in zip(widths, array.shape)):
            raise LayoutError(f"shape {array.shape} has no elements to pad with; use 'constant'")
    result: Any = array
    for d, (before, after) in enumerate(widths.tolist()):
        extent = result.shape[d]
        ends = []
        for count, begin, value in ((before, -before, values[d, 0]), (after, extent, values[d, 1])):
            if mode == "constant":
                shape = (*result.shape[:d], count, *result.shape[d + 1 :])
                ends.append(np.broadcast_to(np.asarray(value, array.dtype), shape))
            else:
                ends.append(np.take(result, outside(begin, count, extent, mode), d))
        if before or after:
            result = np.concatenate([ends[0], result, ends[1]], d, dtype=array.dtype)
    return np.copy(array) if result is array else result


def outside(begin: int, count: int, extent: int, mode: str) -> Any:
    """The indices whose elements stand for `count` indices from `begin` on, outside an extent."""
    index = np.arange(begin, begin + count)
    if mode == "edge" or not count:
        return np.clip(index, 0, max(extent - 1, 0))
    if mode == "wrap":
        return index % extent
    if mode == "symmetric":
        index = index % (2 * extent)
        return np.minimum(index, 2 * extent - 1 - index)
    index = index % max(2 * extent - 2, 1)
    return np.minimum(index, max(2 * extent - 2, 1) - index)
