# SPDX-License-Identifier: BSD-3-Clause
"""Trials of the claims of He and Ding's vacancy tracking, within one node.

"Two arrays" is the paper's method everywhere here: a second array, and a copy back. Across
processes it is G1, G2 and G3 with `MPI_Alltoall`. `hk.redistribute` is no such method.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from typing import Any

import hocket as hk
from hocket import kernels

from .judge import Finding, median, over, ratio
from .model import COUNTED, Bench, NotHereError, figures, source
from .remap_over_nodes import (  # noqa: F401, by name
    advice,
    close,
    equation,
    exchange,
    one_a_node,
    scaling,
    threads,
)

Numbers = Mapping[str, Any]
_FIRST, _SECOND, _THIRD = [128, 512, 64], [256, 1024, 16], [500, 1000, 8]
_BOTH = ("two arrays, Alltoall", "hocket in place, hk.empty")


def _equal(label: str, ours: object, paper: object, shown: str) -> Finding:
    """1 if they are equal, else 0."""
    return Finding(label, float(ours == paper), source=COUNTED, shown=shown)


def cycle(numbers: Numbers, bench: Bench) -> list[Finding]:
    """Section 2: the paper's A(3,2) is the row-major (2, 3)."""
    path = kernels.cycle_path((2, 3), (1, 0), 1)
    return [_equal("", path, numbers["cycle"], " - ".join(map(str, path)))]


def moves(numbers: Numbers, bench: Bench) -> list[Finding]:
    """Section 2: the elements in the cycles of A(3,2)."""
    count = sum(length for _, length in hk.cycles((2, 3), (1, 0)))
    return [Finding("", count, source=COUNTED, shown=f"{count} elements move once")]


def two_array_moves(numbers: Numbers, bench: Bench) -> list[Finding]:
    """Section 2: each of six elements goes to B and back."""
    return [Finding("", 2 * 6, source=COUNTED)]


def shift(numbers: Numbers, bench: Bench) -> list[Finding]:
    """Section 2: A(4,3,2) is the row-major (2, 3, 4)."""
    path = kernels.cycle_path((2, 3, 4), (2, 0, 1), numbers["cycle"][0])
    return [_equal("", path, numbers["cycle"], " - ".join(map(str, path)))]


def counts(numbers: Numbers, bench: Bench) -> list[Finding]:
    """Section 4.1: the number of cycles, over the paper's."""
    found = []
    for shape, count in zip(numbers["shapes"], numbers["counts"]):
        ours = len(hk.cycles(tuple(reversed(shape)), (1, 0, 2)))
        label = " × ".join(map(str, shape))
        found.append(Finding(label, ours / count, source=COUNTED, shown=str(ours)))
    return found


def lengths(numbers: Numbers, bench: Bench) -> list[Finding]:
    """Section 4.1: whether the cycles have exactly the lengths that the paper prints."""
    found = []
    for shape, theirs in zip(numbers["shapes"], numbers["lengths"]):
        cycles = hk.cycles(tuple(reversed(shape)), (1, 0, 2))
        ours = sorted({length for _, length in cycles}, reverse=True)
        label = " × ".join(map(str, shape))
        found.append(_equal(label, ours, theirs, ", ".join(map(str, ours))))
    return found


def factor(numbers: Numbers, bench: Bench) -> list[Finding]:
    """Figure 2: two arrays over cycles in place, by block length N1 and size."""
    document = bench.bench("permute", "--figure", "2")
    best: dict[int, Finding] = {}
    all_of_them = []
    for table in document["tables"]:
        n3, n2, n1 = table["parameters"]["shape"]
        if n1 < numbers.get("from", 1) or n1 > numbers.get("to", n1):
            continue
        found = figures(table)
        times = found["two arrays, copied back"], found["hocket in place, cycles"]
        gain = ratio(f"{n1} × {n2} × {n3}", *times, source(document))
        all_of_them.append(gain)
        large = n2 * n3 > 10_000 and n1 in numbers.get("large", ())
        if large and (n1 not in best or gain.value > best[n1].value):
            best[n1] = gain
    if numbers.get("best"):
        return [max(best.values(), key=lambda each: each.value)]
    return list(best.values()) if "large" in numbers else all_of_them


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


def memory(numbers: Numbers, bench: Bench) -> list[Finding]:
    """Sections 1 and 5: the process's peak memory, beyond the array of 256 MiB."""
    bench.start_programs()
    more = {}
    for form in ("in place", "two arrays"):
        words = [sys.executable, "-c", _PEAK, form]
        done = subprocess.run(words, capture_output=True, text=True, timeout=120)
        if done.returncode != 0:
            raise NotHereError(f"the memory could not be measured: {done.stderr[-200:]}")
        more[form] = 1 + float(done.stdout)
    shown = ", ".join(f"{form} {each:.2f} times the array" for form, each in more.items())
    return [Finding("", more["in place"] / more["two arrays"], source=bench.here, shown=shown)]


