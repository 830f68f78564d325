# SPDX-License-Identifier: BSD-3-Clause
"""Trials of the claims of He and Ding's vacancy tracking."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import hocket as hk
from hocket import kernels

from .model import FACTOR, FAILS, HOLDS, UNTESTED, Bench, Verdict, medians

Numbers = Mapping[str, Any]
#: two schedules are as good if they differ by no more
_NOISE = 1.15
_FORMS = ("in place", "two-array")
_UNSEEN = "what processes of one node cost each other is not simulated"


def cycle(numbers: Numbers, bench: Bench) -> Verdict:
    """Section 2: the paper's A(3,2) is the row-major (2, 3)."""
    path = kernels.cycle_path((2, 3), (1, 0), 1)
    moves = sum(length for _, length in hk.cycles((2, 3), (1, 0)))
    said = f"{' - '.join(map(str, path))}; {moves} elements move, of 6 that two arrays move twice"
    right = path == numbers["cycle"] and moves == numbers["moves"]
    return Verdict(HOLDS if right and numbers["two_arrays"] == 2 * 6 else FAILS, said)


def shift(numbers: Numbers, bench: Bench) -> Verdict:
    """Section 2: A(4,3,2) is the row-major (2, 3, 4)."""
    paths = [kernels.cycle_path((2, 3, 4), (2, 0, 1), start) for start in (1, 5)]
    said = "; ".join(" - ".join(map(str, path)) for path in paths)
    right = paths == [numbers["first"], numbers["second"]]
    return Verdict(HOLDS if right else FAILS, said)


def counts(numbers: Numbers, bench: Bench) -> Verdict:
    """Section 4.1."""
    said, right = [], True
    for shape, count, lengths in zip(numbers["shapes"], numbers["counts"], numbers["lengths"]):
        found = hk.cycles(tuple(reversed(shape)), (1, 0, 2))
        ours = sorted({length for _, length in found}, reverse=True)
        said.append(f"{' × '.join(map(str, shape))}: {len(found)} of {', '.join(map(str, ours))}")
        # The paper leaves out the 34 shorter cycles of the first array.
        right = right and len(found) == count and set(lengths) <= set(ours)
    return Verdict(HOLDS if right else FAILS, "; ".join(said))


def factor(numbers: Numbers, bench: Bench) -> Verdict:
    """Figure 2: the method as the paper writes it, and ours."""
    tables = bench.bench("permute", "--figure", "2")["tables"]
    plain: dict[int, list[float]] = {}
    best = 0.0
    for table in tables:
        found = medians(table)
        n3, n2, n1 = table["parameters"]["shape"]
        gain = found["two arrays, copied back"] / found["hocket in place, cycles"]
        if n2 * n3 > 10_000:
            plain.setdefault(n1, []).append(gain)
        best = max(best, found["two arrays, copied back"] / found["hocket in place"])
    large = {n1: max(gains) for n1, gains in plain.items()}
    short = min(min(gains) for n1, gains in plain.items() if n1 <= numbers["short"])
    said = "cycles, best of the large arrays: " + ", ".join(
        f"N1 = {n1}: {gain:.2f}" for n1, gain in sorted(large.items())
    )
    said += f"; other methods in place reach {best:.2f}"
    reached = min(large[n1] for n1 in numbers["large"])
    if reached > numbers["factor"]:
        return Verdict(HOLDS, said)
    if reached > 1 > short:
        return Verdict(FACTOR, said)
    return Verdict(FAILS, said)


def _schedules(bench: Bench, table: int, shape: list[int]) -> dict[str, float]:
    """Seconds by schedule, with as many threads as there are cores, 2 at least."""
    found = bench.bench("permute", "--table", str(table))["tables"]
    fitting = [each for each in found if each["parameters"]["shape"] == shape]
    widest = max(fitting, key=lambda each: each["parameters"]["threads"])
    return {name.rsplit(", ", 1)[1]: time for name, time in medians(widest).items()}


