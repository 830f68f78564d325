# SPDX-License-Identifier: BSD-3-Clause
"""Trials of the claims of "Double Standards" (Foster, Kohr, Krishnaiyer, Choudhary)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import hocket as hk

from .model import FACTOR, FAILS, HOLDS, UNTESTED, Bench, Verdict, medians, percent

Numbers = Mapping[str, Any]
_SIZES = "16,32,64,256,512,1024"


def messages(numbers: Numbers, bench: Bench) -> Verdict:
    """Section 2.2, counted in the plans."""
    found = []
    for P in (4, 8, 16):
        rows, columns = (hk.Layout((64, 64), dist, P // 2) for dist in ("(BLOCK,*)", "(*,BLOCK)"))
        whole = hk.Layout((64, 64), "(BLOCK,*)", P)
        pipeline = hk.plan(rows, columns, strategy="direct")
        transpose = hk.plan(whole, whole, axes=(1, 0), overlap=range(P), strategy="direct")
        found.append((P, pipeline.message_count, transpose.message_count))
    right = all(some == P * P // 4 and all_ == P * (P - 1) for P, some, all_ in found)
    said = ", ".join(f"P = {P}: {some} and {all_}" for P, some, all_ in found)
    return Verdict(HOLDS if right else FAILS, said)


def _savings(bench: Bench) -> dict[int, float]:
    """By N: the part of a plain send's time that a persistent one saves; one process a task."""
    found = bench.app("pingpong", "--n", _SIZES, "--repeats", "20")
    return {
        each["n"]: 1 - each["persistent"]["median_s"] / each["plain"]["median_s"]
        for each in found["tables"]
    }


def _said(savings: Mapping[int, float]) -> str:
    return "saved at " + ", ".join(f"N = {n}: {percent(part)}" for n, part in savings.items())


def persistent_small(numbers: Numbers, bench: Bench) -> Verdict:
    """Figure 7: the gain of persistent requests for small arrays."""
    small = {n: part for n, part in _savings(bench).items() if n <= numbers["small"]}
    best = max(small.values())
    word = FAILS if best < numbers["least"] else FACTOR if best > numbers["most"] else HOLDS
    return Verdict(word, _said(small))


def persistent_large(numbers: Numbers, bench: Bench) -> Verdict:
    """Figure 7: the gain for large ones."""
    savings = _savings(bench)
    large = {n: part for n, part in savings.items() if n >= numbers["from"]}
    if max(large.values()) < numbers["below"]:
        return Verdict(HOLDS, _said(large))
    if large[max(large)] < max(savings.values()):
        return Verdict(FACTOR, _said(large), "the gain falls with N, but later: copies are fast")
    return Verdict(FAILS, _said(large))


def model(numbers: Numbers, bench: Bench) -> Verdict:
    """Section 5's model, fitted."""
    found = bench.app("pingpong", "--n", _SIZES, "--repeats", "20")["model"]["plain"]
    said = (
        f"t_s {found['t_s'] * 1e6:.3g} µs, t_w {found['t_w'] * 1e9:.3g} ns, off by "
        f"{percent(found['error'])} (median), one process a task"
    )
    return Verdict(HOLDS if found["error"] < 0.25 else FAILS, said)


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


def amortized(numbers: Numbers, bench: Bench) -> Verdict:
    """Section 4, by the profile of either task."""
    found = hk.run(_started, tasks={"from": 1, "to": 1}, timeout=60)
    added, moved = 0.0, 0.0
    for first, last in (pair for pairs in found.values() for pair in pairs):
        added += sum(last[step] - first[step] for step in _ONCE)
        moved += last["move"] - first["move"]
    said = f"ten more starts add {1e6 * added:.3g} µs to them, and {1e6 * moved:.3g} µs to moving"
    return Verdict(HOLDS if added == 0 and moved > 0 else FAILS, said)


def raw(numbers: Numbers, bench: Bench) -> Verdict:
    """Section 5: the fraction of the underlying MPI's bandwidth."""
    found = bench.bench("pingpong", "--size", str(numbers["n"]))
    native = medians(found["tables"][-1])
    ours = native["MPI_Send/MPI_Recv"] / native["hocket send/recv"]
    theirs = numbers["ours"] / numbers["below"]
    said = f"{ours:.2g} of the rate of MPI_Send and MPI_Recv; the paper has {theirs:.2g}"
    if ours > 1:
        return Verdict(FACTOR, said, "within a node a transfer is one copy, MPI's two")
    return Verdict(HOLDS if ours > theirs / 2 else FAILS, said)


