# SPDX-License-Identifier: BSD-3-Clause
"""LINPACK: hocket's three modes beside HPL, in shared memory or over a shaped link.

HPL is tuned first: each of its settings runs in turn on the same system, and the two fastest
compete with hocket."""

from __future__ import annotations

import argparse
import contextlib
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from hocket.cli.apps import linpack

from .. import shaped_link
from ..drawing import axes_of, save
from ..group import Group
from ..linear_solvers import Setting, System, fastest, hpl, mode, setting_of, settings
from ..record import Question
from ..registry import Match, Native
from ..shaped_link import ShapedLink

RANKS = 0  # each run starts its own
_CONTENDERS = 2  # of HPL's settings after its tuning: in one more run either may be the best


def add_options(parser: argparse.ArgumentParser) -> None:
    """The system, the processes, and HPL's program."""
    parser.add_argument("--n", default="4000,6000", help="unknowns, by commas (4000,6000)")
    parser.add_argument("--nb", help="hocket's sizes of blocks, by commas (by N, 64 to 128)")
    parser.add_argument("--grid", default="2x1,1x2", help="grids, by commas (2x1,1x2)")
    parser.add_argument("--modes", default=",".join(linpack.MODES), help="of hocket (all)")
    parser.add_argument("--workers", type=int, default=1, help="threads of a flow (1)")
    parser.add_argument(
        "--width", type=int, help="columns updated at a time (by N, mode and workers)"
    )
    parser.add_argument(
        "--xhpl",
        metavar="FILE",
        help="HPL's program, built for the MPI that runs hocket; or, with MPI=system, Debian's "
        "hpcc, of which the time of HPL is taken (default: xhpl on PATH)",
    )
    parser.add_argument(
        "--hpl-nb",
        default="96,128,192,256",
        help="sizes of blocks that HPL is tuned over, beside how far it looks ahead and how "
        "panels travel, by commas (96,128,192,256)",
    )
    parser.add_argument(
        "--tuning", type=int, default=1, help="runs of each setting; the two best take part (1)"
    )
    parser.add_argument(
        "--hpl",
        metavar="NB:DEPTH:RING",
        help="HPL's settings, by commas, as a tuning has found them (default: it is tuned)",
    )
    parser.add_argument(
        "--again",
        action="store_true",
        help="each process solves the system twice, and the second time counts: the first one has "
        "the first use of memory, too, some of it before hocket's clock starts",
    )
    shaped_link.add_option(parser)
    parser.add_argument(
        "--plot", metavar="FILE", help="draw the rate over N, as the paper's Figure 1"
    )


def validate(options: argparse.Namespace) -> None:
    """Numbers, modes and grids that are; a program that can be run."""
    options.no_pin = True  # otherwise all children of this process would share its core
    if options.ranks != 0:
        raise ValueError(f"--ranks {options.ranks}: the grid says how many; leave it out")
    for name in ("n", "nb", "hpl_nb"):
        if getattr(options, name) is not None:
            _wholes(getattr(options, name), f"--{name.replace('_', '-')}")
    if options.tuning < 1:
        raise ValueError(f"--tuning {options.tuning}: give 1 or more")
    _given(options)
    _grids(options)
    for name in options.modes.split(","):
        if name not in linpack.MODES:
            raise ValueError(f"--modes {name}: there are {', '.join(linpack.MODES)}")
    if options.workers < 1 or (options.width is not None and options.width < 1):
        raise ValueError("--workers and --width: give 1 or more")
    if options.xhpl and shutil.which(options.xhpl) is None:
        raise ValueError(f"--xhpl {options.xhpl}: this is no program that can be run")
    if options.plot and not Path(options.plot).resolve().parent.is_dir():
        raise ValueError(f"--plot {options.plot}: there is no such folder")
    shaped_link.validate(options)


def _wholes(text: str, name: str) -> list[int]:
    words = text.split(",")
    if not all(word.isdecimal() and int(word) > 0 for word in words):
        raise ValueError(f"{name} {text}: give numbers from 1 with commas between them")
    return [int(word) for word in words]


