# SPDX-License-Identifier: BSD-3-Clause
"""Names of element types, which both sides of a transfer compare."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np
import numpy.typing as npt

from hocket.errors import Error

#: the names of the native numbers met so far, by NumPy's character code
_names: dict[str, str] = {}


def resolve(dtype: npt.DTypeLike) -> np.dtype[Any]:
    """The NumPy dtype for a user's argument.

    Raises
    ------
    Error
        for objects that are no dtype, for Python objects, for elements without a size (``S0``), and
        for elements that are arrays, which NumPy makes dimensions of the array.
    """
    try:
        found = np.dtype(dtype)
    except (TypeError, ValueError) as error:
        raise Error(
            f"{dtype!r} is no dtype: {error}; use one of NumPy's, as 'float64' or [('x', 'i4')]"
        ) from None
    if found.hasobject:
        raise Error(
            f"{found} holds Python objects, which mean nothing to another process; "
            "use a dtype of a fixed size"
        )
    if found.subdtype is not None:
        raise Error(
            f"{found} has arrays as its elements; use {found.base} and a layout of more "
            "dimensions, or a structure with one field"
        )
    if found.itemsize == 0:
        raise Error(f"{found} has elements of 0 bytes; give it a size, as 'S8'")
    return found


def name_of(dtype: np.dtype[Any]) -> str:
    """A name for the dtype, the same in every language, from which `from_name` restores it."""
    if dtype.isnative and dtype.kind in "biufc":
        name = _names.get(dtype.char)
        if name is None:  # NumPy makes the text anew at each use, in 2 us
            name = _names[dtype.char] = str(dtype.name)
        return name
    return repr(_literal(dtype))


def from_name(name: str) -> np.dtype[Any]:
    """The dtype with this name."""
    if name.isidentifier():
        return np.dtype(name)
    return _from_literal(ast.literal_eval(name))


def _literal(dtype: np.dtype[Any]) -> Any:
    """Texts, numbers and lists that describe the dtype, as in the header of an .npy file."""
    if dtype.subdtype is not None:
        return (_literal(dtype.base), dtype.shape)
    if dtype.names is None or dtype.fields is None:
        return dtype.str
    try:
        return dtype.descr
    except ValueError:  # fields that overlap, or lie in another order than their names
        fields = [dtype.fields[name] for name in dtype.names]
        return {
            "names": list(dtype.names),
            "formats": [_literal(field[0]) for field in fields],
            "offsets": [field[1] for field in fields],
            "itemsize": dtype.itemsize,
        }


def _from_literal(literal: Any) -> np.dtype[Any]:
    if isinstance(literal, dict):
        formats = [_from_literal(each) for each in literal["formats"]]
        found: np.dtype[Any] = np.dtype({**literal, "formats": formats})  # type: ignore[call-overload]
    elif isinstance(literal, tuple):
        found = np.dtype((_from_literal(literal[0]), literal[1]))
    else:
        found = np.lib.format.descr_to_dtype(literal)
    return found
