# SPDX-License-Identifier: BSD-3-Clause
"""The attributes and methods of an array for computing: NumPy's, over the global array."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, NoReturn, Optional

import numpy as np
import numpy.typing as npt
from numpy.lib.mixins import NDArrayOperatorsMixin

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mpi4py import MPI
    from typing_extensions import Self

    from hocket.layouts import Layout


#: NumPy's functions return distributed arrays for distributed ones, which its types do not express
numpy: Any = np


class Methods(NDArrayOperatorsMixin):
    """The part of `hocket.Array` for computing. Collective, except for attributes and `fill`."""

    __slots__ = ()
    __hash__ = None  # type: ignore[assignment]  # == is elementwise
    __contains__ = None
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

    def sum(
        self,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        keepdims: bool = False,
        **terms: Any,
    ) -> Any:
        """The sum over global axes; for floating-point numbers the exact sum, rounded once.

        A scalar, on every process, or an array: processes along the dimensions that lose theirs
        hold copies. The bits do not depend on the layout or the number of processes: R. M. Neal,
        "Fast exact summation using small and large superaccumulators" (2015).

        `terms`: `initial=` and `where=`, as in `numpy.sum`.

        Raises
        ------
        LayoutError, MismatchError, Error
            on every process, for arguments that do not fit.

        Examples
        --------
        >>> a = hk.arange(hk.Layout((2, 3), "(*, *)"))
        >>> a.sum()
        np.int64(15)
        >>> a.sum(axis=0).local
        array([3, 5, 7])
        """
        return numpy.sum(self, axis=axis, dtype=dtype, out=out, keepdims=keepdims, **terms)

    def prod(
        self,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        keepdims: bool = False,
        **terms: Any,
    ) -> Any:
        """The product over global axes.

        A scalar, on every process, or an array: processes along the dimensions that lose theirs
        hold copies.

        `terms`: `initial=` and `where=`, as in `numpy.prod`.

        Raises
        ------
        LayoutError, MismatchError, Error
            on every process, for arguments that do not fit.

        Examples
        --------
        >>> a = hk.arange(hk.Layout((2, 3), "(*, *)"))
        >>> (a + 1).prod()
        np.int64(720)
        """
        return numpy.prod(self, axis=axis, dtype=dtype, out=out, keepdims=keepdims, **terms)

    def mean(
        self,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        keepdims: bool = False,
        **terms: Any,
    ) -> Any:
        """The mean over global axes: the exact sum, rounded once, divided, rounded once more.

        A scalar, on every process, or an array: processes along the dimensions that lose theirs
        hold copies.

        `terms`: `where=`, as in `numpy.mean`.

        Raises
        ------
        LayoutError, MismatchError, Error
            on every process, for arguments that do not fit.

        Examples
        --------
        >>> a = hk.arange(hk.Layout((2, 3), "(*, *)"))
        >>> a.mean()
        np.float64(2.5)
        """
        return numpy.mean(self, axis=axis, dtype=dtype, out=out, keepdims=keepdims, **terms)

    def var(
        self,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        ddof: float = 0,
        keepdims: bool = False,
        **terms: Any,
    ) -> Any:
        """The variance over global axes: the mean of squared distances from the mean.

        A scalar, on every process, or an array: processes along the dimensions that lose theirs
        hold copies.

        `terms`: `where=`, as in `numpy.var`.

        Raises
        ------
        LayoutError, MismatchError, Error
            on every process, for arguments that do not fit.

        Examples
        --------
        >>> a = hk.arange(hk.Layout((2, 3), "(*, *)"))
        >>> round(float(a.var()), 4)
        2.9167
        """
        return numpy.var(
            self, axis=axis, dtype=dtype, out=out, ddof=ddof, keepdims=keepdims, **terms
        )

    def std(
        self,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        ddof: float = 0,
        keepdims: bool = False,
        **terms: Any,
    ) -> Any:
        """The standard deviation over global axes.

        A scalar, on every process, or an array: processes along the dimensions that lose theirs
        hold copies.

        `terms`: `where=`, as in `numpy.std`.

        Raises
        ------
        LayoutError, MismatchError, Error
            on every process, for arguments that do not fit.

        Examples
        --------
        >>> a = hk.arange(hk.Layout((2, 3), "(*, *)"))
        >>> round(float(a.std()), 4)
        1.7078
        """
        return numpy.std(
            self, axis=axis, dtype=dtype, out=out, ddof=ddof, keepdims=keepdims, **terms
        )

    def min(self, axis: Any = None, out: Any = None, keepdims: bool = False, **terms: Any) -> Any:
        """The least element over global axes; NaN wins.

        A scalar, on every process, or an array: processes along the dimensions that lose theirs
        hold copies.

        `terms`: `initial=` and `where=`, as in `numpy.min`.

        Raises
        ------
        LayoutError, MismatchError, Error
            on every process, for arguments that do not fit.

        Examples
        --------
        >>> a = hk.arange(hk.Layout((2, 3), "(*, *)"))
        >>> a.min()
        np.int64(0)
        """
        return numpy.min(self, axis=axis, out=out, keepdims=keepdims, **terms)

    def max(self, axis: Any = None, out: Any = None, keepdims: bool = False, **terms: Any) -> Any:
        """The greatest element over global axes; NaN wins.

        A scalar, on every process, or an array: processes along the dimensions that lose theirs
        hold copies.

        `terms`: `initial=` and `where=`, as in `numpy.max`.

        Raises
        ------
        LayoutError, MismatchError, Error
            on every process, for arguments that do not fit.

        Examples
        --------
        >>> a = hk.arange(hk.Layout((2, 3), "(*, *)"))
        >>> a.max(axis=1).local
        array([2, 5])
        """
        return numpy.max(self, axis=axis, out=out, keepdims=keepdims, **terms)

    def any(self, axis: Any = None, out: Any = None, keepdims: bool = False, **terms: Any) -> Any:
        """Whether any element is true, over global axes.

        A scalar, on every process, or an array: processes along the dimensions that lose theirs
        hold copies.

        `terms`: `where=`, as in `numpy.any`.

        Raises
        ------
        LayoutError, MismatchError, Error
            on every process, for arguments that do not fit.

        Examples
        --------
        >>> a = hk.arange(hk.Layout((2, 3), "(*, *)"))
        >>> (a > 4).any()
        np.True_
        """
        return numpy.any(self, axis=axis, out=out, keepdims=keepdims, **terms)

    def all(self, axis: Any = None, out: Any = None, keepdims: bool = False, **terms: Any) -> Any:
        """Whether all elements are true, over global axes.

        A scalar, on every process, or an array: processes along the dimensions that lose theirs
        hold copies.

        `terms`: `where=`, as in `numpy.all`.

        Raises
        ------
        LayoutError, MismatchError, Error
            on every process, for arguments that do not fit.

        Examples
        --------
        >>> a = hk.arange(hk.Layout((2, 3), "(*, *)"))
        >>> (a > 4).all()
        np.False_
        """
        return numpy.all(self, axis=axis, out=out, keepdims=keepdims, **terms)

    def argmin(self, axis: Any = None, out: Any = None, *, keepdims: bool = False) -> Any:
        """The index of the first least element, row-major or along an axis.

        A scalar, on every process, or an array: processes along the dimensions that lose theirs
        hold copies.

        Raises
        ------
        LayoutError, MismatchError, Error
            on every process, for arguments that do not fit.

        Examples
        --------
        >>> a = hk.arange(hk.Layout((2, 3), "(*, *)"))
        >>> a.argmin()
        np.int64(0)
        """
        return numpy.argmin(self, axis=axis, out=out, keepdims=keepdims)

    def argmax(self, axis: Any = None, out: Any = None, *, keepdims: bool = False) -> Any:
        """The index of the first greatest element, row-major or along an axis.

        A scalar, on every process, or an array: processes along the dimensions that lose theirs
        hold copies.

        Raises
        ------
        LayoutError, MismatchError, Error
            on every process, for arguments that do not fit.

        Examples
        --------
        >>> a = hk.arange(hk.Layout((2, 3), "(*, *)"))
        >>> a.argmax()
        np.int64(5)
        """
        return numpy.argmax(self, axis=axis, out=out, keepdims=keepdims)

    def cumsum(self, axis: Any = None, dtype: Any = None, out: Any = None) -> Self:
        """Running sums along an axis, or of the flattened array; close to NumPy's.

        Raises
        ------
        LayoutError, MismatchError, Error
            on every process, for arguments that do not fit.

        Examples
        --------
        >>> a = hk.arange(hk.Layout((2, 3), "(*, *)"))
        >>> a.cumsum(axis=1).local
        array([[ 0,  1,  3],
               [ 3,  7, 12]])
        """
        found: Self = numpy.cumsum(self, axis=axis, dtype=dtype, out=out)
        return found

    def cumprod(self, axis: Any = None, dtype: Any = None, out: Any = None) -> Self:
        """Running products along an axis, or of the flattened array.

        Raises
        ------
        LayoutError, MismatchError, Error
            on every process, for arguments that do not fit.

        Examples
        --------
        >>> a = hk.arange(hk.Layout((2, 3), "(*, *)"))
        >>> a.cumprod(axis=1).local
        array([[ 0,  0,  0],
               [ 3, 12, 60]])
        """
        found: Self = numpy.cumprod(self, axis=axis, dtype=dtype, out=out)
        return found

    def dot(self, b: Any, out: Any = None) -> Any:
        """The dot product of two vectors, exact as `sum` is, or the matrix product.

        Raises
        ------
        LayoutError, MismatchError, Error
            on every process, for arguments that do not fit.

        Examples
        --------
        >>> a = hk.arange(hk.Layout(3, "(*)"))
        >>> a.dot(a)
        np.int64(5)
        """
        return numpy.dot(self, b, out=out)

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

    def trace(
        self, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None, out: Any = None
    ) -> Any:
        """The sum of a diagonal, exact as `sum` is.

        Raises
        ------
        LayoutError, MismatchError, Error
            on every process, for arguments that do not fit.

        Examples
        --------
        >>> a = hk.arange(hk.Layout((2, 3), "(*, *)"))
        >>> a.trace()
        np.int64(4)
        """
        return numpy.trace(self, offset, axis1, axis2, dtype, out)

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


@functools.cache
def importing(module: str) -> Any:
    """This module needs arrays, so they load it."""
    from importlib import import_module

    return import_module(f"hocket.computing.{module}")
