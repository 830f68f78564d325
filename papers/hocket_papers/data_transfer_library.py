# SPDX-License-Identifier: BSD-3-Clause
"""Trials of the claims of "A Data Transfer Library for Communicating Data-Parallel Tasks"."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

import hocket as hk

from .model import FACTOR, FAILS, HOLDS, Bench, NotHereError, Verdict, medians, percent

Numbers = Mapping[str, Any]
_PAIRS = ((4, 2), (8, 4), (16, 8), (8, 8))
_N = 64
#: of `hocket bench redistribute --figure 4`, and the paper's names
_WAYS = {"generic, per element": "generic", "optimised": "optimized", "prepared": "prepared"}


def _plan(S: int, R: int, strategy: str) -> hk.Plan:
    """Full traffic between S and R processes: each sends to each."""
    senders, receivers = hk.Layout((_N, _N), "(BLOCK,*)", S), hk.Layout((_N, _N), "(*,BLOCK)", R)
    return hk.plan(senders, receivers, strategy=strategy)


def _crossing(plan: hk.Plan, S: int) -> list[int]:
    """By round: the messages from a sender to a receiver."""
    rounds = [0] * plan.rounds
    for rank in range(S):
        for number, what, (side, _), _ in plan.steps("src", rank):
            rounds[number] += what == "send" and side == "dst"
    return rounds


def _counted(strategy: str, right: Any) -> Verdict:
    """`right(plan, S, R)`: whether the counts are the paper's."""
    found = [(S, R, _plan(S, R, strategy)) for S, R in _PAIRS]
    said = ", ".join(
        f"S = {S}, R = {R}: {plan.message_count} messages, {plan.elements_moved / (_N * _N):.2g} D"
        for S, R, plan in found
    )
    return Verdict(HOLDS if all(right(plan, S, R) for S, R, plan in found) else FAILS, said)


def all_to_all(numbers: Numbers, bench: Bench) -> Verdict:
    """Section 2.2, counted in plans; so are the next four."""
    return _counted(
        "direct", lambda p, S, R: p.message_count == S * R and p.elements_moved == _N * _N
    )


def centralized(numbers: Numbers, bench: Bench) -> Verdict:
    return _counted(
        "centralized",
        lambda p, S, R: p.message_count == S + R - 1 and p.elements_moved <= 2 * _N * _N,
    )


def staged(numbers: Numbers, bench: Bench) -> Verdict:
    return _counted(
        "staged",
        lambda p, S, R: (
            p.message_count == S * R
            and sum(_crossing(p, S)) == R
            and p.elements_moved <= 2 * _N * _N
        ),
    )


def multistage(numbers: Numbers, bench: Bench) -> Verdict:
    return _counted(
        "multistage",
        lambda p, S, R: (
            p.message_count <= 2 * S * math.log2(S) + S
            and p.elements_moved <= 2 * _N * _N * (math.log2(S) + 1)
        ),
    )


def hybrid(numbers: Numbers, bench: Bench) -> Verdict:
    """Figure 2."""
    plans = {name: _plan(4, 2, name) for name in ("hybrid", "direct")}
    rounds = {name: sum(map(bool, _crossing(plan, 4))) for name, plan in plans.items()}
    said = f"{rounds['hybrid']} steps, all-to-all {rounds['direct']}"
    right = rounds["hybrid"] == numbers["hybrid"] and rounds["direct"] == numbers["all_to_all"]
    return Verdict(HOLDS if right else FAILS, said)


def message_count(numbers: Numbers, bench: Bench) -> Verdict:
    """Section 3.1: of the busiest process."""
    plan = _plan(numbers["processes"], numbers["processes"], "direct")
    most = max(len(plan.steps(side, 0)) for side in ("src", "dst"))
    return Verdict(HOLDS if most == numbers["prepared"] else FAILS, f"{most} messages a process")


