# SPDX-License-Identifier: BSD-3-Clause
"""Several sizes and numbers of processes in one command, as in the papers' figures: one point
each, with a table and a picture of all."""

from __future__ import annotations

import argparse
import itertools
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hocket.cli.apps import common
from hocket.cli.main import UsageError


@dataclass(frozen=True)
class Sweep:
    """The parameters that an application varies, and the labels of its figure."""

    size: str  #: the option with its sizes
    title: str
    unit: str  #: the label of times: "an image"
    given: str = ""  #: the option with the user's own input, which has one size


def sizes(text: str) -> list[str]:
    """ "64,128x96": sizes, which the application reads."""
    return [word.strip() for word in text.split(",")]


def numbers(text: str) -> list[int]:
    """ "2,4,8": numbers, which the application looks at."""
    try:
        return [int(word) for word in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"'{text}': give whole numbers with commas between them"
        ) from None


def add_size(parser: argparse.ArgumentParser, default: str, what: str) -> None:
    """``--size``, read by `common.pair`; `what` has rows and columns."""
    parser.add_argument(
        "--size",
        type=sizes,
        default=default,
        help=f"{what} a side, or rows x columns; several by commas ({default})",
    )


def add_options(parser: argparse.ArgumentParser, procs: int) -> None:
    """``--procs --plot``; `procs` is the default number."""
    parser.add_argument(
        "--procs", type=numbers, default=str(procs), help=f"processes; several by commas ({procs})"
    )
    parser.add_argument("--plot", metavar="FILE", help="draw the times over the processes")


def points(options: argparse.Namespace, sweep: Sweep) -> Iterator[argparse.Namespace]:
    """The options of each point: for each size, all numbers of processes.

    Raises:
        UsageError: a size or a number is none, or given twice; there are sizes, and input that has
            one; the picture cannot be.
    """
    for name in (sweep.size, "procs"):
        values = getattr(options, name)
        if len(set(values)) < len(values):
            raise UsageError(f"--{name} {','.join(map(str, values))}: one of them is there twice")
    several = getattr(options, sweep.size)
    if sweep.given and getattr(options, sweep.given) is not None and len(several) > 1:
        raise UsageError(
            f"--{sweep.size} {','.join(map(str, several))}: what --{sweep.given} names has a size "
            "of its own; leave one of them out"
        )
    if options.plot and not Path(options.plot).resolve().parent.is_dir():
        raise UsageError(f"--plot {options.plot}: there is no such folder")
    if options.plot and Path(options.plot).suffix not in (".png", ".svg", ".pdf"):
        raise UsageError(f"--plot {options.plot}: give a name that ends in .png, .svg or .pdf")
    for size, procs in itertools.product(getattr(options, sweep.size), options.procs):
        point = argparse.Namespace(**{**vars(options), sweep.size: size, "procs": procs})
        common.at_least(point, procs=1)
        if isinstance(size, str):
            common.pair(size, f"--{sweep.size}")
        else:
            common.at_least(point, **{sweep.size: 1})
        yield point


def run(app: Any, options: argparse.Namespace) -> common.Result:
    """All points of an application, one after the other; the record of one point, or of all
    together."""
    sweep: Sweep = app.SWEEP
    found: list[tuple[argparse.Namespace, common.Result]] = []
    asked = list(points(options, sweep))
    for point in asked:
        found.append((point, app.run(point)))
        if len(asked) > 1:
            print("\n".join([*found[-1][1].lines, ""]), flush=True)
    rows = [
        {"size": str(getattr(point, sweep.size)), "procs": point.procs, **result.facts}
        for point, result in found
    ]
    if options.plot:
        draw(rows, sweep, options.plot)
    if len(found) == 1:
        return found[0][1]
    wrong = [(row, result) for row, (_, result) in zip(rows, found) if not result.good]
    verdict = f"all {len(found)} points are right"
    if wrong:
        row, result = wrong[0]
        verdict = (
            f"{len(wrong)} of {len(found)} points are wrong; the first, {row['size']} on "
            f"{row['procs']} processes: {result.verdict}"
        )
    facts = {
        "mpi": rows[0]["mpi"],
        "ranks": max(row["procs"] for row in rows),
        "points": [{k: v for k, v in row.items() if k not in ("mpi", "ranks")} for row in rows],
    }
    return common.Result(facts, table(rows, sweep), not wrong, verdict if options.check else "")


def table(rows: Sequence[dict[str, Any]], sweep: Sweep) -> list[str]:
    """The medians of all points, and the speedup of the best task-parallel form over the
    data-parallel one."""
    forms = list(dict.fromkeys(form for row in rows for form in row["forms"]))
    lines = [
        f"{sweep.title}, seconds {sweep.unit}; cores: {cores()}",
        f"{'size':<10} {'P':>3}"
        + "".join(f" {form:>12}" for form in forms)
        + f" {'data/tasks':>11}",
    ]
    for row in rows:
        medians = {form: one["median_s"] for form, one in row["forms"].items()}
        shown = "".join(f" {common.seconds(medians.get(form)):>12}" for form in forms)
        gained = gain(medians)
        ratio = "–" if gained is None else f"{gained:.2f}"
        lines.append(f"{row['size']:<10} {row['procs']:>3}{shown} {ratio:>11}")
    return lines


def gain(medians: dict[str, float | None]) -> float | None:
    """The data-parallel time over that of the fastest other form; None without either."""
    others = [time for form, time in medians.items() if form != "data" and time]
    data = medians.get("data")
    return data / min(others) if data and others else None


def draw(rows: Sequence[dict[str, Any]], sweep: Sweep, path: str) -> None:
    """A line for each size and form over the processes: a colour a size, a stroke a form."""
    from hocket import plotting

    lines: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for row in rows:
        for form, one in row["forms"].items():
            if one["median_s"] is not None:
                line = lines.setdefault((row["size"], form), [])
                line.append((row["procs"], one["median_s"]))
    plotting.plot_times(lines, path, sweep.title, f"seconds {sweep.unit}", cores())


def cores() -> int:
    """The cores of this process; with more processes, processes share cores."""
    return len(os.sched_getaffinity(0))
