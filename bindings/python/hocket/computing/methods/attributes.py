# SPDX-License-Identifier: BSD-3-Clause
"""The attributes of an array for computing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hocket.computing.methods.base import Distributed, numpy

if TYPE_CHECKING:
    from typing_extensions import Self


class Attributes(Distributed):
    __slots__ = ()

    @property
    def shape(self) -> tuple[int, ...]:
        """Extents of the global array.

        Examples
        --------
        >>> a = hk.arange(hk.Layout((2, 3), "(*, *)"))
        >>> a.shape
        (2, 3)
        """
        return self._layout.shape

    @property
    def ndim(self) -> int:
        """Number of dimensions.

        Examples
        --------
        >>> a = hk.arange(hk.Layout((2, 3), "(*, *)"))
        >>> a.ndim
        2
        """
        return len(self._layout.shape)

    @property
    def size(self) -> int:
        """Number of elements of the global array.

        Examples
        --------
        >>> a = hk.arange(hk.Layout((2, 3), "(*, *)"))
        >>> a.size
        6
        """
        return self._layout.num_elements

    @property
    def nbytes(self) -> int:
        """Bytes of the global array, without copies.

        Examples
        --------
        >>> a = hk.arange(hk.Layout((2, 3), "(*, *)"))
        >>> a.nbytes
        48
        """
        return self._layout.num_elements * self.dtype.itemsize

    @property
    def itemsize(self) -> int:
        """Bytes of one element.

        Examples
        --------
        >>> a = hk.arange(hk.Layout((2, 3), "(*, *)"))
        >>> a.itemsize
        8
        """
        return self.dtype.itemsize

    @property
    def T(self) -> Self:  # noqa: N802
        """The transposed array: another layout of the same memory. Nothing moves.

        For listed elements and explicit segments, whose order changes, it is a read-only copy.

        Examples
        --------
        >>> a = hk.arange(hk.Layout((2, 3), "(*, *)"))
        >>> a.T.shape
        (3, 2)
        """
        found: Self = numpy.transpose(self)
        return found

    @property
    def mT(self) -> Self:  # noqa: N802
        """The transposed matrices of a stack: the last two dimensions exchanged. Nothing moves.

        Raises
        ------
        LayoutError
            for fewer than two dimensions.

        Examples
        --------
        >>> a = hk.zeros(hk.Layout((4, 2, 3), "(*, *, *)"))
        >>> a.mT.shape
        (4, 3, 2)
        """
        found: Self = numpy.swapaxes(self, -1, -2)
        return found

    @property
    def real(self) -> Self:
        """The real parts, in a new array.

        Examples
        --------
        >>> a = hk.full(hk.Layout(2, "(*)"), 1 + 2j)
        >>> a.real.local
        array([1., 1.])
        """
        found: Self = numpy.real(self)
        return found

    @property
    def imag(self) -> Self:
        """The imaginary parts, in a new array.

        Examples
        --------
        >>> a = hk.full(hk.Layout(2, "(*)"), 1 + 2j)
        >>> a.imag.local
        array([2., 2.])
        """
        found: Self = numpy.imag(self)
        return found
