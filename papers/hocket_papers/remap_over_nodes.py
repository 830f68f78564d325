# SPDX-License-Identifier: BSD-3-Clause
"""Trials of the claims of He and Ding's Figure 4: a remap over nodes of 16 processors, simulated.

Processes alone on 128 processors take minutes: SMPI's own time grows faster than the square of
their number.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .model import FACTOR, FAILS, HOLDS, Bench, Verdict, medians

Numbers = Mapping[str, Any]
_FORMS = ("in place", "two-array")
_UNSEEN = "what processes of one node cost each other is not simulated"
#: two times are as good if they differ by no more
_NOISE = 1.15
_PROCESSORS = (16, 32, 64, 128)


def _simulated(bench: Bench) -> dict[tuple[int, int], dict[str, float]]:
    """Seconds by form, by processors and processors a process."""
    found = {}
    procs = ",".join(map(str, _PROCESSORS))
    on = ("--platform", "sp", "--procs", procs, "--per-process", "1,4,16")
    for table in bench.simulated("remap", *on)["tables"]:
        about = table["parameters"]
        found[about["processors"], about["processors a process"]] = medians(table)
    return found


def _compared(bench: Bench, slow: int, fast: int) -> tuple[dict[str, float], str]:
    """On the most processors: the time with so many threads a process over that with others."""
    found = _simulated(bench)
    most = max(procs for procs, each in found if each == slow and (procs, fast) in found)
    gains = {form: found[most, slow][form] / found[most, fast][form] for form in _FORMS}
    said = ", ".join(f"{form} {gain:.2f}" for form, gain in gains.items())
    return gains, f"{most} simulated processors, {slow} threads a process over {fast}: {said}"


def hybrid(numbers: Numbers, bench: Bench) -> Verdict:
    """Four threads beside one."""
    gains, said = _compared(bench, 1, 4)
    if gains["in place"] >= 0.8 * numbers["in_place"]:
        return Verdict(HOLDS, said)
    if min(gains.values()) > 1:
        return Verdict(FACTOR, said)
    return Verdict(FAILS, said, _UNSEEN)


def threads(numbers: Numbers, bench: Bench) -> Verdict:
    """Four threads beside sixteen."""
    gains, said = _compared(bench, 16, 4)
    if gains["in place"] >= 0.8 * numbers["in_place"]:
        return Verdict(HOLDS, said)
    return Verdict(FACTOR, said) if min(gains.values()) > 1 else Verdict(FAILS, said, _UNSEEN)


def scaling(numbers: Numbers, bench: Bench) -> Verdict:
    """Processes alone."""
    found = _simulated(bench)
    times = {procs: found[procs, 1]["in place"] for procs in _PROCESSORS}
    said = "in place, processes alone: " + _told(times)
    first, second, *_, last = times.values()
    good = min(second, last) > 0.95 * first and last > second
    return Verdict(HOLDS, said) if good else Verdict(FAILS, said, _UNSEEN)


def hybrid_scaling(numbers: Numbers, bench: Bench) -> Verdict:
    """Four threads a process."""
    found = _simulated(bench)
    times = {procs: found[procs, 4]["in place"] for procs in _PROCESSORS if procs >= 32}
    first, *_, last = times.values()
    said = "in place, four threads a process: " + _told(times)
    return Verdict(HOLDS if last < first else FAILS, said)


def dip(numbers: Numbers, bench: Bench) -> Verdict:
    """From one node to two."""
    found = _simulated(bench)
    ratios = {each: found[32, each]["in place"] / found[16, each]["in place"] for each in (1, 4)}
    said = "in place, 32 processors over 16: " + ", ".join(
        f"{each} threads a process {ratio:.2f}" for each, ratio in ratios.items()
    )
    return Verdict(HOLDS if min(ratios.values()) > 1 else FAILS, said)


def one_a_node(numbers: Numbers, bench: Bench) -> Verdict:
    """Sixteen threads a process beside one."""
    found = _simulated(bench)
    ratios = {
        procs: found[procs, 16]["in place"] / found[procs, 1]["in place"] for procs in (32, 64)
    }
    said = "in place, 16 threads a process over one: " + ", ".join(
        f"{procs} processors {ratio:.2f}" for procs, ratio in ratios.items()
    )
    if ratios[64] > _NOISE:
        return Verdict(FAILS, said)
    return Verdict(HOLDS, said) if ratios[32] > 1 else Verdict(FAILS, said, _UNSEEN)


def close(numbers: Numbers, bench: Bench) -> Verdict:
    """The two methods, four threads a process."""
    found = _simulated(bench)
    ratios = {
        procs: found[procs, 4]["two-array"] / found[procs, 4]["in place"] for procs in _PROCESSORS
    }
    said = "two arrays over in place, four threads a process: " + ", ".join(
        f"{procs} processors {ratio:.2f}" for procs, ratio in ratios.items()
    )
    across = [ratio for procs, ratio in ratios.items() if procs >= 32]
    good = all(1 / _NOISE <= ratio <= _NOISE for ratio in across)
    return Verdict(HOLDS if good else FAILS, said)


def _told(times: Mapping[int, float]) -> str:
    return ", ".join(f"{procs} processors {1e3 * time:.3g} ms" for procs, time in times.items())
