# SPDX-License-Identifier: BSD-3-Clause
"""Trials of the claims of MPI/SMPSs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hocket.cli.apps import linpack

import hocket as hk

from . import kept
from .judge import Finding
from .model import COUNTED, Bench, NotHereError, source

Numbers = Mapping[str, Any]
_ROUNDS = 50
#: reports that take too long to be made anew
_STORED = ("linpack-128", "linpack-512-small", "linpack-512")
#: contestants of the flow; the paper's is HPL
_LOOK_AHEADS = {"lookahead": "", "HPL": ", over HPL"}


def _exchange(w: hk.Tasks) -> list[float]:
    """Each task computes the input of the other's next round. Every receive is urgent, and
    precedes the step that computes the other's input: a thread that blocked in it would never
    reach that step."""
    other = "right" if w.name == "left" else "left"
    layout = hk.Layout((4,), "(BLOCK)", 1)
    mine = hk.zeros(layout, "float64", w.comm)
    theirs = [hk.zeros(layout, "float64", w.comm) for _ in range(_ROUNDS)]

    def compute(number: int) -> None:
        mine.local[...] = number + w.rank + (theirs[number - 1].local if number > 0 else 0)

    with hk.Flow(workers=1) as flow:
        for number in range(_ROUNDS):
            flow.recv(w, theirs[number], other, tag=number, priority=9)
            before = [theirs[number - 1]] if number > 0 else []
            flow.task(lambda number=number: compute(number), inputs=before, inouts=[mine])
            flow.send(w, mine, other, tag=number)
    return [float(each.local[0]) for each in theirs]


def gain(numbers: Numbers, bench: Bench) -> list[Finding]:
    """Figure 1, simulated: a look-ahead over the flow, the application's own, and HPL's if it took
    part. A run of claims simulates 16 of the processors, because more take longer; the stored
    reports of 128 and of 512 take part in every run."""
    words = ("linpack", "--platform", "js21", "--procs", "16", "--size", "16384", "--nb", "256")
    documents = [bench.simulated(*words, "--coarse", "32", "--bandwidth", "0.25,1")]
    documents += [each for each in map(kept.report, _STORED) if each is not None]
    found = []
    for document in documents:
        for table in document["tables"]:
            about = table["parameters"]
            took = {each["name"]: each["median"] for each in table["figures"]}
            N, procs, part = about["N"], about["processors"], about["bandwidth"]
            label = f"N = {N} on {procs} processors"
            label += "" if part == 1 else f", {part:g} of the bandwidth"
            premise = [
                text
                for text, missing in (
                    (f"{procs} processors are not 512", procs != 512),
                    (f"N = {N} is not {numbers.get('N')}", numbers.get("N", N) != N),
                )
                if missing
            ]
            for name, by in _LOOK_AHEADS.items():
                if not took.get(name) or not took.get("flow"):
                    continue
                value = took[name] / took["flow"]
                missing = " and ".join(premise)
                found.append(Finding(label + by, value, None, 0.0, missing, source(document)))
    return found


def simpler(numbers: Numbers, bench: Bench) -> list[Finding]:
    """Sections 1 and 2.2: lines of `apps/linpack` that its plain program does not have, those of
    the flow over those of the look-ahead."""
    lines = linpack.differing_lines()
    if not lines:
        raise NotHereError("the sources of the application are not here, whose lines are counted")
    shown = ", ".join(f"{mode} {count}" for mode, count in lines.items())
    return [Finding("", lines["flow"] / lines["lookahead"], source=COUNTED, shown=shown)]


def deadlock(numbers: Numbers, bench: Bench) -> list[Finding]:
    """Section 2.2: two processes with one worker each; 1 if all steps end and are right."""
    about = "two processes, on any machine"
    try:
        found = hk.run(_exchange, tasks={"left": 1, "right": 1}, timeout=60)
    except TimeoutError as error:
        return [Finding("", 0, source=about, shown=str(error).splitlines()[0])]
    made: dict[str, list[float]] = {"left": [], "right": []}
    for number in range(_ROUNDS):
        for rank, (name, other) in enumerate((("left", "right"), ("right", "left"))):
            made[name].append(number + rank + (made[other][number - 1] if number > 0 else 0))
    good = found["left"] == [made["right"]] and found["right"] == [made["left"]]
    shown = f"{2 * _ROUNDS} urgent receives before the steps that their senders wait for, one "
    shown += "worker each: all end, with the right numbers" if good else "worker: wrong numbers"
    return [Finding("", float(good), source=about, shown=shown)]
