# SPDX-License-Identifier: BSD-3-Clause
"""The nearest ways for functions and attributes that distributed arrays lack."""

from __future__ import annotations

from typing import Any

_WHOLE = "the whole array, a.gather(root=0) on one process or hk.replicated(a) on every process"
_SCALAPACK = "ScaLAPACK (see docs/guide/neighbours.md)"
_POLYNOMIALS = "poly polyadd polyder polydiv polyfit polyint polymul polysub roots"
_INDICES = "np.diagonal, np.tril or np.triu, or hk.from_function of the indices"

#: alternatives to unsupported functions
NEAR = {
    **dict.fromkeys(("array2string", "array_repr", "array_str"), "print(a.gather(root=0))"),
    **dict.fromkeys(("diag_indices_from", "tril_indices_from", "triu_indices_from"), _INDICES),
    **dict.fromkeys(("histogram2d", "histogramdd"), "np.histogram, or np.bincount of np.digitize"),
    **dict.fromkeys(("linspace", "logspace", "geomspace"), "hk.arange, scaled"),
    **dict.fromkeys(("may_share_memory", "shares_memory"), "the function on a.local"),
    **dict.fromkeys(_POLYNOMIALS.split(), "hk.replicated(p), since coefficients are few"),
    **dict.fromkeys(("put", "place"), "a[indices] = values, or a[mask] = values"),
    **dict.fromkeys(("save", "savez", "savez_compressed", "savetxt"), "hk.save(path, {name: a})"),
    **dict.fromkeys(("linalg.lstsq", "linalg.tensorinv", "linalg.tensorsolve"), _SCALAPACK),
    "apply_along_axis": "hk.map_blocks in a layout in which the axis is not distributed",
    "apply_over_axes": "axis= of the function, a tuple",
    "ediff1d": "np.diff(np.ravel(a))",
    "histogram_bin_edges": "np.linspace(a.min(), a.max(), bins + 1)",
    "lib.stride_tricks.sliding_window_view": "hk.map_blocks with halo=",
    "insert": "np.concatenate of sections",
    "ix_": "np.expand_dims of each array",
    "piecewise": "np.where or np.select",
    "real_if_close": "a.real",
    "resize": "np.tile, a section and np.reshape",
    "trim_zeros": "np.nonzero and a section",
    "unwrap": "np.diff and np.cumsum",
    "vander": "np.power.outer(a, np.arange(n))",
}

#: alternatives to attributes of NumPy's arrays
ATTRIBUTES = {
    "argpartition": "a.argsort()",
    "byteswap": "hk.wrap(a.local.byteswap(), a.layout, a.comm)",
    "choose": "np.choose(a, choices)",
    "dump": "hk.save(path, {name: a})",
    "dumps": "hk.save(path, {name: a})",
    "flat": "a.ravel(), or the part of this process, a.local.flat",
    "getfield": "hk.wrap(a.local[field], a.layout, a.comm)",
    "partition": "a.sort()",
    "put": "a[indices] = values",
    "resize": "a.reshape(shape)",
    "setfield": "a.local[field] = values",
    "to_device": "a.local",
    "tobytes": f"a.local.tobytes(), or {_WHOLE}",
    "tofile": "hk.save(path, {name: a})",
    "tolist": f"a.local.tolist(), or {_WHOLE}",
    "view": "a.astype(dtype), or hk.wrap(a.local.view(dtype), a.layout, a.comm)",
    **{
        name: f"that of the part of this process, a.local.{name}"
        for name in ("base", "ctypes", "data", "device", "flags", "setflags", "strides")
    },
}


class NoAttribute(TypeError, AttributeError):
    """An attribute of NumPy's arrays that distributed ones lack: a `TypeError`, and for `hasattr`
    an `AttributeError`."""


def no_attribute(a: Any, name: str) -> Exception:
    """The error for an attribute that does not exist."""
    near = ATTRIBUTES.get(name)
    if near is None:
        return AttributeError(f"{type(a).__name__!r} object has no attribute {name!r}")
    return NoAttribute(f"a distributed array has no {name}; use {near}")
