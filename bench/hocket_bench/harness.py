# SPDX-License-Identifier: BSD-3-Clause
"""Contestants timed against each other in one run.

They take turns, so that what drifts (clock frequency, neighbours, page placement) touches all of
them alike; the order is rotated and reversed from round to round, so that nobody always runs after
the same predecessor. The time of a parallel step is the largest over its processes: each starts
its clock after a barrier, and the clocks are compared after the round, outside of what is timed.
Nobody gets a number who has not produced the right result, before the rounds and after them.
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
    """Raised by ``prepare`` where a contestant cannot run; the message says what is missing."""


class WrongResultError(Exception):
    """Raised by ``check`` where a contestant has not produced the right result."""


def _nothing() -> None:
    return None


@dataclass(frozen=True)
class Step:
    """What one contestant does in its turn, ready to run: allocated, planned, warmed by nobody.

    ``spoil`` overwrites the result, so that ``check`` cannot be satisfied by an earlier one;
    ``check`` raises `WrongResultError`. ``extras`` gives more figures once the rounds are over.
    ``took``: where ``run`` starts programs that time themselves, their seconds since it was asked
    last; else the harness's clock is right.
    """

    run: Callable[[], object]
    check: Callable[[], None]
    spoil: Callable[[], None]
    close: Callable[[], None] = _nothing
    extras: Callable[[], Mapping[str, Any]] | None = None
    took: Callable[[], float] | None = None


@dataclass(frozen=True)
class Contestant:
    """A name, and how to make its `Step`; ``prepare`` is called on all processes together."""

    name: str
    prepare: Callable[[], Step]


@dataclass(frozen=True)
class Effort:
    """How long to measure.

    After ``warmup`` untimed rounds, rounds are run until ``seconds`` have passed or ``max_runs``
    are made, but no fewer than ``min_runs``. A run calls its contestant as often as fills
    ``sample_seconds``, so that neither the clock nor the barrier is what we measure.
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
    """One contestant's outcome: samples in seconds a step, or why there are none."""

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
    """Do something on every process; the complaints of those on which it failed."""
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
    """One run from a spoiled result; a failure takes the figure's numbers away."""
    step, figure = entry.step, entry.figure
    # Nobody may run before all have spoiled: a fast sender would be overwritten.
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
        step.took()  # forgets what the verification took
    group.barrier()
    start = clock()
    for _ in range(calls):
        run()
    return clock() - start if step.took is None else step.took()


def _warm_up(entries: Sequence[_Entry], group: Group, effort: Effort) -> None:
    """Untimed rounds, which find out how many calls fill a sample; the same on all processes."""
    for figure in (entry.figure for entry in entries):
        figure.calls_per_run = 1
    fastest = [math.inf] * len(entries)
    # One more than was asked for: by then the number of calls is known, and that is warmed too.
    for _ in range(effort.warmup + 1):
        times = group.maximum([_turn(e.step, group, e.figure.calls_per_run) for e in entries])
        for k, entry in enumerate(entries):
            fastest[k] = min(fastest[k], float(times[k]) / entry.figure.calls_per_run)
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

    ``steps_per_call`` says how many steps one call of ``run`` makes: 2 for a ping-pong whose
    figure is half of it. Times are in seconds a step. The figures come in the order of the
    contestants and are the same on every process, save for ``extras``, which are each one's own.
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
