# SPDX-License-Identifier: BSD-3-Clause
"""Figure 2 and Tables 1 to 3 of He and Ding, "MPI and OpenMP Paradigms on Cluster of SMP
Architectures": the same arrays, schedules and chunk sizes."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any

from . import permuters
from .drawing import axes_of, save
from .permutation import Permutation
from .record import Question
from .registry import Match
from .table import align, seconds

Shape = tuple[int, ...]

AXES = (1, 0, 2)
# The paper's 64x512x128, 16x1024x256, 8x1000x500 and 32x100x25, row-major.
ARRAYS = ((128, 512, 64), (256, 1024, 16), (500, 1000, 8), (25, 100, 32))
TEAMS = (2, 4, 8, 16, 32)
# The arrays of a table, and the largest chunk for each.
TABLES: dict[int, tuple[tuple[Shape, int], ...]] = {
    1: ((ARRAYS[0], 256),),
    2: ((ARRAYS[0], 512), (ARRAYS[1], 1024)),
    3: ((ARRAYS[2], 32), (ARRAYS[3], 16)),
}
WORDS = {1: "two arrays", 2: "vacancy tracking", 3: "vacancy tracking"}
# The extents of Figure 2's swapped dimensions; the paper does not print its own.
PLANES: tuple[Shape, ...] = ((32, 32), (128, 512), (500, 1000))
BLOCKS = (1, 2, 4, 8, 16, 32, 64)


def schedules(largest: int) -> list[str]:
    """The rows of a table."""
    chunks = [1 << k for k in range(largest.bit_length())]
    return ["static", "affinity", "guided", *(f"dynamic,{n}" for n in chunks)]


def arrays(number: int, shape: Shape | None) -> Sequence[tuple[Shape, int]]:
    """A table's arrays, each with its largest chunk; or this one array in their place."""
    return TABLES[number] if shape is None else [(shape, TABLES[number][0][1])]


def teams(asked: Sequence[int] | None) -> list[int]:
    """Numbers of threads: those of the paper for which there are cores, and at least 2."""
    cores = len(os.sched_getaffinity(0))
    return list(asked) if asked else [n for n in TEAMS if n <= max(cores, 2)]


def table(
    number: int, asked: Sequence[int] | None, instead: Shape | None = None
) -> Iterator[Match]:
    """One match an array and number of threads; a contestant a schedule."""
    for shape, largest in arrays(number, instead):
        for threads in teams(asked):
            problem = Permutation(shape, AXES, "float64", threads)
            question = Question(
                {"table": number, "shape": shape, "threads": threads}, bytes=problem.bytes
            )
            make = [
                permuters.two_arrays(problem, False, schedule)
                if number == 1
                else permuters.in_place(problem, "cycles", schedule)
                for schedule in schedules(largest)
            ]
            yield Match(question, make)


def finish_table(
    number: int, document: dict[str, Any], plot: str | None, instead: Shape | None = None
) -> None:
    """Rows of schedules, columns of threads, the fastest of each column with a star."""
    for shape, largest in arrays(number, instead):
        columns = {
            t["parameters"]["threads"]: [f.get("median") for f in t["figures"]]
            for t in document["tables"]
            if tuple(t["parameters"]["shape"]) == shape
        }
        rows = [["Schedule", *(f"{n} thrd" for n in columns)]]
        for k, schedule in enumerate(schedules(largest)):
            row = [schedule]
            for medians in columns.values():
                known = [m for m in medians if m is not None]
                star = "*" if known and medians[k] == min(known) else ""
                row.append(seconds(medians[k]) + star)
            rows.append(row)
        n3, n2, n1 = shape
        print(f"Table {number}, {n1} x {n2} x {n3}, {WORDS[number]}")
        print("\n".join(align(rows)))
        missing = [str(n) for n in TEAMS if n not in columns]
        if missing:
            print(
                f"  not run: {', '.join(missing)} threads; there are "
                f"{len(os.sched_getaffinity(0))} cores (--team asks for more than that)"
            )
        print()
        if plot:
            _draw_table(plot, f"Table {number}: {n1} x {n2} x {n3}", schedules(largest), columns)


def figure_2(threads: int, plane: Shape | None = None) -> Iterator[Match]:
    """Two arrays with copy-back beside vacancy tracking, by the length of the block that moves."""
    for n3, n2 in PLANES if plane is None else [plane]:
        for n1 in BLOCKS:
            problem = Permutation((n3, n2, n1), AXES, "float64", threads)
            question = Question(
                {"figure": 2, "shape": problem.shape, "threads": threads},
                baseline=("two arrays, copied back",),
                bytes=problem.bytes,
            )
            yield Match(
                question,
                [
                    permuters.two_arrays(problem, copy_back=True),
                    permuters.two_arrays_streaming(problem),
                    permuters.in_place(problem, "cycles"),
                    permuters.in_place(problem),
                ],
            )


def finish_figure_2(document: dict[str, Any], plot: str | None) -> None:
    """The ratio that the paper plots, for both of our in-place methods."""
    lines: dict[tuple[str, str], list[tuple[int, float]]] = {}
    for t in document["tables"]:
        n3, n2, n1 = t["parameters"]["shape"]
        for figure in t["figures"]:
            if "in place" in figure["name"] and "speedup" in figure:
                key = (f"{n2} x {n3}", figure["name"])
                lines.setdefault(key, []).append((n1, figure["speedup"]))
    print("Figure 2: time of two arrays with copy-back / time in place, by N1")
    rows = [["N2 x N3", "", *map(str, BLOCKS)]]
    for (plane, name), points in lines.items():
        at = dict(points)
        rows.append([plane, name, *(f"{at[n]:.2f}" if n in at else "-" for n in BLOCKS)])
    print("\n".join(align(rows)))
    if plot:
        _draw_lines(
            plot,
            {f"{plane}, {name}": points for (plane, name), points in lines.items()},
            ("N1, elements of 8 bytes", "two arrays / in place"),
        )


def _draw_lines(
    plot: str, lines: dict[str, list[tuple[int, float]]], labels: tuple[str, str]
) -> None:
    figure, axes = axes_of()
    for name, points in lines.items():
        axes.plot(*zip(*points), marker="o", label=name)
    axes.axhline(1.0, color="grey", linewidth=0.8)
    axes.set_xscale("log", base=2)
    axes.set_xlabel(labels[0])
    axes.set_ylabel(labels[1])
    axes.legend(fontsize="small")
    save(figure, plot)


def _draw_table(
    plot: str, title: str, names: Sequence[str], columns: dict[int, list[float | None]]
) -> None:
    figure, axes = axes_of()
    for threads, medians in columns.items():
        known = [(k, m) for k, m in enumerate(medians) if m is not None]
        if known:
            axes.plot(*zip(*known), marker="o", label=f"{threads} threads")
    axes.set_xticks(range(len(names)), names, rotation=60)
    axes.set_ylabel("seconds")
    axes.set_title(title)
    axes.legend()
    words = title.split(": ")[1].replace(" ", "")
    stem, dot, ending = plot.rpartition(".")
    save(figure, f"{stem}-{words}{dot}{ending}" if dot else f"{plot}-{words}")
