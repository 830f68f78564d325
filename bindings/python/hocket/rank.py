# SPDX-License-Identifier: BSD-3-Clause
"""Runs around the user's code on a started rank: reports its position, its end, and its failure.

Parent and ranks communicate through small files in one folder, named by `HOCKET_RUN`, so that the
report of a rank survives the rank: `3.pid` (on several hosts `3.far`), `3.out`, `3.err` (pipes),
`3.stack`, `3.result`, `3.ended`, `3.failure`, `3.here` (written by the library: this rank takes
part), `3.absent` (never did).
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import faulthandler
import functools
import importlib
import json
import os
import signal
import sys
import time
import traceback
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, NoReturn

from . import mpiexec

#: seconds that a failed rank waits until its parent ends it
PATIENCE = 10.0

#: the tasks of this run, set by `hk.run`; `HOCKET_TASKS` cannot express lists of ranks
launched: Mapping[str, Any] | None = None


def folder() -> Path | None:
    """The folder for this rank's reports; None without a parent that reads them."""
    name = os.environ.get("HOCKET_RUN")
    return Path(name) if name and Path(name).is_dir() else None


def places(tasks: str) -> list[tuple[str | None, int]]:
    """(task, process in it) by rank, from the text of `HOCKET_TASKS`: "rows=2,cols=2"."""
    seats: list[tuple[str | None, int]] = []
    for part in filter(None, tasks.split(",")):
        name, _, count = part.partition("=")
        seats += [(name, process) for process in range(int(count))]
    return seats


def describe(rank: int | None, seats: list[tuple[str | None, int]]) -> str:
    """Names a rank: "rank 2 (task 'cols', process 0)"."""
    if rank is None:
        return "this process"
    if rank < len(seats) and seats[rank][0] is not None:
        return f"rank {rank} (task '{seats[rank][0]}', process {seats[rank][1]})"
    return f"rank {rank}"


def connect() -> None:
    """Announces this process, and redirects its output to its parent."""
    here = folder()
    rank = mpiexec.world_rank()
    faulthandler.enable()
    if here is None or rank is None:
        return
    for number, name in ((1, "out"), (2, "err")):
        pipe = here / f"{rank}.{name}"
        if pipe.is_fifo():
            target = os.open(pipe, os.O_WRONLY)
            os.dup2(target, number)
            os.close(target)
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(line_buffering=True, errors="backslashreplace")
    # Open until the process ends: the parent asks every rank for its position by signal.
    stack = (here / f"{rank}.stack").open("w", encoding="utf-8")
    if signal.getsignal(signal.SIGUSR1) == signal.SIG_DFL:
        # MPICH's Hydra, which leaves the ending of ranks to hocket, sends SIGUSR1 to the other
        # ranks when one ends. The signal must not end them, or the parent could not see which rank
        # was first. Python removes a handler when it ends, but not SIG_IGN. hocket's first wait
        # installs a handler again.
        signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    faulthandler.register(signal.SIGUSR2, file=stack, all_threads=True)
    if "HOCKET_RUN_HOSTS" not in os.environ:
        write(here / f"{rank}.pid", str(os.getpid()).encode())
    else:  # the parent cannot watch a process of another host, but launchers name it so
        write(here / f"{rank}.far", f"{os.getpid()} {os.uname().nodename}".encode())


def stand(where: str) -> None:
    """Reports this rank's position, in place of its Python stack, if the parent asks."""
    here, rank = folder(), mpiexec.world_rank()
    if here is not None and rank is not None:
        faulthandler.unregister(signal.SIGUSR2)
        signal.signal(signal.SIGUSR2, signal.SIG_IGN)
        (here / f"{rank}.stack").write_text(where)


def write(path: Path, content: bytes) -> None:
    """Writes a file that its reader sees completely or not at all."""
    part = path.with_name(path.name + ".part")
    part.write_bytes(content)
    part.replace(path)


def done() -> None:
    """Reports that this rank's program has ended; it still has to leave MPI."""
    here, rank = folder(), mpiexec.world_rank()
    if here is not None and rank is not None:
        write(here / f"{rank}.ended", b"")


