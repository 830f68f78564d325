# SPDX-License-Identifier: BSD-3-Clause
"""The applications on simulated machines, a process a processor: the papers' figures over P and N.

The simulation covers messages; a model gives the time of computing, from kernels timed on this
machine.
"""

from __future__ import annotations

import argparse
import functools
import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from hocket.cli.apps.linpack import MODES

from .. import kernels, simulation
from ..curve_figures import finish_curves
from ..curves import CURVES, Curve, Point
from ..group import Group
from ..harness import Contestant, Step, UnavailableError
from ..linear_solvers import setting_of
from ..platforms import PLATFORMS
from ..record import Question
from ..registry import Match, Native, Pass
from ..simulated_hpl import beside

RANKS = 0  # one process simulates all


def add_options(parser: argparse.ArgumentParser) -> None:
    """Which curve, on which machine, over what."""
    parser.add_argument("curve", choices=sorted(CURVES), help="what is simulated")
    parser.add_argument(
        "--platform", help=f"by commas, of {', '.join(PLATFORMS)} (default: the paper's)"
    )
    parser.add_argument("--procs", help="processors, by commas (default: the curve's)")
    parser.add_argument("--size", help="N, by commas (default: the curve's)")
    parser.add_argument("--per-process", help="processors a process, by commas (remap: 1,4,16)")
    parser.add_argument("--frames", type=int, default=10, help="images, or steps (10)")
    parser.add_argument("--nb", type=int, default=32, help="LINPACK's size of blocks (32)")
    parser.add_argument(
        "--coarse",
        type=int,
        default=1,
        help="LINPACK: simulate with one number for a square of so many a side, whose work and "
        "bytes it has; N and --nb stay those of the matrix (1)",
    )
    parser.add_argument("--modes", help="LINPACK: some of its modes, by commas (default: all)")
    parser.add_argument(
        "--width",
        help="LINPACK: columns updated at a time, in all modes or one number for each, by commas "
        "(NB, from 256 to 512)",
    )
    parser.add_argument(
        "--xhpl",
        metavar="FILE",
        help="LINPACK: HPL's program beside it, built for the simulator (docs/guide/simulation.md)",
    )
    parser.add_argument(
        "--hpl",
        metavar="NB:DEPTH:RING",
        default="128:1:1",
        help="HPL's blocks of the matrix, how far it looks ahead, and its broadcast (128:1:1)",
    )
    parser.add_argument(
        "--bandwidth", default="1", help="of links, in multiples of the machine's, by commas (1)"
    )
    parser.add_argument(
        "--noise",
        default="0",
        help="of the operating system: parts of computing that interruptions add, by commas, as "
        "0,0.01,0.05 (0)",
    )
    parser.add_argument(
        "--noise-lasts", type=float, default=1e-3, help="seconds of an interruption (0.001)"
    )
    parser.add_argument(
        "--kernels",
        metavar="FILE",
        help="seconds of kernels, of an earlier report, or as numbers with commas: "
        f"{','.join(kernels.KINDS)} (default: timed now)",
    )
    parser.add_argument(
        "--limit",
        type=float,
        default=600.0,
        help="real seconds that one simulation may take; what takes longer is left out (600)",
    )
    parser.add_argument("--plot", metavar="FILE", help="draw the curves there, too")


def validate(options: argparse.Namespace) -> None:
    """Machines and numbers that are; kernels that can be read."""
    options.no_pin = True
    options.seconds, options.min_runs, options.warmup = 0.0, 1, 1  # there is no noise
    if options.ranks != 0:
        raise ValueError(f"--ranks {options.ranks}: --procs says how many; leave it out")
    for name in _platforms(options):
        if name not in PLATFORMS:
            raise ValueError(f"--platform {name}: there are {', '.join(PLATFORMS)}")
    if not options.limit > 0:
        raise ValueError(f"--limit {options.limit}: give seconds above 0")
    if options.frames < 1 or options.nb < 1:
        raise ValueError("--frames and --nb: give 1 or more")
    most = max(PLATFORMS[name].size for name in _platforms(options))
    if max(_processors(options)) > most:
        raise ValueError(f"--procs {options.procs}: the largest machine named has {most}")
    for size in (options.nb, *_wholes(options.size, "--size", ())):
        if options.coarse < 1 or size % options.coarse:
            raise ValueError(f"--coarse {options.coarse}: it has to divide N and --nb, as {size}")
    if options.coarse > 1 and not _curve(options).coarsens:
        raise ValueError(f"--coarse {options.coarse}: only for linpack; leave it out")
    if options.modes and (
        options.curve != "linpack" or not {*_forms(options)} <= {*CURVES["linpack"].forms}
    ):
        raise ValueError(f"--modes {options.modes}: only for linpack, some of {', '.join(MODES)}")
    widths = _widths(options)
    if widths and (options.curve != "linpack" or len(widths) not in (1, len(_forms(options)))):
        raise ValueError(f"--width {options.width}: only for linpack, one or one for each mode")
    if options.xhpl and (options.curve != "linpack" or not Path(options.xhpl).is_file()):
        raise ValueError(f"--xhpl {options.xhpl}: give a program, and only for linpack")
    try:
        setting_of(options.hpl)
    except ValueError as error:
        raise ValueError(f"--hpl {error}") from None
    _wholes(options.per_process, "--per-process", ())
    _reals(options.bandwidth, "--bandwidth", above=0)
    if max(_reals(options.noise, "--noise")) >= 1:
        raise ValueError(f"--noise {options.noise}: give parts below 1, as 0.02")
    if not 0 < options.noise_lasts < math.inf:
        raise ValueError(f"--noise-lasts {options.noise_lasts}: give seconds above 0")
    if options.kernels is not None:
        try:
            kernels.known(options.kernels)
        except OSError as error:
            raise ValueError(f"--kernels {options.kernels}: {error.strerror}") from error
    if options.plot and not Path(options.plot).resolve().parent.is_dir():
        raise ValueError(f"--plot {options.plot}: there is no such folder")


