# SPDX-License-Identifier: BSD-3-Clause
"""The record of a measurement: statistics and ratios."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .harness import Effort, Figure


@dataclass(frozen=True)
class Question:
    """One table: the parameters, and the references of its figures.

    ``baseline`` names contestants of which the fastest is the one to beat. ``limit`` names those of
    which the fastest is the bound, or the slowest, if a step does all their work at the same time
    (``together``). ``bytes`` is the number of bytes that a step moves, or 0.
    """

    parameters: Mapping[str, Any]
    baseline: Sequence[str] = ()
    limit: Sequence[str] = ()
    bytes: int = 0
    together: bool = False


@dataclass(frozen=True)
class Summary:
    """One contestant's line: seconds a step, or the reason for their absence.

    ``of_limit`` is the limit's median over this one (at most about 1); ``speedup`` the baseline's
    median over this one (above 1 is faster).
    """

    name: str
    median: float | None = None
    minimum: float | None = None
    percentile_99: float | None = None
    runs: int = 0
    calls_per_run: int = 1
    of_limit: float | None = None
    speedup: float | None = None
    error: str | None = None
    absent: str | None = None
    extras: Mapping[str, Any] = field(default_factory=dict)
    samples: Sequence[float] = ()


@dataclass(frozen=True)
class Answer:
    """A question with its lines, and which contestants it was measured against."""

    question: Question
    lines: Sequence[Summary]
    baseline: str | None
    limit: str | None


def _fastest(medians: Mapping[str, float], names: Sequence[str]) -> str | None:
    present = [name for name in names if name in medians]
    return min(present, key=lambda name: medians[name]) if present else None


def answer(question: Question, figures: Sequence[Figure]) -> Answer:
    """Medians, minima, 99th percentiles, counts and ratios of one table."""
    medians: dict[str, float] = {}
    for figure in figures:
        if figure.samples and figure.error is None and figure.absent is None:
            if not np.all(np.isfinite(figure.samples)):
                figure.error = "a sample is not a finite number"
            else:
                medians[figure.name] = float(np.median(figure.samples))
    baseline = _fastest(medians, question.baseline)
    limit = _fastest(medians, question.limit)
    if question.together and limit is not None:
        limit = max((name for name in question.limit if name in medians), key=medians.__getitem__)
    lines: list[Summary] = []
    for figure in figures:
        name, extras = figure.name, dict(figure.extras)
        if name not in medians:
            error = figure.error
            if error is None and figure.absent is None:
                error = "it gave no samples"
            lines.append(Summary(name, error=error, absent=figure.absent, extras=extras))
            continue
        median = medians[name]
        lines.append(
            Summary(
                name,
                median=median,
                minimum=float(np.min(figure.samples)),
                percentile_99=float(np.percentile(figure.samples, 99)),
                runs=len(figure.samples),
                calls_per_run=figure.calls_per_run,
                of_limit=medians[limit] / median if limit and median > 0 else None,
                speedup=medians[baseline] / median if baseline and median > 0 else None,
                extras=extras,
                samples=list(figure.samples),
            )
        )
    return Answer(question, lines, baseline, limit)


def as_json(result: Answer, keep_samples: bool = False) -> dict[str, Any]:
    """One table as JSON's own types; times in seconds. A figure in error has no numbers."""
    figures: list[dict[str, Any]] = []
    for line in result.lines:
        entry: dict[str, Any] = {"name": line.name}
        if line.error is not None:
            entry["error"] = line.error
        elif line.absent is not None:
            entry["not_run"] = line.absent
        else:
            entry.update(
                median=line.median,
                minimum=line.minimum,
                percentile_99=line.percentile_99,
                runs=line.runs,
                calls_per_run=line.calls_per_run,
            )
            if line.of_limit is not None:
                entry["of_limit"] = line.of_limit
            if line.speedup is not None:
                entry["speedup"] = line.speedup
            if keep_samples:
                entry["samples"] = list(line.samples)
        if line.extras:
            entry["extras"] = dict(line.extras)
        figures.append(entry)
    return {
        "parameters": dict(result.question.parameters),
        "bytes": result.question.bytes,
        "baseline": result.baseline,
        "limit": result.limit,
        "figures": figures,
    }


def method(effort: Effort) -> dict[str, Any]:
    """The method of the measurement, for the report."""
    return {
        "clock": "MPI_Wtime around the calls of one run, after a barrier; "
        "a step's time is the largest over the processes",
        "order": "contestants interleaved, rotated and reversed from round to round",
        "check": "each contestant's result, before the rounds and after them",
        "warmup_rounds": effort.warmup,
        "seconds": effort.seconds,
        "min_runs": effort.min_runs,
        "max_runs": effort.max_runs,
        "sample_seconds": effort.sample_seconds,
        "of_limit": "median of the limit / median",
        "speedup": "median of the baseline / median",
    }
