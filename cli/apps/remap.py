# SPDX-License-Identifier: BSD-3-Clause
"""A distributed three-dimensional array with its indices reordered, as in He and Ding, "MPI and
OpenMP Paradigms on Cluster of SMP Architectures: The Vacancy Tracking Algorithm for
Multi-Dimensional Array Transposition", on processes × threads:

  two-array      into a second array
  in-place       within its own memory: local vacancy tracking and an exchange in place
  tasks          one task has the array, another receives it permuted
  persistent     the same, with a send and a receive that are prepared once
  climate        the example that the paper opens with: three-dimensional fields (height, latitude,
                 longitude) from a height-local to a longitude-local decomposition
  climate-tasks  the same between a task for the one and a task for the other, prepared once

The paper's A(N1,N2,N3) is the shape N3,N2,N1 here, and its 2nd and 3rd indices change places by
axes 1,0,2. Every element is compared with what its indices say, with or without --check.
"""

from __future__ import annotations

import argparse

from hocket.cli.apps import common
from hocket.cli.main import UsageError

TASKS = {"tasks": 2, "persistent": 2, "climate-tasks": 2}
FORMS = ("two-array", "in-place", "tasks", "persistent", "climate", "climate-tasks")


def add_options(parser: argparse.ArgumentParser) -> None:
    """The program's own."""
    parser.add_argument("--shape", default="64,128,32", help="three extents (64,128,32)")
    parser.add_argument("--axes", default="1,0,2", help="as numpy.transpose (1,0,2)")
    parser.add_argument("--dist", default="(BLOCK, *, *)", help='HPF text ("(BLOCK, *, *)")')
    parser.add_argument("--procs", type=int, default=2, help="processes (2)")
    parser.add_argument("--threads", type=int, default=1, help="of each process, in place (1)")
    parser.add_argument("--forms", help=f"of {','.join(FORMS)} (all that can be)")


def run(options: argparse.Namespace) -> common.Result:
    """All forms in one start, taking turns."""
    common.at_least(options, procs=1, threads=1)
    shape, axes = common.wholes(options.shape, "--shape"), common.wholes(options.axes, "--axes", 0)
    if len(shape) != 3:
        raise UsageError(f"--shape {options.shape}: give three extents, as 64,128,32")
    if sorted(axes) != [0, 1, 2]:
        raise UsageError(f"--axes {options.axes}: give 0, 1 and 2 in some order, as 1,0,2")
    forms = common.forms_of(options.forms, FORMS, options.procs, TASKS)
    words = {
        "shape": shape,
        "axes": axes,
        "dist": options.dist,
        "threads": options.threads,
        "forms": forms,
        "runs": options.runs,
    }
    with common.run_folder() as folder:
        facts = common.start("remap", options.procs, words, folder, options.timeout)
    found = {}
    for one in facts["forms"]:
        samples, wrong = one["seconds"], int(one["wrong"])
        found[one["form"]] = {**common.statistics(samples), "wrong": wrong}
    facts["forms"] = found
    wrong = sum(one["wrong"] for one in found.values())
    moved = 2 * 8 * shape[0] * shape[1] * shape[2]
    lines = [
        f"{'×'.join(map(str, shape))} by axes {options.axes} on {options.procs} processes × "
        f"{options.threads} threads",
        f"{'form':<14} {'time':>10} {'least':>10} {'GB/s':>8}   counting one read and one write",
    ]
    for form, one in found.items():
        times = [common.seconds(one[key]) for key in ("median_s", "minimum_s")]
        rate = f"{moved / one['median_s'] / 1e9:.2f}" if one["median_s"] else "–"
        lines.append(f"{form:<14} {times[0]:>10} {times[1]:>10} {rate:>8}")
    verdict = f"{wrong} elements are wrong" if wrong else "every element is where it belongs"
    return common.Result(facts, lines, wrong == 0, verdict, threads=options.threads)
