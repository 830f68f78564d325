# SPDX-License-Identifier: BSD-3-Clause
"""HPF's intrinsic functions through hocket.h, and what they are by their definitions, in NumPy."""

from __future__ import annotations

import ctypes
import math
from typing import Any, Optional

import numpy as np

import built
import hocket as hk

OPS = (
    "sum",
    "product",
    "maxval",
    "minval",
    "all",
    "any",
    "parity",
    "iall",
    "iany",
    "iparity",
    "count",
    "replace",
)


class Options(ctypes.Structure):
    """struct hocket_compute_options"""

    _fields_ = (
        ("dim", ctypes.POINTER(ctypes.c_int64)),
        ("mask", ctypes.c_void_p),
        ("segment", ctypes.c_void_p),
        ("shifts", ctypes.c_void_p),
        ("exclusive", ctypes.c_bool),
        ("suffix", ctypes.c_bool),
        ("descending", ctypes.c_bool),
        ("column_major", ctypes.c_bool),
        ("first_index", ctypes.c_int64),
    )


class Slice(ctypes.Structure):
    """struct hocket_slice"""

    _fields_ = (
        ("first", ctypes.c_int64),
        ("count", ctypes.c_int64),
        ("step", ctypes.c_int64),
        ("keep", ctypes.c_bool),
    )


class Library:
    """The library that hocket._mpi has loaded, for one communicator."""

    def __init__(self, comm: Any) -> None:
        self.comm = comm
        self.lib = ctypes.CDLL(str(built.folder() / "src" / "libhocket.so.0.1"))
        self.lib.hocket_error_message.restype = ctypes.c_char_p
        self.lib.hocket_error_name.restype = ctypes.c_char_p

    def call(self, name: str, *arguments: Any) -> None:
        """Raises hocket's error, as Python names it."""
        code = getattr(self.lib, name)(*arguments)
        if code:
            kind = self.lib.hocket_error_name(code).decode()
            raise getattr(hk, kind, hk.Error)(self.lib.hocket_error_message().decode())

    def layout(self, text: str) -> ctypes.c_void_p:
        handle = ctypes.c_void_p()
        self.call("hocket_layout_parse", text.encode(), ctypes.byref(handle))
        return handle

    def array(self, local: Any, layout: Any) -> ctypes.c_void_p:
        """A handle on a local array, which must live as long."""
        handle = ctypes.c_void_p()
        held = layout.local_shape(self.comm.rank) if self.comm.rank < layout.size else None
        extents = local.shape if held is None or 0 not in held else held
        size = len(layout.local_shape(0))
        counts = (ctypes.c_int64 * max(1, size))(*(extents if len(extents) == size else [0] * size))
        strides = (ctypes.c_int64 * max(1, size))(*(local.strides if local.ndim == size else ()))
        self.call(
            "hocket_array_wrap_fortran",
            ctypes.c_void_p(local.ctypes.data),
            ctypes.c_int64(size),
            counts,
            strides,
            self.layout(str(layout)),
            local.dtype.name.encode(),
            ctypes.c_int64(local.dtype.itemsize),
            ctypes.c_int(self.comm.py2f()),
            ctypes.byref(handle),
        )
        return handle

    def section(self, whole: ctypes.c_void_p, first: Any, count: Any) -> ctypes.c_void_p:
        slices = [Slice(begin, n, 1, True) for begin, n in zip(first, count)]
        part = ctypes.c_void_p()
        listed = (Slice * len(slices))(*slices)
        self.call("hocket_array_section", whole, listed, ctypes.byref(part))
        return part

    def whole(self, handle: ctypes.c_void_p) -> Any:
        """Every element, on every process; and the layout."""
        text, layout = ctypes.c_char_p(), ctypes.c_void_p()
        self.call("hocket_array_layout", handle, ctypes.byref(layout))
        self.call("hocket_layout_text", layout, ctypes.byref(text))
        assert text.value is not None
        lay = hk.Layout.parse(text.value.decode())
        dtype, itemsize, data = ctypes.c_char_p(), ctypes.c_int64(), ctypes.c_void_p()
        self.call("hocket_array_dtype", handle, ctypes.byref(dtype), ctypes.byref(itemsize))
        self.call("hocket_array_data", handle, ctypes.byref(data))
        assert dtype.value is not None
        kind = np.dtype(dtype.value.decode())
        shape, strides = self.integers("local_shape", handle), self.integers("strides", handle)
        if self.comm.rank >= lay.size or not lay.local_elements(self.comm.rank):
            local: Any = np.empty(shape if 0 in shape else (0,) * max(1, len(shape)), kind)
        else:
            span = kind.itemsize + sum((n - 1) * s for n, s in zip(shape, strides))
            memory = (ctypes.c_char * span).from_address(data.value)
            local = np.ndarray(shape, kind, memory, strides=strides).copy()
        return hk.replicated(hk.wrap(local, lay, self.comm)), lay

    def integers(self, name: str, handle: ctypes.c_void_p) -> tuple[int, ...]:
        values, count = (ctypes.c_int64 * 64)(), ctypes.c_int64()
        self.call(f"hocket_array_{name}", handle, ctypes.c_int64(64), values, ctypes.byref(count))
        return tuple(values[: count.value])

    def run(self, name: str, *given: Any, **options: Any) -> Any:
        """The whole result of hocket_<name> of handles and numbers; its layout."""
        result = ctypes.c_void_p()
        with_options = () if name in ("dot_product",) else (ctypes.byref(made(options)),)
        self.call(
            f"hocket_{name}",
            *given,
            *with_options,
            ctypes.c_double(60.0),
            ctypes.byref(result),
        )
        found = self.whole(result)
        self.call("hocket_array_free", ctypes.byref(result))
        return found


