# SPDX-License-Identifier: BSD-3-Clause
"""What a started rank does around the user's code: report where it is, how it ended, and why.

Parent and ranks talk through small files in one folder, named by `HOCKET_RUN`, so that the report
of a rank survives the rank: `3.pid`, `3.out`, `3.err` (pipes), `3.stack`, `3.result`, `3.ended`,
`3.failure`, `3.here` (written by the library: this rank takes part), `3.absent` (never did).
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

#: how long a failed rank waits to be ended by the one that started it
PATIENCE = 10.0

#: the tasks of this run, where `hk.run` named them; lists of ranks fit into no `HOCKET_TASKS`
launched: Mapping[str, Any] | None = None


def folder() -> Path | None:
    """Where this rank reports; None when nobody listens."""
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
    """A rank in words: "rank 2 (task 'cols', process 0)"."""
    if rank is None:
        return "this process"
    if rank < len(seats) and seats[rank][0] is not None:
        return f"rank {rank} (task '{seats[rank][0]}', process {seats[rank][1]})"
    return f"rank {rank}"


def connect() -> None:
    """Announce this process, and send what it prints to the one that started it."""
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
    # Kept open for the life of the process: the parent asks every rank where it stands by signal.
    stack = (here / f"{rank}.stack").open("w", encoding="utf-8")
    if signal.getsignal(signal.SIGUSR1) == signal.SIG_DFL:
        # MPICH's Hydra, told to leave the ending of ranks to us, sends it to the others when one
        # dies. It must not end them, or nobody could tell who was first; and Python takes a handler
        # away when it ends, but lets what is ignored be. hocket's first wait catches it again.
        signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    faulthandler.register(signal.SIGUSR2, file=stack, all_threads=True)
    if "HOCKET_RUN_HOSTS" not in os.environ:  # a number of another host's means nothing there
        write(here / f"{rank}.pid", str(os.getpid()).encode())


def stand(where: str) -> None:
    """Say where this rank stands, instead of its Python stack, should the parent ask."""
    here, rank = folder(), mpiexec.world_rank()
    if here is not None and rank is not None:
        faulthandler.unregister(signal.SIGUSR2)
        signal.signal(signal.SIGUSR2, signal.SIG_IGN)
        (here / f"{rank}.stack").write_text(where)


def write(path: Path, content: bytes) -> None:
    """Write a file that its reader sees wholly or not at all."""
    part = path.with_name(path.name + ".part")
    part.write_bytes(content)
    part.replace(path)


def done() -> None:
    """Say that this rank's program has come to its end; what is left is to leave MPI."""
    here, rank = folder(), mpiexec.world_rank()
    if here is not None and rank is not None:
        write(here / f"{rank}.ended", b"")


def fail(error: BaseException, code: int = 1, skip: int = 0) -> NoReturn:
    """Report an exception with its traceback, less its first `skip` frames, and end every rank."""
    trace: TracebackType | None = error.__traceback__
    for _ in range(skip):
        trace = trace.tb_next if trace is not None else None
    text = "".join(traceback.format_exception(type(error), error, trace)).rstrip()
    brief = "".join(traceback.format_exception_only(type(error), error)).strip()
    leave("raised " + brief, text, code)


def leave(brief: str, text: str, code: int) -> NoReturn:
    """Report that this rank failed, how in a line and in full, and end every rank."""
    rank = mpiexec.world_rank()
    here = folder()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    if here is not None and rank is not None:
        report = {"rank": rank, "brief": brief, "text": text, "code": code, "time": time.time()}
        write(here / f"{rank}.failure", json.dumps(report).encode())
        # The parent ends us all, once the others had a moment to report too.
        time.sleep(PATIENCE)
    else:
        seats = places(os.environ.get("HOCKET_TASKS", ""))
        print(f"{describe(rank, seats)} {brief}\n{text}".rstrip(), file=sys.stderr, flush=True)
    abort(code)


def abort(code: int) -> NoReturn:
    """End every rank of this run, through MPI where it is running."""
    module = sys.modules.get("mpi4py.MPI")
    if module is not None and module.Is_initialized() and not module.Is_finalized():
        module.COMM_WORLD.Abort(code)
    os._exit(code)


@functools.cache
def end_by_abort() -> None:
    """From here on this process ends all others when it ends: a process is lost, and leaving MPI
    in good order would wait for it for ever."""

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
    """Take part in MPI's start and end, where the program itself has not: the processes that do
    use MPI would wait in MPI_Init for this one for ever (MPI 4.1, section 11.2). Who waits for
    a call of hocket that never came is told so."""
    here, rank = folder(), mpiexec.world_rank()
    if here is not None and rank is not None and not (here / f"{rank}.here").exists():
        who = describe(rank, places(os.environ.get("HOCKET_TASKS", "")))
        write(here / f"{rank}.absent", f"{who}\n".encode())
    if (mpiexec.world_size() or 1) > 1 and "mpi4py.MPI" not in sys.modules:
        with contextlib.suppress(ImportError):
            importlib.import_module("mpi4py.MPI")


def end_with_parent(number: int) -> None:
    """Be sent this signal when the parent process is gone, even by force (Linux only)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, int(number), 0, 0, 0)  # PR_SET_PDEATHSIG


def exit_code(error: SystemExit) -> int:
    """The number that a SystemExit stands for, as Python itself reads it."""
    if error.code is None:
        return 0
    return error.code & 0xFF if isinstance(error.code, int) else 1


def call() -> None:
    """Run the function that `hk.run` left for this rank, and leave its result for `hk.run`."""
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
    """What `hk.tasks` says in this rank; set up here, so that its errors are reported as ours."""
    return importlib.import_module("hocket").tasks(tasks)
