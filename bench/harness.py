# SPDX-License-Identifier: BSD-3-Clause
"""Contestants timed against each other in one run.

They take turns, so that drifts (clock frequency, neighbours, page placement) affect all of them
alike. The order is rotated and reversed from round to round, so that predecessors change. The time
of a parallel step is the largest over its processes: each starts its clock after a barrier, and the
clocks are compared after the round, outside of the measured time. Only contestants with the right
result, before the rounds and after them, get a number.
"""

from __future__ import annotations

import gc
import math
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Callable

from .group import Group


class UnavailableError(Exception):
    """Raised by ``prepare`` if a contestant cannot run; the message names the missing part."""


class WrongResultError(Exception):
    """Raised by ``check`` if a contestant's result is wrong."""


def _nothing() -> None:
    return None


@dataclass(frozen=True)
class Step:
    """One contestant, ready to run: allocated and planned, but not warmed up.

    ``spoil`` overwrites the result, so that an earlier one cannot satisfy ``check``, which raises
    `WrongResultError`. ``extras`` gives more figures after the rounds. ``took``: for a ``run`` that
    starts programs with clocks of their own, their seconds since the last query; otherwise the
    harness's clock counts. ``single``: one run is a sample, however short, since it measures many
    steps.
    """

    run: Callable[[], object]
    check: Callable[[], None]
    spoil: Callable[[], None]
    close: Callable[[], None] = _nothing
    extras: Callable[[], Mapping[str, Any]] | None = None
    took: Callable[[], float] | None = None
    single: bool = False


@dataclass(frozen=True)
class Contestant:
    """A name, and a function that makes its `Step`; all processes call ``prepare`` together."""

    name: str
    prepare: Callable[[], Step]


@dataclass(frozen=True)
class Effort:
    """The length of a measurement.

    After ``warmup`` untimed rounds, the harness executes rounds until ``seconds`` have passed or
    ``max_runs`` are made, but at least ``min_runs``. A run calls its contestant until
    ``sample_seconds`` have passed, so that neither the clock nor the barrier dominates.
    """

    warmup: int = 2
    seconds: float = 3.0
    min_runs: int = 5
    max_runs: int = 1000
    sample_seconds: float = 1e-3

    def __post_init__(self) -> None:
        if self.warmup < 1 or not 1 <= self.min_runs <= self.max_runs:
            raise ValueError(
                f"warmup {self.warmup}, min_runs {self.min_runs}, max_runs {self.max_runs}: "
                "need warmup >= 1 and 1 <= min_runs <= max_runs"
            )
        if not (0 <= self.seconds < math.inf and 0 <= self.sample_seconds < math.inf):
            raise ValueError(
                f"seconds {self.seconds}, sample_seconds {self.sample_seconds}: "
                "need finite numbers, not below 0"
            )


@dataclass
class Figure:
    """One contestant's outcome: samples in seconds a step, or the reason for their absence."""

    name: str
    samples: list[float] = field(default_factory=list)
    calls_per_run: int = 1
    error: str | None = None
    absent: str | None = None
    extras: dict[str, Any] = field(default_factory=dict)


@dataclass
class _Entry:
    figure: Figure
    step: Step


def _attempt(group: Group, action: Callable[[], object]) -> list[str]:
    """Runs a function on every process; returns the errors of those on which it failed."""
    mine: str | None = None
    try:
        action()
    except WrongResultError as error:
        mine = f"wrong result: {error}"
    except Exception as error:
        lines = traceback.extract_tb(error.__traceback__)
        where = f" ({lines[-1].filename}:{lines[-1].lineno})" if lines else ""
        mine = f"{type(error).__name__}: {error}{where}"
    return group.complaints(mine)


def _prepare(contestant: Contestant, group: Group, figure: Figure) -> Step | None:
    made: list[Step] = []
    absent: list[str] = []

    def make() -> None:
        try:
            made.append(contestant.prepare())
        except UnavailableError as reason:
            absent.append(str(reason))

    complaints = _attempt(group, make)
    if complaints:
        figure.error = "; ".join(complaints)
    else:
        missing = group.complaints(absent[0] if absent else None)
        if missing:
            figure.absent = "; ".join(missing)
        else:
            return made[0]
    for step in made:
        step.close()
    return None


