# SPDX-License-Identifier: BSD-3-Clause
"""Reductions: arrays that several steps of a flow update concurrently."""

from __future__ import annotations

import ctypes
from typing import Any, Callable

import numpy as np
import numpy.typing as npt

from hocket import _mpi
from hocket.arrays import Array
from hocket.errors import Error
from hocket.regions import Touched, memory_of, regions_of

_UFUNCS: dict[str, Callable[..., Any]] = {
    "add": np.add,
    "mul": np.multiply,
    "min": np.minimum,
    "max": np.maximum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
}


class Reduction:
    """An array, and the operation that combines the steps' buffers with it."""

    def __init__(self, touched: Touched, op: str) -> None:
        if not isinstance(op, str) or op not in _UFUNCS:
            raise Error(f"op is {op!r}; give one of {', '.join(map(repr, _UFUNCS))}")
        self.op = op
        self.array = _elements_of(touched)
        if not self.array.flags.writeable:
            raise Error("a step cannot reduce into a read-only array")
        self.identity = _identity(op, self.array.dtype)
        self._touched = touched
        self._region = memory_of(self.array)
        if self._region.size() != self.array.nbytes:
            raise Error("a step cannot reduce into an array whose elements overlap")
        # Axes from the largest stride to the smallest: the order of the elements in a buffer.
        strides = self.array.strides
        self._order = sorted(range(self.array.ndim), key=lambda axis: -abs(strides[axis]))

    def accesses(self) -> list[_mpi.Access]:
        """The access of the step to the array, and the memory behind a section that is a copy."""
        name = f"{self.op} {self.array.dtype.str}"
        reduced = _mpi.Access.reduction(self._region, name, self._fill, self._combine)
        further = regions_of(self._touched)[1:]
        return [reduced, *(_mpi.Access(_mpi.AccessKind.update, region) for region in further)]

    def array_at(self, address: int) -> np.ndarray:
        """A buffer as an array like the real one. It lives as long as the step runs."""
        if self.array.nbytes == 0:
            return np.empty_like(self.array)
        memory = (ctypes.c_uint8 * self.array.nbytes).from_address(address)
        bytes_of_it: np.ndarray = np.ctypeslib.as_array(memory)
        lies = [self.array.shape[axis] for axis in self._order]
        part = bytes_of_it.view(self.array.dtype).reshape(lies)
        upwards = tuple(slice(None, None, -1 if step < 0 else 1) for step in self.array.strides)
        return part.transpose(np.argsort(self._order))[upwards] if lies else part

    def _fill(self, address: int) -> None:
        self.array_at(address)[...] = self.identity

    def _combine(self, part: int) -> None:
        _UFUNCS[self.op](self.array, self.array_at(part), out=self.array)
        if isinstance(self._touched, Array):
            self._touched._settle()


def _elements_of(touched: Touched) -> npt.NDArray[Any]:
    """The NumPy array for a user's argument. Raises `Error` for anything without memory."""
    if isinstance(touched, Array):
        return touched._local
    if isinstance(touched, np.ndarray):
        return touched
    if any(region.is_key() for region in regions_of(touched)):
        raise Error(f"{touched!r} is a key, and has no elements; a step reduces into an array")
    return np.asarray(memoryview(touched))


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
