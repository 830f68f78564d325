# SPDX-License-Identifier: BSD-3-Clause
"""Methods that choose elements of an array, or bring them into order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hocket.computing.methods.base import Distributed, importing, numpy

if TYPE_CHECKING:
    from typing_extensions import Self


class Choosing(Distributed):
    __slots__ = ()

    def item(self, *index: int) -> Any:
        """One element as a Python scalar, on every process.

        Raises
        ------
        LayoutError
            on every process, for an index outside the shape; without one, unless there is only one
            element.

        Examples
        --------
        >>> a = hk.arange(hk.Layout((2, 3), "(*, *)"))
        >>> a.item(1, 2)
        5
        """
        return importing("indexing").item(self, index)

    def take(self, indices: Any, axis: Any = None, out: Any = None, mode: str = "raise") -> Any:
        """The elements of these indices along an axis, or of the flattened array.

        Raises
        ------
        LayoutError, MismatchError, Error
            on every process, for arguments that do not fit.

        Examples
        --------
        >>> a = hk.arange(hk.Layout((2, 3), "(*, *)"))
        >>> a.take([2, 0], axis=1).local.tolist()
        [[2, 0], [5, 3]]
        """
        return numpy.take(self, indices, axis=axis, out=out, mode=mode)

    def compress(self, condition: Any, axis: Any = None, out: Any = None) -> Self:
        """The slices along an axis, or the elements of the flattened array, for which a condition
        of one dimension is true; in even parts.

        Raises
        ------
        LayoutError, MismatchError, Error
            on every process, for arguments that do not fit.

        Examples
        --------
        >>> a = hk.arange(hk.Layout((2, 3), "(*, *)"))
        >>> a.compress([False, True, True], axis=1).local.tolist()
        [[1, 2], [4, 5]]
        """
        found: Self = numpy.compress(condition, self, axis=axis, out=out)
        return found

    def nonzero(self) -> tuple[Self, ...]:
        """The indices of the elements other than 0, of one dimension each, in even parts.

        Raises
        ------
        LayoutError, MismatchError, Error
            on every process, for arguments that do not fit.

        Examples
        --------
        >>> a = hk.arange(hk.Layout((2, 3), "(*, *)"))
        >>> rows, columns = a.nonzero()
        >>> columns.local
        array([1, 2, 0, 1, 2])
        """
        found: tuple[Self, ...] = numpy.nonzero(self)
        return found

    def sort(
        self, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None
    ) -> None:
        """Sorts the elements along an axis, in place; equal elements keep their order.

        The order is stable for every `kind`. An array has no fields, so `order` is None.

        Raises
        ------
        LayoutError, MismatchError, Error
            on every process, for arguments that do not fit.

        Examples
        --------
        >>> a = -hk.arange(hk.Layout((2, 3), "(*, *)"))
        >>> a.sort()
        >>> a.local.tolist()
        [[-2, -1, 0], [-5, -4, -3]]
        """
        importing("sorting").sort_in_place(self, axis, kind, order, stable)

    def argsort(
        self, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None
    ) -> Self:
        """The indices that sort the elements along an axis; equal elements keep their order.

        The order is stable for every `kind`. An array has no fields, so `order` is None.

        Raises
        ------
        LayoutError, MismatchError, Error
            on every process, for arguments that do not fit.

        Examples
        --------
        >>> a = hk.arange(hk.Layout((2, 3), "(*, *)"))
        >>> (-a).argsort().local.tolist()
        [[2, 1, 0], [2, 1, 0]]
        """
        found: Self = importing("sorting").argsort(self, axis, kind, order, stable=stable)
        return found

    def searchsorted(self, v: Any, side: str = "left", sorter: Any = None) -> Any:
        """The indices at which `v` would go into this sorted array of one dimension.

        An array as `v` gives an array in its layout, a number or NumPy's array gives NumPy's.

        Raises
        ------
        LayoutError, MismatchError, Error
            on every process, for arguments that do not fit.

        Examples
        --------
        >>> a = hk.arange(hk.Layout(4, "(*)"))
        >>> a.searchsorted(2, side="right")
        np.int64(3)
        """
        return numpy.searchsorted(self, v, side=side, sorter=sorter)