def made(options: dict[str, Any]) -> Options:
    """The struct; a `dim` counts from first_index."""
    struct = Options()
    for name, value in options.items():
        if value is None:
            continue
        if name == "dim":
            value = ctypes.pointer(ctypes.c_int64(value + options.get("first_index", 0)))
        setattr(struct, name, value)
    return struct


def identity(op: str, dtype: np.dtype[Any]) -> Any:
    if op in ("maxval", "minval"):
        low = op == "maxval"
        if dtype.kind == "f":
            return -np.inf if low else np.inf
        return np.iinfo(dtype).min if low else np.iinfo(dtype).max
    if op == "iall":
        return ~np.zeros((), dtype)
    return 1 if op in ("product", "all") else 0


def fold(op: str, values: Any) -> Any:
    """One operation over a list of elements, of their type; sums of floats by math.fsum."""
    dtype = values.dtype
    if op == "count":
        return np.count_nonzero(values)
    if op == "sum" and dtype == np.float64:
        return math.fsum(values)
    if op == "sum" and dtype.kind == "f":
        return dtype.type(math.fsum(values.astype(np.float64)))
    if op == "sum" and dtype.kind == "c":
        return complex(math.fsum(values.real), math.fsum(values.imag))
    of = {
        "sum": np.add,
        "product": np.multiply,
        "maxval": np.maximum,
        "minval": np.minimum,
        "all": np.logical_and,
        "any": np.logical_or,
        "parity": np.logical_xor,
        "iall": np.bitwise_and,
        "iany": np.bitwise_or,
        "iparity": np.bitwise_xor,
    }[op]
    if not len(values):
        return identity(op, dtype)
    with np.errstate(all="ignore"):
        return of.reduce(values, dtype=None if op in ("all", "any", "parity") else dtype)


def along(function: Any, x: Any, dim: int, dtype: Any) -> Any:
    """`function` of each line, which gives a number."""
    rest = x.shape[:dim] + x.shape[dim + 1 :]
    lines = np.moveaxis(x, dim, -1).reshape(math.prod(rest), x.shape[dim])
    return np.array([function(line) for line in lines], dtype).reshape(rest)


