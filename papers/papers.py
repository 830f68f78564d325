# SPDX-License-Identifier: BSD-3-Clause
"""Trials of the claims of PAPERS: teams of processes in shared memory, from C++, and simulated
over nodes."""

from __future__ import annotations

import statistics
import time
from collections.abc import Mapping
from typing import Any

import numpy as np
from mpi4py import MPI

import hocket as hk

from .judge import Finding, median, ratio
from .model import Bench, NotHereError, figures, source
from .system_calls import calls_per_operation

Numbers = Mapping[str, Any]


def _tables(bench: Bench, width: str = "int64") -> tuple[dict[str, dict[str, Any]], str]:
    """By operation and contestant: figures of a benchmark with a core for each process, up to the
    paper's four; and the source."""
    if bench.measures and bench.cores < 2:
        raise NotHereError("two processes need two cores; there is one")
    ranks = ("--ranks", "4") if bench.cores >= 4 else ()
    document = bench.bench("team", "--type", width, *ranks)
    of = f"{4 if ranks else 2} processes, {source(document)}"
    found = {
        each["parameters"]["operation"]: figures(each)
        for each in document["tables"]
        if each["parameters"].get("from") != "Python"
    }
    return found, of


def _told(ours: float, theirs: float) -> str:
    return f"{1e9 * ours:.3g} ns over {1e9 * theirs:.3g} ns"


def beside_mpi(numbers: Numbers, bench: Bench) -> list[Finding]:
    """Tables 2 to 18: MPI's operation over ours. A scan of MPI ends with a barrier here, because
    every operation of a team is one, too."""
    found, about = _tables(bench)
    operation = numbers["operation"]
    theirs = "MPI, with a barrier" if operation == "scan_add" else "MPI"
    return [ratio(operation, found[operation][theirs], found[operation]["hocket"], about)]


def beside(numbers: Numbers, bench: Bench) -> list[Finding]:
    """Tables 2 to 20: operations over another one, all of a team."""
    found, about = _tables(bench)
    of = numbers["over"]
    names = [name for name in found if name.startswith(tuple(numbers["operations"]))]
    return [
        ratio(f"{name} over {of}", found[name]["hocket"], found[of]["hocket"], about)
        for name in names
    ]


def steady(numbers: Numbers, bench: Bench) -> list[Finding]:
    """Section 1.1: microseconds between the shortest run and the 99th percentile. Runs consist of
    many calls, so this compares means over about 1 ms."""
    found, about = _tables(bench)
    figure = found["wait"]["hocket"]
    least, most = 1e6 * figure["minimum"], 1e6 * figure["percentile_99"]
    shown = f"{least:.3g} to {most:.3g} µs"
    return [Finding("", most - least, int(figure["runs"]), source=about, shown=shown)]


def widths(numbers: Numbers, bench: Bench) -> list[Finding]:
    """Table 3: a putget of 64 bits over one of 8."""
    wide, about = _tables(bench, "int64")
    narrow, _ = _tables(bench, "int8")
    return [ratio("", wide["putget"]["hocket"], narrow["putget"]["hocket"], about)]


def subsets(numbers: Numbers, bench: Bench) -> list[Finding]:
    """Section 3: microseconds that a new group adds to a barrier."""
    found, about = _tables(bench)
    new, wait = found["enqueue and its first wait"]["hocket"], found["wait"]["hocket"]
    added = 1e6 * max(0.0, median(new) - median(wait))
    runs = min(int(new["runs"]), int(wait["runs"]))
    return [Finding("", added, runs, source=about, shown=f"{added:.3g} µs")]


def group_properties(numbers: Numbers, bench: Bench) -> list[Finding]:
    """Table 19: microseconds."""
    found, about = _tables(bench)
    figure = found["population"]["hocket"]
    took = 1e6 * median(figure)
    return [Finding("", took, int(figure["runs"]), source=about, shown=f"{took:.3g} µs")]