def by_processors(numbers: Numbers, bench: Bench) -> Verdict:
    """Figure 7 by P."""
    if bench.cores < 4:
        return Verdict(
            UNTESTED, "", f"two tasks of two processes need four cores; there are {bench.cores}"
        )
    tables = bench.app("pingpong", "--n", "16,4096", "--per-task", f"1,{bench.cores // 2}")
    time = {(e["n"], e["per_task"]): e["persistent"]["median_s"] for e in tables["tables"]}
    many = bench.cores // 2
    small, large = time[16, many] / time[16, 1], time[4096, many] / time[4096, 1]
    said = f"{many} processes a task over one: N = 16 {small:.2g}, N = 4096 {large:.2g} times"
    return Verdict(HOLDS if small > 1 > large else FAILS, said)


def fft(numbers: Numbers, bench: Bench) -> Verdict:
    """Figure 8."""
    gains = {}
    for size in (64, 256, 1024):
        frames = "40" if size < 1000 else "10"
        forms = bench.app("fft2d", "--size", str(size), "--frames", frames, "--procs", "2")["forms"]
        gains[size] = forms["data"]["median_s"] / forms["persistent"]["median_s"]
    said = "data-parallel over pipeline on 2 processes: " + ", ".join(
        f"{size}² {gain:.2f}" for size, gain in gains.items()
    )
    falls = gains[64] > gains[1024]
    if gains[64] > 1 and falls:
        return Verdict(HOLDS, said)
    return Verdict(FAILS, said)


def convolution(numbers: Numbers, bench: Bench) -> Verdict:
    """Figure 10."""
    return _forms(bench, "convolution", 1.1)


def multiblock(numbers: Numbers, bench: Bench) -> Verdict:
    """Figure 12."""
    return _forms(bench, "multiblock", 1.0)


def fft_scale(numbers: Numbers, bench: Bench) -> Verdict:
    """Figure 8 over P and N, simulated."""
    return _scale(bench, "fft")


def convolution_scale(numbers: Numbers, bench: Bench) -> Verdict:
    """Figure 10 over P and N, simulated."""
    return _scale(bench, "convolution")


def _scale(bench: Bench, curve: str) -> Verdict:
    """Whether tasks gain more with more processors, and most with small images."""
    words = ("--platform", "sp1", "--procs", "4,16,64", "--size", "64,256", "--frames", "6")
    small, large = bench.simulated(curve, *words)["curves"]
    gains = {each["N"]: each["data over it"] for each in (small, large)}
    said = "data-parallel over tasks on 4, 16 and 64 simulated processors: " + "; ".join(
        f"N = {n}: {', '.join(f'{gain:.2f}' for gain in found)}" for n, found in gains.items()
    )
    of_small, of_large = gains.values()
    with_p = all(found[-1] > found[0] for found in gains.values())
    good = with_p and of_small[-1] > 1 and max(of_small) > max(of_large)
    return Verdict(HOLDS if good else FAILS, said)


def multiblock_scale(numbers: Numbers, bench: Bench) -> Verdict:
    """Figure 12 over P, simulated."""
    words = ("--platform", "sp2", "--procs", "4,16,64", "--frames", "3")
    (found,) = bench.simulated("multiblock", *words)["curves"]
    gains = found["data over it"]
    said = "data-parallel over tasks on 4, 16 and 64 simulated processors: "
    said += ", ".join(f"{gain:.2f}" for gain in gains)
    if gains[0] < 1 < min(gains[1:]):
        why = "three blocks of 4 : 1 : 4 cannot share four processors in proportion"
        return Verdict(FAILS, said, why)
    return Verdict(HOLDS if min(gains) > 1 else FAILS, said)


def _forms(bench: Bench, app: str, least: float) -> Verdict:
    """The data-parallel form of a program beside its tasks, with a core for each process."""
    ranks = {"convolution": 4, "multiblock": 3}[app]
    if bench.cores < ranks:
        return Verdict(
            UNTESTED, "", f"its tasks need {ranks} processes; there are {bench.cores} cores"
        )
    forms = bench.app(app, "--procs", str(ranks))["forms"]
    tasks = min(form["median_s"] for name, form in forms.items() if name != "data")
    gain = forms["data"]["median_s"] / tasks
    return Verdict(HOLDS if gain > least else FAILS, f"data-parallel over tasks: {gain:.2f}")
