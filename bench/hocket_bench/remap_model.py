# SPDX-License-Identifier: BSD-3-Clause
"""What a remap costs by equations 4 and 5 of He and Ding, "MPI and OpenMP Paradigms on Cluster of
SMP Architectures", fitted to measurements, and what they advise.

T = 2 M N / (P t) + 2 L (P - 1) + [2 N / (B P)] (P - 1) / P for N elements, P processes and t
threads of each; equation 4 is t = 1.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Sample:
    """A measurement: N elements on P processes of t threads took `seconds`."""

    elements: int
    processes: int
    threads: int
    seconds: float

    def terms(self) -> tuple[float, float, float]:
        """The factors of M, L and 1/B."""
        n, p = float(self.elements), self.processes
        return 2 * n / (p * self.threads), 2.0 * (p - 1), 2 * n * (p - 1) / p**2


@dataclass(frozen=True)
class Model:
    """M: seconds a memory access of an element; L: seconds a message; B: elements a second."""

    access: float
    latency: float
    bandwidth: float  #: infinite where more time than the other two explain was never seen

    def seconds(self, elements: int, processes: int, threads: int) -> float:
        """Equation 5."""
        terms = Sample(elements, processes, threads, 0.0).terms()
        return float(np.dot(terms, (self.access, self.latency, 1 / self.bandwidth)))

    def advice(self, elements: int, cores: int) -> list[tuple[int, int, float]]:
        """(processes, threads, seconds) for every way to use all cores, the fastest first."""
        ways = [(p, cores // p) for p in range(1, cores + 1) if cores % p == 0]
        timed = [(p, t, self.seconds(elements, p, t)) for p, t in ways]
        return sorted(timed, key=lambda way: way[2])


def fit(samples: Sequence[Sample]) -> Model | None:
    """The model nearest to the measurements by ratio, none of its figures negative; None where the
    samples do not tell them apart."""
    rows = np.array([s.terms() for s in samples]).reshape(-1, 3)
    measured = np.array([s.seconds for s in samples])
    best: tuple[float, np.ndarray] | None = None
    # Three unknowns: the best of all subsets that may be above zero is the non-negative optimum.
    for count in (3, 2, 1):
        for chosen in itertools.combinations(range(3), count):
            found = _fit_some(rows[:, chosen], measured)
            if found is None:
                continue
            said = rows[:, chosen] @ found
            error = float(np.sum(np.log(said / measured) ** 2))
            if best is None or error < best[0] - 1e-12:
                values = np.zeros(3)
                values[list(chosen)] = found
                best = error, values
    if best is None:
        return None
    access, latency, inverse = (float(v) for v in best[1])
    return Model(access, latency, 1 / inverse if inverse > 0 else float("inf"))


def _fit_some(columns: np.ndarray, measured: np.ndarray) -> np.ndarray | None:
    """Least squares of said/measured - measured/said, by weights that follow what is said: an
    error of a factor counts alike in both directions. None without a positive answer."""
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
