# SPDX-License-Identifier: BSD-3-Clause
"""Every pair of HPF's formats, in one table beside the limit and the best that MPI does."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .table import align, seconds
from .transfers import name_of

VECTORS = ("BLOCK", "CYCLIC", "CYCLIC(3)", "CYCLIC(64)")
MATRICES = ("BLOCK", "CYCLIC", "CYCLIC(64)")
GRIDS = (
    "(CYCLIC(64),CYCLIC(64)) on {0}x{1} -> (CYCLIC(48),CYCLIC(48)) on {1}x{0}",
    "(BLOCK,BLOCK) on {0}x{1} -> (CYCLIC(64),CYCLIC(64)) on {1}x{0}",
    "(BLOCK,CYCLIC) on {0}x{1} -> (CYCLIC,BLOCK) on {1}x{0}",
)
#: The required fraction of the limit, by memory.
ASKED = {True: 0.85, False: 0.6}


def vectors() -> Iterator[str]:
    """The pairs of one dimension."""
    for before, after in itertools.permutations(VECTORS, 2):
        yield f"({before}) -> ({after})"


def matrices(ranks: int) -> Iterator[str]:
    """Those of two: along either dimension before and after, and along both."""
    sides = [text.format(form) for text in ("({},*)", "(*,{})") for form in MATRICES]
    for before, after in itertools.permutations(sides, 2):
        yield f"{before} -> {after}"
    across = max(n for n in range(1, ranks + 1) if ranks % n == 0 and n * n <= ranks)
    for text in GRIDS:
        yield text.format(across, ranks // across)


def pairs(dimensions: int, ranks: int) -> list[str]:
    """All of so many dimensions, 1 or 2."""
    return list(vectors() if dimensions == 1 else matrices(ranks))


def finish(document: Mapping[str, Any]) -> None:
    """Prints the table, and the pairs that miss the requirement."""
    rows = [["", "limit", "hk.empty", "of limit", "hk.wrap", "of limit", "MPI's best", "by"]]
    missed: list[str] = []
    for table in document["tables"]:
        about = table["parameters"]
        pair = f"{_short(about['from'])} -> {_short(about['to'])}"
        medians = {f["name"]: f["median"] for f in table["figures"] if "median" in f}
        of_limit = {f["name"]: f["of_limit"] for f in table["figures"] if "of_limit" in f}
        row = [f"  {pair} {_shape(about['shape'])}", seconds(medians.get(table["limit"]))]
        best = medians.get(table["baseline"])
        for owned in (True, False):
            name = name_of(owned, persistent=False)
            reached = of_limit.get(name)
            row += [seconds(medians.get(name)), "-" if reached is None else f"{reached:.2f}"]
            if reached is not None and reached < ASKED[owned]:
                missed.append(f"{name}: {pair} has {reached:.2f} of the limit")
            if best is not None and name in medians and medians[name] > best:
                missed.append(f"{name}: {pair} takes longer than {table['baseline']}")
        rows.append([*row, seconds(best), table["baseline"] or "-"])
    print("\n".join(align(rows)))
    asked = f"asked: {ASKED[True]} of the limit by hk.empty, {ASKED[False]} by hk.wrap, and MPI's"
    print(f"  ({asked} best by both)")
    for text in missed or ["nothing misses that"]:
        print(f"  {text}")
    print(flush=True)


def _short(side: str) -> str:
    """Without the arrangement if it has one dimension."""
    dist, _, grid = side.partition(" on ")
    return side if "x" in grid else dist


def _shape(shape: Sequence[int]) -> str:
    return "x".join(map(str, shape))
