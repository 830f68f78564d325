# SPDX-License-Identifier: BSD-3-Clause
"""Figures of two papers: an N x N array goes from one task to another, (BLOCK,*) to (*,BLOCK).

Figures 4 to 6: Avalani, Choudhary, Foster, Krishnaiyer, Xu, "A Data Transfer Library for
Communicating Data-Parallel Tasks". Figure 7: Foster, Kohr, Krishnaiyer, Choudhary, "Double
Standards: Bringing Task Parallelism to HPF via the Message Passing Interface".
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from . import shaped_link
from .figure_tables import CENTRALIZED, DIRECT, GENERIC, OPTIMISED, PREPARED
from .formats import lay
from .per_element import per_element
from .record import Question
from .redistribution import Problem
from .registry import Match, Pass
from .transfers import contestant, there_and_back

if TYPE_CHECKING:
    from mpi4py import MPI

#: Numbers of processes of the two tasks in the papers; for Figure 7 those of a workstation.
TASKS = {
    4: ((8, 8),),
    5: ((8, 8),),
    6: ((8, 8), (8, 4), (4, 2)),
    7: ((1, 1), (2, 2), (4, 4)),
}
SIZES = {4: (16, 64, 128, 256, 512), 7: (16, 64, 256, 1024)}


def add_options(parser: argparse.ArgumentParser) -> None:
    """``--figure --tasks --plot``."""
    parser.add_argument(
        "--figure",
        type=int,
        choices=sorted(TASKS),
        help="transfers between two tasks instead, as the papers draw them: 4 ways to find the "
        "messages, 5 direct and centralized, 6 other numbers of processes, 7 the six steps",
    )
    parser.add_argument(
        "--tasks",
        action="append",
        metavar="S,R",
        help="of a figure: processes that send and that receive; may be repeated (default: the "
        "paper's)",
    )
    parser.add_argument(
        "--link",
        metavar="RATE",
        help="of a figure: over a link of so many bits a second, as 100mbit, between two network "
        "namespaces, half of the processes on either side; needs root and Open MPI",
    )
    parser.add_argument("--plot", metavar="FILE", help="draw the figure there")


def validate(options: argparse.Namespace) -> None:
    """Tasks and files that can be."""
    if not options.figure:
        if options.tasks or options.plot or options.link:
            raise ValueError("--tasks, --link and --plot belong to a --figure; give one")
        return
    if options.pair or options.shape or options.peer:
        raise ValueError("--figure has its own pair of layouts: leave --pair, --shape, --peer out")
    totals = [s + r for s, r in tasks(options)]
    if len(set(totals)) != len(totals):
        raise ValueError("--tasks: two of them have the same number of processes; leave one out")
    if options.link and any(total % 2 for total in totals):
        raise ValueError("--link: a link has two ends; give even numbers of processes by --tasks")
    shaped_link.validate(options)
    if options.figure == 7 and any(s != r for s, r in tasks(options)):
        raise ValueError("--tasks: those of Figure 7 have as many processes as each other")
    if options.plot and not Path(options.plot).resolve().parent.is_dir():
        raise ValueError(f"--plot {options.plot}: there is no such folder")


def tasks(options: argparse.Namespace) -> list[tuple[int, int]]:
    """(S, R) of each start. Raises ValueError."""
    if not options.tasks:
        return list(TASKS[options.figure])
    found = []
    for text in options.tasks:
        words = text.split(",")
        if len(words) != 2 or not all(word.isdecimal() and int(word) > 0 for word in words):
            raise ValueError(f"--tasks {text}: give two numbers of processes, as 8,4")
        found.append((int(words[0]), int(words[1])))
    return found


def passes(options: argparse.Namespace) -> list[Pass]:
    """A start for each pair of tasks; unprepared calls plan each time, as the papers' libraries
    do."""
    more = {"HOCKET_PLAN_CACHE": "0"}
    return [Pass(s + r, options.threads, more=more, rate=options.link) for s, r in tasks(options)]


def matches(options: argparse.Namespace, comm: MPI.Intracomm) -> Iterator[Match]:
    """One match a size, with all processes."""
    senders, receivers = next(pair for pair in tasks(options) if sum(pair) == comm.size)
    sizes: Sequence[int] = options.size or SIZES[7 if options.figure == 7 else 4]
    for size in sizes:
        problem = Problem(
            comm,
            lay((size, size), "(BLOCK,*)", senders),
            lay((size, size), "(*,BLOCK)", receivers, senders),
        )
        parameters = {"figure": options.figure, "N": size, "S": senders, "R": receivers}
        question = Question({**parameters, "plans kept": 0}, bytes=problem.bytes)
        if options.figure == 7:
            both = [
                there_and_back(problem, persistent, name)
                for persistent, name in ((False, OPTIMISED), (True, PREPARED))
            ]
            yield Match(question, both, steps_per_call=2)
        elif options.figure == 5:
            yield Match(
                question,
                [contestant(problem, True, False, way, way) for way in (DIRECT, CENTRALIZED)],
            )
        else:
            yield Match(
                question,
                [
                    per_element(problem, GENERIC),
                    contestant(problem, True, False, DIRECT, OPTIMISED),
                    contestant(problem, True, True, DIRECT, PREPARED),
                ],
            )