def _curve(options: argparse.Namespace) -> Curve:
    curve = replace(CURVES[options.curve], forms=_forms(options))
    return beside(curve, options.xhpl, setting_of(options.hpl)) if options.xhpl else curve


def _forms(options: argparse.Namespace) -> tuple[str, ...]:
    forms = CURVES[options.curve].forms
    return tuple(options.modes.split(",")) if options.modes else forms


def _platforms(options: argparse.Namespace) -> list[str]:
    return options.platform.split(",") if options.platform else list(_curve(options).platforms)


def _wholes(text: str | None, name: str, default: Sequence[int]) -> list[int]:
    if text is None:
        return list(default)
    if not all(word.isdecimal() and int(word) > 0 for word in text.split(",")):
        raise ValueError(f"{name} {text}: give numbers from 1 with commas between them")
    return sorted({int(word) for word in text.split(",")})


def _widths(options: argparse.Namespace) -> tuple[int, ...]:
    words = options.width.split(",") if options.width else []
    if not all(word.isdecimal() and int(word) > 0 for word in words):
        raise ValueError(f"--width {options.width}: give numbers from 1 with commas between them")
    return tuple(map(int, words))


def _processors(options: argparse.Namespace) -> list[int]:
    curve = _curve(options)
    found = _wholes(options.procs, "--procs", curve.processes)
    if min(found) < curve.least:
        raise ValueError(f"--procs {options.procs}: {curve.app} has {curve.least} tasks")
    return found


def _reals(text: str, name: str, above: float | None = None) -> list[float]:
    """Numbers from 0, or above something."""
    try:
        found = [float(word) for word in text.split(",")]
    except ValueError:
        found = [-1.0]
    if not all(0 <= each < math.inf and each != above for each in found):
        least = "from 0" if above is None else "above 0"
        raise ValueError(f"{name} {text}: give numbers {least}, by commas")
    return found


def _points(options: argparse.Namespace) -> Iterator[tuple[Point, float, float]]:
    """Each with the scale of its bandwidth, and its noise."""
    curve = _curve(options)
    for name, scale, noise, size, count, each in itertools.product(
        _platforms(options),
        _reals(options.bandwidth, "--bandwidth"),
        _reals(options.noise, "--noise"),
        _wholes(options.size, "--size", curve.sizes),
        _processors(options),
        _wholes(options.per_process, "--per-process", curve.threads),
    ):
        platform = PLATFORMS[name]
        if each > platform.processors or count % each or count > platform.size:
            continue
        one = platform if scale == 1 else platform.scaled(scale)
        lasts = options.noise_lasts if noise else 0.0
        disturbed = (lasts / noise if noise else 0.0, lasts)
        point = Point(
            one, count // each, each, size, options.frames, options.nb, disturbed, options.coarse
        )
        point = replace(point, modes=_forms(options)) if options.modes else point
        point = replace(point, widths=_widths(options))
        yield point, scale, noise


def passes(options: argparse.Namespace) -> list[Pass]:
    """One machine, with kernels as fast as measured here."""
    options.kernels = kernels.words(kernels.known(options.kernels), 1.0)
    return [Pass(0, 1, ("--kernels", options.kernels))]


def matches(options: argparse.Namespace, group: Group) -> Iterator[Match]:
    """One match a machine, size, and number of processors."""
    curve = _curve(options)
    speeds = kernels.known(options.kernels)
    for point, scale, noise in _points(options):
        platform = point.platform
        question = Question(
            {
                "curve": options.curve,
                "platform": platform.name,
                "N": point.size,
                "processors": point.processes * point.threads,
                "processors a process": point.threads,
                "bandwidth": scale,
                "noise": noise,
            },
            baseline=(curve.forms[0],),
        )
        yield Match(question, _contestants(curve, point, speeds, options.limit))


def _contestants(
    curve: Curve, point: Point, speeds: dict[str, float], limit: float
) -> list[Contestant]:
    @functools.cache
    def found() -> dict[str, float] | UnavailableError:  # all forms in one start
        try:
            return curve.run(point, speeds, limit)
        except UnavailableError as error:
            return error

    def contestant(form: str) -> Contestant:
        def prepare() -> Step:
            times = found()
            if isinstance(times, UnavailableError):
                raise times
            return simulation.step(times[form], {})

        return Contestant(form, prepare)

    return [contestant(form) for form in curve.forms]


def natives(options: argparse.Namespace) -> Sequence[Native]:
    """None: what is simulated is C++ already."""
    return ()


def finish(options: argparse.Namespace, document: dict[str, Any]) -> None:
    """The assumptions; the crossings of the forms; the picture."""
    document["kernels"] = kernels.known(options.kernels)
    document["platforms"] = [vars(PLATFORMS[name]) for name in _platforms(options)]
    finish_curves(_curve(options), document, options.plot)
