# SPDX-License-Identifier: BSD-3-Clause
"""Arrays into which several steps of a flow reduce at the same time."""

from __future__ import annotations

import ctypes
from typing import Any, Callable

import numpy as np

from hocket import _mpi
from hocket.arrays import Array
from hocket.errors import Error
from hocket.regions import memory_of

_UFUNCS: dict[str, Callable[..., Any]] = {
    "add": np.add,
    "mul": np.multiply,
    "min": np.minimum,
    "max": np.maximum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
}


class Reduction:
    """One array, and the operation by which steps' parts become one with it."""

    def __init__(self, touched: Any, op: str) -> None:
        target = touched.local if isinstance(touched, Array) else touched
        if op not in _UFUNCS:
            raise Error(f"op is {op!r}; give one of {', '.join(map(repr, _UFUNCS))}")
        if not isinstance(target, np.ndarray) or not target.flags.c_contiguous:
            raise Error("a step can reduce into contiguous NumPy arrays and hocket arrays only")
        if not target.flags.writeable:
            raise Error("a step cannot reduce into a read-only array")
        self.op = op
        self.array = target
        self.identity = _identity(op, target.dtype)

    def access(self) -> _mpi.Access:
        """How the step touches the array."""
        name = f"{self.op} {self.array.dtype.str}"
        return _mpi.Access.reduction(memory_of(self.array), name, self._fill, self._combine)

    def array_at(self, address: int) -> np.ndarray:
        """A part as an array like the real one. It lives as long as the step runs."""
        if self.array.nbytes == 0:
            return np.empty_like(self.array)
        memory = (ctypes.c_uint8 * self.array.nbytes).from_address(address)
        bytes_of_it: np.ndarray = np.ctypeslib.as_array(memory)
        return bytes_of_it.view(self.array.dtype).reshape(self.array.shape)

    def _fill(self, address: int) -> None:
        self.array_at(address)[...] = self.identity

    def _combine(self, into: int, part: int) -> None:
        target = self.array_at(into)
        _UFUNCS[self.op](target, self.array_at(part), out=target)


def _identity(op: str, dtype: np.dtype[Any]) -> Any:
    if dtype.kind not in "biufc":
        raise Error(f"a step cannot reduce {dtype} by {op!r}; give numbers")
    if op in ("and", "or") and dtype.kind in "fc":
        raise Error(f"a step cannot reduce {dtype} by {op!r}; give integers or booleans")
    if op in ("min", "max") and dtype.kind == "c":
        raise Error(f"a step cannot reduce {dtype} by {op!r}: complex numbers have no order")
    if op in ("add", "or"):
        return dtype.type(0)
    if op == "mul":
        return dtype.type(1)
    if op == "and":
        return dtype.type(True) if dtype.kind == "b" else ~dtype.type(0)
    if dtype.kind == "b":
        return op == "min"
    if dtype.kind == "f":
        return dtype.type(np.inf if op == "min" else -np.inf)
    return np.iinfo(dtype).max if op == "min" else np.iinfo(dtype).min
