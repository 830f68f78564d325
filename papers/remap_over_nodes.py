# SPDX-License-Identifier: BSD-3-Clause
"""Trials of the claims of He and Ding's Figure 4: a remap over nodes of 16 processors, simulated.

Processes alone on 128 processors take minutes: SMPI's own time grows faster than the square of
their number. The simulated form "two-array" is `hk.redistribute` into a second array; the paper's
has local permutations around `MPI_Alltoall`, and a copy back.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from hocket.bench.remap_model import Model

from .judge import Finding
from .model import Bench, NotHereError, medians, source

Numbers = Mapping[str, Any]
_PROCESSORS = (16, 32, 64, 128)


def _simulated(
    bench: Bench, kernels: str = ""
) -> tuple[dict[tuple[int, int], dict[str, float]], str]:
    """Seconds by form, by processors and processors a process; and the source."""
    procs = ",".join(map(str, _PROCESSORS))
    on = ("--platform", "sp", "--procs", procs, "--per-process", "1,4,16")
    document = bench.simulated("remap", *on, kernels=kernels)
    found = {}
    for table in document["tables"]:
        about = table["parameters"]
        found[about["processors"], about["processors a process"]] = medians(table)
    return found, source(document)


def _count(threads: int) -> str:
    return f"{threads} thread{'s' * (threads != 1)}"


def threads(numbers: Numbers, bench: Bench) -> list[Finding]:
    """On the most processors: the time with so many threads a process over that with others."""
    found, about = _simulated(bench)
    slow, fast = numbers["threads"]
    most = max(procs for procs, each in found if each == slow and (procs, fast) in found)
    gain = found[most, slow][numbers["form"]] / found[most, fast][numbers["form"]]
    label = f"{most} processors, {_count(slow)} a process over {fast}"
    return [Finding(label, gain, source=about)]


def scaling(numbers: Numbers, bench: Bench) -> list[Finding]:
    """In place: the time on more processors over that on fewer."""
    found, about = _simulated(bench)
    more, fewer = numbers["processors"]
    values = []
    for each in numbers["threads"]:
        times = [found[procs, each]["in place"] for procs in (more, fewer)]
        label = f"{_count(each)} a process, {more} processors over {fewer}"
        shown = f"{times[0] / times[1]:.2f} ({1e3 * times[0]:.3g} ms over {1e3 * times[1]:.3g} ms)"
        values.append(Finding(label, times[0] / times[1], source=about, shown=shown))
    return values


def one_a_node(numbers: Numbers, bench: Bench) -> list[Finding]:
    """In place: sixteen threads a process over one."""
    found, about = _simulated(bench)
    return [
        Finding(
            f"{procs} processors",
            found[procs, 16]["in place"] / found[procs, 1]["in place"],
            source=about,
        )
        for procs in numbers["processors"]
    ]


def close(numbers: Numbers, bench: Bench) -> list[Finding]:
    """The slower of the two methods over the faster, four threads a process, across nodes."""
    found, about = _simulated(bench)
    values = []
    for procs in _PROCESSORS[1:]:
        part = found[procs, 4]["two-array"] / found[procs, 4]["in place"]
        values.append(Finding(f"{procs} processors", max(part, 1 / part), source=about))
    return values


#: a kernel whose copies take almost no time
_NO_COPIES = 1e-15


def exchange(numbers: Numbers, bench: Bench) -> list[Finding]:
    """The time of a remap whose local copies are free over that of a whole one."""
    on = ("--platform", "sp", "--procs", "16,32,64,128", "--per-process", "1,4,16")
    times = bench.simulated("remap", *on).get("kernels") or {}
    if "move" not in times:
        raise NotHereError("the report does not have the kernels' times")
    free = {**times, "move": _NO_COPIES}
    (whole, about), (bare, _) = (
        _simulated(bench),
        _simulated(bench, ",".join(repr(each) for each in free.values())),
    )
    return [
        Finding(
            f"{procs} processors",
            bare[procs, 4]["in place"] / whole[procs, 4]["in place"],
            source=about,
        )
        for procs in _PROCESSORS[1:]
    ]


def advice(numbers: Numbers, bench: Bench) -> list[Finding]:
    """Section 3.3: one process a node over the best of the others, the geometric mean over the
    numbers of processors."""
    found, about = _simulated(bench)
    parts = {
        procs: found[procs, 16]["in place"] / min(found[procs, each]["in place"] for each in (1, 4))
        for procs in _PROCESSORS[1:]
    }
    mean = math.exp(sum(map(math.log, parts.values())) / len(parts))
    shown = ", ".join(f"{procs} processors {part:.2f}" for procs, part in parts.items())
    return [Finding("", mean, source=about, shown=f"{mean:.2f} ({shown})")]


def equation(numbers: Numbers, bench: Bench) -> list[Finding]:
    """Equations 4 and 5, fitted to measurements in this machine: the median error."""
    document = bench.bench("remap", "--fit")
    found = []
    for name, title in (
        ("hocket in place, hk.empty", "vacancy tracking"),
        ("two arrays, Alltoall", "two arrays"),
    ):
        fitted = document["fits"].get(title)
        if fitted is None:
            raise NotHereError("too few measurements determine M, L and B")
        model = Model(fitted["M"], fitted["L"], fitted["B"])
        off, runs = [], []
        for table in document["tables"]:
            about = table["parameters"]
            if (about["threads"] > 1) != numbers["threads"]:
                continue
            figure = next(each for each in table["figures"] if each["name"] == name)
            elements = math.prod(about["shape"])
            said = model.seconds(elements, about["processes"], about["threads"])
            off.append(abs(said / figure["median"] - 1))
            runs.append(int(figure["runs"]))
        if not off:
            raise NotHereError("no measurement has so many threads")
        error = float(np.median(off))
        shown = f"{100 * error:.0f} % off (median)"
        found.append(Finding(title, error, min(runs), source=source(document), shown=shown))
    return found