def nodes(numbers: Numbers, bench: Bench) -> list[Finding]:
    """Table 2 across machines, simulated: MPI's operation over ours, by processes."""
    document = bench.simulated("team", "--platform", "cluster", "--procs", "16,64,128,512")
    found = []
    for table in document["tables"]:
        took = {name: float(each["median"]) for name, each in figures(table).items()}
        theirs, ours = took[numbers["mpi"]], took[numbers["ours"]]
        label = f"{table['parameters']['processors']} nodes"
        shown = f"{theirs / ours:.2f} ({1e6 * theirs:.3g} µs over {1e6 * ours:.3g} µs)"
        found.append(Finding(label, theirs / ours, source=source(document), shown=shown))
    return found


_BLOCK = 64
_RUNS, _CALLS = 9, 200


def _of_block(comm: MPI.Intracomm) -> list[float]:
    """Seconds of MPI's sum of a block of values, the samples of process 0."""
    values, sums = np.ones(_BLOCK, "int64"), np.zeros(_BLOCK, "int64")
    samples = []
    for _ in range(_RUNS + 1):
        comm.Barrier()
        start = time.perf_counter()
        for _ in range(_CALLS):
            comm.Allreduce(values, sums)
        samples.append((time.perf_counter() - start) / _CALLS)
    return samples[1:]


def blocks(numbers: Numbers, bench: Bench) -> list[Finding]:
    """Section 2.2: 64 sums of one value over MPI's sum of 64 values. Python's part of MPI's call
    counts, which only helps the claim."""
    bench.start_programs()
    found, about = _tables(bench)
    ranks = 4 if bench.cores >= 4 else 2
    samples = hk.run(_of_block, ranks=ranks, timeout=60)[0]
    block = {
        "median": statistics.median(samples),
        "minimum": min(samples),
        "runs": len(samples),
    }
    one = dict(found["reduce_add"]["hocket"])
    many = {**one, **{key: _BLOCK * one[key] for key in ("median", "minimum")}}
    return [ratio(f"{_BLOCK} values", many, block, about)]


def _patterns(comm: MPI.Intracomm) -> dict[str, list[float]]:
    """Seconds of a putget by pattern, the samples of process 0."""
    team, size, rank = hk.Team(comm), comm.size, comm.rank
    patterns = {"next": (rank + 1) % size, "one": 0, "reversed": size - 1 - rank}
    samples: dict[str, list[float]] = {name: [] for name in patterns}
    for _ in range(_RUNS):
        for name, process in patterns.items():
            team.wait()
            start = time.perf_counter()
            for _ in range(_CALLS):
                team.putget(np.int64(rank), process)
            samples[name].append((time.perf_counter() - start) / _CALLS)
    return samples


def patterns(numbers: Numbers, bench: Bench) -> list[Finding]:
    """Section 5: the slowest pattern of a putget over the fastest, among four processes."""
    bench.start_programs()
    found = hk.run(_patterns, ranks=4, timeout=60)[0]
    figure = {
        name: {"median": statistics.median(each), "minimum": min(each), "runs": len(each)}
        for name, each in found.items()
    }
    slow, fast = (choose(figure, key=lambda name: median(figure[name])) for choose in (max, min))
    return [ratio(f"{slow} over {fast}", figure[slow], figure[fast], f"4 processes, {bench.here}")]


def system_calls(numbers: Numbers, bench: Bench) -> list[Finding]:
    """Section 1: system calls of a barrier, by `strace`."""
    bench.start_programs()
    if bench.cores < 2:
        raise NotHereError("two processes need two cores; there is one")
    count = calls_per_operation()
    shown = f"{count:.2g} a barrier and process"
    return [Finding("", count, source=f"2 processes under strace, {bench.here}", shown=shown)]


def system_call_cost(numbers: Numbers, bench: Bench) -> list[Finding]:
    """Section 1: a barrier and a short system call over a barrier alone. Python's part of the call
    counts, which only helps the claim."""
    import os

    bench.start_programs()
    found, about = _tables(bench)
    figure = found["wait"]["hocket"]
    samples = []
    for _ in range(_RUNS):
        start = time.perf_counter()
        for _ in range(1000):
            os.getppid()
        samples.append((time.perf_counter() - start) / 1000)
    call = statistics.median(samples)
    with_call = {key: figure[key] + call for key in ("median", "minimum")}
    with_call["runs"] = min(int(figure["runs"]), _RUNS)
    return [ratio("", with_call, figure, about)]
