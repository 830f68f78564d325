# SPDX-License-Identifier: BSD-3-Clause
"""A Poisson solver on rectangular blocks that exchange boundary strips: Figures 11 and 12 of
Foster, Kohr, Krishnaiyer, Choudhary, "Double Standards: Bringing Task Parallelism to HPF via the
Message Passing Interface".

  data        all processes compute one block after the other
  tasks       each block is a task, with processes in proportion to its size; all compute at once
  persistent  the same, with sends and receives that are prepared once
  flow        the same as steps: inner points are computed while strips and borders travel

--snapshots DIR stores the solution in the form flow: a snapshot is written while later steps are
computed. --restart DIR continues from the last one, on any number of processes.

A geometry file has a block a line: a name, its first row and column, and how many it has of each.
The default are the paper's three blocks:

  left     0    0  192  192
  middle  48  192   96   96
  right    0  288  192  192

Outside of the blocks the solution is 0. --check compares it, point by point, with as many steps of
a serial solver on one grid that has all blocks.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from hocket.cli.apps import common, fft2d, sweeps

from hocket.errors import Error

PAPER = "left 0 0 192 192\nmiddle 48 192 96 96\nright 0 288 192 192\n"
FORMS = ("data", "tasks", "persistent", "flow")
SWEEP = sweeps.Sweep("scale", "Figure 12: multiblock", "a step")
#: steps of a timed run
TIMED = 20


@dataclass(frozen=True)
class Block:
    """A rectangle of points, and its line in the file."""

    name: str
    row: int
    col: int
    rows: int
    cols: int
    line: int

    def scaled(self, by: int) -> Block:
        """A block scaled by a factor, position and size."""
        return replace(
            self, row=by * self.row, col=by * self.col, rows=by * self.rows, cols=by * self.cols
        )

    def place(self) -> tuple[slice, slice]:
        """Its position in the common grid."""
        return slice(self.row, self.row + self.rows), slice(self.col, self.col + self.cols)


def add_options(parser: argparse.ArgumentParser) -> None:
    """The program's own."""
    parser.add_argument("--geometry", metavar="FILE", help="your blocks (default: the paper's)")
    parser.add_argument("--steps", type=int, default=200, help="Jacobi steps (200)")
    parser.add_argument("--progress", action="store_true", help="print the change now and then")
    parser.add_argument(
        "--snapshots", metavar="DIR", help="store the solution there, as steps of the form flow"
    )
    parser.add_argument("--every", type=int, default=50, help="steps between snapshots (50)")
    parser.add_argument(
        "--restart",
        metavar="DIR",
        help="begin with the last snapshot there, of any number of processes; --steps counts all",
    )
    parser.add_argument("--picture", metavar="FILE", help="draw the solution")
    parser.add_argument(
        "--scale",
        type=sweeps.numbers,
        default="1",
        help="so many times the rows and columns of every block; several by commas (1)",
    )
    sweeps.add_options(parser, 4)
    parser.add_argument("--forms", help="which of data,tasks,persistent,flow (all that can be)")