def reduced(op: str, x: Any, dim: Optional[int], mask: Any) -> Any:
    dtype = np.dtype(np.int64) if op == "count" else x.dtype
    places = np.arange(x.size).reshape(x.shape)

    def of(line: Any) -> Any:
        kept = line if mask is None else line[mask.reshape(-1)[line] != 0]
        return fold(op, x.reshape(-1)[kept])

    if dim is None:
        return np.asarray(of(places.reshape(-1)), dtype)
    return along(of, places, dim, dtype)


def located(op: str, x: Any, dim: Optional[int], mask: Any, order: str, first: int) -> Any:
    flat = x.reshape(-1, order=order)
    chosen = np.ones(x.shape, bool) if mask is None else mask != 0
    if dim is not None:
        places = np.arange(x.size).reshape(x.shape)

        def of(line: Any) -> int:
            kept = np.flatnonzero(chosen.reshape(-1)[line])
            if not len(kept):
                return first - 1
            values = x.reshape(-1)[line[kept]]
            return int(kept[np.argmax(values) if op == "maxval" else np.argmin(values)]) + first

        return along(of, places, dim, np.int64)
    kept = np.flatnonzero(chosen.reshape(-1, order=order))
    if not len(kept):
        return np.full(x.ndim, first - 1)
    best = kept[np.argmax(flat[kept]) if op == "maxval" else np.argmin(flat[kept])]
    return np.array(np.unravel_index(best, x.shape, order=order), np.int64) + first


def scanned(
    op: str, x: Any, dim: Optional[int], mask: Any, segment: Any, order: str, **how: bool
) -> Any:
    neutral = np.asarray(identity(op, x.dtype)).astype(x.dtype)
    y = x if mask is None else np.where(mask != 0, x, neutral)

    def in_lines(values: Any) -> Any:
        values = values.reshape(-1, order=order) if dim is None else np.moveaxis(values, dim, -1)
        return values[..., ::-1] if how.get("suffix") else values

    y, parts = in_lines(y), in_lines(np.zeros(x.shape) if segment is None else segment != 0)
    found = np.empty_like(y)
    total = np.full(y.shape[:-1], neutral, x.dtype)
    for k in range(y.shape[-1]):
        if k:
            total = np.where(parts[..., k] != parts[..., k - 1], neutral, total)
        pair = np.stack([total, y[..., k]], -1)
        after = along(lambda each: fold_pair(op, each), pair, pair.ndim - 1, x.dtype)
        found[..., k] = total if how.get("exclusive") else after
        total = after
    if how.get("suffix"):
        found = found[..., ::-1]
    return found.reshape(x.shape, order=order) if dim is None else np.moveaxis(found, -1, dim)


def fold_pair(op: str, pair: Any) -> Any:
    return pair[0] + pair[1] if op == "sum" else fold(op, pair)


def shifted(x: Any, shift: int, dim: int, boundary: Any = None) -> Any:
    if boundary is None:
        return np.roll(x, -shift, dim)
    found = np.full_like(x, boundary)
    for k in range(x.shape[dim]):
        if 0 <= k + shift < x.shape[dim]:
            np.moveaxis(found, dim, 0)[k] = np.moveaxis(x, dim, 0)[k + shift]
    return found


def shifted_by_line(x: Any, shift: int, shifts: Any, dim: int, boundary: Any = None) -> Any:
    lines, by = np.moveaxis(x, dim, -1).copy(), np.asarray(shifts)
    for place in np.ndindex(by.shape):
        lines[place] = shifted(lines[place], shift + int(by[place]), 0, boundary)
    return np.moveaxis(lines, -1, dim)


def scattered(base: Any, values: Any, indices: list[Any], op: str, mask: Any, order: str) -> Any:
    found, terms = base.copy(), {}
    flat = [index.reshape(-1, order=order) for index in indices]
    chosen = None if mask is None else mask.reshape(-1, order=order)
    for k, value in enumerate(values.reshape(-1, order=order)):
        if chosen is None or chosen[k]:
            place = tuple(int(each[k]) for each in flat)
            terms.setdefault(place, [base[place]]).append(value)
    for place, each in terms.items():
        found[place] = each[-1] if op == "replace" else fold(op, np.array(each, base.dtype))
    return found
