# SPDX-License-Identifier: BSD-3-Clause
"""The cost of a remap by equations 4 and 5 of He and Ding, "MPI and OpenMP Paradigms on Cluster of
SMP Architectures", fitted to measurements, and its advice.

T = 2 M N / (P t) + 2 L (P - 1) + [2 N / (B P)] (P - 1) / P for N elements, P processes and t
threads of each; equation 4 is t = 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .fitting import nearest


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
    bandwidth: float  #: infinite if no sample takes more time than the other two explain

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
    """The closest model to the measurements; None if the samples do not determine its figures."""
    rows = np.array([s.terms() for s in samples]).reshape(-1, 3)
    found = nearest(rows, np.array([s.seconds for s in samples]))
    if found is None:
        return None
    access, latency, inverse = (float(v) for v in found)
    return Model(access, latency, 1 / inverse if inverse > 0 else float("inf"))
