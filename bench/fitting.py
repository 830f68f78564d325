# SPDX-License-Identifier: BSD-3-Clause
"""Models that are sums of terms, fitted to measured times."""

from __future__ import annotations

import itertools

import numpy as np


def nearest(rows: np.ndarray, measured: np.ndarray) -> np.ndarray | None:
    """The non-negative factors of the columns of ``rows`` whose sums are nearest to the
    measurements by ratio; None if the rows do not determine them."""
    unknowns = rows.shape[1]
    best: tuple[float, np.ndarray] | None = None
    # The best subset of unknowns that may be above zero is the non-negative optimum.
    for count in range(unknowns, 0, -1):
        for chosen in itertools.combinations(range(unknowns), count):
            found = _fit_some(rows[:, chosen], measured)
            if found is None:
                continue
            said = rows[:, chosen] @ found
            error = float(np.sum(np.log(said / measured) ** 2))
            if best is None or error < best[0] - 1e-12:
                values = np.zeros(unknowns)
                values[list(chosen)] = found
                best = error, values
    return None if best is None else best[1]


def _fit_some(columns: np.ndarray, measured: np.ndarray) -> np.ndarray | None:
    """Least squares of predicted/measured - measured/predicted, with weights that follow the
    prediction: an error of a factor counts alike in both directions. None without a positive
    solution."""
    said = measured
    found = np.zeros(columns.shape[1])
    for _ in range(50):
        weights = 1 / np.sqrt(measured * said)
        weighted = columns * weights[:, None]
        scale = np.linalg.norm(weighted, axis=0)
        if not (scale > 0).all() or np.linalg.matrix_rank(weighted / scale) < columns.shape[1]:
            return None
        found = np.linalg.lstsq(weighted / scale, measured * weights, rcond=None)[0] / scale
        said = columns @ found
        if (found < 0).any() or not (said > 0).all():
            return None
    return found
