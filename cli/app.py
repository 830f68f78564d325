# SPDX-License-Identifier: BSD-3-Clause
"""`hocket app NAME …`: runs the papers' programs on processes that it starts."""

from __future__ import annotations

import argparse
import difflib
import importlib
import json

from hocket.cli.apps import common, sweeps
from hocket.cli.main import Parser, UsageError

#: program → (its purpose, an example)
APPS = {
    "pingpong": (
        "an array between two tasks, there and back, by size",
        "hocket app pingpong --n 16,256,1024 --per-task 1,2",
    ),
    "fft2d": (
        "2-D FFTs of a stream of images, data-parallel and as a pipeline",
        "hocket app fft2d --size 256 --frames 20 --procs 4 --check",
    ),
    "convolution": (
        "two streams of images convolved, data-parallel and by four tasks",
        "hocket app convolution --size 128 --frames 10 --procs 8 --check",
    ),
    "multiblock": (
        "a Poisson solver on blocks that exchange boundary strips",
        "hocket app multiblock --procs 4 --steps 100 --check",
    ),
    "remap": (
        "a three-dimensional array remapped, by two arrays and in place",
        "hocket app remap --shape 64,128,32 --procs 4 --threads 2 --check",
    ),
    "steering": (
        "a running flow simulation shown, and steered, by a second task",
        "hocket app steering --procs 3 --frames 5 --check",
    ),
    "linpack": (
        "LINPACK: a dense system on a grid of processes, in three modes",
        "hocket app linpack --n 6000 --nb 128 --grid 2x1 --workers 1 --mode flow",
    ),
}


def names() -> dict[str, str]:
    """The programs, each with its purpose."""
    return {name: purpose for name, (purpose, _) in APPS.items()}


def main(words: list[str]) -> int:
    """Run one program; 1 if its result was wrong."""
    if not words or words[0] in ("-h", "--help"):
        print(_usage())
        return 0 if words else 2
    name = words[0]
    if name not in APPS:
        near = difflib.get_close_matches(name, APPS, 1)
        hint = f"did you mean '{near[0]}'?" if near else f"there are {', '.join(APPS)}"
        raise UsageError(f"there is no application '{name}'; {hint}")
    app = importlib.import_module(f"hocket.cli.apps.{name}")
    parser = Parser(prog=f"hocket app {name}", description=app.__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--runs", type=int, default=5, help="timed runs of each form (5)")
    parser.add_argument("--check", action="store_true", help="compare with an independent result")
    parser.add_argument("--json", action="store_true", help="the last line printed is JSON")
    parser.add_argument("--timeout", type=float, default=600.0, help="seconds to the end (600)")
    app.add_options(parser)
    options = parser.parse_args(words[1:])
    common.at_least(options, runs=0)
    if not options.timeout > 0:
        raise UsageError(f"--timeout {options.timeout:g}: give seconds, more than 0")
    swept = hasattr(app, "SWEEP")
    result: common.Result = sweeps.run(app, options) if swept else app.run(options)
    for line in result.lines:
        print(line)
    if options.check:
        print(f"check          {result.verdict}")
    if options.json:
        print(json.dumps(common.record(name, options, result)))
    return 0 if result.good else 1


def _usage() -> str:
    lines = ["usage: hocket app NAME …", ""]
    for name, (purpose, example) in APPS.items():
        lines += [f"  {name:<12} {purpose}", f"  {'':<12} {example}"]
    return "\n".join([*lines, "", "`hocket app NAME --help` tells the rest."])
