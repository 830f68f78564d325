# SPDX-License-Identifier: BSD-3-Clause
"""One rank: calls test functions on command, and reports their results."""

from __future__ import annotations

import faulthandler
import importlib.util
import os
import queue
import reprlib
import shutil
import signal
import socket
import sys
import threading
import traceback
from multiprocessing.connection import Connection
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from mpi4py import MPI

from lockstep.wire import FOLDER, SOCKET, Call, Hello, Outcome


def load(path: str) -> ModuleType:
    """The module at `path`, imported once; by its stem, as pytest's own import does."""
    name = Path(path).stem
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"cannot import the test file {path}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def describe(error: BaseException, path: str) -> str:
    """The traceback without our own frames, and the test's local values where it failed."""
    text = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    frame, step = None, error.__traceback__
    while step is not None:
        if step.tb_frame.f_code.co_filename == path:
            frame = step.tb_frame
        step = step.tb_next
    if frame is None:
        return text
    short = reprlib.Repr()
    short.maxother = short.maxstring = 200
    short.maxlist = short.maxtuple = short.maxdict = 12
    lines = [
        f"    {name} = {short.repr(value)}"
        for name, value in frame.f_locals.items()
        if not name.startswith("__")
    ]
    return text + f"  where, in {frame.f_code.co_name}:\n" + "\n".join(lines) + "\n"


def perform(call: Call) -> Outcome:
    for entry in call.search_path:
        if entry not in sys.path:
            sys.path.append(entry)
    arguments: dict[str, Any] = dict(call.arguments)
    if "comm" in call.wants:
        arguments["comm"] = MPI.COMM_WORLD
    if "groups" in call.wants:
        arguments["groups"] = dict(call.groups)
    try:
        getattr(load(call.path), call.function)(**arguments)
    except pytest.skip.Exception as skip:
        return Outcome("skipped", str(skip))
    except BaseException as error:  # SystemExit and KeyboardInterrupt too: a rank never just leaves
        return Outcome("failed", describe(error, call.path))
    finally:
        # The rank's own copy, which the process that runs pytest does not undo.
        for value in arguments.values():
            if isinstance(value, pytest.MonkeyPatch):
                value.undo()
    return Outcome("passed")


def listen(connection: Connection, calls: queue.SimpleQueue[Call | None], scratch: Path) -> None:
    """Runs in a thread, so that a rank stuck in a test still ends when pytest's process does."""
    while True:
        try:
            call = connection.recv()
        except (EOFError, OSError):
            shutil.rmtree(scratch, ignore_errors=True)  # pytest's process cannot do it any more
            os._exit(1)
        calls.put(call)
        if call is None:
            return


def main() -> None:
    rank, size = MPI.COMM_WORLD.Get_rank(), MPI.COMM_WORLD.Get_size()
    address, scratch = os.environ[SOCKET], Path(os.environ[FOLDER])
    where = (scratch / f"rank-{rank}.txt").open("w")
    faulthandler.enable(where)
    # A C-level handler: it answers even where the rank is stuck inside MPI with the GIL held.
    faulthandler.register(signal.SIGUSR2, where, all_threads=True)

    host, _, port = address.partition(" ")
    if port:
        link = socket.create_connection((host, int(port)))
        link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    else:
        link = socket.socket(socket.AF_UNIX)
        link.connect(address)
    connection = Connection(link.detach())
    connection.send(Hello(rank, size, os.getpid(), os.uname().nodename))
    calls: queue.SimpleQueue[Call | None] = queue.SimpleQueue()
    listener = (connection, calls, scratch)
    threading.Thread(target=listen, args=listener, daemon=True).start()
    while (call := calls.get()) is not None:
        outcome = perform(call)
        sys.stdout.flush()
        sys.stderr.flush()
        connection.send(outcome)


if __name__ == "__main__":
    main()