def run(options: argparse.Namespace) -> common.Result:
    """Both forms in one start, taking turns."""
    common.at_least(options, steps=1, procs=1, scale=1, every=1)
    blocks = [block.scaled(options.scale) for block in geometry_of(options.geometry)]
    forms = fft2d.forms_of(options, FORMS, len(blocks))
    enough = options.procs >= len(blocks)
    for folder in filter(None, (options.snapshots, options.restart)):
        if not Path(folder).is_dir():
            raise Error(f"there is no folder {folder!r} for snapshots; make one, or name another")
    if options.snapshots and "flow" not in forms:
        raise Error(
            f"--snapshots are steps of the form flow, and the forms are {', '.join(forms)}; add "
            "flow, and a process for each block"
        )
    sizes = [block.rows * block.cols for block in blocks]
    given = common.shares(options.procs, sizes) if enough else [0] * len(blocks)
    keep = options.check or options.picture
    with common.run_folder() as folder:
        words = {
            "blocks": ";".join(f"{b.row},{b.col},{b.rows},{b.cols}" for b in blocks),
            "processes": given,
            "steps": options.steps,
            "told": max(1, options.steps // 10),
            "progress": options.progress,
            "timed": TIMED,
            "results": folder if keep else "",
            "snapshots": Path(options.snapshots).resolve() if options.snapshots else "",
            "every": options.every,
            "restart": Path(options.restart).resolve() if options.restart else "",
            "forms": forms,
            "runs": options.runs,
        }
        facts = common.start("multiblock", options.procs, words, folder, options.timeout)
        found = {form: whole(blocks, folder / form) for form in forms} if keep else {}
    good, verdict = True, "not asked for"
    if options.check:
        expected = serial(blocks, options.steps)
        scale = max(1.0, float(np.max(np.abs(expected))))
        off = {form: float(np.max(np.abs(one - expected))) / scale for form, one in found.items()}
        # Both round each step alike, except for the order of a sum of five.
        allowed = 64 * np.finfo(np.float64).eps * options.steps
        good = all(one <= allowed for one in off.values())
        verdict = "  ".join(
            f"{form}: {'equals' if one <= allowed else 'DIFFERS from'} the single grid ({one:.2g})"
            for form, one in off.items()
        )
    if options.picture:
        draw(next(iter(found.values())), options.picture)
    for form, one in facts["forms"].items():
        facts["forms"][form] = {**one, **common.statistics(one.pop("seconds_per_step"))}
    facts["processes"] = dict(zip((block.name for block in blocks), given)) if enough else None
    shown = ", ".join(f"{b.name} {b.rows}×{b.cols}" for b in blocks)
    lines = [
        f"{shown} on {options.procs} processes, {options.steps} steps",
        f"{'form':<12} {'a step':>10} {'least':>10} {'last change':>12}",
    ]
    for form, one in facts["forms"].items():
        times = [common.seconds(one[key]) for key in ("median_s", "minimum_s")]
        lines.append(f"{form:<12} {times[0]:>10} {times[1]:>10} {one['changes'][-1]:>12.3g}")
    return common.Result(facts, lines, good, verdict)


def geometry_of(path: str | None) -> list[Block]:
    """The blocks of a file.

    Raises:
        Error: hocket cannot read the file; a line is no block; blocks overlap, or some do not touch
        others.
    """
    name = path or "the paper's geometry"
    try:
        text = PAPER if path is None else Path(path).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        raise Error(f"--geometry {path} cannot be read: {problem}") from None
    blocks: list[Block] = []
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split("#")[0].split()
        if words:
            blocks.append(block_of(words, f"{name}, line {number}", number))
    if not blocks:
        raise Error(f"{name} has no block; give a line for each: name row col rows cols")
    for block in blocks:
        require_apart(block, blocks, name)
    require_together(blocks, name)
    return blocks


def block_of(words: list[str], place: str, line: int) -> Block:
    """One block. Raises `Error`, which points at the line."""
    what = f"{place}: '{' '.join(words)}'"
    if len(words) != 5:
        raise Error(f"{what} has {len(words)} words; give five: name row col rows cols")
    if not all(word.isdecimal() for word in words[1:]):
        raise Error(f"{what} has something else than whole numbers of 0 or more behind the name")
    row, col, rows, cols = map(int, words[1:])
    block = Block(words[0], row, col, rows, cols, line)
    if block.rows < 1 or block.cols < 1:
        raise Error(f"{what} has no points; give at least one row and one column")
    return block


def require_apart(block: Block, blocks: list[Block], name: str) -> None:
    """Refuses names that repeat, and blocks that overlap an earlier one."""
    for other in blocks:
        if other.line >= block.line:
            break
        if other.name == block.name:
            raise Error(f"{name}, line {block.line}: '{block.name}' is also block of {other.line}")
        rows = min(block.row + block.rows, other.row + other.rows) - max(block.row, other.row)
        cols = min(block.col + block.cols, other.col + other.cols) - max(block.col, other.col)
        if rows > 0 and cols > 0:
            raise Error(
                f"{name}, line {block.line}: '{block.name}' overlaps '{other.name}' (line "
                f"{other.line}) in {rows} rows and {cols} columns; move one of them"
            )


def touch(a: Block, b: Block) -> bool:
    """Whether two disjoint blocks share an edge."""
    rows = min(a.row + a.rows, b.row + b.rows) - max(a.row, b.row)
    cols = min(a.col + a.cols, b.col + b.cols) - max(a.col, b.col)
    return (rows == 0 and cols > 0) or (cols == 0 and rows > 0)


def require_together(blocks: list[Block], name: str) -> None:
    """Refuses a block with a gap to all others."""
    reached = {0}
    waiting = [0]
    while waiting:
        one = waiting.pop()
        new = [b for b in range(len(blocks)) if b not in reached and touch(blocks[one], blocks[b])]
        reached.update(new)
        waiting += new
    for number, block in enumerate(blocks):
        if number not in reached:
            others = [blocks[other] for other in sorted(reached)]
            near = min(others, key=lambda other: sum(gap(block, other)))
            rows, cols = gap(block, near)
            raise Error(
                f"{name}, line {block.line}: '{block.name}' touches none of the blocks before; "
                f"between it and '{near.name}' (line {near.line}) is a gap of {rows} rows and "
                f"{cols} columns; blocks must share an edge"
            )


def gap(a: Block, b: Block) -> tuple[int, int]:
    """Rows and columns between two blocks."""
    rows = max(a.row, b.row) - min(a.row + a.rows, b.row + b.rows)
    cols = max(a.col, b.col) - min(a.col + a.cols, b.col + b.cols)
    return max(0, rows), max(0, cols)


def frame(blocks: list[Block]) -> tuple[int, int]:
    """Rows and columns of a grid that has all blocks."""
    return max(b.row + b.rows for b in blocks), max(b.col + b.cols for b in blocks)


def whole(blocks: list[Block], path: Path) -> npt.NDArray[np.float64]:
    """The solution that a program has written, block by block, on one grid."""
    grid = np.zeros(frame(blocks))
    for number, block in enumerate(blocks):
        held = np.fromfile(f"{path}{number}", np.float64)
        grid[block.place()] = held.reshape(block.rows, block.cols)
    return grid


def serial(blocks: list[Block], steps: int) -> npt.NDArray[np.float64]:
    """As many Jacobi steps on one grid, where points outside of all blocks stay 0."""
    rows, cols = frame(blocks)
    inside = np.zeros((rows, cols))
    for block in blocks:
        inside[block.place()] = 1.0
    row, col = np.indices((rows, cols))
    source = 1.0 + ((3 * row + 5 * col) % 7) / 7.0
    u: npt.NDArray[Any] = np.zeros((rows + 2, cols + 2))
    for _ in range(steps):
        around = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
        u[1:-1, 1:-1] = inside * (0.25 * (around + source))
    solution: npt.NDArray[np.float64] = u[1:-1, 1:-1]
    return solution


def draw(solution: npt.NDArray[np.float64], path: str) -> None:
    """The solution as a picture. Raises `Error` where it cannot be written."""
    from hocket import plotting

    try:
        plotting.plot_image(solution, path, "solution")
    except OSError as problem:
        raise Error(f"--picture {path} cannot be written: {problem.strerror}") from problem