def _fits(bench: Bench) -> dict[str, dict[str, float]]:
    """Equation 1's numbers by implementation, of tasks that have a core for each process."""
    side = max(1, bench.cores // 2)
    found = bench.bench("redistribute", "--figure", "4", "--tasks", f"{side},{side}")["fits"]
    missing = [name for name in _WAYS if name not in found]
    if missing:
        raise NotHereError(f"equation 1 could not be fitted for {', '.join(missing)}")
    return {paper: found[ours] for ours, paper in _WAYS.items()}


def generic(numbers: Numbers, bench: Bench) -> Verdict:
    """Figure 4: the cost of a word."""
    words = {name: fit["t_w"] for name, fit in _fits(bench).items()}
    said = "a word costs " + ", ".join(f"{name} {1e9 * t:.3g} ns" for name, t in words.items())
    if not words["generic"] > words["optimized"]:
        return Verdict(FAILS, said)
    if words["optimized"] > 1.1 * words["prepared"]:
        return Verdict(HOLDS, said)
    return Verdict(FACTOR, said, "segment families cost the less a word the larger the array is")


def startups(numbers: Numbers, bench: Bench) -> Verdict:
    """Figure 4: the cost of a message."""
    costs = {name: fit["t_m"] for name, fit in _fits(bench).items()}
    said = "a message costs " + ", ".join(f"{name} {1e6 * t:.3g} µs" for name, t in costs.items())
    theirs = max(numbers["t_m"]) / min(numbers["t_m"])
    alike = min(costs.values()) > 0 and max(costs.values()) / min(costs.values()) <= 1.5 * theirs
    return Verdict(HOLDS if alike else FAILS, said)


def ethernet(numbers: Numbers, bench: Bench) -> Verdict:
    """Figure 5, in shared memory and over a shaped link."""
    words = ("--sides", "2x2", "--size", "16,128,512", "--pair", "(BLOCK,*) -> (*,BLOCK)")
    document = bench.bench("strategies", "--place", "shared,link", *words)
    said, right = [], True
    for table in document["tables"]:
        took = {figure["name"]: figure["median"] for figure in table["figures"]}
        ratio = took["centralized"] / took["direct"]
        right = right and ratio > 1
        size = table["parameters"]["shape"][0]
        said.append(f"{table['parameters']['place']}, {size}x{size}: {ratio:.2f}")
    return Verdict(
        HOLDS if right else FAILS, f"centralized / all-to-all in seconds: {'; '.join(said)}"
    )


_SIDES = ((8, 8), (8, 4), (4, 2))


def _by_size(bench: Bench) -> dict[tuple[int, int], dict[int, float]]:
    """Seconds of all-to-all by senders and receivers, and by N, on the paper's SP1, simulated."""
    sides = ",".join(f"{senders}x{receivers}" for senders, receivers in _SIDES)
    words = ("--sides", sides, "--size", "16,64,256,1024", "--pair", "(BLOCK,*) -> (*,BLOCK)")
    found: dict[tuple[int, int], dict[int, float]] = {}
    for table in bench.bench("strategies", "--place", "simulated", "--platform", "sp1", *words)[
        "tables"
    ]:
        about, took = table["parameters"], medians(table)
        if "direct" not in took:
            raise NotHereError("there is no simulation here: `make test` builds it")
        sizes = found.setdefault((about["senders"], about["receivers"]), {})
        sizes[about["shape"][0]] = took["direct"]
    return found


def sizes(numbers: Numbers, bench: Bench) -> Verdict:
    """Figure 6."""
    found = _by_size(bench)
    ratios = {n: found[4, 2][n] / found[8, 4][n] for n in found[8, 4]}
    said = "four and two over eight and four, simulated: " + ", ".join(
        f"N = {n}: {ratio:.2f}" for n, ratio in ratios.items()
    )
    return Verdict(HOLDS if ratios[min(ratios)] < 1 < ratios[max(ratios)] else FAILS, said)


def prediction(numbers: Numbers, bench: Bench) -> Verdict:
    """Figure 6: without initialization, so that M is the larger of S and R."""

    def row(S: int, R: int, n: int) -> tuple[float, float]:
        return float(max(S, R)), n * n / ((S + R) / 2)

    found = _by_size(bench)
    rows = [np.array(row(8, 8, n)) / time for n, time in found[8, 8].items()]
    t_m, t_w = np.linalg.lstsq(np.array(rows), np.ones(len(rows)), rcond=None)[0]
    off = {
        (S, R): max(
            abs(messages * t_m + words * t_w - time) / time
            for n, time in found[S, R].items()
            for messages, words in [row(S, R, n)]
        )
        for S, R in _SIDES
    }
    said = (
        f"simulated: t_m {1e6 * t_m:.3g} µs, t_w {1e6 * t_w:.3g} µs, off by at most "
        + ", ".join(f"{percent(part)} ({S} and {R})" for (S, R), part in off.items())
    )
    worst = max(off[8, 4], off[4, 2])
    return Verdict(HOLDS if worst <= 0.25 else FACTOR if worst <= 0.5 else FAILS, said)
