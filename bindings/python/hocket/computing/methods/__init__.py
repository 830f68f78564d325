# SPDX-License-Identifier: BSD-3-Clause
"""The attributes and methods of an array for computing: NumPy's, over the global array."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn, Optional

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from hocket.computing.methods.attributes import Attributes
from hocket.computing.methods.base import importing, numpy
from hocket.computing.methods.choosing import Choosing
from hocket.computing.methods.converting import Converting
from hocket.computing.methods.reducing import Reducing
from hocket.computing.methods.shaping import Shaping

if TYPE_CHECKING:
    from collections.abc import Iterator


class Methods(Attributes, Reducing, Shaping, Choosing, Converting, NDArrayOperatorsMixin):
    """The part of `hocket.Array` for computing. Collective, except for attributes and `fill`."""

    __slots__ = ()
    __hash__ = None  # type: ignore[assignment]  # == is elementwise
    __contains__ = None

    if not TYPE_CHECKING:  # type checkers know the attributes, and refuse others

        def __getattr__(self, name: str) -> NoReturn:
            raise importing("alternatives").no_attribute(self, name)

    def __getitem__(self, index: Any) -> Any:
        return importing("indexing").get(self, index)

    def __setitem__(self, index: Any, value: Any) -> None:
        importing("indexing").put(self, index, value)

    def __pow__(self, other: Any) -> Any:
        # NumPy's arrays, too, use square for exponent 2.
        return numpy.square(self) if type(other) is int and other == 2 else super().__pow__(other)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("an array without dimensions has no length")
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        return (self[row] for row in range(len(self)))

    def __bool__(self) -> bool:
        return bool(self.item())

    def __int__(self) -> int:
        return int(self.item())

    def __index__(self) -> int:
        if self.shape or self.dtype.kind not in "iu":
            raise TypeError("only an integer array without dimensions is an index")
        return int(self.item())

    def __float__(self) -> float:
        return float(self.item())

    def __complex__(self) -> complex:
        return complex(self.item())

    def __array__(self, dtype: Any = None, copy: Optional[bool] = None) -> NoReturn:
        raise TypeError(
            "a distributed array is no NumPy array; take its part on this process, a.local, or "
            "collect it on one, a.gather(), or on every process, hk.replicated(a)"
        )

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        return importing("functions").of_ufunc(ufunc, method, inputs, options)

    def __array_function__(
        self, function: Any, types: Any, args: tuple[Any, ...], options: dict[str, Any]
    ) -> Any:
        return importing("functions").of_numpy(function, args, options)
