# SPDX-License-Identifier: BSD-3-Clause
"""Checks of values and masks for teams."""

from __future__ import annotations

from typing import Any, Callable, Union

import numpy as np

from hocket.arguments import as_number
from hocket.errors import Error

# The number of each type of value in the extension.
TYPES: dict[type, int] = {
    np.dtype(name).type: number
    for number, name in enumerate(["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8"])
}
# C has two names for one of its integer types; NumPy keeps both.
for _name in "lLqQ":
    _dtype = np.dtype(_name)
    TYPES.setdefault(_dtype.type, TYPES[np.dtype(f"{_dtype.kind}{_dtype.itemsize}").type])
_KNOWN = "bool, int8 to int64, uint8 to uint64, float32, float64"


def as_value(kind: Callable[[Any], Any], found: Union[bool, int, bytes]) -> Any:
    """A result in the caller's type; the extension returns floating-point numbers as bits."""
    if isinstance(found, bytes):
        return np.frombuffer(found, kind)[0]  # type: ignore[call-overload]
    return kind(found)


def words_of(bits: int) -> list[int]:
    """A mask as 64-bit words, the lowest first."""
    words: list[int] = []
    while bits or not words:
        words.append(bits & (2**64 - 1))
        bits >>= 64
    return words


def mask_of(words: list[int]) -> int:
    """The mask for 64-bit words."""
    if len(words) == 1:
        return words[0]
    return sum(word << (64 * index) for index, word in enumerate(words))


def narrow_of(bits: Any) -> int:
    """The number of low bits that take part."""
    number = as_number(bits, "bits")
    if not 1 <= number <= 64:
        raise Error(f"bits is {number}; give 1 to the size of the value's dtype")
    return number


def plain(v: Any) -> Any:
    """A value as a NumPy scalar of any fixed-size dtype."""
    if isinstance(v, (bool, int, float, np.ndarray)):
        v = np.asarray(v)
        if v.ndim != 0:
            raise Error(
                f"the value is an array of shape {v.shape}; a team moves one value a process"
            )
        v = v[()]
    if not isinstance(v, np.generic) or v.dtype.hasobject:
        raise Error(f"the value is {v!r}; give a NumPy scalar")
    return v


def scalar_of(v: Any) -> Any:
    """A value as a NumPy scalar of one of the types of teams."""
    scalar = plain(v)
    if type(scalar) not in TYPES:
        raise Error(f"the value is {v!r} of dtype {scalar.dtype}; teams move {_KNOWN}")
    return scalar


def check_fold(fold: Any) -> None:
    """Raises `Error` for objects that cannot fold two values to one."""
    if not callable(fold):
        raise Error(f"fold is {fold!r}; give a function of two values, such as max")


def check_out(out: Any, dtype: np.dtype[Any], size: int) -> None:
    """Raises `Error` for arrays to which `gather` cannot write."""
    if not isinstance(out, np.ndarray) or out.shape != (size,) or out.dtype != dtype:
        found = f"{out.dtype} {out.shape}" if isinstance(out, np.ndarray) else repr(out)
        raise Error(f"out is {found}; give an array of {dtype} with an entry for each of {size}")
    if not out.flags.writeable:
        raise Error("out may not be written")
