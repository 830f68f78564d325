# SPDX-License-Identifier: BSD-3-Clause
"""ScaLAPACK's block-cyclic rules, written from the Users' Guide (Blackford et al., SIAM 1997),
section 4.3, and the leading comments of its tools."""

from __future__ import annotations

import numpy as np


def numroc(n: int, nb: int, iproc: int, isrcproc: int, nprocs: int) -> int:
    """How many of `n` rows or columns in blocks of `nb` process coordinate `iproc` holds."""
    return sum(indxg2p(i, nb, isrcproc, nprocs) == iproc for i in range(n))


def indxg2p(index: int, nb: int, isrcproc: int, nprocs: int) -> int:
    """The process coordinate that holds a row or column, counted from 0."""
    return (isrcproc + index // nb) % nprocs


def part(desc: np.ndarray, grid: np.ndarray, p: int, q: int) -> tuple[list[int], list[int]]:
    """The rows and columns at place (p, q) of the grid."""
    _, _, m, n, mb, nb, rsrc, csrc, _ = (int(entry) for entry in desc)
    rows = [i for i in range(m) if indxg2p(i, mb, rsrc, grid.shape[0]) == p]
    columns = [j for j in range(n) if indxg2p(j, nb, csrc, grid.shape[1]) == q]
    assert len(rows) == numroc(m, mb, p, rsrc, grid.shape[0])
    assert len(columns) == numroc(n, nb, q, csrc, grid.shape[1])
    return rows, columns
