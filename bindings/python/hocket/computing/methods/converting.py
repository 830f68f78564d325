# SPDX-License-Identifier: BSD-3-Clause
"""Methods that copy, convert, move or set the elements of an array, each by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy.typing as npt

from hocket.computing.methods.base import Distributed, importing, numpy

if TYPE_CHECKING:
    from typing_extensions import Self

    from hocket.layouts import Layout


class Converting(Distributed):
    __slots__ = ()

    def astype(self, dtype: npt.DTypeLike, *, casting: Any = "unsafe", copy: bool = True) -> Self:
        """The elements as `dtype`, in the same layout. Local.

        Parameters
        ----------
        dtype
        casting
            NumPy's rule for the conversion
        copy
            False: the array itself, if it has this dtype

        Raises
        ------
        MismatchError, Error
            for a dtype to which NumPy does not convert, or that cannot be moved.

        Examples
        --------
        >>> a = hk.arange(hk.Layout((2, 3), "(*, *)"))
        >>> a.astype("float32").local.dtype
        dtype('float32')
        """
        found: Self = importing("shapes").astype(self, dtype, casting=casting, copy=copy)
        return found

    def copy(self) -> Self:
        """A copy in new memory, in the same layout. Local.

        Raises
        ------
        Error
            if there is not enough memory.

        Examples
        --------
        >>> a = hk.arange(hk.Layout((2, 3), "(*, *)"))
        >>> b = a.copy()
        >>> b.fill(0)
        >>> a.local.tolist()
        [[0, 1, 2], [3, 4, 5]]
        """
        found: Self = importing("operands").copied(self, self._layout)
        return found

    def redistribute(self, lay2: Layout, **options: Any) -> Self:
        """`hocket.redistribute` of this array. Collective.

        Raises
        ------
        LayoutError, MismatchError, Error
            as `hocket.redistribute`.

        Examples
        --------
        On two processes:

        >>> a = hk.arange(hk.Layout(4, "(BLOCK)", 2))
        >>> b = a.redistribute(hk.Layout(4, "(CYCLIC)", 2))
        >>> b.local.tolist() == ([0, 2] if b.comm.rank == 0 else [1, 3])
        True
        """
        found: Self = importing("operands").redistribute(self, lay2, **options)
        return found

    def fill(self, value: Any) -> None:
        """Sets every element to a scalar. Local.

        Raises
        ------
        Error
            if `value` is no scalar of this dtype, and for read-only memory.

        Examples
        --------
        >>> a = hk.arange(hk.Layout((2, 3), "(*, *)"))
        >>> a.fill(7)
        >>> a.local.tolist()
        [[7, 7, 7], [7, 7, 7]]
        """
        importing("indexing").fill(self, value)

    def conj(self) -> Self:
        """The complex conjugate of each element.

        Raises
        ------
        Error
            if there is not enough memory.

        Examples
        --------
        >>> hk.full(hk.Layout(1, "(*)"), 1 + 2j).conj().local
        array([1.-2.j])
        """
        if self.dtype.kind != "c":
            return self
        found: Self = numpy.conjugate(self)
        return found

    conjugate = conj

    def round(self, decimals: int = 0, out: Any = None) -> Self:
        """Rounds each element to so many decimals.

        Raises
        ------
        LayoutError, MismatchError, Error
            on every process, for arguments that do not fit.

        Examples
        --------
        >>> hk.full(hk.Layout(2, "(*)"), 1.26).round(1).local
        array([1.3, 1.3])
        """
        found: Self = numpy.round(self, decimals, out=out)
        return found

    def clip(self, min: Any = None, max: Any = None, out: Any = None) -> Self:
        """Each element limited to an interval.

        Raises
        ------
        LayoutError, MismatchError, Error
            on every process, for arguments that do not fit.

        Examples
        --------
        >>> a = hk.arange(hk.Layout((2, 3), "(*, *)"))
        >>> a.clip(1, 4).local.tolist()
        [[1, 1, 2], [3, 4, 4]]
        """
        found: Self = numpy.clip(self, min, max, out=out)
        return found
