# SPDX-License-Identifier: BSD-3-Clause
"""Trials of the claims of PAPERS: teams of two processes in shared memory, from C++."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .model import FACTOR, FAILS, HOLDS, Bench, NotHereError, Verdict

Numbers = Mapping[str, Any]
#: two operations cost the same if they differ by no more
_SAME = 1.3


def _minima(
    bench: Bench, width: str = "int64", which: str = "minimum"
) -> dict[str, dict[str, float]]:
    """Seconds by operation and contestant. Minima, because an interrupted operation of a
    fraction of a microsecond has a meaningless time."""
    if bench.cores < 2:
        raise NotHereError("two processes need two cores; there is one")
    tables = bench.bench("team", "--type", width)["tables"]
    return {
        each["parameters"]["operation"]: {
            figure["name"]: figure[which] for figure in each["figures"] if which in figure
        }
        for each in tables
        if each["parameters"].get("from") != "Python"
    }


def _told(seconds: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {1e9 * time:.3g} ns" for name, time in seconds.items())


def barrier(numbers: Numbers, bench: Bench) -> Verdict:
    """Table 2: against message passing between the same processes."""
    found = _minima(bench)["wait"]
    ours, theirs = found["hocket"], found["MPI"]
    said = f"{_told({'a barrier': ours, 'of MPI': theirs})}: a factor of {theirs / ours:.3g}"
    return Verdict(FACTOR if ours < theirs else FAILS, said)


def steady(numbers: Numbers, bench: Bench) -> Verdict:
    """Section 1.1: runs consist of many calls, so this compares means over about 1 ms."""
    least, most = (_minima(bench, which=w)["wait"]["hocket"] for w in ("minimum", "percentile_99"))
    said = _told({"a barrier takes at least": least, "99 % of the runs at most": most})
    return Verdict(HOLDS if most - least <= numbers["within"] else FAILS, said)


def same_cost(numbers: Numbers, bench: Bench) -> Verdict:
    """Table 2."""
    found = _minima(bench)
    ours = {name: found[name]["hocket"] for name in ("wait", "waitvec", "any", "all")}
    good = max(ours.values()) <= _SAME * ours["wait"]
    return Verdict(HOLDS if good else FAILS, _told(ours))


def reductions(numbers: Numbers, bench: Bench) -> Verdict:
    """Tables 5 to 18."""
    found = _minima(bench)
    of = {
        name: figures["hocket"]
        for name, figures in found.items()
        if name.startswith(("reduce_", "scan_"))
    }
    gather, worst = found["gather"]["hocket"], max(of, key=lambda name: of[name])
    said = f"{_told({'a gather': gather, worst: of[worst]})}, the slowest of {len(of)}"
    return Verdict(HOLDS if of[worst] <= _SAME * gather else FAILS, said)


def gather(numbers: Numbers, bench: Bench) -> Verdict:
    """Table 4."""
    found = _minima(bench)
    ours = {name: found[name]["hocket"] for name in ("putget", "gather")}
    if ours["gather"] <= _SAME * ours["putget"]:
        return Verdict(FACTOR, _told(ours), "each is one hand-off, which shows what all have said")
    return Verdict(HOLDS, _told(ours))


def message_passing(numbers: Numbers, bench: Bench) -> Verdict:
    """Tables 3 to 18: beside MPI's collective and a barrier, because a team's operation is one,
    too."""
    found = _minima(bench)
    gains = {name: found[name]["MPI"] / found[name]["hocket"] for name in ("reduce_add", "rank")}
    scans = found["scan_add"]
    gains["scan_add"] = scans["MPI, with a barrier"] / scans["hocket"]
    said = "MPI over ours: " + ", ".join(f"{name} {gain:.3g}" for name, gain in gains.items())
    return Verdict(FACTOR if min(gains.values()) > 1 else FAILS, said)


def broadcast(numbers: Numbers, bench: Bench) -> Verdict:
    """Tables 9 to 11."""
    found = _minima(bench)
    ours = {name: found[name]["hocket"] for name in ("bcast", "reduce_or")}
    good = max(ours.values()) <= _SAME * min(ours.values())
    return Verdict(HOLDS if good else FAILS, _told(ours))


def widths(numbers: Numbers, bench: Bench) -> Verdict:
    """Table 3."""
    ours = {
        f"putget of {bits} bits": _minima(bench, f"int{bits}")["putget"]["hocket"]
        for bits in (8, 64)
    }
    narrow, wide = ours.values()
    if wide > _SAME * narrow:
        return Verdict(FACTOR, _told(ours))
    return Verdict(FAILS, _told(ours), "a value is in one cache line, whatever its width")


def voting(numbers: Numbers, bench: Bench) -> Verdict:
    """Table 20."""
    found = _minima(bench)
    ours = {name: found[name]["hocket"] for name in ("waitvec", "vote_count", "match_count")}
    theirs = numbers["vote_count"] / numbers["waitvec"]
    if max(ours.values()) <= _SAME * ours["waitvec"]:
        return Verdict(FACTOR, _told(ours), "each is one hand-off, whatever the number of bits")
    good = ours["vote_count"] <= theirs * ours["waitvec"]
    return Verdict(HOLDS if good else FAILS, _told(ours))


def subsets(numbers: Numbers, bench: Bench) -> Verdict:
    """Section 3: the additional time of a new group for its first barrier."""
    found = _minima(bench)
    new = found["enqueue and its first wait"]
    added = new["hocket"] - found["wait"]["hocket"]
    said = f"{_told({'a new group adds': added})}; with its first barrier it costs "
    said += f"{new['hocket'] / found['wait']['MPI']:.3g} of MPI's barrier"
    if "MPI" in new:
        said += f", a communicator of MPI's {new['MPI'] / new['hocket']:.3g} times as much"
    return Verdict(HOLDS if added <= numbers["most"] else FAILS, said)


def group_properties(numbers: Numbers, bench: Bench) -> Verdict:
    """Table 19."""
    found = _minima(bench)["population"]["hocket"]
    return Verdict(HOLDS if found <= numbers["most"] else FAILS, _told({"population": found}))
