# SPDX-License-Identifier: BSD-3-Clause
"""Random numbers of elements: the same for every layout and number of processes."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, Callable, Optional

import numpy as np
import numpy.typing as npt

from hocket import _mpi
from hocket.arrays import Array
from hocket.computing.layouts import numbers
from hocket.creation import empty
from hocket.errors import Error
from hocket.layouts import Layout

if TYPE_CHECKING:
    from mpi4py import MPI


def with_numbers(a: Array) -> list[npt.NDArray[np.int64]]:
    """The global index of each local element, one array a dimension."""
    own = numbers(a.layout, a._rank_and_size[0]).reshape(a.local.shape)
    return list(np.unravel_index(own, a.layout.shape))


class Random:
    """Random arrays by counter; see `hocket.random`.

    An element's value depends only on the seed, the distribution and the element's row-major
    number. So an equal call gives equal numbers: use another seed for others.

    Examples
    --------
    On two processes:

    >>> numbers = hk.random(7)
    >>> a = numbers.uniform(hk.Layout(6, "(BLOCK)", 2))
    >>> b = numbers.uniform(hk.Layout(6, "(CYCLIC)", 2))
    >>> np.array_equal(a, b)
    True
    """

    __slots__ = ("_seed",)

    def __init__(self, seed: int) -> None:
        try:
            self._seed = operator.index(seed)
        except TypeError:
            raise Error(f"seed is {seed!r}; give an integer") from None
        if not 0 <= self._seed < 2**64:
            raise Error(f"seed is {seed}; give one from 0 to 2^64 - 1")

    def uniform(
        self,
        lay: Layout,
        low: float = 0.0,
        high: float = 1.0,
        dtype: npt.DTypeLike = "float64",
        comm: Optional[MPI.Comm] = None,
    ) -> Array:
        """Numbers from ``low`` up to, but not including, ``high``. Local, not collective.

        Raises
        ------
        LayoutError, Error
            as `empty`; `Error` also for a dtype that is no floating point, and for bounds without a
            finite difference or in the wrong order.

        Examples
        --------
        >>> a = hk.random(7).uniform(hk.Layout(1000, "(*)"), 2, 3)
        >>> bool(a.min() >= 2), bool(a.max() < 3)
        (True, True)
        """
        array = floating(lay, dtype, comm)
        bounds = as_real(low, "low"), as_real(high, "high")
        return filled(array, lambda into: _mpi.random_uniform(into, self._seed, *bounds))

    def normal(
        self,
        lay: Layout,
        mean: float = 0.0,
        deviation: float = 1.0,
        dtype: npt.DTypeLike = "float64",
        comm: Optional[MPI.Comm] = None,
    ) -> Array:
        """Normally distributed numbers (Box, Muller, 1958). Local, not collective.

        Raises
        ------
        LayoutError, Error
            as `empty`; `Error` also for a dtype that is no floating point, and for a negative
            deviation.

        Examples
        --------
        >>> a = hk.random(7).normal(hk.Layout(10000, "(*)"))
        >>> bool(abs(a.mean()) < 0.1), bool(abs(a.std() - 1) < 0.1)
        (True, True)
        """
        array = floating(lay, dtype, comm)
        terms = as_real(mean, "mean"), as_real(deviation, "deviation")
        return filled(array, lambda into: _mpi.random_normal(into, self._seed, *terms))

    def integers(
        self,
        lay: Layout,
        low: int,
        high: int,
        dtype: npt.DTypeLike = "int64",
        comm: Optional[MPI.Comm] = None,
    ) -> Array:
        """Integers from ``low`` up to, but not including, ``high``. Local, not collective.

        Raises
        ------
        LayoutError, Error
            as `empty`; `Error` also for an interval without integers, or with more than 2^32, and
            for a dtype that cannot hold it.

        Examples
        --------
        >>> a = hk.random(7).integers(hk.Layout(100, "(*)"), 1, 7)
        >>> a.min(), a.max()
        (np.int64(1), np.int64(6))
        """
        array = empty(lay, dtype, comm)
        if array.dtype.kind not in "iu":
            raise Error(f"{array.dtype} holds no integers; give int64, say")
        try:
            first, count = operator.index(low), operator.index(high) - operator.index(low)
        except TypeError:
            raise Error(f"low is {low!r} and high is {high!r}; give integers") from None
        range_ = np.iinfo(array.dtype)
        if not 0 < count <= 2**32 or first < range_.min or first + count - 1 > range_.max:
            raise Error(f"no integers of {array.dtype} from {low} to {high}; give low < high")
        terms = first % 2**64, count
        return filled(array, lambda into: _mpi.random_integers(into, self._seed, *terms))


def filled(array: Array, fill: Callable[[_mpi.Local], None]) -> Array:
    """`array`, after `fill` with it, or with its memory as native numbers, whose bytes then change
    their order."""
    if array.dtype.isnative:
        fill(array._wrapped())
    else:
        native = array._local.view(array.dtype.newbyteorder("="))
        fill(Array(native, array.layout, array._comm)._wrapped())
        native.byteswap(inplace=True)
    return array


def as_real(value: Any, what: str) -> float:
    """`value` as a float. Raises `Error`."""
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise Error(f"{what} is {value!r}; give a number") from None


def floating(layout: Layout, dtype: Any, comm: Any) -> Array:
    array = empty(layout, dtype, comm)
    if array.dtype.kind != "f":
        raise Error(f"{array.dtype} is no floating point; give float64, say")
    return array


def random(seed: int) -> Random:
    """A maker of random arrays: `Random.uniform`, `Random.normal`, `Random.integers`.

    Counters make the numbers: Philox4x32-10 (Salmon, Moraes, Dror, Shaw, "Parallel random numbers:
    as easy as 1, 2, 3", 2011), with the element's row-major number as its counter.

    Parameters
    ----------
    seed
        0 to 2^64 - 1

    Raises
    ------
    Error
        for an invalid seed.

    Examples
    --------
    >>> hk.random(1).integers(hk.Layout(5, "(*)"), 0, 10).shape
    (5,)
    """
    return Random(seed)
