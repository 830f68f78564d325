# SPDX-License-Identifier: BSD-3-Clause
"""Starts the processes of one `mpiexec`, watches them until all have ended, and cleans up."""

from __future__ import annotations

import contextlib
import json
import math
import os
import re
import selectors
import shlex
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from . import hosts as run_hosts
from . import mpiexec, rank_monitor, sessions, slurm, tracing
from .errors import PeerLostError
from .logs import logger
from .pipes import OnLine, Readers

#: seconds in which other ranks can report, once one has failed
GRACE = 0.3
#: seconds in which the launcher can report a rank that has ended
LAUNCHER_GRACE = 0.5
#: seconds in which a shared file system must show the reports of another host's ranks
LATE = 5.0


#: the beginning of the report of a rank that has seen another rank end
_LOST = f"raised {PeerLostError.__module__}.{PeerLostError.__qualname__}"


@dataclass
class Failure:
    """The report of a rank that has failed."""

    rank: int
    brief: str
    text: str
    code: int
    time: float

    @property
    def of_another(self) -> bool:
        """Whether this rank has only seen another rank end."""
        return self.brief.startswith(_LOST)


@dataclass
class Outcome:
    """The end of a run."""

    code: int  #: mpiexec's; negative: a signal ended it
    failures: list[Failure]  #: in the order of time
    said: str  #: the output of mpiexec itself
    timed_out: bool = False
    stacks: dict[int, str] = field(default_factory=dict)  #: by rank, its position
    dead: list[int] = field(default_factory=list)  #: ranks that ended first, without a report
    noticed: set[int] = field(default_factory=set)  #: ranks that MPI ended because another had
    hosts: str = ""  #: those that do not answer any more


@contextlib.contextmanager
def run_folder(hosts: run_hosts.Hosts | None = None) -> Iterator[Path]:
    """A private folder for one run. It is removed even if a signal ends this process.

    For several hosts, the folder is on a file system that all of them share.
    Meanwhile, SIGUSR1 to this process makes all ranks print their pending waits.
    """
    beside = None if hosts is None else run_hosts.shared_folder()
    path = Path(tempfile.mkdtemp(prefix="hocket-", dir=beside))
    # Only the main thread may set a handler. A handler of the user's stays.
    main = threading.current_thread() is threading.main_thread()
    ours = main and signal.getsignal(signal.SIGUSR1) == signal.SIG_DFL
    if ours:
        signal.signal(signal.SIGUSR1, lambda *_: _ask_waits(path))
    try:
        with sessions.exit_on_sigterm():
            yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)
        if ours:
            signal.signal(signal.SIGUSR1, signal.SIG_DFL)


