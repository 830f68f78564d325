# SPDX-License-Identifier: BSD-3-Clause
"""Trials of the claims of "Double Standards" (Foster, Kohr, Krishnaiyer, Choudhary)."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import hocket as hk

from .judge import Finding, median, over, ratio
from .model import COUNTED, Bench, NotHereError, figures, source

Numbers = Mapping[str, Any]
_SIZES = "16,32,64,256,512,1024"
#: an allocation of processors to blocks may leave one block with so much more than its part
_PROPORTIONAL = 1.25


def messages(numbers: Numbers, bench: Bench) -> list[Finding]:
    """Section 2.2, by plans: over the paper's number, or data-parallel over pipeline."""
    found = []
    for P in (4, 8, 16):
        rows, columns = (hk.Layout((64, 64), dist, P // 2) for dist in ("(BLOCK,*)", "(*,BLOCK)"))
        whole = hk.Layout((64, 64), "(BLOCK,*)", P)
        pipeline = hk.plan(rows, columns, strategy="direct").message_count
        transpose = hk.plan(
            whole, whole, axes=(1, 0), overlap=range(P), strategy="direct"
        ).message_count
        count, paper = {
            "pipeline": (float(pipeline), P * P / 4),
            "data": (float(transpose), P * (P - 1.0)),
            "a processor": (transpose / P, pipeline / (P / 2)),
        }[numbers["count"]]
        shown = f"{count:g} and {paper:g}"
        found.append(Finding(f"P = {P}", count / paper, source=COUNTED, shown=shown))
    return found


def _pingpong(bench: Bench) -> dict[str, Any]:
    """One process a task."""
    return bench.app("pingpong", "--n", _SIZES, "--repeats", "20")


def _savings(bench: Bench) -> dict[int, Finding]:
    """By N: a plain send's time over that of a persistent request."""
    found = _pingpong(bench)
    return {
        each["n"]: ratio(f"N = {each['n']}", each["plain"], each["persistent"], source(found))
        for each in found["tables"]
    }


def persistent_small(numbers: Numbers, bench: Bench) -> list[Finding]:
    """Figure 7: the best for small arrays, as the paper says "up to"."""
    small = [each for n, each in _savings(bench).items() if n <= numbers["small"]]
    return [max(small, key=lambda each: each.value)]


def persistent_large(numbers: Numbers, bench: Bench) -> list[Finding]:
    """Figure 7: each of the large ones."""
    return [each for n, each in _savings(bench).items() if n >= numbers["from"]]


def persistent_falls(numbers: Numbers, bench: Bench) -> list[Finding]:
    """Section 5: the gain for the smallest array over that for the largest."""
    found = _savings(bench)
    return [over(found[min(found)], found[max(found)])]


def model(numbers: Numbers, bench: Bench) -> list[Finding]:
    """Section 5's model over N, fitted."""
    found = _pingpong(bench)
    fitted = found["model"]["plain"]
    runs = min(int(each["plain"]["runs"]) for each in found["tables"])
    shown = f"{100 * fitted['error']:.0f} % off (median), t_s {fitted['t_s'] * 1e6:.3g} µs, "
    shown += f"t_w {fitted['t_w'] * 1e9:.3g} ns"
    return [Finding("", fitted["error"], runs, source=source(found), shown=shown)]


_SENT = 20


def _calls(w: hk.Tasks) -> dict[int, list[float]]:
    """By N: the seconds of step 2 in each transfer."""
    found: dict[int, list[float]] = {}
    for n in (16, 1024):
        array = hk.zeros(hk.Layout((n, n), "(BLOCK, *)", 1), "float32", w.comm)
        found[n] = []
        for _ in range(_SENT):
            before = w.profile()["call"]
            if w.name == "from":
                w.send(array, "to")
            else:
                w.recv(array, "from")
            found[n].append(w.profile()["call"] - before)
    return found


def coupling(numbers: Numbers, bench: Bench) -> list[Finding]:
    """Section 5, step 2: the time of the call for N = 1024 over that for N = 16."""
    bench.start_programs()
    sent = hk.run(_calls, tasks={"from": 1, "to": 1}, timeout=60)["from"][0]
    figure = {
        n: {"median": statistics.median(each), "minimum": min(each), "runs": len(each)}
        for n, each in sent.items()
    }
    if median(figure[16]) <= 0:
        raise NotHereError("the profile shows no time of calls")
    found = ratio("", figure[1024], figure[16], bench.here)
    shown = f"{1e6 * median(figure[1024]):.3g} µs over {1e6 * median(figure[16]):.3g} µs"
    return [replace(found, shown=shown)]


_ONCE = ("inquiry", "descriptor", "schedule")


def _started(w: hk.Tasks) -> tuple[dict[str, float], dict[str, float]]:
    """The seconds of the steps after the first start of a request, and after ten more."""
    layout = hk.Layout((64, 64), "(BLOCK, *)", 1)
    array = hk.zeros(layout, "float64", w.comm)
    request = w.send_init(array, "to") if w.name == "from" else w.recv_init(array, "from")
    profiles = []
    for starts in (1, 10):
        for _ in range(starts):
            request.start()
            request.wait()
        profiles.append(w.profile())
    return profiles[0], profiles[1]


def amortized(numbers: Numbers, bench: Bench) -> list[Finding]:
    """Section 4: the part of ten more starts that is in the steps 1, 3 and 4."""
    found = hk.run(_started, tasks={"from": 1, "to": 1}, timeout=60)
    added, moved = 0.0, 0.0
    for first, last in (pair for pairs in found.values() for pair in pairs):
        added += sum(last[step] - first[step] for step in _ONCE)
        moved += last["move"] - first["move"]
    missing = "" if moved > 0 else "the profile shows no time of the transfers either"
    part = added / moved if moved > 0 else 0.0
    return [Finding("", part, premise=missing, source="by `w.profile()`, on any machine")]


def raw(numbers: Numbers, bench: Bench) -> list[Finding]:
    """Section 5: the fraction of the underlying MPI's bandwidth."""
    document = bench.bench("pingpong", "--size", str(numbers["n"]))
    found = figures(document["tables"][-1])
    ours, below = found["hocket send/recv"], found["MPI_Send/MPI_Recv"]
    return [ratio("", below, ours, source(document))]


def _by_processors(bench: Bench) -> tuple[int, dict[str, Any]]:
    """The most processes a task that have a core each, and the times of a task of one and of as
    many."""
    many = bench.cores // 2
    return many, bench.app("pingpong", "--n", "16,4096", "--per-task", f"1,{many}")


def by_processors(numbers: Numbers, bench: Bench) -> list[Finding]:
    """Figure 7: several processes a task over one."""
    n = numbers["n"]
    many, found = _by_processors(bench)
    of = {(each["n"], each["per_task"]): each["persistent"] for each in found["tables"]}
    return [ratio(f"N = {n}, {many} processes over one", of[n, many], of[n, 1], source(found))]


def model_processors(numbers: Numbers, bench: Bench) -> list[Finding]:
    """Section 5's model over P: its error for tasks of several processes, with the costs of tasks
    of one."""
    costs = _pingpong(bench)["model"]["plain"]
    many, document = _by_processors(bench)
    found = []
    for each in document["tables"]:
        n, P, figure = each["n"], each["per_task"], each["plain"]
        if many == P:
            said = P * costs["t_s"] + n * n / P * costs["t_w"]
            off = abs(said / median(figure) - 1)
            shown = f"{1e6 * said:.3g} µs for {1e6 * median(figure):.3g} µs"
            label = f"N = {n}, {many} processes"
            runs = int(figure["runs"])
            found.append(Finding(label, off, runs, source=source(document), shown=shown))
    return found


def fft_sizes(numbers: Numbers, bench: Bench) -> list[Finding]:
    """Figure 8: the gain of the pipeline at N = 64 over that at N = 1024, on 2 processes."""
    return [over(_gain(bench, 64, 2), _gain(bench, 1024, 2))]


def fft_processors(numbers: Numbers, bench: Bench) -> list[Finding]:
    """Figure 8: the gain of the pipeline on all cores over that on 2."""
    return [over(_gain(bench, 64, 2 * (bench.cores // 2)), _gain(bench, 64, 2))]


def _gain(bench: Bench, size: int, procs: int) -> Finding:
    """The data-parallel FFT's time over the pipeline's."""
    words = ("--size", str(size), "--frames", "40" if size < 1000 else "10", "--procs", str(procs))
    found = bench.app("fft2d", *words)
    forms = found["forms"]
    label = f"N = {size} on {procs} processes"
    return ratio(label, forms["data"], forms["persistent"], source(found))


def convolution(numbers: Numbers, bench: Bench) -> list[Finding]:
    """Figure 10."""
    return [_forms(bench, "convolution", 4, "")]


def multiblock(numbers: Numbers, bench: Bench) -> list[Finding]:
    """Figure 12."""
    return [_forms(bench, "multiblock", bench.cores, _disproportion(bench.cores))]


def _forms(bench: Bench, app: str, procs: int, premise: str) -> Finding:
    """The data-parallel form of a program over its tasks, with a core for each process."""
    found = bench.app(app, "--procs", str(procs))
    forms = found["forms"]
    tasks = min((form for name, form in forms.items() if name != "data"), key=median)
    return ratio(f"{procs} processes", forms["data"], tasks, source(found), premise)


def _disproportion(procs: int, sizes: Sequence[int] = (4, 1, 4)) -> str:
    """The reason why so many processors cannot be in proportion to the blocks; "" if they can.
    Each further processor goes to the block with the most elements for each of its own."""
    shares = [1] * len(sizes)
    if procs < len(sizes):
        return f"{procs} processors are fewer than the blocks"
    for _ in range(procs - len(sizes)):
        shares[max(range(len(sizes)), key=lambda i: sizes[i] / shares[i])] += 1
    worst = max(size / share for size, share in zip(sizes, shares)) / (sum(sizes) / procs)
    if worst <= _PROPORTIONAL:
        return ""
    of = " : ".join(map(str, shares))
    return f"{procs} processors are {of}, so that a block has {worst:.2f} times its part of work"


def _curves(bench: Bench, curve: str) -> tuple[dict[int, dict[int, float]], str]:
    """By N and processors: the data-parallel time over that of tasks, simulated; and the source."""
    words = {
        "multiblock": ("--platform", "sp2", "--procs", "4,16,64", "--frames", "3"),
    }.get(curve, ("--platform", "sp1", "--procs", "4,16,64", "--size", "64,256", "--frames", "6"))
    document = bench.simulated(curve, *words)
    found = {
        each["N"]: dict(zip(each["processors"], each["data over it"]))
        for each in document["curves"]
    }
    return found, source(document)


def scale(numbers: Numbers, bench: Bench) -> list[Finding]:
    """Figures 8, 10 and 12, simulated: each gain."""
    gains, about = _curves(bench, numbers["curve"])
    blocks = numbers["curve"] == "multiblock"
    return [
        Finding(
            f"N = {n}, {procs} processors",
            gain,
            premise=_disproportion(procs) if blocks else "",
            source=about,
        )
        for n, of_n in gains.items()
        for procs, gain in of_n.items()
        if procs >= numbers.get("from", 0)
    ]


def scale_processors(numbers: Numbers, bench: Bench) -> list[Finding]:
    """Figure 8, simulated: the gain on the most processors over that on the fewest."""
    gains, about = _curves(bench, numbers["curve"])
    return [
        Finding(f"N = {n}", of_n[max(of_n)] / of_n[min(of_n)], source=about)
        for n, of_n in gains.items()
    ]


def scale_sizes(numbers: Numbers, bench: Bench) -> list[Finding]:
    """Figure 8, simulated: the gain with small images over that with large ones."""
    gains, about = _curves(bench, numbers["curve"])
    small, large = gains[min(gains)], gains[max(gains)]
    return [
        Finding(f"{procs} processors", small[procs] / large[procs], source=about) for procs in small
    ]
