# SPDX-License-Identifier: BSD-3-Clause
"""The command line of ``hocket bench``, parsed by the command and by its processes."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from . import registry
from .harness import Effort


def summary(name: str) -> str:
    """The first line of a case's documentation."""
    text = registry.load(name).__doc__ or ""
    return text.strip().splitlines()[0] if text.strip() else ""


def _common(parser: argparse.ArgumentParser) -> None:
    defaults = Effort()
    parser.add_argument("--json", metavar="FILE", help="write parameters and figures there as well")
    parser.add_argument("--ranks", type=int, metavar="N", help="processes (default: the case's)")
    parser.add_argument(
        "--threads", type=int, default=1, metavar="N", help="threads a process (default: 1)"
    )
    parser.add_argument(
        "--seconds",
        type=float,
        default=defaults.seconds,
        metavar="S",
        help=f"seconds of rounds for each table (default: {defaults.seconds:g})",
    )
    parser.add_argument(
        "--warmup",
        type=int,
        default=defaults.warmup,
        metavar="N",
        help=f"rounds before those that count (default: {defaults.warmup})",
    )
    parser.add_argument(
        "--min-runs",
        type=int,
        default=defaults.min_runs,
        metavar="N",
        help=f"rounds at least, however long they take (default: {defaults.min_runs})",
    )
    parser.add_argument(
        "--max-runs",
        type=int,
        default=defaults.max_runs,
        metavar="N",
        help=f"rounds at most (default: {defaults.max_runs})",
    )
    parser.add_argument(
        "--sample-seconds",
        type=float,
        default=defaults.sample_seconds,
        metavar="S",
        help="calls are repeated until a run takes so long; 0: a run is one call "
        f"(default: {defaults.sample_seconds:g})",
    )
    parser.add_argument(
        "--timeout", type=float, metavar="S", help="end everything after so long (default: never)"
    )
    parser.add_argument(
        "--no-pin",
        action="store_true",
        help="leave processes where the launcher puts them (default: a core each, where there are "
        "enough and a process has one thread)",
    )
    parser.add_argument(
        "--keep-samples", action="store_true", help="put every run's time into the JSON file"
    )


def parse(argv: Sequence[str]) -> tuple[registry.Case, argparse.Namespace]:
    """``[NAME, options…]`` of one case. Raises ValueError; for others exits as argparse does."""
    name, *rest = argv
    case = registry.load(name)
    parser = argparse.ArgumentParser(prog=f"hocket bench {name}", description=summary(name))
    _common(parser)
    case.add_options(parser)
    options = parser.parse_args(list(rest))
    if options.ranks is None:
        options.ranks = case.RANKS
    if options.ranks < 0 or options.ranks == 0 < case.RANKS:
        raise ValueError(f"--ranks {options.ranks}: give 1 or more")
    if options.threads < 1:
        raise ValueError(f"--threads {options.threads}: give 1 or more")
    if options.timeout is not None and not options.timeout > 0:
        raise ValueError(f"--timeout {options.timeout}: give seconds above 0")
    effort(options)
    case.validate(options)
    return case, options


def all_options(argv: Sequence[str]) -> tuple[argparse.Namespace, list[str]]:
    """Options of ``--all``, and the words for each benchmark."""
    parser = argparse.ArgumentParser(
        prog="hocket bench --all",
        description="Every benchmark with its defaults; a page of their figures, the worst first.",
    )
    parser.add_argument("--page", default="bench.md", metavar="FILE", help="(default: bench.md)")
    parser.add_argument(
        "--seconds", type=float, default=0.5, metavar="S", help="of each table (default: 0.5)"
    )
    parser.add_argument(
        "--timeout", type=float, default=900, metavar="S", help="of each benchmark (default: 900)"
    )
    parser.add_argument(
        "--reports",
        metavar="FOLDER",
        help="keep each benchmark's report there, and do not repeat those that are there",
    )
    parser.add_argument(
        "--only",
        metavar="NAME,...",
        help="run these only; the page has all reports of the folder",
    )
    options = parser.parse_args(list(argv))
    options.only = registry.names() if options.only is None else options.only.split(",")
    for name in options.only:
        registry.load(name)
    words = ["--seconds", repr(options.seconds), "--timeout", repr(options.timeout)]
    return options, words


def effort(options: argparse.Namespace) -> Effort:
    """The length of a measurement. Raises ValueError for invalid values."""
    return Effort(
        options.warmup,
        options.seconds,
        options.min_runs,
        options.max_runs,
        options.sample_seconds,
    )


def native_effort(options: argparse.Namespace) -> list[str]:
    """The same for a program of ``bench/native``."""
    return [
        *("--seconds", repr(float(options.seconds))),
        *("--warmup", str(options.warmup)),
        *("--min-runs", str(options.min_runs)),
        *("--max-runs", str(options.max_runs)),
        *("--sample-seconds", repr(float(options.sample_seconds))),
    ]


def listing() -> str:
    """The cases with their summaries."""
    known = registry.names()
    width = max(len(name) for name in known)
    lines = [f"  {name.ljust(width)}  {summary(name)}" for name in known]
    end = "--all instead of NAME: every one, and a page of their figures, the worst first."
    return "\n".join(["usage: hocket bench NAME [options]", "", *lines, "", end])
