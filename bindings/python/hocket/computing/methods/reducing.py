# SPDX-License-Identifier: BSD-3-Clause
"""Methods that reduce or scan an array over global axes, and products."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hocket.computing.methods.base import Distributed, numpy

if TYPE_CHECKING:
    from typing_extensions import Self


class Reducing(Distributed):
    __slots__ = ()

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
