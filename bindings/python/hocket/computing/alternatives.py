# SPDX-License-Identifier: BSD-3-Clause
"""The nearest ways for functions and attributes that distributed arrays lack."""

from __future__ import annotations

from typing import Any

_WHOLE = "the whole array, a.gather(root=0) on one process or hk.replicated(a) on every process"
_SINGULAR = "ScaLAPACK (see docs/guide/neighbours.md)"
_SOLVERS = (
    "cholesky cond det eig eigh eigvals eigvalsh inv lstsq matrix_rank pinv qr slogdet solve svd "
    "svdvals tensorinv tensorsolve"
)
_SECTIONS = "np.concatenate of sections"

#: alternatives to unsupported functions
NEAR = {
    "insert": _SECTIONS,
    **{f"linalg.{name}": _SINGULAR for name in _SOLVERS.split()},
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
