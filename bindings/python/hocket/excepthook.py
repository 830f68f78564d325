# SPDX-License-Identifier: BSD-3-Clause
"""Ends all processes of a plain `mpiexec` after an uncaught exception on one of them.

Otherwise Python would wait in `MPI_Finalize` for processes that wait for this one. `hk.run` and
`hocket run` handle exceptions earlier (`hocket.rank`).
"""

from __future__ import annotations

import os
import sys
import time
from types import TracebackType
from typing import Optional

from . import mpiexec, rank

#: seconds in which other processes can report their own exceptions, if all of them fail
PATIENCE = 0.2

_installed = False
_seat: Optional[tuple[str, int]] = None


def watch(processes: int) -> None:
    """From now on an uncaught exception ends all processes. Does nothing in a program of one
    process, and in an interactive session."""
    global _installed
    if _installed or processes < 2 or sys.flags.interactive or hasattr(sys, "ps1"):
        return
    _installed = True
    before, process = sys.excepthook, os.getpid()

    def hook(
        kind: type[BaseException], error: BaseException, trace: Optional[TracebackType]
    ) -> None:
        if os.getpid() != process:  # a forked child ends alone
            before(kind, error, trace)
            return
        print(f"{_who()} ends all processes, by an exception:", file=sys.stderr, flush=True)
        try:
            before(kind, error, trace)
            sys.stdout.flush()
            sys.stderr.flush()
            time.sleep(PATIENCE)
        finally:
            rank.abort(130 if issubclass(kind, KeyboardInterrupt) else 1)

    sys.excepthook = hook


def sits(task: str, process: int) -> None:
    """This process's task, for the message."""
    global _seat
    _seat = (task, process)


def _who() -> str:
    here = mpiexec.world_rank()
    seats = rank.places(os.environ.get("HOCKET_TASKS", ""))
    if here is not None and _seat is not None:
        seats = [(None, number) for number in range(here)] + [_seat]
    return rank.describe(here, seats)
