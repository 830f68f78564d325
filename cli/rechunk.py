# SPDX-License-Identifier: BSD-3-Clause
"""`hocket rechunk SOURCE DESTINATION`: copies a store into other chunks, out of core."""

from __future__ import annotations

import argparse
import re
import sys
from typing import Any

from hocket.cli.main import Parser, UsageError

import hocket as hk

_HELP = """\
Copy all arrays of a store into a new one with other chunks:

  hocket rechunk in.zarr columns.zarr --chunks 6000,6 --max-memory 8G --procs 2
  hocket rechunk in.zarr turned.zarr --chunks 100,100 --shards 1000,1000 --axes 1,0

Arrays may be larger than memory. A copy that was ended goes on where it was: say the same again.
"""
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def main(words: list[str]) -> int:
    """Start the processes, and show their progress."""
    parser = Parser(prog="hocket rechunk", description=_HELP)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("source", help="a store, as in.zarr")
    parser.add_argument("destination", help="a new one, as out.zarr")
    parser.add_argument("--chunks", help="extents of a chunk, as 100,100 (default: what suits)")
    parser.add_argument("--shards", help="extents of a file, a multiple of --chunks")
    parser.add_argument("--axes", help="copy = transpose(stored, axes), as 1,0")
    parser.add_argument("--max-memory", default="4G", help="of all processes, as 512M or 8G (4G)")
    parser.add_argument("--procs", type=int, default=1, help="how many processes (1)")
    options = parser.parse_args(words)
    asked = {
        "source": options.source,
        "destination": options.destination,
        "chunks": _numbers("--chunks", options.chunks),
        "shards": _numbers("--shards", options.shards),
        "axes": _numbers("--axes", options.axes),
        "max_memory": _bytes(options.max_memory),
    }
    if options.procs < 1:
        raise UsageError(f"--procs {options.procs}: give 1 or more")
    problem = hk.run(_copy, ranks=options.procs, args=(asked,))[0]
    if problem is not None:
        raise hk.Error(problem)
    return 0


def _copy(comm: Any, asked: dict[str, Any]) -> str | None:
    """The error of all processes, if the stores or the sizes are wrong."""
    from hocket.stores import rechunking

    def told(name: str, done: int, blocks: int) -> None:
        if comm.rank == 0:
            print(f"{name}: block {done} of {blocks}", file=sys.stderr, flush=True)

    try:
        rechunking.copy(**asked, comm=comm, timeout=None, told=told)
    except hk.Error as problem:
        return str(problem)
    return None


def _numbers(option: str, text: str | None) -> list[int] | None:
    if text is None:
        return None
    if not re.fullmatch(r"\d+(,\d+)*", text):
        raise UsageError(f"{option} {text}: give numbers with commas, as 100,100")
    return [int(word) for word in text.split(",")]


def _bytes(text: str) -> int:
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([KMGT]?)(i?B)?", text.strip())
    if found is None:
        raise UsageError(f"--max-memory {text}: give a size, as 512M or 8G")
    return int(float(found[1]) * _UNITS[found[2]])
