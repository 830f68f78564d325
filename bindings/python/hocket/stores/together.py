# SPDX-License-Identifier: BSD-3-Clause
"""Operations that processes perform on a store together."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Callable, Optional

import numpy as np

from hocket import _mpi, dtypes
from hocket.arguments import as_bytes, as_flag, as_positive, as_text
from hocket.arrays import Array, local_shape
from hocket.calls import collective
from hocket.communicators import communicator
from hocket.creation import empty
from hocket.errors import Error, MismatchError
from hocket.layouts import Layout, integers
from hocket.redistribution import _converted, as_axes
from hocket.stores.requests import StoreRequest
from hocket.stores.stored import as_json, dtype_from, region_of

if TYPE_CHECKING:
    from mpi4py import MPI


def opened(
    path: Callable[[], str], mode: Any, comm: Any, timeout: Any
) -> tuple[MPI.Comm, str, _mpi.Store]:
    """The store, opened by all processes of `comm`, and its path. Wrong arguments, and the error of
    `path`, are raised on all."""
    on = communicator(comm)
    with collective(on, timeout) as seconds:
        text = as_text(mode, "mode", "r")
        where = as_text(path(), "path", "run.zarr")
    return on, where, _mpi.Store.open(where, text, on.handle, seconds)


def json_of_fill(value: Any, dtype: np.dtype[Any]) -> str:
    """A fill value for metadata. Raises `Error`."""
    if dtype.kind not in "biufcV":
        return "0"  # such a type is refused, whatever the value
    try:
        with np.errstate(invalid="ignore", over="ignore"):  # the check follows
            number = np.asarray(value).astype(dtype, casting="unsafe").reshape(())[()]
    except (TypeError, ValueError, OverflowError) as error:
        raise Error(f"fill is {value!r}, which is no {dtype}: {error}") from None
    # A rounded number is one, but not 44 for 300, and not the real part alone.
    if (dtype.kind in "biu" and number != value) or (dtype.kind == "f" and np.iscomplexobj(value)):
        raise Error(f"fill is {value!r}, which is no {dtype}")

    def real(part: float) -> Any:
        if math.isnan(part):
            return "NaN"
        return ("Infinity" if part > 0 else "-Infinity") if math.isinf(part) else part

    if dtype.kind == "c":
        return json.dumps([real(float(number.real)), real(float(number.imag))])
    if dtype.kind == "f":
        return json.dumps(real(float(number)))
    return json.dumps(list(bytes(number)) if dtype.kind == "V" else number.item())


def extents(value: Any, what: str) -> list[int]:
    """Extents, or none. A single number is for one dimension."""
    if value is None:
        return []
    return integers((value,) if isinstance(value, (int, np.integer)) else value, what)


def balanced(shape: tuple[int, ...], processes: int) -> Layout:
    """The default layout of a result."""
    if not shape:
        return Layout((), "()")
    return Layout(shape, "(BALANCED" + ", *" * (len(shape) - 1) + ")", processes)


def create(
    store: Any,
    name: Any,
    shape: Any,
    dtype: Any,
    chunks: Any,
    shards: Any,
    codec: Optional[str],
    fill: Any,
    dimension_names: Optional[Sequence[str]],
    attributes: Optional[Mapping[str, Any]],
    timeout: Optional[float],
) -> None:
    core = store._together()
    with collective(store._comm, timeout) as seconds:
        kind = dtypes.resolve(dtype).newbyteorder("=")
        names = [as_text(each, "a name of a dimension") for each in dimension_names or ()]
        arguments = (
            as_text(name, "name", "t"),
            integers(shape, "shape"),
            dtypes.name_of(kind),
            kind.itemsize,
            extents(chunks, "chunks"),
            extents(shards, "shards"),
            as_text("" if codec is None else codec, "codec", "zstd"),
            json_of_fill(fill, kind),
            names,
            as_json(attributes, "attributes"),
            seconds,
        )
    core.create(*arguments)


def set_attributes(store: Any, attributes: Any, timeout: Optional[float]) -> None:
    core = store._together()
    with collective(store._comm, timeout) as seconds:
        text = as_json(attributes, "attributes")
    core.set_attributes(text, seconds)


def bound(max_buffer: Any) -> Optional[int]:
    return None if max_buffer is None else as_bytes(max_buffer, "max_buffer")


def _array(a: Any, what: str) -> Array:
    if not isinstance(a, Array):
        raise MismatchError(f"cannot {what} {type(a).__name__}: give an array, as of hk.empty")
    return a


def in_own_order(a: Any) -> Any:
    """Numbers of the other order of bytes as those of this machine, which hocket stores."""
    swapped = isinstance(a, Array) and not a.dtype.isnative
    return a.astype(a.dtype.newbyteorder("=")) if swapped else a


def iwrite(
    store: Any, name: Any, a: Any, region: Any, writers: Any, max_buffer: Any, copy: Any,
    timeout: Any = None, later: bool = False,
) -> StoreRequest:  # fmt: skip
    core = store._together()
    a = a if later else in_own_order(a)
    with collective(store._comm, timeout) as seconds:
        box = region_of(region, store[name].shape) if region is not None else None
        arguments = (
            as_text(name, "name", "t"),
            _array(a, "write")._wrapped(),
            box,
            as_positive(writers, "writers"),
            bound(max_buffer),
            as_flag(copy, "copy"),
            later,
        )
    return StoreRequest(core.iwrite(*arguments), a, timeout=seconds)


def append(store: Any, name: Any, a: Any, writers: Any, max_buffer: Any, timeout: Any) -> None:
    core = store._together()
    a = in_own_order(a)
    with collective(store._comm, timeout) as seconds:
        arguments = (
            as_text(name, "name", "t"),
            _array(a, "append")._wrapped(),
            as_positive(writers, "writers"),
            bound(max_buffer),
            seconds,
        )
    core.append(*arguments)


def _is_core(dtype: np.dtype[Any]) -> bool:
    """Whether the library converts to it."""
    sizes = {"b": (1,), "i": (1, 2, 4, 8), "u": (1, 2, 4, 8), "f": (2, 4, 8), "c": (8, 16)}
    return dtype.isnative and dtype.itemsize in sizes.get(dtype.kind, ())


def iread(
    store: Any, name: Any, lay: Any, region: Any, out: Any, axes: Any, dtype: Any,
    max_buffer: Any, timeout: Any = None, later: bool = False,
) -> StoreRequest:  # fmt: skip
    core = store._together()
    with collective(store._comm, timeout) as seconds:
        stored = store[as_text(name, "name", "t")]
        box = region_of(region, stored.shape)
        shape = stored.shape if box is None else tuple(b - a for a, b in zip(*box))
        order = [] if axes is None else as_axes(axes, len(shape))
        result = tuple(shape[axis] for axis in order) if axes is not None else shape
        if lay is None:
            lay = balanced(result, store._comm.size) if out is None else _array(out, "read").layout
        local_shape(lay, store._comm)
        found = dtype_from(stored._facts["dtype"])
        wanted = found if dtype is None else dtypes.resolve(dtype)
        if out is None:
            target = empty(lay, wanted, store._comm)
        elif _array(out, "read into").layout != lay or out.dtype != wanted:
            raise MismatchError(
                f"out is {out.dtype} {out.layout}, and the result is {wanted} {lay}; make out match"
            )
        else:
            target = out
        _converted(np.empty(0, found), wanted)
        # NumPy itself converts what the library does not: other orders of bytes, raw bits.
        direct = wanted == found or (found.kind in "biufc" and _is_core(wanted))
        landing = target if direct else empty(lay, found, store._comm)
        asked = dtypes.name_of(wanted) if direct and wanted != found else ""
        arguments = (name, landing._wrapped(), box, 0, bound(max_buffer), order, asked, later)

    def settle() -> None:
        if landing is not target:
            target.local[...] = _converted(landing.local, wanted)
        target._settle()

    return StoreRequest(core.iread(*arguments), target, settle, seconds)
