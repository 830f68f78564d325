# SPDX-License-Identifier: BSD-3-Clause
"""`hocket plan SOURCE DESTINATION --shape …`: explains the plan of a transfer. Needs no MPI."""

from __future__ import annotations

import argparse
import contextlib
import json
import re
import sys
from pathlib import Path
from typing import Any

from hocket.cli.main import Parser, UsageError

import hocket as hk

_HELP = """\
Explain how an array travels from one layout to another:

  hocket plan "(BLOCK,*)@4" "(*,BLOCK)@4" --shape 512,512
  hocket plan "(BLOCK,*)@4" "(*,CYCLIC(2))@3" --shape 12,12 --axes 1,0 --plot plan.png
  hocket plan "(*,*)@1" "(BLOCK,BLOCK)@2x2" --shape 8,8 --rank 0

A layout is an HPF distribution and, after '@', its processes: 4, or 2x2, or "(2, 2 COPIES)" where
the second extent holds copies; or each process's own part, as "BOXES [0:6, 0:8 | 6:12, 0:8]" and
"ELEMENTS [0+40 | 95, 40+55]" (row-major numbers, first+length for runs). With --axes the
destination is the source transposed, as numpy.transpose; --shape is the source's.
"""
#: the largest number of processes a side for a whole table of traffic
_TABLE = 16


def main(words: list[str]) -> int:
    """Print a plan, as text or JSON, and draw it if asked."""
    parser = Parser(prog="hocket plan", description=_HELP)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("source", help='a layout, as "(BLOCK,*)@4"')
    parser.add_argument("destination", help='a layout, as "(*,CYCLIC(2))@3"')
    parser.add_argument("--shape", required=True, help="extents of the array, as 512,512")
    parser.add_argument("--axes", help="destination = transpose(source, axes), as 1,0")
    parser.add_argument("--itemsize", type=int, default=8, help="bytes an element (8)")
    parser.add_argument(
        "--strategy",
        default="auto",
        help="direct, centralized, staged, multistage, hybrid; auto (the default): what the model "
        "finds fastest",
    )
    parser.add_argument("--stages", type=int, help="of staged and centralized: through how many")
    parser.add_argument(
        "--same",
        action="store_true",
        help="process r of the destination is process r of the source (default: all different)",
    )
    parser.add_argument(
        "--relabel",
        action="store_true",
        help="the same processes on both sides, taking the destination's parts so that the fewest "
        "elements move",
    )
    parser.add_argument("--rank", type=int, help="the messages of this process of both sides")
    parser.add_argument("--plot", metavar="FILE", help="draw it: .png, .svg or .pdf")
    parser.add_argument("--json", metavar="FILE", help="write it as JSON; - for stdout")
    options = parser.parse_args(words)

    shape = _numbers("--shape", options.shape)
    axes = None if options.axes is None else _numbers("--axes", options.axes)
    if axes is not None and sorted(axes) != list(range(len(shape))):
        raise UsageError(
            f"--axes {options.axes} is no order of the {len(shape)} dimensions of --shape "
            f"{options.shape}; name each of 0 to {len(shape) - 1} once"
        )
    source = layout(options.source, shape)
    moved = shape if axes is None else [shape[axis] for axis in axes]
    destination = layout(options.destination, moved)
    overlap: Any = None
    found = None
    if options.relabel:
        if options.same:
            raise UsageError("--same and --relabel exclude each other; leave one out")
        found = overlap = hk.relabel(source, destination, axes=axes)
    if options.same:
        overlap = [r if r < source.size else -1 for r in range(destination.size)]
        if destination.size > source.size:
            raise UsageError(
                f"--same: the destination has {destination.size} processes and the source only "
                f"{source.size}; give the source as many"
            )
    plan = hk.plan(
        source,
        destination,
        axes=axes,
        itemsize=options.itemsize,
        strategy=options.strategy,
        stages=options.stages,
        overlap=overlap,
    )
    facts = describe(plan, source, destination, axes, options)
    if found is not None:
        facts["relabel"] = {
            "processes": list(found),
            "elements_moved": found.moved,
            "elements_moved_without": found.moved_without,
        }
    if options.json == "-":
        print(json.dumps(facts, indent=2))
    else:
        print(_text(plan, facts, options))
        if options.json:
            _write(options.json, json.dumps(facts, indent=2) + "\n")
    if options.plot:
        plan.plot(options.plot)
        print(f"drawn to {options.plot}", file=sys.stderr if options.json == "-" else sys.stdout)
    return 0


def _numbers(option: str, text: str) -> list[int]:
    parts = [part for part in re.split(r"[,x ]+", text.strip("() ")) if part]
    if not all(part.isdecimal() for part in parts) or (not parts and text.strip("() ")):
        raise UsageError(f"{option} {text}: write whole numbers with commas, as 512,512")
    return [int(part) for part in parts]


