# SPDX-License-Identifier: BSD-3-Clause
"""Methods that give the elements of an array another shape."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hocket.computing.methods.base import Distributed, numpy

if TYPE_CHECKING:
    from typing_extensions import Self


class Shaping(Distributed):
    __slots__ = ()

    def transpose(self, *axes: Any) -> Self:
        """The array with its dimensions in another order. Nothing moves.

        Raises
        ------
        LayoutError
            if the axes are no permutation.

        Examples
        --------
        >>> a = hk.arange(hk.Layout((2, 3), "(*, *)"))
        >>> a.transpose(1, 0).shape
        (3, 2)
        """
        given = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes
        found: Self = numpy.transpose(self, None if axes == () else given)
        return found

    def reshape(self, *shape: Any, order: str = "C") -> Self:
        """The elements in row-major order, or Fortran's, as an array of another shape, in even
        parts.

        Raises
        ------
        LayoutError
            for a shape with another number of elements.

        Examples
        --------
        >>> a = hk.arange(hk.Layout((2, 3), "(*, *)"))
        >>> a.reshape(3, 2).local.tolist()
        [[0, 1], [2, 3], [4, 5]]
        """
        given = shape[0] if len(shape) == 1 else shape
        found: Self = numpy.reshape(self, given, order=order)
        return found

    def ravel(self, order: str = "C") -> Self:
        """The elements in row-major order, or Fortran's, in one dimension and even parts.

        Raises
        ------
        LayoutError
            if no process holds some element.

        Examples
        --------
        >>> a = hk.arange(hk.Layout((2, 3), "(*, *)"))
        >>> a.ravel().local
        array([0, 1, 2, 3, 4, 5])
        """
        found: Self = numpy.ravel(self, order=order)
        return found

    def flatten(self, order: str = "C") -> Self:
        """A copy of the elements in row-major order, or Fortran's, in one dimension and even parts.

        Raises
        ------
        LayoutError
            if no process holds some element.

        Examples
        --------
        >>> a = hk.arange(hk.Layout((2, 3), "(*, *)"))
        >>> a.flatten("F").local
        array([0, 3, 1, 4, 2, 5])
        """
        return self.ravel(order)

    def squeeze(self, axis: Any = None) -> Self:
        """The array without dimensions of extent 1. Nothing moves.

        Raises
        ------
        LayoutError, MismatchError, Error
            on every process, for arguments that do not fit.

        Examples
        --------
        >>> a = hk.arange(hk.Layout((2, 3), "(*, *)"))
        >>> a[:1].squeeze().shape
        (3,)
        """
        found: Self = numpy.squeeze(self, axis)
        return found

    def swapaxes(self, axis1: int, axis2: int) -> Self:
        """The array with two dimensions exchanged. Nothing moves.

        Raises
        ------
        LayoutError, MismatchError, Error
            on every process, for arguments that do not fit.

        Examples
        --------
        >>> a = hk.arange(hk.Layout((2, 3), "(*, *)"))
        >>> a.swapaxes(0, 1).shape
        (3, 2)
        """
        found: Self = numpy.swapaxes(self, axis1, axis2)
        return found

    def diagonal(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Self:
        """The diagonal of two dimensions, as a copy.

        Raises
        ------
        LayoutError, MismatchError, Error
            on every process, for arguments that do not fit.

        Examples
        --------
        >>> a = hk.arange(hk.Layout((2, 3), "(*, *)"))
        >>> a.diagonal().local
        array([0, 4])
        """
        found: Self = numpy.diagonal(self, offset, axis1, axis2)
        return found

    def repeat(self, repeats: Any, axis: Any = None) -> Self:
        """Each element several times, along an axis or of the flattened array.

        Raises
        ------
        LayoutError, MismatchError, Error
            on every process, for arguments that do not fit.

        Examples
        --------
        >>> a = hk.arange(hk.Layout((2, 3), "(*, *)"))
        >>> a.repeat(2, axis=0).shape
        (4, 3)
        """
        found: Self = numpy.repeat(self, repeats, axis=axis)
        return found