def supervise(
    programs: Sequence[tuple[int, Sequence[str]]],
    folder: Path,
    *,
    on_line: OnLine,
    tasks: str = "",
    timeout: float | None = None,
    python: bool = True,
    trace: Path | None = None,
    hosts: run_hosts.Hosts | None = None,
) -> Outcome:
    """Starts the programs as one set of ranks, and watches them until all have ended.

    Parameters
    ----------
    programs
        (processes, command line) for each program, in rank order.
    folder
        from `run_folder`; the ranks find it as `HOCKET_RUN`.
    on_line
        function that gets every printed line.
    tasks
        the text of `HOCKET_TASKS` for the ranks; "" for none.
    timeout
        seconds until hocket ends all ranks; None for no limit.
    python
        each rank's program runs in the process that the launcher has started. Otherwise MPICH's
        launcher, which leaves the ending of ranks to hocket, takes the end of a program in a child
        of that process for a failure, and sends the other ranks a signal that ends them.
    trace
        the file for a trace of all ranks; written however the run ends.
    hosts
        the hosts of the run; None for this one alone.

    When a rank reports a failure, hocket ends all ranks. It also does so if an exception leaves
    this call, for example Ctrl-C.
    """
    until = math.inf if timeout is None else time.monotonic() + timeout
    launcher = mpiexec.find()
    env = mpiexec.environment(mpiexec.flavour(launcher))
    env["HOCKET_RUN"] = str(folder)
    env.pop("HOCKET_TASKS", None)
    if tasks:
        env["HOCKET_TASKS"] = tasks
    if trace is not None:
        env["HOCKET_TRACE"] = str(folder / tracing.NAME)
    ranks = sum(count for count, _ in programs)
    if hosts is not None:
        hosts.require_room(ranks)
        run_hosts.check(hosts, folder, until)
        env["HOCKET_RUN_HOSTS"] = str(hosts.count)
        line = run_hosts.command(hosts, programs, folder, env)
    else:
        alone = rank_monitor.SEES and python
        options = mpiexec.leave_ending_to_us(launcher) if alone else []
        line = mpiexec.command(launcher, programs, options)
    shared: set[str] = set()
    with selectors.DefaultSelector() as selector:
        # Processes of other hosts cannot be watched; the launcher reports those that end badly.
        nearby = ranks if hosts is None else 0
        watched = rank_monitor.RankMonitor(
            folder, nearby, lambda: sessions.members(_mark(folder)), selector
        )
        split = None if hosts is None else hosts.labelled
        readers = Readers(selector, folder, ranks, on_line, split)
        what = "1 process" if ranks == 1 else f"{ranks} processes"
        logger.info("starting %s: %s", what, shlex.join(map(str, line)))
        pipe = subprocess.PIPE
        process = sessions.start(line, env, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe)
        if hosts is not None:
            (folder / "launcher").write_text(str(process.pid))
        readers.add(process.stdout, "out")
        readers.add(process.stderr, "err")
        try:
            outcome = _watch(process, readers, folder, watched, shared, until)
        finally:
            _end(process, folder, shared)
            watched.close()
            readers.close()
            if trace is not None:
                tracing.merge(folder, trace)
    if hosts is not None and not outcome.timed_out:
        _await_reports(outcome, folder, ranks)
        known = first_to_go(outcome.said)
        if known.how and not known.candidates and all(e.of_another for e in outcome.failures):
            outcome.failures = []  # the launcher knows the cause
        _forget_noticers(outcome)
        if outcome.code != 0 and not known.how and all(e.of_another for e in outcome.failures):
            outcome.hosts = run_hosts.silent(hosts)
            if outcome.hosts:
                outcome.failures = []
        if outcome.dead:
            outcome.said = run_hosts.silent(hosts) or outcome.said
    return outcome


def _watch(
    process: subprocess.Popen[bytes],
    readers: Readers,
    folder: Path,
    watched: rank_monitor.RankMonitor,
    shared: set[str],
    until: float,
) -> Outcome:
    """Reads the ranks' output until they have ended, failed, or run out of time, which is `until`
    (of time.monotonic)."""
    began = time.monotonic()
    failed_at: float | None = None
    stacks: dict[int, str] = {}
    timed_out = False
    dead: list[int] = []
    gone = False
    remote = (folder / "launcher").exists()
    died_at = began
    next_search = began
    while process.poll() is None:
        readers.read(0.05)
        now = time.monotonic()
        if now >= next_search:  # one rank knows them; after a crash there may be none to ask
            if remote:
                _look_again(folder)
            shared.update(_shared_files(watched.living()[:1]))
            next_search = now + 0.5
        if failed_at is None and any(folder.glob("*.failure")):
            failed_at = now
        if failed_at is not None and now - failed_at > GRACE:
            # The launcher may report the cause later.
            if not all(each.of_another for each in _failures(folder)) or not remote:
                break
            if gone or now - failed_at > LAUNCHER_GRACE:
                break
        if not gone:
            dead = watched.silent()
            gone = bool(dead) or bool(remote and slurm.first_to_go(readers.said()))
            died_at = now
        if failed_at is None and ((gone and now - died_at > LAUNCHER_GRACE) or watched.stuck()):
            break
        if failed_at is None and now > until:
            timed_out = True
            stacks = _ask_stacks(folder)
            break
    # Read before hocket ends the others, which is no failure of theirs.
    failures = _failures(folder)
    ended_by_us = process.poll() is None
    said = readers.said()
    _end(process, folder, shared)
    readers.drain()
    # a launcher's report of ranks that hocket has ended is misleading
    if not (ended_by_us and gone):
        said = readers.said()
    # A launcher may end the others within a millisecond, so ranks that crashed were first.
    dead = [number for number in dead if number in readers.crashed] or dead
    code = process.returncode or (-signal.SIGKILL if ended_by_us else 0)
    return Outcome(code, failures, said, timed_out, stacks, dead, readers.noticed)


def first_to_go(said: str) -> mpiexec.Gone:
    """The first process that ended badly, from a launcher's output."""
    return slurm.first_to_go(said) or mpiexec.first_to_go(said)


