# SPDX-License-Identifier: BSD-3-Clause
"""Linear algebra of stacks of matrices: each process computes with whole matrices."""

from __future__ import annotations

from typing import Any

from hocket.arrays import Array
from hocket.calls import collective
from hocket.computing.collecting import allgather
from hocket.computing.layouts import balanced
from hocket.computing.methods.base import numpy as np  # of any type
from hocket.computing.operands import as_arrays, made
from hocket.errors import LayoutError
from hocket.redistribution import redistribute


def of_stacks(function: Any) -> Any:
    """A function of `numpy.linalg`, applied to stacks of matrices. Collective."""
    name = f"np.linalg.{function.__name__}"

    def compute(*matrices: Any, **options: Any) -> Any:
        operands = as_arrays(*(x for x in matrices if isinstance(x, Array) or np.ndim(x) > 1))
        if operands[0].ndim < 3 or len(operands) != (2 if function is np.linalg.solve else 1):
            raise TypeError(
                f"{name} of distributed arrays takes stacks of matrices; for a distributed matrix "
                "use ScaLAPACK (see docs/guide/neighbours.md)"
            )
        a, size = operands[0], operands[0].comm.size
        stack = a.shape[:-2]
        with collective(a.comm, None):
            if any(x.shape[:-2] != stack for x in operands):
                raise LayoutError(f"stacks of {' and '.join(str(x.shape) for x in operands)}")
            axis = int(np.argmax(stack))
        moved = [redistribute(x, balanced(x.shape, size, axis)).local for x in operands]
        with collective(a.comm, None):
            found = function(*moved, *matrices[len(operands) :], **options)
        parts = found if isinstance(found, tuple) else (found,)
        # An error of one process reaches the others here; eigenvalues may be complex on one only.
        kinds: Any = allgather(a.comm, np.asarray([x.dtype.kind == "c" for x in parts])).any(axis=0)
        results = [
            made(
                part.astype(np.result_type(part.dtype, "c8") if kind else part.dtype, copy=False),
                balanced((*stack, *part.shape[len(stack) :]), size, axis),
                a.comm,
            )
            for part, kind in zip(parts, kinds)
        ]
        if not isinstance(found, tuple):
            return results[0]
        return type(found)(*results) if hasattr(found, "_fields") else tuple(results)

    return compute


NAMES = (
    "cholesky cond det eig eigh eigvals eigvalsh inv matrix_rank pinv qr slogdet svd svdvals solve"
)
#: functions with a result, or several, for each matrix; older versions of NumPy lack some
TABLE = {
    getattr(np.linalg, name): of_stacks(getattr(np.linalg, name))
    for name in NAMES.split()
    if hasattr(np.linalg, name)
}