def _told(times: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {1e3 * time:.3g} ms" for name, time in times.items())


def many_cycles(numbers: Numbers, bench: Bench) -> Verdict:
    """Table 2."""
    times = _schedules(bench, 2, [256, 1024, 16])
    good = times["affinity"] <= _NOISE * min(times.values())
    return Verdict(HOLDS if good else FAILS, _told(times))


def few_cycles(numbers: Numbers, bench: Bench) -> Verdict:
    """Table 3."""
    times = _schedules(bench, 3, [500, 1000, 8])
    small = min(times[f"dynamic,{n}"] for n in (1, 2, 4))
    good = small <= _NOISE * min(times.values())
    return Verdict(HOLDS if good else FAILS, _told(times))


def two_array_schedules(numbers: Numbers, bench: Bench) -> Verdict:
    """Table 1."""
    times = _schedules(bench, 1, [128, 512, 64])
    good = max(times["static"], times["affinity"]) <= _NOISE * min(times.values())
    return Verdict(HOLDS if good else FAILS, _told(times))


_SIMULATED = (16, 32, 64)


def _simulated(bench: Bench) -> dict[tuple[int, int], dict[str, float]]:
    """Figure 4, simulated: seconds by form, by processors and processors a process. On half of the
    paper's processors, as 128 take the simulator some minutes."""
    procs = ",".join(map(str, _SIMULATED))
    words = ("remap", "--platform", "sp", "--procs", procs, "--per-process", "1,4,16")
    found = {}
    for each in bench.simulated(*words)["tables"]:
        about = each["parameters"]
        found[about["processors"], about["processors a process"]] = medians(each)
    return found


def _compared(bench: Bench, slow: int, fast: int) -> tuple[dict[str, float], str]:
    """On the most processors: the time with so many threads a process over that with others."""
    found = _simulated(bench)
    most = max(_SIMULATED)
    gains = {form: found[most, slow][form] / found[most, fast][form] for form in _FORMS}
    said = ", ".join(f"{form} {gain:.2f}" for form, gain in gains.items())
    return gains, f"{most} simulated processors, {slow} threads a process over {fast}: {said}"


def hybrid(numbers: Numbers, bench: Bench) -> Verdict:
    """Figure 4."""
    gains, said = _compared(bench, 1, 4)
    if gains["in place"] >= 0.8 * numbers["in_place"]:
        return Verdict(HOLDS, said)
    if min(gains.values()) > 1:
        return Verdict(FACTOR, said)
    return Verdict(FAILS, said, _UNSEEN)


def threads(numbers: Numbers, bench: Bench) -> Verdict:
    """Figure 4."""
    gains, said = _compared(bench, 16, 4)
    if gains["in place"] >= 0.8 * numbers["in_place"]:
        return Verdict(HOLDS, said)
    return Verdict(FACTOR, said) if min(gains.values()) > 1 else Verdict(FAILS, said, _UNSEEN)


def scaling(numbers: Numbers, bench: Bench) -> Verdict:
    """Figure 4."""
    found = _simulated(bench)
    times = {procs: found[procs, 1]["in place"] for procs in _SIMULATED}
    said = "in place, processes alone: " + ", ".join(
        f"{procs} processors {1e3 * time:.3g} ms" for procs, time in times.items()
    )
    first, second, last = times.values()
    good = min(second, last) > 0.95 * first and last > second
    return Verdict(HOLDS, said) if good else Verdict(FAILS, said, _UNSEEN)


def hybrid_scaling(numbers: Numbers, bench: Bench) -> Verdict:
    """Figure 4."""
    found = _simulated(bench)
    times = {procs: found[procs, 4]["in place"] for procs in _SIMULATED if procs >= 32}
    said = "in place, four threads a process: " + ", ".join(
        f"{procs} processors {1e3 * time:.3g} ms" for procs, time in times.items()
    )
    first, *_, last = times.values()
    return Verdict(HOLDS if last < first else FAILS, said)


def twice(numbers: Numbers, bench: Bench) -> Verdict:
    """Figure 3."""
    gains = []
    for table in bench.bench("remap", "--figure", "3")["tables"]:
        found = medians(table)
        gains.append(found["two arrays, Alltoall"] / found["hocket in place, hk.empty"])
    said = f"two arrays over in place: {min(gains):.2f} to {max(gains):.2f}"
    if min(gains) > 0.8 * numbers["factor"]:
        return Verdict(HOLDS, said)
    return Verdict(FACTOR if min(gains) > 1 else FAILS, said)


def node(numbers: Numbers, bench: Bench) -> Verdict:
    """Figure 3."""
    if bench.cores < 2:
        return Verdict(UNTESTED, "", "there is one core")
    tables = bench.bench("remap", "--figure", "3")["tables"]
    ratios = {}
    for shape in ([128, 512, 64], [256, 1024, 16]):
        time = {
            (each["parameters"]["processes"], each["parameters"]["threads"]): medians(each)
            for each in tables
            if each["parameters"]["shape"] == shape
        }
        most = max(processes for processes, _ in time)
        for kind in ("hocket in place, hk.empty", "two arrays, Alltoall"):
            ratios[shape[2], kind] = time[most, 1][kind] / time[1, most][kind]
    said = "processes over threads: " + ", ".join(
        f"N1 = {n1}, {'in place' if 'place' in kind else 'two arrays'}: {ratio:.2f}"
        for (n1, kind), ratio in ratios.items()
    )
    in_place = [ratio for (_, kind), ratio in ratios.items() if "place" in kind]
    return Verdict(FACTOR if min(in_place) > 1 else FAILS, said)
