# SPDX-License-Identifier: BSD-3-Clause
"""Trials of the claims of He and Ding's vacancy tracking."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from typing import Any

import hocket as hk
from hocket import kernels

from .model import FACTOR, FAILS, HOLDS, UNTESTED, Bench, NotHereError, Verdict, medians
from .remap_over_nodes import (  # noqa: F401, by name
    close,
    dip,
    hybrid,
    hybrid_scaling,
    one_a_node,
    scaling,
    threads,
)

Numbers = Mapping[str, Any]
#: two schedules are as good if they differ by no more
_NOISE = 1.15


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
        # The paper omits the 34 shorter cycles of the first array.
        right = right and len(found) == count and set(lengths) <= set(ours)
    return Verdict(HOLDS if right else FAILS, "; ".join(said))


def factor(numbers: Numbers, bench: Bench) -> Verdict:
    """Figure 2: the paper's method, and hocket's."""
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


_PEAK = """
import sys
import numpy as np
import hocket as hk
a = np.ones((256, 256, 512))
def peak():
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmHWM"))
before = peak()
b = (hk.permute_inplace(a, (1, 0, 2), method="cycles") if sys.argv[1] == "in place"
     else hk.permute(a, (1, 0, 2)))
print((peak() - before) * 1024 / a.nbytes)
"""


def memory(numbers: Numbers, bench: Bench) -> Verdict:
    """Sections 1 and 5: the process's peak memory, beyond the array of 256 MiB."""
    more = {}
    for form in ("in place", "two arrays"):
        words = [sys.executable, "-c", _PEAK, form]
        done = subprocess.run(words, capture_output=True, text=True, timeout=120)
        if done.returncode != 0:
            raise NotHereError(f"the memory could not be measured: {done.stderr[-200:]}")
        more[form] = float(done.stdout)
    part = (1 + more["in place"]) / (1 + more["two arrays"])
    said = ", ".join(f"{form} {1 + each:.2f} times the array" for form, each in more.items())
    return Verdict(HOLDS if part <= 1.1 * numbers["part"] else FAILS, said)


def real8(numbers: Numbers, bench: Bench) -> Verdict:
    """Section 4.2, on the first array of section 4.1."""
    words = ("--shape", "128,512,64", "--axes", "1,0,2", "--dtype", "float32", "--dtype", "float64")
    gains = {}
    for table in bench.bench("permute", *words)["tables"]:
        found = medians(table)
        gain = found["two arrays, copied back"] / found["hocket in place, cycles"]
        gains[table["parameters"]["dtype"]] = gain
    said = "two arrays over cycles in place: " + ", ".join(
        f"{dtype} {gain:.2f}" for dtype, gain in gains.items()
    )
    return Verdict(HOLDS if gains["float64"] > gains["float32"] else FAILS, said)


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


def small_chunks(numbers: Numbers, bench: Bench) -> Verdict:
    """Table 2, of 2 threads and more."""
    times = _schedules(bench, 2, [256, 1024, 16])
    ratio = times["dynamic,1"] / times["affinity"]
    said = f"dynamic,1 over affinity: {ratio:.2f}"
    if ratio >= 0.8 * numbers["two"]:
        return Verdict(HOLDS, said)
    return Verdict(FACTOR if ratio > 1.1 else FAILS, said)


def more_threads(numbers: Numbers, bench: Bench) -> Verdict:
    """Tables 1 and 2: twice as many threads as cores beside as many."""
    ratios = {}
    for table, shape, schedule, kind in (
        (1, [128, 512, 64], "static", "two arrays"),
        (2, [128, 512, 64], "affinity", "in place"),
    ):
        words = ("--team", str(bench.cores), "--team", str(2 * bench.cores))
        times = {
            each["parameters"]["threads"]: next(
                seconds for name, seconds in medians(each).items() if name.endswith(schedule)
            )
            for each in bench.bench("permute", "--table", str(table), *words)["tables"]
            if each["parameters"]["shape"] == shape
        }
        ratios[kind] = times[2 * bench.cores] / times[bench.cores]
    said = f"{2 * bench.cores} threads over {bench.cores} on {bench.cores} cores: " + ", ".join(
        f"{kind} {ratio:.2f}" for kind, ratio in ratios.items()
    )
    least = min(ratios.values())
    if least > 0.9 * min(numbers.values()):
        return Verdict(HOLDS, said)
    return Verdict(FACTOR if least > 1 / _NOISE else FAILS, said)


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