def _verify(entry: _Entry, group: Group) -> bool:
    """One run from a spoiled result; a failure removes the figure's numbers."""
    step, figure = entry.step, entry.figure
    # All must have spoiled before any runs: otherwise a fast sender's message would be overwritten.
    complaints = _attempt(group, step.spoil)
    if not complaints:
        complaints = _attempt(group, step.run)
    if not complaints:
        complaints = _attempt(group, step.check)
    if complaints:
        figure.error, figure.samples = "; ".join(complaints), []
    return not complaints


def _turn(step: Step, group: Group, calls: int) -> float:
    run, clock = step.run, group.clock
    if step.took is not None:
        step.took()  # excludes the verification
    group.barrier()
    start = clock()
    for _ in range(calls):
        run()
    return clock() - start if step.took is None else step.took()


def _warm_up(entries: Sequence[_Entry], group: Group, effort: Effort) -> None:
    """Untimed rounds, which determine the number of calls in a sample; equal on all processes."""
    for figure in (entry.figure for entry in entries):
        figure.calls_per_run = 1
    fastest = [math.inf] * len(entries)
    # One more than requested: by then the number of calls is known, and that round warms it up,
    # too.
    for _ in range(effort.warmup + 1):
        times = group.maximum([_turn(e.step, group, e.figure.calls_per_run) for e in entries])
        for k, entry in enumerate(entries):
            fastest[k] = min(fastest[k], float(times[k]) / entry.figure.calls_per_run)
            if entry.step.single:
                continue
            wanted = math.ceil(effort.sample_seconds / max(fastest[k], 1e-9))
            entry.figure.calls_per_run = min(max(wanted, 1), 100_000)


def _rounds(entries: Sequence[_Entry], group: Group, effort: Effort, steps_per_call: int) -> None:
    count = len(entries)
    _warm_up(entries, group, effort)
    began = group.clock()
    done = 0
    while done < effort.max_runs:
        first = done % count
        order = [(first + k) % count for k in range(count)]
        if (done // count) % 2:
            order.reverse()
        mine = [0.0] * count
        for k in order:
            mine[k] = _turn(entries[k].step, group, entries[k].figure.calls_per_run)
        *times, elapsed = group.maximum([*mine, group.clock() - began])
        for entry, seconds in zip(entries, times):
            steps = entry.figure.calls_per_run * steps_per_call
            entry.figure.samples.append(float(seconds) / steps)
        done += 1
        # `elapsed` is the same number everywhere, so all processes stop after the same round.
        if done >= effort.min_runs and elapsed >= effort.seconds:
            break


def measure(
    contestants: Sequence[Contestant],
    group: Group,
    effort: Effort | None = None,
    steps_per_call: int = 1,
) -> list[Figure]:
    """Time contestants against each other; collective over the group.

    ``steps_per_call`` is the number of steps in one call of ``run``: 2 for a ping-pong whose figure
    is half of it. Times are in seconds a step. The figures have the order of the contestants and
    are equal on every process, except for ``extras``, which are each one's own.
    """
    names = [c.name for c in contestants]
    if len(set(names)) != len(names):
        raise ValueError(f"contestants {names}: two have the same name; give each its own")
    effort = effort or Effort()
    figures: list[Figure] = []
    entries: list[_Entry] = []
    opened: list[Step] = []
    try:
        for contestant in contestants:
            figure = Figure(contestant.name)
            figures.append(figure)
            step = _prepare(contestant, group, figure)
            if step is None:
                continue
            opened.append(step)
            entry = _Entry(figure, step)
            if _verify(entry, group):
                entries.append(entry)
        collecting = gc.isenabled()
        gc.disable()
        try:
            if entries:
                _rounds(entries, group, effort, steps_per_call)
        finally:
            if collecting:
                gc.enable()
        for entry in entries:
            if _verify(entry, group) and entry.step.extras is not None:
                entry.figure.extras.update(entry.step.extras())
    finally:
        for step in opened:
            step.close()
    return figures
