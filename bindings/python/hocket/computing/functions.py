# SPDX-License-Identifier: BSD-3-Clause
"""The table of NumPy's functions for distributed arrays, and their implementations."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Callable

import numpy as np

from hocket.arrays import Array
from hocket.calls import collective
from hocket.computing import (
    algebra,
    along_axis,
    by_index,
    chosen_terms,
    combining,
    composed,
    contractions,
    distributions,
    elementwise,
    fourier,
    joining,
    matrices,
    products,
    reductions,
    scans,
    sets,
    shapes,
    sorting,
    statistics,
)
from hocket.computing.alternatives import NEAR
from hocket.computing.given import ABSENT, by_name, is_plain, name_of, options_of
from hocket.computing.layouts import normal_axes
from hocket.computing.operands import copied, first_communicator
from hocket.errors import Error

Table = dict[Any, Callable[..., Any]]

_FIRST = "give a distributed array as the first operand too, made by hk.wrap"


def of_ufunc(ufunc: np.ufunc, method: str, inputs: Sequence[Any], options: dict[str, Any]) -> Any:
    """Implements `__array_ufunc__`."""
    product = PRODUCTS.get(ufunc)
    if product is not None and method == "__call__":
        return product(*inputs, **options_of(ufunc, product, _flat_out(options)))
    if method == "__call__":
        return elementwise.of_ufunc(ufunc, inputs, options)
    options = _flat_out(options)
    if method in ("reduce", "accumulate") and not isinstance(inputs[0], Array):
        raise TypeError(f"np.{ufunc.__name__}.{method}: {_FIRST}, not {type(inputs[0]).__name__}")
    if method == "reduce":
        options.setdefault("axis", 0)
        return chosen_terms.reduce(ufunc, *inputs, **options)
    if method == "accumulate":
        return scans.accumulate(ufunc, *inputs, **options)
    if method == "outer":
        return algebra.outer_of(ufunc, *inputs, **options)
    if method == "at" and len(inputs) == 3 and isinstance(inputs[0], Array):
        return by_index.combine_at(ufunc, *inputs)
    raise TypeError(
        f"np.{ufunc.__name__}.{method} of distributed arrays takes no such arguments; use "
        f"np.{ufunc.__name__}, its reduce, accumulate, outer, or at with a distributed array first"
    )


def _flat_out(options: dict[str, Any]) -> dict[str, Any]:
    out = options.pop("out", None)
    if isinstance(out, tuple):
        out = out[0]
    return options if out is None else {**options, "out": out}


def of_numpy(function: Any, args: Sequence[Any], options: dict[str, Any]) -> Any:
    """Implements `__array_function__`. Raises `TypeError` for unsupported functions."""
    ours = TABLE.get(function)
    if ours is None:
        name = name_of(function)
        near = NEAR.get(name.removeprefix("np."))
        raise TypeError(
            f"{name} is not there for distributed arrays; use "
            + (f"{near}, " if near else "")
            + "the function on the parts with hk.map_blocks, or on the whole array: a.gather(), "
            "hk.replicated(a)"
        )
    plain = is_plain(function, ours, len(args), *options)
    if not plain or (options and any(x is ABSENT for x in options.values())):
        args, options = by_name(function, args, options)
        options = options_of(function, ours, options)
    try:
        return ours(*args, **options)
    except Error:
        raise
    except (AttributeError, IndexError, OverflowError, TypeError, ValueError) as error:
        if isinstance(error, TypeError) and str(error).startswith("np."):
            raise  # which names the unsupported function
        words = str(error)
        if isinstance(error, AttributeError) and args and not isinstance(args[0], Array):
            words = f"{_FIRST}, not {type(args[0]).__name__}"
        refused = Error(f"{name_of(function)}: {words}")
        comm = first_communicator([*args, *options.values()])
        if comm is None or function in _LOCAL:
            raise refused from error
        with collective(comm, None):  # the arguments may be wrong on this process only
            raise refused from error


def by_element(function: Any) -> Callable[..., Any]:
    """A function of one array that NumPy computes elementwise."""

    def compute(x: Any, *others: Any, out: Any = None, **options: Any) -> Any:
        if others and isinstance(others[0], Array):
            out, others = others[0], others[1:]
        given = (x, *others)
        if not any(isinstance(each, Array) for each in given):  # out= alone is distributed
            found: Any = function(*given, **options)
        else:
            found = elementwise.of_function(function, given, **options)
        return found if out is None else combining.to_out(found, out)

    return compute


def reduced(ufunc: np.ufunc) -> Callable[..., Any]:
    """A reduction, as np.sum is that of np.add."""

    def reduction(
        a: Any,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        keepdims: bool = False,
        initial: Any = None,
        where: Any = True,
    ) -> Any:
        if axis is dtype is out is initial is None and where is True and not keepdims:
            found = reductions.total(ufunc, a)
            if found is not None:
                return found
        return chosen_terms.reduce(ufunc, a, axis, dtype, out, keepdims, initial, where)

    return reduction


def where(condition: Any, x: Any = ABSENT, y: Any = ABSENT) -> Any:
    """`numpy.where`."""
    if x is y is ABSENT:
        return statistics.nonzero(condition)
    return elementwise.of_function(np.where, (condition, x, y))


def clip(a: Any, a_min: Any = None, a_max: Any = None, out: Any = None, **options: Any) -> Any:
    """`numpy.clip`."""
    low, high = options.pop("min", a_min), options.pop("max", a_max)
    a = a if isinstance(a, Array) else np.asarray(a)
    low = None if low is ABSENT else low
    high = None if high is ABSENT else high
    if a.dtype.kind in "iu":  # bounds beyond the dtype's own
        limits = np.iinfo(a.dtype)
        low = None if type(low) is int and low < limits.min else low
        high = None if type(high) is int and high > limits.max else high
    given = options if out is None else {"out": (out,), **options}
    if low is None and high is None:
        return elementwise.of_ufunc(np.positive, (a,), given)
    if low is None:
        return elementwise.of_ufunc(np.minimum, (a, high), given)
    if high is None:
        return elementwise.of_ufunc(np.maximum, (a, low), given)
    return elementwise.of_ufunc(_clip, (a, low, high), given)


_clip = np._core.umath.clip if hasattr(np, "_core") else np.core.umath.clip  # type: ignore[attr-defined]


def around(a: Any, decimals: int = 0, out: Any = None) -> Any:
    """`numpy.round`."""
    result = elementwise.of_function(np.round, (a,), decimals=decimals)
    return result if out is None else combining.to_out(result, out)


def take(a: Array, indices: Any, axis: Any = None, out: Any = None, mode: str = "raise") -> Any:
    """`numpy.take`."""
    with collective(a.comm, None):
        if mode not in ("raise", "wrap", "clip"):
            raise Error(f"mode is {mode!r}; give 'raise', 'wrap' or 'clip'")
    a, d = shapes.flattened(a, axis)
    index: Any = indices if isinstance(indices, Array) else np.asarray(indices)
    index = index.astype(np.intp) if index.dtype.kind == "b" else index  # a mask elsewhere
    extent = a.shape[d]
    if mode == "wrap" and extent:
        index = np.remainder(index, extent)
    elif mode == "clip" and extent:
        index = np.clip(index, 0, extent - 1)
    where = (*(slice(None),) * d, index)
    result = a[where]
    return result if out is None else combining.to_out(result, out)


def named(home: Any, module: Any, names: str) -> Table:
    """Functions of NumPy's `home` and those of the same names in `module`; older versions of NumPy
    lack some."""
    return {getattr(home, n): getattr(module, n) for n in names.split() if hasattr(home, n)}


#: ufuncs of vectors and matrices
PRODUCTS: Table = {
    np.matmul: products.matmul,
    **named(np, algebra, "vecdot matvec vecmat"),
}

TABLE: Table = {
    np.sum: reduced(np.add),
    np.prod: reduced(np.multiply),
    np.min: reduced(np.minimum),
    np.max: reduced(np.maximum),
    np.any: reduced(np.logical_or),
    np.all: reduced(np.logical_and),
    np.cumsum: scans.cumulative(np.add),
    np.cumprod: scans.cumulative(np.multiply),
    np.where: where,
    np.clip: clip,
    np.round: around,
    np.take: take,
    np.copy: lambda a: copied(a, a.layout),
    np.zeros_like: composed.filled(np.zeros),
    np.ones_like: composed.filled(np.ones),
    np.empty_like: composed.filled(None),
    np.shape: lambda a: a.shape,
    np.ndim: lambda a: a.ndim,
    np.size: lambda a, axis=None: (
        a.size if axis is None else math.prod(a.shape[d] for d in normal_axes(axis, a.ndim))
    ),
    np.iscomplexobj: lambda x: x.dtype.kind == "c",
    np.isrealobj: lambda x: x.dtype.kind != "c",
    np.result_type: lambda *given: np.result_type(
        *(x.dtype if isinstance(x, Array) else x for x in given)
    ),
    np.nanmin: reduced(np.fmin),
    np.nanmax: reduced(np.fmax),
    np.nanargmin: statistics.extreme_number(statistics.argmin, math.inf),
    np.nanargmax: statistics.extreme_number(statistics.argmax, -math.inf),
    np.nancumsum: statistics.scan_without_nan(np.cumsum, 0),
    np.nancumprod: statistics.scan_without_nan(np.cumprod, 1),
    np.nanmedian: distributions.of_numbers(distributions.median),
    np.nanquantile: distributions.of_numbers(distributions.quantile),
    np.nanpercentile: distributions.of_numbers(distributions.percentile),
    np.atleast_1d: joining.atleast_each(1),
    np.atleast_2d: joining.atleast_each(2),
    np.atleast_3d: joining.atleast_each(3),
    np.can_cast: lambda given, to, casting="safe": np.can_cast(given.dtype, to, casting),
    np.common_type: lambda *arrays: np.common_type(*(np.empty(0, x.dtype) for x in arrays)),
    **{
        getattr(np, f"nan{name}"): statistics.without_nan(getattr(np, name))
        for name in ("sum", "prod", "mean", "var", "std")
    },
    **{
        getattr(np, name): by_element(getattr(np, name))
        for name in (
            *("real", "imag", "angle", "sinc", "fix", "i0"),
            *("isneginf", "isposinf", "isreal", "iscomplex"),
        )
    },
    **named(np, along_axis, "take_along_axis put_along_axis"),
    **named(np, statistics, "count_nonzero mean var std argmin argmax nonzero"),
    **named(np, distributions, "quantile percentile median histogram bincount digitize"),
    **named(np, products, "dot vdot"),
    **named(np.linalg, products, "norm matmul"),
    **named(np, contractions, "tensordot einsum diagonal"),
    **named(
        np,
        shapes,
        "astype transpose swapaxes moveaxis rollaxis matrix_transpose expand_dims squeeze reshape "
        "ravel broadcast_to concatenate stack flip roll",
    ),
    **named(
        np,
        joining,
        "vstack hstack dstack column_stack append block array_split split hsplit vsplit dsplit "
        "unstack broadcast_arrays meshgrid tile repeat delete pad",
    ),
    **named(
        np,
        sorting,
        "sort argsort searchsorted sort_complex partition argpartition lexsort",
    ),
    **named(
        np,
        sets,
        "unique unique_all unique_counts unique_inverse unique_values isin union1d intersect1d "
        "setdiff1d setxor1d",
    ),
    **named(
        np,
        composed,
        "full_like flipud fliplr rot90 ptp tril triu diag diagflat fill_diagonal argwhere "
        "flatnonzero compress extract copyto putmask select choose "
        "unravel_index ravel_multi_index interp polyval nan_to_num isclose allclose array_equal "
        "array_equiv",
    ),
    **named(
        np,
        algebra,
        "outer inner kron cross trace average cov corrcoef convolve correlate trapezoid diff "
        "gradient",
    ),
    **named(
        np.linalg,
        algebra,
        "cross vecdot multi_dot matrix_power matrix_norm vector_norm",
    ),
    **named(np.linalg, contractions, "tensordot"),
    **matrices.TABLE,
    **named(np.linalg, shapes, "matrix_transpose"),
    **{
        getattr(np.linalg, name): function
        for name, function in (
            ("outer", algebra.vector_outer),
            ("trace", algebra.matrix_trace),
            ("diagonal", algebra.matrix_diagonal),
        )
        if hasattr(np.linalg, name)
    },
    **{
        getattr(np, f"cumulative_{name}"): composed.cumulative(function)
        for name, function in (("sum", np.cumsum), ("prod", np.cumprod))
        if hasattr(np, f"cumulative_{name}")
    },
    **named(
        np.fft,
        fourier,
        "fftn ifftn rfftn irfftn rfft irfft fft ifft fft2 ifft2 rfft2 irfft2 hfft ihfft fftshift "
        "ifftshift",
    ),
}

#: these need no other process, which therefore does not learn of their errors
_LOCAL = frozenset([np.shape, np.ndim, np.size, np.iscomplexobj, np.isrealobj]).union(
    [np.result_type, np.can_cast, np.common_type]
)
for _other, _function in ((np.amin, np.min), (np.amax, np.max), (np.around, np.round)):
    TABLE.setdefault(_other, TABLE[_function])