def real8(numbers: Numbers, bench: Bench) -> list[Finding]:
    """Section 4.2, on the first array of section 4.1: the gain with real*8 over real*4."""
    words = ("--shape", "128,512,64", "--axes", "1,0,2", "--dtype", "float32", "--dtype", "float64")
    document = bench.bench("permute", *words)
    gains = {}
    for table in document["tables"]:
        dtype, found = table["parameters"]["dtype"], figures(table)
        times = found["two arrays, copied back"], found["hocket in place, cycles"]
        gains[dtype] = ratio(dtype, *times, source(document))
    return [over(gains["float64"], gains["float32"])]


def _schedules(bench: Bench, table: int, shape: list[int], *words: str) -> dict[int, Any]:
    """By threads: the figures by schedule, and the source as "from"."""
    document = bench.bench("permute", "--table", str(table), *words)
    found = {}
    for each in document["tables"]:
        if each["parameters"]["shape"] == shape:
            named = {name.rsplit(", ", 1)[1]: one for name, one in figures(each).items()}
            found[each["parameters"]["threads"]] = {**named, "from": source(document)}
    return found


def _compared(found: Mapping[str, Any], ours: list[str], others: list[str]) -> Finding:
    """The fastest of one set of schedules over the fastest of others."""
    our, other = (min(names, key=lambda name: median(found[name])) for names in (ours, others))
    return ratio(f"{our} over {other}", found[our], found[other], found["from"])


def schedules(numbers: Numbers, bench: Bench) -> list[Finding]:
    """Tables 1 to 3: some schedules over others, with the claim's number of threads, or the most
    that have a core each."""
    shape = {1: _FIRST, 2: _SECOND, 3: _THIRD}[numbers["table"]]
    by_threads = _schedules(bench, numbers["table"], shape)
    found = by_threads[numbers.get("threads") or max(by_threads)]
    names = [name for name in found if name != "from"]
    others = numbers.get("others") or [name for name in names if name not in numbers["ours"]]
    if numbers.get("each"):
        return [_compared(found, [name], others) for name in numbers["ours"]]
    return [_compared(found, numbers["ours"], others)]


_METHODS = {"two arrays": (1, "static"), "in place": (2, "affinity")}


def more_threads(numbers: Numbers, bench: Bench) -> list[Finding]:
    """Tables 1 and 2: twice as many threads as cores over as many."""
    return [_threads(bench, method, 2, 1) for method in numbers["methods"]]


def speedup(numbers: Numbers, bench: Bench) -> list[Finding]:
    """Tables 1 and 2: one thread over two."""
    return [_threads(bench, method, 1 / bench.cores, 2 / bench.cores) for method in _METHODS]


def speedup_of_16(numbers: Numbers, bench: Bench) -> list[Finding]:
    """Tables 1 and 2: two threads over sixteen."""
    method = numbers["method"]
    return [_threads(bench, method, 2 / bench.cores, 16 / bench.cores)]


def _threads(bench: Bench, method: str, slow: float, fast: float) -> Finding:
    """The time with so many threads a core over that with others."""
    table, schedule = _METHODS[method]
    counts = [round(slow * bench.cores), round(fast * bench.cores)]
    words = [word for count in sorted(counts) for word in ("--team", str(count))]
    found = _schedules(bench, table, _FIRST, *words)
    label = f"{method}, {counts[0]} threads over {counts[1]} on {bench.cores} cores"
    times = found[counts[0]][schedule], found[counts[1]][schedule]
    return ratio(label, *times, found[counts[0]]["from"])


def twice(numbers: Numbers, bench: Bench) -> list[Finding]:
    """Figure 3: the paper's two arrays over in place."""
    document = bench.bench("remap", "--figure", "3")
    found = []
    for table in document["tables"]:
        about, times = table["parameters"], _both(table)
        label = f"N1 = {about['shape'][2]}, {about['processes']} × {about['threads']}"
        if len(times) == 2:
            found.append(ratio(label, times[_BOTH[0]], times[_BOTH[1]], source(document)))
    return found


def _both(table: Mapping[str, Any]) -> dict[str, Any]:
    """The figures of the paper's two methods. Its two arrays take even blocks, which some numbers
    of processes do not give."""
    return {name: each for name, each in figures(table).items() if name in _BOTH}


def node(numbers: Numbers, bench: Bench) -> list[Finding]:
    """Figure 3: as many processes as cores over as many threads."""
    document = bench.bench("remap", "--figure", "3")
    method, most = _BOTH[numbers["in_place"]], bench.cores
    found = []
    for shape in numbers["shapes"]:
        of = {
            (each["parameters"]["processes"], each["parameters"]["threads"]): _both(each)[method]
            for each in document["tables"]
            if each["parameters"]["shape"] == shape[::-1] and method in _both(each)
        }
        label = f"N1 = {shape[0]}, {most} processes over {most} threads"
        if not {(most, 1), (1, most)} <= set(of):
            raise NotHereError(f"`hocket bench remap --figure 3` has no {method} for {label}")
        found.append(ratio(label, of[most, 1], of[1, most], source(document)))
    return found
