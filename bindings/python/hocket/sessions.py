# SPDX-License-Identifier: BSD-3-Clause
"""Programs that hocket starts in a session of their own, and ends with all that they started."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import FrameType
from typing import Any

from . import rank


def start(line: Sequence[str], env: Mapping[str, str], **options: Any) -> subprocess.Popen[Any]:
    """Starts a program, in most cases a launcher. `options`: others of `subprocess.Popen`.

    Only this process gets Ctrl-C, and ends the program with `end`. The program also ends if this
    process is killed.
    """
    return subprocess.Popen(
        line,
        env=env,
        start_new_session=True,
        preexec_fn=lambda: rank.end_with_parent(signal.SIGTERM),
        **options,
    )


def end(process: subprocess.Popen[Any], seconds: float = 10) -> None:
    """Ends the program and the rest of its session.

    A launcher that is terminated ends its processes, too; killed, it would leave them. It gets
    `seconds` for that.
    """
    try:
        if process.poll() is None:
            process.terminate()
            process.wait(seconds)
    except BaseException as problem:  # Ctrl-C again: no further waits
        process.kill()
        process.wait()
        if not isinstance(problem, subprocess.TimeoutExpired):
            raise
    finally:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)


def members(mark: str) -> list[int]:
    """Every living process but this one that has this variable, "NAME=text", in its environment
    (Linux)."""
    wanted = f"{mark}\0".encode()
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if (
                wanted in (entry / "environ").read_bytes() + b"\0"
                and int(entry.name) != os.getpid()
            ):
                found.append(int(entry.name))
    return found


def kill_members(mark: str) -> None:
    """Kills every process with this variable. Launchers start some in sessions of their own."""
    for _ in range(20):
        there = members(mark)
        for pid in there:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        if not there:
            return
        time.sleep(0.05)


def _exit(number: int, frame: FrameType | None) -> None:
    raise SystemExit(128 + number)


@contextlib.contextmanager
def exit_on_sigterm() -> Iterator[None]:
    """Meanwhile SIGTERM raises SystemExit, so that clean-up code runs.

    A handler of the program's own stays. Only the main thread may set one.
    """
    main = threading.current_thread() is threading.main_thread()
    if not main or signal.getsignal(signal.SIGTERM) != signal.SIG_DFL:
        yield
        return
    signal.signal(signal.SIGTERM, _exit)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
