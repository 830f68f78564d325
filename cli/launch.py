# SPDX-License-Identifier: BSD-3-Clause
"""`python -m hocket.cli.launch PROGRAM ARGS`: runs one rank's program, and reports its failure.

A Python program runs in this process, so that the report of an exception has rank, task and
traceback. Any other program runs in a child, so that the report has its status.
"""

from __future__ import annotations

import ctypes
import importlib.util
import os
import runpy
import signal
import subprocess
import sys
from pathlib import Path

from hocket import rank


def main() -> None:
    """Run the program named by the command line."""
    if len(sys.argv) < 2:
        raise SystemExit("usage: python -m hocket.cli.launch PROGRAM [ARGS]")
    rank.connect()
    program = sys.argv[1]
    if Path(program).suffix in (".py", ".pyw"):
        run_python(program)
    else:
        run_other(sys.argv[1:])
    rank.done()


def run_python(program: str) -> None:
    """Run a Python program as `python PROGRAM ARGS` would."""
    notice_blocking_calls()
    sys.argv = sys.argv[1:]
    sys.path[0] = str(Path(program).resolve().parent)
    try:
        runpy.run_path(program, run_name="__main__")
    except SystemExit as error:
        code = rank.exit_code(error)
        if code != 0:
            if isinstance(error.code, str):
                rank.leave(f"raised SystemExit: {error.code}", "", code)
            rank.fail(error, code, skip=_frames(error, program))
    except BaseException as error:
        rank.fail(error, skip=_frames(error, program))
    rank.join()


def notice_blocking_calls() -> None:
    """From now on, steps of flows that block in a function of MPI are named on stderr.

    The library must come before MPI's own, which `import mpi4py.MPI` loads.
    """
    extension = importlib.util.find_spec("hocket._mpi")
    if extension is None or extension.origin is None:
        return
    library = Path(extension.origin).parent / "libhocket-mpi.so"
    if library.exists():
        ctypes.CDLL(str(library), mode=ctypes.RTLD_GLOBAL).hocket_mpi_only_notices()


def _frames(error: BaseException, program: str) -> int:
    """The number of frames of a traceback, this file's and runpy's, before the program's own."""
    trace, count = error.__traceback__, 0
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == program:
            return count
        trace, count = trace.tb_next, count + 1
    return count if isinstance(error, SyntaxError) else 0


def run_other(argv: list[str]) -> None:
    """Runs any other program, and ends as it ends."""
    rank.stand("in " + " ".join(argv))
    # MPICH's launcher communicates with the program through an open file, so files stay open.
    try:
        process = subprocess.Popen(
            argv, close_fds=False, preexec_fn=lambda: rank.end_with_parent(signal.SIGKILL)
        )
    except OSError as problem:  # it is executable, or had not started yet
        rank.leave(
            f"could not start '{argv[0]}': {problem.strerror}; a script's first line names its "
            "interpreter, as #!/bin/sh, and other programs are built for this machine",
            "",
            126,
        )

    def end(number: int, frame: object) -> None:
        process.kill()
        os._exit(128 + number)

    signal.signal(signal.SIGTERM, end)
    used_mpi = _watch(process)
    code = process.wait()
    if code < 0:
        name = signal.Signals(-code).name
        rank.leave(f"was ended by {name}", f"({' '.join(argv)})", 128 - code)
    if code > 0:
        rank.leave(f"ended with status {code}", f"({' '.join(argv)})", code)
    if not (used_mpi or rank.is_here()):
        rank.join()


def _watch(process: subprocess.Popen[bytes]) -> bool:
    """Whether a program uses MPI: known once it does or has ended. A program that uses MPI runs
    for long, because MPI_Finalize waits for all."""
    pause = 0.01
    while not _maps_mpi(process.pid):
        try:
            process.wait(pause)
            return False
        except subprocess.TimeoutExpired:
            pause = min(1.5 * pause, 0.02)  # shorter than any use of MPI
    return True


def _maps_mpi(number: int) -> bool:
    """Whether that process, or one of its children, has mapped an MPI library. True if the
    system does not report it."""
    here = Path(f"/proc/{number}")
    try:
        if "/libmpi" in (here / "maps").read_text(errors="replace"):
            return True
        below = (here / f"task/{number}/children").read_text().split()
    except ProcessLookupError:  # it has ended meanwhile
        return False
    except OSError:
        return here.exists() or not Path("/proc/self/maps").exists()
    return any(_maps_mpi(int(child)) for child in below)


if __name__ == "__main__":
    main()
