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
        for objects that are no dtype, for Python objects, and for elements without a size (``S0``).
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
    return repr(np.lib.format.dtype_to_descr(dtype))


def from_name(name: str) -> np.dtype[Any]:
    """The dtype with this name."""
    if name.isidentifier():
        return np.dtype(name)
    return np.lib.format.descr_to_dtype(ast.literal_eval(name))
