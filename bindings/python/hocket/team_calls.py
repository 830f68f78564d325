# SPDX-License-Identifier: BSD-3-Clause
"""The calls of a team's operations, and the reductions, which this module generates."""

from __future__ import annotations

from typing import Any, Callable, Optional

import numpy as np

from hocket import _mpi
from hocket.arguments import as_flag, as_seconds, printable
from hocket.team_values import TYPES, as_value, narrow_of, scalar_of

Op = _mpi.TeamOp
BOOL, INT32 = TYPES[np.bool_], TYPES[np.int32]
ONE = {False: b"\0", True: b"\1"}
#: the docstring of each reduction, and its results for 2 and 3
FOLDS = {
    "add": ("The sum of the values of {}. Integers wrap; bool adds as or.", 5),
    "mul": ("The product of the values of {}. Integers wrap; bool multiplies as and.", 6),
    "min": ("The least of the values of {}. NaN wins.", 2),
    "max": ("The greatest of the values of {}. NaN wins.", 3),
    "and": ("The bitwise and of the values of {}.", 2),
    "or": ("The bitwise or of the values of {}.", 3),
}
OF = {"reduce": "all", "scan": "the processes up to this one, itself included"}


def _fold(name: str) -> Callable[..., Any]:
    op = getattr(Op, name)
    way, fold = name.split("_")

    def reduce(
        self: Calls, v: Any, *, bits: Optional[int] = None, timeout: Optional[float] = None
    ) -> Any:
        return self._one(op, v, bits, timeout)

    def scan(
        self: Calls,
        v: Any,
        *,
        bits: Optional[int] = None,
        timeout: Optional[float] = None,
        barrier: bool = True,
    ) -> Any:
        return self._one(op, v, bits, timeout, 0, self._barrier(op, barrier))

    method: Callable[..., Any] = scan if way == "scan" else reduce
    method.__name__ = f"{name}_" if fold in ("and", "or") else name
    method.__qualname__ = f"Team.{method.__name__}"
    words, result = FOLDS[fold]
    if way == "scan":
        words += " ``barrier=False``: as in `Team`."
    method.__doc__ = f"""{words.format(OF[way])}

        Raises the errors of `Team`.

        Examples
        --------
        On two processes:

        >>> team = hk.Team()
        >>> team.gather(team.{method.__name__}(team.process + 2)).tolist()
        {[2 if way == "scan" else result, result]}
        """
    return method


class Calls:
    """The base class of `Team`."""

    __slots__ = ("_core",)
    _core: _mpi.Team

    reduce_add = _fold("reduce_add")
    reduce_mul = _fold("reduce_mul")
    reduce_min = _fold("reduce_min")
    reduce_max = _fold("reduce_max")
    reduce_and_ = _fold("reduce_and")
    reduce_or_ = _fold("reduce_or")
    scan_add = _fold("scan_add")
    scan_mul = _fold("scan_mul")
    scan_min = _fold("scan_min")
    scan_max = _fold("scan_max")
    scan_and_ = _fold("scan_and")
    scan_or_ = _fold("scan_or")

    def _barrier(self, op: Op, barrier: Any) -> bool:
        """The option, checked; without it, nobody knows which call the other processes are in."""
        given: bool = self._read(op, lambda: as_flag(barrier, "barrier"), False)
        return given

    def _flag(self, op: Op, flag: Any, timeout: Any) -> Any:
        seconds = self._seconds(op, timeout)
        one = self._read(op, lambda: ONE[bool(flag)])
        return self._core.run(op, BOOL, one, 0, 0, seconds)

    def _one(
        self, op: Op, v: Any, bits: Any, timeout: Any, process: int = 0, barrier: bool = True
    ) -> Any:
        kind, number, value, narrow, seconds = self._taken(op, v, bits, timeout, barrier)
        return as_value(kind, self._core.run(op, number, value, process, narrow, seconds, barrier))

    def _count(self, op: Op, v: Any, bits: Any, timeout: Any) -> Any:
        _, number, value, narrow, seconds = self._taken(op, v, bits, timeout)
        return self._core.run(op, number, value, 0, narrow, seconds)

    def _taken(
        self, op: Op, v: Any, bits: Any, timeout: Any, barrier: bool = True
    ) -> tuple[type[Any], int, bytes, int, Optional[float]]:
        """The value's type, its number, its bytes; the number of its bits that take part; the
        timeout."""
        seconds = None if timeout is None else self._seconds(op, timeout, barrier)
        narrow = 0 if bits is None else self._read(op, lambda: narrow_of(bits), barrier)
        kind = type(v)
        number = TYPES.get(kind)
        if number is None:
            v = self._read(op, lambda: scalar_of(v), barrier)
            kind = type(v)
            number = TYPES[kind]
        return kind, number, v.tobytes(), narrow, seconds

    def _seconds(self, op: Op, timeout: Any, barrier: bool = True) -> Optional[float]:
        return None if timeout is None else self._read(op, lambda: as_seconds(timeout), barrier)

    def _read(self, op: Op, read: Callable[[], Any], barrier: bool = True) -> Any:
        """Checks an argument; an error reaches the other processes of the team."""
        try:
            return read()
        except Exception as error:
            self._core.refuse(op, printable(f"{op.name}: {error}"), barrier)