def fail(error: BaseException, code: int = 1, skip: int = 0) -> NoReturn:
    """Reports an exception with its traceback, without its first `skip` frames, and ends every
    rank."""
    trace: TracebackType | None = error.__traceback__
    for _ in range(skip):
        trace = trace.tb_next if trace is not None else None
    text = "".join(traceback.format_exception(type(error), error, trace)).rstrip()
    brief = "".join(traceback.format_exception_only(type(error), error)).strip()
    leave("raised " + brief, text, code)


def leave(brief: str, text: str, code: int) -> NoReturn:
    """Reports this rank's failure, in one line and in full, and ends every rank."""
    rank = mpiexec.world_rank()
    here = folder()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    if here is not None and rank is not None:
        report = {"rank": rank, "brief": brief, "text": text, "code": code, "time": time.time()}
        write(here / f"{rank}.failure", json.dumps(report).encode())
        # The parent ends all ranks, after the others could report, too.
        time.sleep(PATIENCE)
    else:
        seats = places(os.environ.get("HOCKET_TASKS", ""))
        print(f"{describe(rank, seats)} {brief}\n{text}".rstrip(), file=sys.stderr, flush=True)
    abort(code)


def abort(code: int) -> NoReturn:
    """Ends every rank of this run, through MPI if it runs."""
    module = sys.modules.get("mpi4py.MPI")
    if module is not None and module.Is_initialized() and not module.Is_finalized():
        module.COMM_WORLD.Abort(code)
    os._exit(code)


@functools.cache
def end_by_abort() -> None:
    """Makes the end of this process end all others: a process is lost, and MPI_Finalize would
    wait for it for ever."""

    process = os.getpid()

    def end() -> None:
        if os.getpid() != process:
            return
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError):
                stream.flush()
        abort(1)

    atexit.register(end)


def join() -> None:
    """Initialises and finalises MPI if the program has not: processes that use MPI would wait
    for this one in MPI_Init for ever (MPI 4.1, section 11.2). Processes that wait for this one
    in a call of hocket get an error."""
    here, rank = folder(), mpiexec.world_rank()
    if here is not None and rank is not None and not is_here():
        who = describe(rank, places(os.environ.get("HOCKET_TASKS", "")))
        write(here / f"{rank}.absent", f"{who}\n".encode())
    if (mpiexec.world_size() or 1) > 1 and "mpi4py.MPI" not in sys.modules:
        with contextlib.suppress(ImportError):
            importlib.import_module("mpi4py.MPI")


def is_here() -> bool:
    """Whether this rank's program has been in a collective call of hocket."""
    here = folder()
    return here is not None and (here / f"{mpiexec.world_rank()}.here").exists()


def end_with_parent(number: int) -> None:
    """Requests this signal for the end of the parent process, even by force (Linux only)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, int(number), 0, 0, 0)  # PR_SET_PDEATHSIG


def exit_code(error: SystemExit) -> int:
    """The exit code of a SystemExit, as Python computes it."""
    if error.code is None:
        return 0
    return error.code & 0xFF if isinstance(error.code, int) else 1


def call() -> None:
    """Runs the function that `hk.run` has left for this rank, and stores its result."""
    global launched
    connect()
    here = folder()
    rank = mpiexec.world_rank()
    if here is None or rank is None:
        raise SystemExit("hocket.rank is started by hk.run; there is nothing to run here")
    try:
        pickle: Any = importlib.import_module("cloudpickle")
        function, arguments, tasks, first = pickle.loads((here / "call").read_bytes())
        launched = tasks
        if first == "world":
            arguments = (_world(tasks), *arguments)
        elif first == "comm":
            arguments = (importlib.import_module("mpi4py.MPI").COMM_WORLD, *arguments)
        result = function(*arguments)
    except SystemExit as error:
        if exit_code(error) != 0:
            fail(error, exit_code(error), skip=1)
        result = None
    except BaseException as error:
        fail(error, skip=1)
    try:
        write(here / f"{rank}.result", pickle.dumps(result))
    except BaseException as error:
        kind = f"{type(result).__module__}.{type(result).__qualname__}"
        brief = (
            f"returned an object of type {kind}, which cannot be sent back: {error}; return "
            "something that can be pickled, such as NumPy arrays, numbers, text"
        )
        leave(brief, "", 1)
    stand("at its end: the function had returned, and the process waited for the others to end")


def _world(tasks: Any) -> Any:
    """Implements `hk.tasks` on this rank. hocket calls it here, so that the rank reports its
    errors as hocket's."""
    return importlib.import_module("hocket").tasks(tasks)
