# SPDX-License-Identifier: BSD-3-Clause
"""Common to the methods of an array."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt
    from mpi4py import MPI
    from typing_extensions import Self

    from hocket.layouts import Layout

#: NumPy's functions return distributed arrays for distributed ones, which its types do not express
numpy: Any = np


class Distributed:
    """The members of `hocket.Array` that its methods use."""

    __slots__ = ()
    if TYPE_CHECKING:
        _layout: Layout
        _rank_and_size: tuple[int, int]

        @property
        def local(self) -> npt.NDArray[Any]: ...
        @property
        def layout(self) -> Layout: ...
        @property
        def dtype(self) -> np.dtype[Any]: ...
        @property
        def comm(self) -> MPI.Comm: ...
        def _current(self) -> npt.NDArray[Any]: ...
        def _settle(self) -> None: ...
        def section(self, slices: Any) -> Self: ...


@functools.cache
def importing(module: str) -> Any:
    """This module needs arrays, so they load it."""
    from importlib import import_module

    return import_module(f"hocket.computing.{module}")
