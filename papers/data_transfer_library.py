# SPDX-License-Identifier: BSD-3-Clause
"""Trials of the claims of "A Data Transfer Library for Communicating Data-Parallel Tasks"."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

import hocket as hk

from .judge import Finding, ratio
from .model import COUNTED, Bench, NotHereError, figures, medians, source

Numbers = Mapping[str, Any]
_PAIRS = ((4, 2), (8, 4), (16, 8), (8, 8))
_N = 64
#: of `hocket bench redistribute --figure 4`, and the paper's names
_WAYS = {"generic, per element": "generic", "optimised": "optimized", "prepared": "prepared"}
#: the paper's counts of messages, and of elements as multiples of D
_FORMULAS: Mapping[str, Callable[[int, int], float]] = {
    "S R": lambda S, R: S * R,
    "S + R - 1": lambda S, R: S + R - 1,
    "R": lambda S, R: R,
    "S log S": lambda S, R: S * math.log2(S),
    "D": lambda S, R: 1,
    "2 D": lambda S, R: 2,
    "D log S": lambda S, R: math.log2(S),
}


def _plan(S: int, R: int, strategy: str) -> hk.Plan:
    """Full traffic between S and R processes: each sends to each."""
    senders, receivers = hk.Layout((_N, _N), "(BLOCK,*)", S), hk.Layout((_N, _N), "(*,BLOCK)", R)
    return hk.plan(senders, receivers, strategy=strategy)


def _crossing(plan: hk.Plan, S: int) -> list[tuple[int, int]]:
    """The messages from a sender to a receiver: round and elements."""
    steps = [step for rank in range(S) for step in plan.steps("src", rank)]
    return [(step[0], step[3]) for step in steps if step[1] == "send" and step[2][0] == "dst"]


def counted(numbers: Numbers, bench: Bench) -> list[Finding]:
    """Section 2.2: the counts in plans, over the paper's."""
    found = []
    for S, R in _PAIRS:
        plan = _plan(S, R, numbers["strategy"])
        count: float = {
            "messages": plan.message_count,
            "crossing": len(_crossing(plan, S)),
            "elements": plan.elements_moved / (_N * _N),
        }[numbers["count"]]
        paper = _FORMULAS[numbers["formula"]](S, R)
        shown = f"{count:.3g} of {paper:.3g}"
        found.append(Finding(f"S = {S}, R = {R}", count / paper, source=COUNTED, shown=shown))
    return found


def hybrid_steps(numbers: Numbers, bench: Bench) -> list[Finding]:
    """Figure 2: the steps in which a message crosses."""
    steps = len({number for number, _ in _crossing(_plan(4, 2, numbers["strategy"]), 4)})
    return [Finding("", steps, source=COUNTED, shown=f"{steps} steps")]


def hybrid_volume(numbers: Numbers, bench: Bench) -> list[Finding]:
    """Figure 2: the elements that cross, over those of all-to-all."""
    moved = [sum(n for _, n in _crossing(_plan(4, 2, name), 4)) for name in ("hybrid", "direct")]
    shown = f"{moved[0]} and {moved[1]} elements"
    return [Finding("", moved[0] / moved[1], source=COUNTED, shown=shown)]


def message_count(numbers: Numbers, bench: Bench) -> list[Finding]:
    """Section 3.1: the messages of the busiest of eight senders and eight receivers."""
    plan = _plan(8, 8, "direct")
    most = max(len(plan.steps(side, rank)) for side in ("src", "dst") for rank in range(8))
    return [Finding("", most, source=COUNTED, shown=f"{most} messages a process")]


