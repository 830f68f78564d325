# SPDX-License-Identifier: BSD-3-Clause
"""Trials of the claims of MPI/SMPSs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import hocket as hk
from hocket_cli.apps import linpack

from .model import FACTOR, FAILS, HOLDS, Bench, NotHereError, Verdict

Numbers = Mapping[str, Any]
_ROUNDS = 50


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


def gain(numbers: Numbers, bench: Bench) -> Verdict:
    """Figure 1, simulated: on 16 of its processors, as 512 take longer than a run of claims; also
    on a slower network, where there is more to hide."""
    words = ("linpack", "--platform", "js21", "--procs", "16", "--size", "16384", "--nb", "1024")
    curves = bench.simulated(*words, "--coarse", "32", "--bandwidth", "0.25,1")["curves"]
    over = {each["form"]: each["plain over it"] for each in curves}
    gains = [flow / ahead for flow, ahead in zip(over["flow"], over["lookahead"])]
    said = "look-ahead over flow on 16 simulated processors, N = 16384: " + ", ".join(
        f"{part:g} of the bandwidth {each:.2f}" for part, each in zip(curves[0]["bandwidth"], gains)
    )
    if max(gains) >= 1 + numbers["large"]:
        return Verdict(HOLDS, said)
    if max(gains) > 1 + numbers["small"]:
        return Verdict(FACTOR, said)
    return Verdict(FAILS, said)


def simpler(numbers: Numbers, bench: Bench) -> Verdict:
    """Sections 1 and 2.2, by the lines of `apps/linpack` that its plain program does not have."""
    lines = linpack.differing_lines()
    if not lines:
        raise NotHereError("the sources of the application are not here, whose lines are counted")
    said = ", ".join(f"{mode} {count}" for mode, count in lines.items())
    good = lines["flow"] < 0.9 * lines["lookahead"]
    why = (
        ""
        if good
        else "the flow's lines say what steps read and write; the look-ahead's are states"
    )
    return Verdict(
        HOLDS if good else FAILS, f"lines that are not in the plain program: {said}", why
    )


def deadlock(numbers: Numbers, bench: Bench) -> Verdict:
    """Section 2.2: two processes with one worker each."""
    try:
        found = hk.run(_exchange, tasks={"left": 1, "right": 1}, timeout=60)
    except hk.Error as error:
        return Verdict(FAILS, str(error).splitlines()[0])
    made: dict[str, list[float]] = {"left": [], "right": []}
    for number in range(_ROUNDS):
        for rank, (name, other) in enumerate((("left", "right"), ("right", "left"))):
            made[name].append(number + rank + (made[other][number - 1] if number > 0 else 0))
    good = found["left"] == [made["right"]] and found["right"] == [made["left"]]
    said = (
        f"{2 * _ROUNDS} urgent receives before the steps that their senders wait for, one worker "
    )
    return Verdict(HOLDS if good else FAILS, said + "each: all end, with the right numbers")
