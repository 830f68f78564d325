# SPDX-License-Identifier: BSD-3-Clause
"""System calls of an operation of a team, counted by `strace`."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from .model import NotHereError

_PROGRAM = """\
import sys
import hocket as hk
team = hk.Team()
for _ in range(int(sys.argv[1])):
    team.wait()
"""
_FEW, _MANY = 1_000, 11_000
_REPEATS = 3


def calls_per_operation() -> float:
    """The system calls of a barrier, for each of two processes: those of a long run less those of a
    short one, so that starts and ends do not count. Each is the least of some runs, because a late
    process only adds calls: those of processes that wait for it.

    Raises:
        NotHereError: `strace` is missing, or it may not trace here.
    """
    if shutil.which("strace") is None:
        raise NotHereError("strace is not installed")
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "barriers.py"
        program.write_text(_PROGRAM, encoding="utf-8")
        few, many = (
            min(_total(Path(folder), program, count) for _ in range(_REPEATS))
            for count in (_FEW, _MANY)
        )
    return max(0.0, (many - few) / (2 * (_MANY - _FEW)))


def _total(folder: Path, program: Path, count: int) -> int:
    """All system calls of two processes with so many barriers, and of their start and end."""
    target = folder / "calls"
    run = [
        sys.executable,
        "-m",
        "hocket",
        "run",
        "--timeout",
        "120",
        f"2:{program}",
        str(count),
    ]
    words = ["strace", "-f", "-c", "-o", str(target), *run]
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=150)
    except subprocess.TimeoutExpired:
        raise NotHereError(f"{count} barriers take more than 150 s under strace") from None
    if done.returncode != 0 or not target.is_file():
        last = (done.stderr.strip() or "nothing").splitlines()[-1]
        raise NotHereError(f"`{' '.join(words)}` says: {last}")
    return total_of(target.read_text(encoding="utf-8"))


def total_of(table: str) -> int:
    """The sum of the rows of `strace -c`: part of the time, seconds, µs a call, calls, (errors,)
    name."""
    rows = [line.split() for line in table.splitlines()]
    return sum(
        int(row[3])
        for row in rows
        if len(row) in (5, 6) and row[3].isdecimal() and row[-1] != "total"
    )