def layout(text: str, shape: list[int]) -> Any:
    """The Layout of text such as "(BLOCK,*)@4" or "(BLOCK,BLOCK)@2x2" and a shape."""
    dist, at, procs = text.partition("@")
    if re.fullmatch(r"\s*\d+\s*([x,]\s*\d+\s*)+", procs):
        procs = "(" + ", ".join(re.findall(r"\d+", procs)) + ")"
    extents = ", ".join(map(str, shape))
    try:
        return hk.Layout.parse(f"({extents}) {dist.strip()} {at} {procs.strip()}".strip())
    except hk.LayoutError as problem:
        if at or "procs" not in str(problem):
            raise
        raise UsageError(f"{problem}; {text} names no processes: write {text}@4") from problem


def describe(plan: Any, source: Any, destination: Any, axes: Any, options: Any) -> dict[str, Any]:
    """A plan as plain values, ready for JSON."""
    facts: dict[str, Any] = {
        "source": str(source),
        "destination": str(destination),
        "axes": axes,
        "itemsize": options.itemsize,
        "strategy": plan.strategy,
        "rounds": plan.rounds,
        "predicted_seconds": plan.predict(),
    }
    with contextlib.suppress(hk.LayoutError):  # too many messages to count
        facts["messages"] = plan.message_count
        facts["elements_moved"] = plan.elements_moved
        facts["bytes_moved"] = plan.elements_moved * options.itemsize
    ranks = range(source.size) if options.rank is None else [options.rank]
    if options.rank is not None or source.size <= _TABLE:
        facts["sends"] = {r: [list(e) for e in plan.sends(r)] for r in ranks if r < source.size}
    ranks = range(destination.size) if options.rank is None else [options.rank]
    if options.rank is not None or destination.size <= _TABLE:
        facts["recvs"] = {
            r: [list(e) for e in plan.recvs(r)] for r in ranks if r < destination.size
        }
    return facts


def _text(plan: Any, facts: dict[str, Any], options: Any) -> str:
    source, destination = facts["source"], facts["destination"]
    lines = [f"source       {source}", f"destination  {destination}"]
    if facts["axes"] is not None:
        lines.append(f"             = source transposed to axes {tuple(facts['axes'])}")
    for name, side in (("source", plan.source), ("destination", plan.destination)):
        lines.append(f"process 0 of the {name} holds {tuple(side.local_shape(0))}")
    lines += [
        "",
        f"strategy     {facts['strategy']}",
        f"rounds       {facts['rounds']}",
    ]
    if "messages" in facts:
        lines += [
            f"messages     {facts['messages']}",
            f"moved        {facts['elements_moved']} elements, {facts['bytes_moved']} bytes",
        ]
    if "relabel" in facts:
        best = facts["relabel"]
        ranks = best["processes"]
        shown = str(ranks) if len(ranks) <= _TABLE else f"[{str(ranks[:_TABLE])[1:-1]}, …]"
        without = best["elements_moved_without"]
        lines.append(f"relabeled    parts go to processes {shown}; else {without} elements move")
    seconds = facts["predicted_seconds"]
    predicted = ", ".join(f"{name} {1e6 * value:.1f} µs" for name, value in seconds.items())
    lines += [f"predicted    {predicted} (a model; not measured)", ""]
    if options.rank is not None:
        return "\n".join(lines + _steps(plan, options.rank))
    if "sends" not in facts or "recvs" not in facts:
        return "\n".join([*lines, f"more than {_TABLE} processes: --rank R shows the part of one"])
    return "\n".join(lines + _table(plan, options.same))


def _table(plan: Any, same: bool) -> list[str]:
    """Elements by sender (rows) and receiver (columns); those that stay on their process in
    brackets."""
    from hocket.plotting import traffic_matrix

    matrix = traffic_matrix(plan)
    width = max(len(str(matrix.max(initial=0))) + 3, 5)

    def cell(sender: int, receiver: int) -> str:
        elements = matrix[sender, receiver]
        if elements == 0:
            return "·"
        return f"[{elements}]" if same and sender == receiver else f"{elements}"

    receivers = range(matrix.shape[1])
    head = "elements from \\ to |" + "".join(f"{r:>{width}}" for r in receivers)
    rows = [
        f"{sender:>18} |" + "".join(f"{cell(sender, r):>{width}}" for r in receivers)
        for sender in range(matrix.shape[0])
    ]
    if same:
        rows.append("in brackets: stays on its process")
    return [head, *rows]


def _steps(plan: Any, rank: int) -> list[str]:
    lines = []
    sides = {"src": "source", "dst": "destination"}
    for side, size in (("src", plan.source.size), ("dst", plan.destination.size)):
        if not 0 <= rank < size:
            lines.append(f"the {sides[side]} has no process {rank}; it has {size}")
            continue
        lines.append(f"messages of process {rank} of the {sides[side]}:")
        for number, kind, (peer_side, peer), elements in plan.steps(side, rank):
            way = "to" if kind == "send" else "from"
            where = f"{way} {sides[peer_side]} process {peer}"
            lines.append(f"  round {number}: {kind} {elements} elements {where}")
    return lines


def _write(path: str, text: str) -> None:
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as problem:
        raise UsageError(f"cannot write '{path}': {problem.strerror}") from problem
