# SPDX-License-Identifier: BSD-3-Clause
"""Trials of the claims of "A Data Transfer Library for Communicating Data-Parallel Tasks"."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import hocket as hk

from .model import FAILS, HOLDS, Bench, Verdict

Numbers = Mapping[str, Any]
_PAIRS = ((4, 2), (8, 4), (16, 8), (8, 8))
_N = 64


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
