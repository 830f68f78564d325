# SPDX-License-Identifier: BSD-3-Clause
"""What an exception that nobody catches does to the other processes of a plain `mpiexec`.

Left alone, Python would wait in `MPI_Finalize` for processes that wait for this one. `hk.run` and
`hocket run` see to it themselves (`hocket.rank`), before it comes to this.
"""

from __future__ import annotations

import os
import sys
import time
from types import TracebackType
from typing import Optional

from . import mpiexec, rank

#: seconds that other processes have to tell their own exceptions, where all of them fail
PATIENCE = 0.2

_installed = False
_seat: Optional[tuple[str, int]] = None


def watch(processes: int) -> None:
    """From now on an uncaught exception ends all processes. Does nothing in a program of one
    process, and where a user types the program in."""
    global _installed
    if _installed or processes < 2 or sys.flags.interactive or hasattr(sys, "ps1"):
        return
    _installed = True
    before, process = sys.excepthook, os.getpid()

    def hook(
        kind: type[BaseException], error: BaseException, trace: Optional[TracebackType]
    ) -> None:
        if os.getpid() != process:  # a fork's end is its own
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
