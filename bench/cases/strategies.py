# SPDX-License-Identifier: BSD-3-Clause
"""The five strategies of a transfer: the model's predictions beside measurements."""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from hocket.errors import Error

from .. import simulation, strategy_figures
from ..formats import lay
from ..group import Group
from ..platforms import PLATFORMS
from ..record import Question
from ..registry import Match, Native, Pass
from ..shaped_link import ShapedLink
from ..strategy_runs import Transfer, costs_of, layouts_of, transfers

RANKS = 0  # the sides set the number
PLACES = ("shared", "nodes", "link", "simulated")
PAIRS = ("(BLOCK,*) -> (*,BLOCK)", "(BLOCK,*) -> (CYCLIC,*)")


def add_options(parser: argparse.ArgumentParser) -> None:
    """The machine, the numbers of processes, the layouts and the sizes."""
    parser.add_argument(
        "--place",
        default="shared,nodes",
        help="where, by commas: shared (one node), nodes (each side pretends to be one), link (the "
        "sides on either end of a shaped link; needs root and Open MPI), simulated (a process a "
        "host, by SimGrid; the two sides share one link) (shared,nodes)",
    )
    parser.add_argument("--sides", default="2x2,4x2", help="senders x receivers (2x2,4x2)")
    parser.add_argument("--size", default="16,256,1024", help="N of N*N float64 (16,256,1024)")
    parser.add_argument(
        "--pair",
        action="append",
        metavar='"(BLOCK,*) -> (*,BLOCK)"',
        help=f"distributions; may be repeated (default: {' and '.join(PAIRS)})",
    )
    parser.add_argument("--rate", default="1gbit", help="of the shaped link, in bits a second")
    parser.add_argument(
        "--overhead",
        type=float,
        default=2e-6,
        help="of the simulated processors, in seconds a message at each end (2e-6)",
    )
    parser.add_argument(
        "--platform",
        choices=sorted(PLATFORMS),
        help="simulated: on this machine instead, a process a processor, the senders first",
    )
    parser.add_argument(
        "--fitted",
        action="store_true",
        help="simulated links slow short messages as SMPI's factors say, fitted to a cluster of 1 "
        "Gbit/s (else all messages have the bandwidth and the latency of the links)",
    )
    parser.add_argument("--program", metavar="FILE", help="the simulated program (build/simulated)")
    parser.add_argument("--plot", metavar="FILE", help="draw all beside direct, and the choices")
    parser.set_defaults(sample_seconds=0.0)  # one transfer a run: a second would overlap the first


def validate(options: argparse.Namespace) -> None:
    """Places that there are, layouts that fit."""
    places = options.place.split(",")
    for place in places:
        if place not in PLACES:
            raise ValueError(f"--place {place}: there are {', '.join(PLACES)}")
    sums = [s + r for s, r in _sides(options)]
    if options.ranks not in (0, *sums):
        raise ValueError(f"--ranks {options.ranks}: the sides say how many; leave it out")
    for side in {count for both in _sides(options) for count in both}:
        for source, destination, size in _cases(options):
            for text in (source, destination):
                lay((size, size), text, side).spreads()
    if not 0 <= options.overhead < math.inf:
        raise ValueError(f"--overhead {options.overhead}: give seconds, not below 0")
    if options.plot and not Path(options.plot).resolve().parent.is_dir():
        raise ValueError(f"--plot {options.plot}: there is no such folder")
    if "simulated" in places:
        simulation.check(options.program)
    if options.platform:
        most = PLATFORMS[options.platform].size
        if places != ["simulated"] or options.fitted:
            raise ValueError(f"--platform {options.platform}: with --place simulated only")
        if max(sums) > most:
            raise ValueError(f"--sides {options.sides}: {options.platform} has {most} processors")
    if "link" in places:
        if any(s != r for s, r in _sides(options)):
            raise ValueError(f"--sides {options.sides}: a link has as many processes on both ends")
        try:
            ShapedLink(options.rate)
        except Error as error:
            raise ValueError(f"--place link: {error}") from error


def _sides(options: argparse.Namespace) -> list[tuple[int, int]]:
    sides = []
    for text in options.sides.split(","):
        words = text.split("x")
        if len(words) != 2 or not all(word.isdecimal() and int(word) > 0 for word in words):
            raise ValueError(f"--sides {text}: give senders x receivers, as 4x2")
        sides.append((int(words[0]), int(words[1])))
    return sides


def _cases(options: argparse.Namespace) -> Iterator[tuple[str, str, int]]:
    for pair in options.pair or PAIRS:
        source, arrow, destination = pair.partition("->")
        if not arrow:
            raise ValueError(f"--pair '{pair}': write two distributions with -> between them")
        for size in options.size.split(","):
            if not size.isdecimal() or int(size) < 1:
                raise ValueError(f"--size {size}: give numbers from 1 with commas between them")
            yield source.strip(), destination.strip(), int(size)


def passes(options: argparse.Namespace) -> list[Pass]:
    """A start for each place and number of processes."""
    starts = []
    for place in options.place.split(","):
        for s, r in _sides(options):
            words = ("--place", place, "--sides", f"{s}x{r}")
            nodes = {"HOCKET_NODES": ",".join(["0"] * s + ["1"] * r)} if place == "nodes" else {}
            rate = options.rate if place == "link" else None
            starts.append(Pass(0 if place == "simulated" else s + r, 1, words, nodes, rate))
    return starts


def matches(options: argparse.Namespace, group: Group) -> Iterator[Match]:
    """One match a pair of layouts and size."""
    ((senders, receivers),) = _sides(options)
    simulated = options.place == "simulated"
    nodes = ([0] * senders, [1 if options.place != "shared" else 0] * receivers)
    machine = PLATFORMS[options.platform] if options.platform else None
    if machine is not None:
        on = [machine.node(rank) for rank in range(senders + receivers)]
        nodes, costs = (on[:senders], on[senders:]), machine.costs()
    else:
        costs = simulation.costs(options.overhead) if simulated else costs_of(group, senders)
    for source, destination, size in _cases(options):
        pair = layouts_of((size, size), source, destination, senders, receivers)
        transfer = Transfer(*pair, nodes, costs)
        question = Question(
            {
                "place": options.platform
                or (options.rate if options.place == "link" else options.place),
                "senders": senders,
                "receivers": receivers,
                "from": source,
                "to": destination,
                "shape": (size, size),
                "model": {name: float(f"{cost:.3g}") for name, cost in costs.items()},
            },
            baseline=("direct",),
            bytes=8 * size * size,
        )
        if simulated:
            given = options.program, options.timeout, options.fitted, machine
            yield Match(question, simulation.transfers(transfer, *given))
        else:
            yield Match(question, transfers(transfer, group, senders, receivers))


def natives(options: argparse.Namespace) -> Sequence[Native]:
    """None: strategies differ in the transfer, not in the language."""
    return ()


def finish(options: argparse.Namespace, document: dict[str, Any]) -> None:
    """The predictions beside the measurements, and the cost of the model's choice."""
    strategy_figures.finish(document, options.plot)