def _grids(options: argparse.Namespace) -> list[tuple[int, int]]:
    grids = []
    for text in options.grid.split(","):
        words = text.split("x")
        if len(words) != 2 or not all(word.isdecimal() and int(word) > 0 for word in words):
            raise ValueError(f"--grid {text}: give rows x columns, as 2x1")
        if options.link and int(words[0]) * int(words[1]) % 2:
            raise ValueError(f"--grid {text}: a link has two ends; give an even number")
        grids.append((int(words[0]), int(words[1])))
    return grids


def _given(options: argparse.Namespace) -> list[Setting]:
    try:
        return [setting_of(text) for text in options.hpl.split(",")] if options.hpl else []
    except ValueError as error:
        raise ValueError(f"--hpl {error}") from None


def matches(options: argparse.Namespace, group: Group) -> Iterator[Match]:
    """One match a grid, size and block of hocket's; HPL is tuned once a grid and size."""
    program = shutil.which(options.xhpl or "xhpl")
    program = None if program is None else str(Path(program).resolve())
    with ShapedLink(options.link) if options.link else contextlib.nullcontext() as link:
        for rows, columns in _grids(options):
            for n in _wholes(options.n, "--n"):
                system = System(
                    n, 0, rows, columns, options.width, options.workers, options.timeout, link
                )
                system = replace(system, solutions=2 if options.again else 1)
                chosen = _settings(options, system, program, group)
                for nb in _wholes(options.nb, "--nb") if options.nb else [linpack.usual_block(n)]:
                    of_nb = replace(system, nb=nb)
                    yield _match(of_nb, options.modes.split(","), program, chosen)


def _settings(
    options: argparse.Namespace, system: System, program: str | None, group: Group
) -> list[Setting]:
    """HPL's best settings for this system; without HPL, a contestant that says so."""
    if given := _given(options):
        return given
    tried = settings(_wholes(options.hpl_nb, "--hpl-nb"), system.columns)
    if program is None or len(tried) <= _CONTENDERS:
        return tried[:_CONTENDERS]
    return fastest(system, program, tried, options.tuning, _CONTENDERS, group)


def _match(
    system: System, modes: Sequence[str], program: str | None, chosen: Sequence[Setting]
) -> Match:
    question = Question(
        {
            "N": system.n,
            "NB": system.nb,
            "grid": (system.rows, system.columns),
            "link": "shared memory" if system.link is None else system.link.rate,
        },
        baseline=[setting.name for setting in chosen],
    )
    contestants = [mode(system, name) for name in modes]
    contestants += [hpl(system, program, setting) for setting in chosen]
    return Match(question, contestants)


def natives(options: argparse.Namespace) -> Sequence[Native]:
    """None: every contestant is a program already."""
    return ()


def finish(options: argparse.Namespace, document: dict[str, Any]) -> None:
    """Figure 1 of Marjanovic, Labarta, Ayguade, Valero: the rate over N."""
    rates: dict[tuple[str, str], dict[int, float]] = {}
    for table in document["tables"]:
        p = table["parameters"]
        known = [f for f in table["figures"] if f.get("median")]
        for figure in known:
            figure["gflops"] = linpack.operations(p["N"]) / figure["median"] * 1e-9
        reference = [f["gflops"] for f in known if f["name"].startswith("HPL")]
        lines = {f["name"]: f["gflops"] for f in known if not f["name"].startswith("HPL")}
        if reference:
            lines["HPL, its best"] = max(reference)
        for name, rate in lines.items():
            of = rates.setdefault((f"{p['grid'][0]}x{p['grid'][1]}", name), {})
            of[p["N"]] = max(rate, of.get(p["N"], 0.0))
    for (grid, name), line in rates.items():
        said = "  ".join(f"N {n}: {rate:.1f}" for n, rate in sorted(line.items()))
        print(f"{grid} {name}: GFLOP/s at {said}")
    if not options.plot:
        return
    picture, axes = axes_of()
    for (grid, name), line in rates.items():
        axes.plot(*zip(*sorted(line.items())), marker="o", label=f"{grid} {name}")
    axes.set_xlabel("N")
    axes.set_ylabel("GFLOP/s")
    axes.legend()
    save(picture, options.plot)
