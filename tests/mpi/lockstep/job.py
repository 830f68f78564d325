# SPDX-License-Identifier: BSD-3-Clause
"""One mpiexec whose ranks wait for test functions to call, seen from pytest's process."""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from multiprocessing.connection import Connection, wait
from pathlib import Path

from lockstep import mpiexec
from lockstep.wire import FOLDER, SOCKET, Call, Hello, Outcome

START_SECONDS = 180.0
HOSTS = os.environ.get("HOCKET_HOSTS", "")  # of the ranks
# How long the others may go on once one rank has failed.
GRACE_SECONDS = float(os.environ.get("LOCKSTEP_GRACE", "10"))
CLOSE_SECONDS = 30.0
OUTPUT_CHARACTERS = 6000


class JobError(Exception):
    """The ranks could not be started."""


def shared_segments(pid: int) -> set[Path]:
    """The files of /dev/shm that a process has mapped: a rank that is killed leaves them behind."""
    try:
        lines = Path(f"/proc/{pid}/maps").read_text().splitlines()
    except OSError:
        return set()
    paths = {line.split(maxsplit=5)[-1] for line in lines if " /dev/shm/" in line}
    return {Path(path) for path in paths if not path.endswith(" (deleted)")}


class Job:
    """`size` ranks under one mpiexec."""

    def __init__(self, size: int, nodes: str | None = None) -> None:
        self.size = size
        self.usable = False
        # Short, because the name of a Unix socket holds 107 characters; in memory if possible,
        # because Open MPI keeps its shared segments here.
        base = "/dev/shm" if os.access("/dev/shm", os.W_OK) else "/tmp"
        if HOSTS:
            base = tempfile.gettempdir()  # over_hosts.py makes it one that all hosts see
        self._scratch = Path(tempfile.mkdtemp(prefix="hocket-test-", dir=base))
        self._output = (self._scratch / "output.txt").open("w+b")
        self._connections: list[Connection] = []
        self._pids: list[int] = []  # 0: of another host
        environment = mpiexec.environment(os.environ, str(self._scratch), size, nodes)
        environment[FOLDER] = str(self._scratch)
        here = str(Path(__file__).resolve().parents[1])
        environment["PYTHONPATH"] = os.pathsep.join(
            [here, *filter(None, [os.environ.get("PYTHONPATH")])]
        )
        with socket.socket(socket.AF_INET if HOSTS else socket.AF_UNIX) as server:
            if HOSTS:
                server.bind((socket.gethostbyname(socket.gethostname()), 0))
                environment[SOCKET] = "{} {}".format(*server.getsockname())
            else:
                environment[SOCKET] = str(self._scratch / "socket")
                server.bind(environment[SOCKET])
            server.listen(size)
            self._process = subprocess.Popen(
                [mpiexec.find(), "-n", str(size), sys.executable, "-m", "lockstep.worker"],
                stdin=subprocess.DEVNULL,
                stdout=self._output,
                stderr=subprocess.STDOUT,
                env=environment,
                start_new_session=True,  # Ctrl-C is for pytest, which then ends the job
            )
            try:
                self._greet(server)
            except BaseException:
                self.kill()
                raise
        self.usable = True

    def _greet(self, server: socket.socket) -> None:
        """Waits until every rank has said hello."""
        deadline = time.monotonic() + START_SECONDS
        known: dict[int, tuple[Connection, int]] = {}
        while len(known) < self.size:
            if select.select([server], [], [], 0.2)[0]:
                connection = Connection(server.accept()[0].detach())
                hello = connection.recv()
                assert isinstance(hello, Hello)
                if hello.size != self.size or hello.rank in known:
                    raise JobError(
                        f"a rank says it is {hello.rank} of {hello.size} in a job of {self.size}: "
                        f"does {mpiexec.find()} belong to the MPI that mpi4py uses?"
                    )
                here = hello.host == os.uname().nodename
                known[hello.rank] = (connection, hello.pid if here else 0)
            elif self._process.poll() is not None or time.monotonic() > deadline:
                raise JobError(
                    f"{len(known)} of {self.size} ranks started within {START_SECONDS:.0f} s; "
                    f"mpiexec's exit code: {self._process.poll()}; it said:\n{self.output(0)}"
                )
        self._connections = [known[rank][0] for rank in range(self.size)]
        self._pids = [known[rank][1] for rank in range(self.size)]

    def output(self, start: int) -> str:
        """The output of the ranks and mpiexec from byte `start` on; its last part."""
        self._output.seek(start)
        return self._output.read().decode(errors="replace")[-OUTPUT_CHARACTERS:]

    def run(self, call: Call, seconds: float) -> str:
        """Calls a test function on every rank.

        Returns "" when it passed on all of them, else a report; "skipped: reason" when one asked.
        """
        start = os.fstat(self._output.fileno()).st_size
        begun = time.monotonic()
        deadline = begun + seconds
        order: list[int] = []  # ranks as they answered: the first to end is the one to look at
        outcomes: dict[int, Outcome] = {}
        for rank, connection in enumerate(self._connections):
            try:
                connection.send(call)
            except OSError:
                outcomes[rank] = Outcome("ended")
                order.append(rank)
        while len(outcomes) < self.size:
            pending = [c for r, c in enumerate(self._connections) if r not in outcomes]
            ready = wait(pending, max(0.0, deadline - time.monotonic()))
            if not ready:
                break
            for connection in pending:
                if connection not in ready:
                    continue
                rank = self._connections.index(connection)
                try:
                    outcomes[rank] = connection.recv()
                except (EOFError, OSError):
                    outcomes[rank] = Outcome("ended")
                order.append(rank)
            if any(outcome.state not in ("passed", "skipped") for outcome in outcomes.values()):
                deadline = min(deadline, time.monotonic() + GRACE_SECONDS)
        states = {outcome.state for outcome in outcomes.values()}
        if len(outcomes) == self.size and states <= {"passed"}:
            return ""
        if len(outcomes) == self.size and states <= {"passed", "skipped"}:
            reason = next(o.text for o in outcomes.values() if o.state == "skipped")
            self.usable = "passed" not in states
            return f"skipped: {reason}"
        return self._report(order, outcomes, start, begun, seconds)

    def _report(
        self, order: list[int], outcomes: dict[int, Outcome], start: int, begun: float, limit: float
    ) -> str:
        """Ends the job and tells, rank by rank, what happened."""
        stuck = [rank for rank in range(self.size) if rank not in outcomes]
        places = self._places(stuck)
        elapsed = time.monotonic() - begun
        ended = [rank for rank in order if outcomes[rank].state == "ended"]
        printed = self.output(start)  # before the killing, of which mpiexec complains at length
        self.kill(skip=ended)
        code = self._process.returncode
        lines = []
        for rank in order:
            outcome = outcomes[rank]
            if outcome.state == "ended":
                which = "first to end" if rank == ended[0] else "then"
                lines.append(f"rank {rank} ended during the test ({which}; mpiexec: {code})")
                lines.append(self._place(rank, 0))
            elif outcome.state == "failed":
                lines.append(f"rank {rank} failed:\n{outcome.text}")
        others = [rank for rank in order if outcomes[rank].state in ("passed", "skipped")]
        if others:
            lines.append(f"passed on rank {', '.join(map(str, sorted(others)))}")
        for rank in stuck:
            why = f"limit {limit:g} s" if not order or elapsed >= limit else "another rank failed"
            lines.append(f"rank {rank} was still in the test after {elapsed:.1f} s ({why}), here:")
            lines.append(places[rank])
        if ended:
            printed = self.output(start)
        if printed.strip():
            lines.append(f"printed meanwhile:\n{printed.strip()}")
        return "\n".join(line for line in lines if line)

    def _place(self, rank: int, start: int) -> str:
        path = self._scratch / f"rank-{rank}.txt"
        with contextlib.suppress(OSError), path.open(errors="replace") as file:
            file.seek(start)
            stacks = file.read().split("\n\n")
            # The thread that listens to pytest is in every rank, and never what matters.
            return "\n\n".join(stack for stack in stacks if "in listen\n" not in stack)
        return ""

    def _places(self, stuck: list[int]) -> dict[int, str]:
        """The position of each of these ranks: its threads' stacks."""
        starts = {}
        for rank in stuck:
            starts[rank] = (self._scratch / f"rank-{rank}.txt").stat().st_size
        # The launcher passes the signal on to all ranks, also to those of other hosts.
        everyone = [self._process.pid] if HOSTS else [self._pids[rank] for rank in stuck]
        for pid in everyone if stuck else []:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGUSR2)
        places: dict[int, str] = {}
        limit = time.monotonic() + 10
        while stuck:  # until all have written, and none goes on
            time.sleep(0.25)
            before, places = places, {rank: self._place(rank, starts[rank]) for rank in stuck}
            if (places == before and all(places.values())) or time.monotonic() > limit:
                break
        return places

    def close(self) -> None:
        """Lets the ranks leave through MPI_Finalize; kills those that do not."""
        if self.usable:
            for connection in self._connections:
                with contextlib.suppress(OSError):
                    connection.send(None)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(CLOSE_SECONDS)
        self.kill()

    def kill(self, skip: list[int] | None = None) -> None:
        """Ends what still runs. Ranks in `skip` are gone already: their ids may be others' now."""
        self.usable = False
        segments: set[Path] = set()
        if self._process.poll() is None:
            for rank, pid in enumerate(self._pids):
                if pid != 0 and rank not in (skip or []):
                    segments |= shared_segments(pid)
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(3.0)  # mpiexec tidies up after its dead ranks
        if self._process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        for connection in self._connections:
            connection.close()
        self._connections, self._pids = [], []
        shutil.rmtree(self._scratch, ignore_errors=True)
        for segment in segments:
            segment.unlink(missing_ok=True)