def _figure_4(bench: Bench) -> dict[str, Any]:
    """Figure 4 between tasks that have a core for each process."""
    side = max(1, bench.cores // 2)
    document = bench.bench("redistribute", "--figure", "4", "--tasks", f"{side},{side}")
    missing = [name for name in _WAYS if name not in document["fits"]]
    if missing:
        raise NotHereError(f"equation 1 could not be fitted for {', '.join(missing)}")
    return document


def _runs(document: Mapping[str, Any]) -> int:
    """The fewest samples of any figure."""
    return min(int(each["runs"]) for t in document["tables"] for each in figures(t).values())


def word_costs(numbers: Numbers, bench: Bench) -> list[Finding]:
    """Figure 4: the cost of a word in one implementation over that in another."""
    document = _figure_4(bench)
    words = {paper: document["fits"][ours]["t_w"] for ours, paper in _WAYS.items()}
    over, under = (words[numbers[side]] for side in ("over", "under"))
    shown = f"{1e9 * over:.3g} ns over {1e9 * under:.3g} ns"
    value = over / under if under > 0 else math.inf
    return [Finding("", value, _runs(document), source=source(document), shown=shown)]


def startups(numbers: Numbers, bench: Bench) -> list[Finding]:
    """Figure 4: the dearest message over the cheapest."""
    document = _figure_4(bench)
    costs = {paper: document["fits"][ours]["t_m"] for ours, paper in _WAYS.items()}
    shown = ", ".join(f"{name} {1e6 * cost:.3g} µs" for name, cost in costs.items())
    value = max(costs.values()) / min(costs.values()) if min(costs.values()) > 0 else math.inf
    return [Finding("", value, _runs(document), source=source(document), shown=shown)]


def fit(numbers: Numbers, bench: Bench) -> list[Finding]:
    """Figure 4: the median error of equation 1 for each implementation."""
    return _errors(_figure_4(bench), list(_WAYS))


def link_fit(numbers: Numbers, bench: Bench) -> list[Finding]:
    """Figure 5 over a shaped link: the median error of equation 1, for arrays of 32 KiB and more.
    The claims say why the paper's smaller ones are left out."""
    side = max(1, bench.cores // 2)
    words = ["--figure", "5", "--tasks", f"{side},{side}", "--link", "10mbit"]
    for size in (64, 96, 128, 192, 256):
        words += ["--size", str(size)]
    document = bench.bench("redistribute", *words)
    return _errors(document, [numbers["strategy"]])


def _errors(document: Mapping[str, Any], names: Sequence[str]) -> list[Finding]:
    """The median of |equation / measured − 1| over the sizes."""
    found = []
    for name in names:
        if name not in document["fits"]:
            raise NotHereError(f"equation 1 could not be fitted for {name}")
        fitted, off, runs = document["fits"][name], [], []
        for table in document["tables"]:
            about, figure = table["parameters"], figures(table)[name]
            volume = about["N"] ** 2 / (
                1 if name == "centralized" else (about["S"] + about["R"]) / 2
            )
            said = fitted["t_m"] * fitted["M"] + fitted["t_w"] * volume
            off.append(abs(said / figure["median"] - 1))
            runs.append(int(figure["runs"]))
        shown = f"{100 * float(np.median(off)):.0f} % off"
        about_it = source(document)
        found.append(Finding(name, float(np.median(off)), min(runs), source=about_it, shown=shown))
    return found


def initialization(numbers: Numbers, bench: Bench) -> list[Finding]:
    """Figure 4: a transfer that plans over one that is prepared, for the smallest array."""
    document = _figure_4(bench)
    table = min(document["tables"], key=lambda each: each["parameters"]["N"])
    found = figures(table)
    label = f"N = {table['parameters']['N']}"
    return [ratio(label, found["optimised"], found["prepared"], source(document))]


def ethernet(numbers: Numbers, bench: Bench) -> list[Finding]:
    """Figure 5: centralized over all-to-all, in shared memory or over a shaped link."""
    words = ("--sides", "2x2", "--size", "16,128,512", "--pair", "(BLOCK,*) -> (*,BLOCK)")
    document = bench.bench("strategies", "--place", numbers["where"], *words)
    return [
        ratio(
            f"N = {table['parameters']['shape'][0]}",
            figures(table)["centralized"],
            figures(table)["direct"],
            source(document),
        )
        for table in document["tables"]
    ]


_SIDES = ((8, 8), (8, 4), (4, 2))


def _by_size(bench: Bench) -> tuple[dict[tuple[int, int], dict[int, float]], str]:
    """Seconds of all-to-all by senders and receivers, and by N, on the paper's SP1, simulated; and
    the source."""
    sides = ",".join(f"{senders}x{receivers}" for senders, receivers in _SIDES)
    words = ("--sides", sides, "--size", "16,64,256,1024", "--pair", "(BLOCK,*) -> (*,BLOCK)")
    document = bench.bench("strategies", "--place", "simulated", "--platform", "sp1", *words)
    found: dict[tuple[int, int], dict[int, float]] = {}
    for table in document["tables"]:
        about, took = table["parameters"], medians(table)
        if "direct" not in took:
            raise NotHereError("there is no simulation here: `make test` builds it")
        of_sides = found.setdefault((about["senders"], about["receivers"]), {})
        of_sides[about["shape"][0]] = took["direct"]
    return found, "simulated, " + source(document)


def sizes(numbers: Numbers, bench: Bench) -> list[Finding]:
    """Figure 6: four and two over eight and four, at the smallest N or the largest."""
    found, about = _by_size(bench)
    n = (max if numbers["large"] else min)(found[8, 4])
    return [Finding(f"N = {n}", found[4, 2][n] / found[8, 4][n], source=about)]


def prediction(numbers: Numbers, bench: Bench) -> list[Finding]:
    """Figure 6: the largest error of equation 1, fitted to 8 and 8; without initialization, so that
    M is the larger of S and R."""

    def row(S: int, R: int, n: int) -> tuple[float, float]:
        return float(max(S, R)), n * n / ((S + R) / 2)

    found, about = _by_size(bench)
    rows = [np.array(row(8, 8, n)) / time for n, time in found[8, 8].items()]
    t_m, t_w = np.linalg.lstsq(np.array(rows), np.ones(len(rows)), rcond=None)[0]
    S, R = numbers["sides"]
    off = 0.0
    for n, time in found[S, R].items():
        messages, words = row(S, R, n)
        off = max(off, abs(messages * t_m + words * t_w - time) / time)
    shown = f"{100 * off:.0f} % off, with t_m {1e6 * t_m:.3g} µs and t_w {1e6 * t_w:.3g} µs"
    return [Finding(f"S = {S}, R = {R}", off, source=about, shown=shown)]