def _failures(folder: Path) -> list[Failure]:
    reports = [json.loads(path.read_text()) for path in folder.glob("*.failure")]
    return sorted((Failure(**report) for report in reports), key=lambda one: one.time)


def _await_reports(outcome: Outcome, folder: Path, ranks: int) -> None:
    """Adds the reports of ranks of other hosts, which a shared file system may show late, and the
    ranks without one: Open MPI's launcher may end with status 0 after it has lost a host."""
    limit = time.monotonic() + LATE
    while not outcome.failures:
        outcome.failures = _failures(folder)
        silent = [n for n in range(ranks) if not rank_monitor.has_reported(folder, n)]
        if not silent or time.monotonic() > limit:
            outcome.dead = silent if outcome.code == 0 else []
            return
        _look_again(folder)
        time.sleep(0.1)


def _forget_noticers(outcome: Outcome) -> None:
    """Drops reports that a process has ended that only noticed the end of another."""
    if all(each.of_another for each in outcome.failures):
        ended = [re.search(r"PeerLostError: rank (\d+) ", e.brief) for e in outcome.failures]
        outcome.failures = [
            each
            for each, name in zip(outcome.failures, ended)
            if name is None or int(name[1]) not in outcome.noticed
        ]


def _look_again(folder: Path) -> None:
    """Makes a client of NFS read the folder again, as a change by the client itself does."""
    mark = folder / "again"
    mark.touch()
    mark.unlink()


def _ask_waits(folder: Path) -> None:
    """Makes every rank print its pending waits, by SIGUSR1. The signal would end a rank that has
    not used hocket yet, so such a rank gets none."""
    for path in (*folder.glob("*.pid"), *folder.glob("launcher")):  # it passes signals on
        with contextlib.suppress(OSError, ValueError):
            pid = int(path.read_text())
            status = Path(f"/proc/{pid}/status").read_text()
            caught = re.search(r"^SigCgt:\s*([0-9a-f]+)", status, re.MULTILINE)
            if caught is not None and int(caught.group(1), 16) >> (signal.SIGUSR1 - 1) & 1:
                os.kill(pid, signal.SIGUSR1)


def _ask_stacks(folder: Path) -> dict[int, str]:
    """The position of every rank: on SIGUSR2 each Python rank prints its stack."""
    _ask_waits(folder)
    asked = []
    for path in folder.glob("*.pid"):
        with contextlib.suppress(OSError, ValueError):
            os.kill(int(path.read_text()), signal.SIGUSR2)
            asked.append(int(path.stem))
    if (folder / "launcher").exists():
        with contextlib.suppress(OSError, ValueError):
            os.kill(int((folder / "launcher").read_text()), signal.SIGUSR2)
            asked = [int(path.stem) for path in folder.glob("*.stack")]
    _settle([folder / f"{number}.stack" for number in asked])
    return {number: (folder / f"{number}.stack").read_text().strip() for number in sorted(asked)}


def _settle(stacks: Sequence[Path]) -> None:
    """Waits until every file has content and no file grows. Usually that takes tenths of a
    second, but longer if other programs use all cores."""
    sizes: list[int] = []
    limit = time.monotonic() + 5
    while True:
        time.sleep(0.15)
        before, sizes = sizes, [path.stat().st_size for path in stacks]
        if (sizes == before and all(sizes)) or time.monotonic() > limit:
            return


def _end(process: subprocess.Popen[bytes], folder: Path, shared: set[str]) -> None:
    """Ends mpiexec and all processes that it started, and removes their shared memory."""
    if process.poll() == 0:
        return
    shared.update(_shared_files(sessions.members(_mark(folder))))
    try:
        sessions.end(process, 5)
    finally:
        sessions.kill_members(_mark(folder))
        _remove(shared)


def _remove(shared: set[str]) -> None:
    for path in shared:
        with contextlib.suppress(OSError):
            Path(path).unlink()


def _mark(folder: Path) -> str:
    """The variable in the environment of every process of a run."""
    return f"HOCKET_RUN={folder}"


def _shared_files(pids: Sequence[int]) -> set[str]:
    """The shared-memory files of MPI that these processes have mapped, which remain in /dev/shm
    when processes are killed."""
    found: set[str] = set()
    for pid in pids:
        with contextlib.suppress(OSError):
            text = Path(f"/proc/{pid}/maps").read_text(errors="replace")
            found.update(re.findall(r"/dev/shm/(?:mpich_|sm_segment|vader_segment)\S+", text))
    return found
