# SPDX-License-Identifier: BSD-3-Clause
"""The table of NumPy's functions for distributed arrays, and their implementations."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Sequence
from typing import Any, Callable, Optional

import numpy as np

from hocket.arrays import Array
from hocket.calls import collective
from hocket.computing import (
    chosen_terms,
    composed,
    contractions,
    elementwise,
    fourier,
    products,
    reductions,
    scans,
    shapes,
    sorting,
    statistics,
)
from hocket.computing.operands import copied
from hocket.errors import Error

Table = dict[Any, Callable[..., Any]]

_ABSENT = getattr(np, "_NoValue", None)


def of_ufunc(ufunc: np.ufunc, method: str, inputs: Sequence[Any], options: dict[str, Any]) -> Any:
    """Implements `__array_ufunc__`."""
    if ufunc is np.matmul and method == "__call__":
        return products.matmul(*inputs, **_known(np.matmul, products.matmul, _flat_out(options)))
    if method == "__call__":
        return elementwise.of_ufunc(ufunc, inputs, options)
    options = _flat_out(options)
    if method == "reduce":
        options.setdefault("axis", 0)
        return chosen_terms.reduce(ufunc, *inputs, **options)
    if method == "accumulate":
        return scans.accumulate(ufunc, *inputs, **options)
    raise TypeError(
        f"np.{ufunc.__name__}.{method} of distributed arrays takes no such arguments; use "
        f"np.{ufunc.__name__}, its reduce or accumulate, or a.local and hk.map_blocks"
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
        name = _name(function)
        near = NEAR.get(name.removeprefix("np."))
        raise TypeError(
            f"{name} is not there for distributed arrays; use "
            + (f"{near}, " if near else "")
            + "the function on the parts with hk.map_blocks, or on the whole array: a.gather(), "
            "hk.replicated(a)"
        )
    known = _known(function, ours, options)
    try:
        return ours(*args, **known)
    except Error:
        raise
    except (AttributeError, IndexError, OverflowError, TypeError, ValueError) as error:
        if isinstance(error, TypeError) and str(error).startswith("np."):
            raise  # which names the unsupported function
        raise Error(f"{_name(function)}: {error}") from error


def _name(function: Any) -> str:
    home = getattr(function, "__module__", None) or "numpy"
    return f"{home.replace('numpy', 'np', 1)}.{function.__name__}"


def _known(function: Any, ours: Callable[..., Any], options: dict[str, Any]) -> dict[str, Any]:
    """The options without defaults. Raises `TypeError` for unknown ones."""
    if not options:
        return options
    signature = _parameters(ours)
    if signature is None:
        return options
    known = {name: value for name, value in options.items() if name in signature}
    for name, value in options.items():
        if name not in known and value is not None and value is not _ABSENT:
            raise TypeError(
                f"{_name(function)} of distributed arrays takes no {name}=; it takes "
                f"{', '.join(signature)}"
            )
    return {name: value for name, value in known.items() if value is not _ABSENT}


@functools.cache
def _parameters(ours: Callable[..., Any]) -> Optional[tuple[str, ...]]:
    """The names of the parameters; None for a function that takes any."""
    found = inspect.signature(ours).parameters
    takes_any = any(each.kind is each.VAR_KEYWORD for each in found.values())
    return None if takes_any else tuple(found)


def by_element(function: Any) -> Callable[..., Any]:
    """A function that NumPy computes elementwise, of one to three operands."""

    def compute(*inputs: Any, **options: Any) -> Any:
        return elementwise.of_function(function, inputs, **options)

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
        return chosen_terms.reduce(ufunc, a, axis, dtype, out, keepdims, initial, where)

    return reduction


def where(condition: Any, *values: Any) -> Any:
    """`numpy.where`."""
    if not values:
        return statistics.nonzero(condition)
    return elementwise.of_function(np.where, (condition, *values))


def clip(a: Any, a_min: Any = None, a_max: Any = None, out: Any = None, **options: Any) -> Any:
    """`numpy.clip`."""
    low, high = options.get("min", a_min), options.get("max", a_max)
    low = None if low is _ABSENT else low
    high = None if high is _ABSENT else high
    if a.dtype.kind in "iu":  # bounds beyond the dtype's own
        limits = np.iinfo(a.dtype)
        low = None if type(low) is int and low < limits.min else low
        high = None if type(high) is int and high > limits.max else high
    given = {} if out is None else {"out": (out,)}
    if low is None and high is None:
        return copied(a, a.layout)
    if low is None:
        return elementwise.of_ufunc(np.minimum, (a, high), given)
    if high is None:
        return elementwise.of_ufunc(np.maximum, (a, low), given)
    return elementwise.of_ufunc(
        np.clip_ufunc if hasattr(np, "clip_ufunc") else _clip, (a, low, high), given
    )


_clip = np._core.umath.clip if hasattr(np, "_core") else np.core.umath.clip  # type: ignore[attr-defined]


def around(a: Any, decimals: int = 0, out: Any = None) -> Any:
    """`numpy.round`."""
    result = elementwise.of_function(np.round, (a,), decimals=decimals)
    return result if out is None else reductions.to_out(result, out)


def isclose(a: Any, b: Any, rtol: Any = 1e-5, atol: Any = 1e-8, equal_nan: bool = False) -> Any:
    """`numpy.isclose`."""
    return elementwise.of_function(np.isclose, (a, b), rtol=rtol, atol=atol, equal_nan=equal_nan)


def allclose(a: Any, b: Any, rtol: Any = 1e-5, atol: Any = 1e-8, equal_nan: bool = False) -> bool:
    """`numpy.allclose`."""
    return bool(reductions.reduce(np.logical_and, isclose(a, b, rtol, atol, equal_nan)))


def array_equal(a: Any, b: Any, equal_nan: bool = False) -> bool:
    """`numpy.array_equal`."""
    if (a.shape if isinstance(a, Array) else np.shape(a)) != (
        b.shape if isinstance(b, Array) else np.shape(b)
    ):
        return False
    same = np.equal(a, b)
    if equal_nan:
        same = np.logical_or(same, np.logical_and(np.not_equal(a, a), np.not_equal(b, b)))
    return bool(reductions.reduce(np.logical_and, same))


def take(a: Array, indices: Any, axis: Any = None, out: Any = None, mode: str = "raise") -> Any:
    """`numpy.take`."""
    from hocket.computing.layouts import one_axis

    with collective(a.comm, None):
        if mode not in ("raise", "wrap", "clip"):
            raise Error(f"mode is {mode!r}; give 'raise', 'wrap' or 'clip'")
        d = 0 if axis is None else one_axis(axis, a.ndim)
    if axis is None:
        a = shapes.ravel(a)
    index: Any = indices if isinstance(indices, Array) else np.asarray(indices)
    extent = a.shape[d]
    if mode == "wrap" and extent:
        index = np.remainder(index, extent)
    elif mode == "clip" and extent:
        index = np.clip(index, 0, extent - 1)
    where = (*(slice(None),) * d, index)
    result = a[where]
    return result if out is None else reductions.to_out(result, out)


#: Alternatives to unsupported functions.
NEAR = {
    "median": "np.sort(a, axis=None) and its middle",
    "percentile": "np.sort(a, axis=None) and its elements",
    "quantile": "np.sort(a, axis=None) and its elements",
    "histogram": "np.searchsorted(np.sort(a, axis=None), edges)",
    "bincount": "np.unique and np.searchsorted",
    "digitize": "np.searchsorted(edges, a)",
    "gradient": "np.diff or np.roll",
    "convolve": "np.fft.fftn or hk.map_blocks with halo=",
    "pad": "an assignment to a section of hk.zeros",
    "kron": "np.outer and np.reshape",
    "cov": "np.mean and np.matmul",
    "corrcoef": "np.mean and np.matmul",
    "delete": "np.concatenate of sections",
    "insert": "np.concatenate of sections",
    "partition": "np.sort",
    "split": "sections, a[begin:end]",
    "array_split": "sections, a[begin:end]",
    "linalg.solve": "ScaLAPACK (see docs/guide/neighbours.md)",
    "linalg.svd": "ScaLAPACK (see docs/guide/neighbours.md)",
    "linalg.eigh": "ScaLAPACK (see docs/guide/neighbours.md)",
    "linalg.inv": "ScaLAPACK (see docs/guide/neighbours.md)",
}

TABLE: Table = {
    np.sum: reduced(np.add),
    np.prod: reduced(np.multiply),
    np.min: reduced(np.minimum),
    np.max: reduced(np.maximum),
    np.any: reduced(np.logical_or),
    np.all: reduced(np.logical_and),
    np.count_nonzero: statistics.count_nonzero,
    np.mean: statistics.mean,
    np.var: statistics.var,
    np.std: statistics.std,
    np.argmin: statistics.argmin,
    np.argmax: statistics.argmax,
    np.nonzero: statistics.nonzero,
    np.cumsum: scans.cumulative(np.add),
    np.cumprod: scans.cumulative(np.multiply),
    np.dot: products.dot,
    np.vdot: products.vdot,
    np.tensordot: contractions.tensordot,
    np.einsum: contractions.einsum,
    np.linalg.norm: products.norm,
    np.transpose: shapes.transpose,
    np.swapaxes: shapes.swapaxes,
    np.moveaxis: shapes.moveaxis,
    np.expand_dims: shapes.expand_dims,
    np.squeeze: shapes.squeeze,
    np.reshape: shapes.reshape,
    np.ravel: shapes.ravel,
    np.broadcast_to: shapes.broadcast_to,
    np.concatenate: shapes.concatenate,
    np.stack: shapes.stack,
    np.flip: shapes.flip,
    np.roll: shapes.roll,
    np.diff: shapes.diff,
    np.where: where,
    np.clip: clip,
    np.round: around,
    np.isclose: isclose,
    np.allclose: allclose,
    np.array_equal: array_equal,
    np.take: take,
    np.sort: sorting.sort,
    np.argsort: sorting.argsort,
    np.unique: sorting.unique,
    np.searchsorted: sorting.searchsorted,
    np.copy: lambda a: copied(a, a.layout),
    np.real: by_element(np.real),
    np.imag: by_element(np.imag),
    np.angle: by_element(np.angle),
    np.nan_to_num: by_element(np.nan_to_num),
    np.sinc: by_element(np.sinc),
    np.zeros_like: composed.filled(0),
    np.ones_like: composed.filled(1),
    np.empty_like: composed.filled(None),
    np.full_like: composed.full_like,
    np.shape: lambda a: a.shape,
    np.ndim: lambda a: a.ndim,
    np.size: lambda a: a.size,
    np.iscomplexobj: lambda x: x.dtype.kind == "c",
    np.isrealobj: lambda x: x.dtype.kind != "c",
    np.result_type: lambda *given: np.result_type(
        *(x.dtype if isinstance(x, Array) else x for x in given)
    ),
    **{
        getattr(np, function.__name__): function
        for function in (
            composed.vstack,
            composed.hstack,
            composed.dstack,
            composed.column_stack,
            composed.flipud,
            composed.fliplr,
            composed.rot90,
            composed.tile,
            composed.repeat,
            composed.ptp,
            composed.outer,
            composed.average,
            composed.tril,
            composed.triu,
            composed.trace,
            composed.argwhere,
            composed.flatnonzero,
            composed.append,
            composed.inner,
            contractions.diagonal,
            composed.nanmean,
        )
    },
    np.nansum: composed.without_nan(np.sum, 0),
    np.nanprod: composed.without_nan(np.prod, 1),
    np.fft.fftn: fourier.fftn,
    np.fft.ifftn: fourier.ifftn,
    np.fft.rfftn: fourier.rfftn,
    np.fft.irfftn: fourier.irfftn,
    np.fft.rfft: fourier.rfft,
    np.fft.irfft: fourier.irfft,
    np.fft.fft: fourier.fft,
    np.fft.ifft: fourier.ifft,
    np.fft.fft2: fourier.fft2,
    np.fft.ifft2: fourier.ifft2,
}
for _other, _function in ((np.amin, np.min), (np.amax, np.max), (np.around, np.round)):
    TABLE.setdefault(_other, TABLE[_function])
