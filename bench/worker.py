# SPDX-License-Identifier: BSD-3-Clause
"""The program of each process of a measurement: ``python -m hocket.bench.worker REPORT NAME …``."""

from __future__ import annotations

import json
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .group import Group
from .harness import measure
from .options import effort, parse
from .record import answer, as_json
from .table import render


def _run(argv: Sequence[str], group: Group) -> list[dict[str, Any]]:
    case, options = parse(argv)
    tables: list[dict[str, Any]] = []
    for match in case.matches(options, group):
        figures = measure(match.contestants, group, effort(options), match.steps_per_call)
        result = answer(match.question, figures)
        tables.append(as_json(result, options.keep_samples))
        if group.rank == 0:
            print(render(result), end="\n\n", flush=True)
    return tables


def _mpi() -> tuple[Group, dict[str, Any]]:
    from mpi4py import MPI

    group = Group(MPI.COMM_WORLD)
    return group, {
        "library": MPI.Get_library_version().strip("\0").strip().splitlines()[0],
        "standard": ".".join(map(str, MPI.Get_version())),
    }


def main(argv: Sequence[str]) -> int:
    """Measure, and let process 0 write the tables to the report."""
    report, *rest = argv
    _, options = parse(rest)
    group, mpi = _mpi() if options.ranks else (Group(), {})
    try:
        pinned = options.threads == 1 and not options.no_pin and group.pin()
        tables = _run(rest, group)
        if group.rank == 0:
            text = json.dumps({"mpi": mpi, "pinned": pinned, "tables": tables})
            Path(report).write_text(text, encoding="utf-8")
    except BaseException as error:
        if not isinstance(error, SystemExit):  # a signal has ended it
            traceback.print_exc()
        # The others may be waiting for this process: they end with it.
        sys.stderr.flush()
        if group.comm is not None:
            group.comm.Abort(1)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
