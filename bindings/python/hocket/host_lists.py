# SPDX-License-Identifier: BSD-3-Clause
"""Hosts of a list or a host file, on which `mpiexec` starts processes."""

from __future__ import annotations

import os
import re
import selectors
import subprocess
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO, Callable

from . import mpiexec, sessions
from .errors import Error

#: hosts that are asked at a time
_AT_ONCE = 16
#: the lines of a launcher or of ssh that say why a host is not there
_WHY = re.compile(
    r"ssh: |\S+@\S+: Permission|Host key |kex_exchange|Connection (?:closed|reset|timed)"
    r"|(?:\w*sh|/\S+):"
)


class Listed:
    """Hosts of a list, with the number of processes of each; 0: unspecified."""

    def __init__(self, places: Sequence[tuple[str, int]]) -> None:
        self.places = places
        self.count = len(places)

    def ask(self, script: str, seconds: float, until: float) -> list[str]:
        """One `mpiexec` for each host, so that a host that does not answer is known."""
        stopped = threading.Event()

        def over(limit: float) -> bool:
            return stopped.is_set() or time.monotonic() >= min(limit, until)

        with ThreadPoolExecutor(_AT_ONCE) as pool:
            asked = [pool.submit(self._ask, host, script, seconds, over) for host, _ in self.places]
            try:
                return [each.result() for each in asked]
            finally:
                # After Ctrl-C the pool waits for its threads, which then end their launchers.
                stopped.set()

    def _ask(self, host: str, script: str, seconds: float, over: Callable[[float], bool]) -> str:
        limit = time.monotonic() + seconds
        if over(limit):
            return f"{host}: no answer in time"
        launcher = mpiexec.find()
        env = mpiexec.environment(mpiexec.flavour(launcher))
        argv = ["sh", "-c", script, "sh", host]
        env["HOCKET_ASKS"] = f"{os.getpid()} {host}"
        mark = f"HOCKET_ASKS={env['HOCKET_ASKS']}"
        line = mpiexec.command(launcher, [(1, argv)], mpiexec.spread(launcher, [(host, 1)]))
        said = []
        pipe, mixed = subprocess.PIPE, subprocess.STDOUT
        with sessions.start(
            line, env, stdin=subprocess.DEVNULL, stdout=pipe, stderr=mixed
        ) as asked:
            try:
                # Open MPI's launcher does not always end after its processes, so hocket ends it.
                for text in _lines_of(asked.stdout, lambda: over(limit)):
                    _, answer = self.labelled(text.rstrip())[-1]
                    if answer.startswith(f"{host}: "):
                        return answer
                    said.append(answer)
                if over(limit):
                    late = time.monotonic() >= limit
                    sessions.end(asked, 1)
                    sessions.kill_members(mark)  # the launcher's ssh has a session of its own
                    return f"{host}: no answer " + (f"within {seconds:g} s" if late else "in time")
            finally:
                sessions.end(asked, 1)
        return f"{host}: no answer ({_brief(said)})"

    def require_room(self, processes: int) -> None:
        """Raises Error if every host has a number of places, and the sum is too small."""
        _shares(self.places, processes)

    def command(self, count: int, argv: Sequence[str]) -> list[str]:
        """A line of `mpiexec`."""
        launcher = mpiexec.find()
        shares = [each for each in _shares(self.places, count) if each[1] > 0]
        return mpiexec.command(launcher, [(count, argv)], mpiexec.spread(launcher, shares))

    def labelled(self, line: str) -> list[tuple[int | None, str]]:
        """(rank, text) of each piece of a line of `mpiexec`."""
        return mpiexec.labelled(line)


def _lines_of(stream: IO[bytes] | None, over: Callable[[], bool]) -> Iterator[str]:
    """The lines of a pipe, until it ends or `over` is true."""
    assert stream is not None
    rest = b""
    with selectors.DefaultSelector() as selector:
        selector.register(stream, selectors.EVENT_READ)
        while not over():
            if selector.select(0.1):
                chunk = os.read(stream.fileno(), 65536)
                *lines, rest = (rest + chunk).split(b"\n")
                for line in lines if chunk else [rest]:
                    yield line.decode(errors="replace")
                if not chunk:
                    return


def _brief(said: Sequence[str]) -> str:
    """The line of a launcher's text that says why a host is not there."""
    lines = [line.strip() for line in said if line.strip("-@ ")]
    why = [line for line in lines if _WHY.match(line)]
    return (why or lines or ["mpiexec said nothing"])[0]


def _shares(places: Sequence[tuple[str, int]], processes: int) -> list[tuple[str, int]]:
    """The number of processes on each host, in blocks of ranks. Hosts without a number of places
    share the remaining processes as evenly as possible."""
    fixed = sum(count for _, count in places)
    free = sum(1 for _, count in places if count == 0)
    if not free and fixed < processes:
        listed = ", ".join(f"{host}:{count}" for host, count in places)
        raise Error(
            f"the hosts {listed} have {fixed} places, and the run {processes} processes; give more "
            "places or hosts, or start fewer processes"
        )
    left = processes - fixed
    shares = []
    remaining = processes
    for host, count in places:
        if count == 0:
            count = -(-max(left, 0) // free)
            left, free = left - count, free - 1
        shares.append((host, min(count, remaining)))
        remaining -= shares[-1][1]
    return shares


def parse(name: str, given: str | os.PathLike[str] | Sequence[str]) -> list[tuple[str, int]]:
    """(host, places) from "n1:2,n2:2", a list of these, or the file of that name, which has a host
    on each line: `n1 slots=2` (Open MPI), `n1:2` (MPICH) or `n1`. Places 0: no number.

    A text that is the name of a file here means the file; "n1:1" and ["n1"] mean the host.
    If a host without a number is repeated, as in PBS's node files, each mention is one place.

    Raises
    ------
    Error
        a file that cannot be read, no host, no number of places, or a host with and without one.
    """
    if isinstance(given, (str, os.PathLike)):
        text = os.fspath(given)
        # Path.is_file raises for a text that is too long for a file name.
        is_file = os.sep in text or os.path.isfile(text)  # noqa: PTH113
        words: Iterable[str] = _lines(name, text) if is_file else text.split(",")
    else:
        words = given
    found: dict[str, list[int]] = {}
    for word in words:
        match = re.fullmatch(r"\s*(\w[\w.-]*)(?:(?::|\s+slots\s*=\s*)(\d+))?\s*", word)
        if match is None or (match[2] is not None and int(match[2]) < 1):
            raise Error(
                f"{name} has '{word}', which is no host; write n1:2,n2:2, or a file with lines as "
                "'n1 slots=2'"
            )
        found.setdefault(match[1], []).append(int(match[2] or 0))
    if not found:
        raise Error(f"{name} has no host; write n1:2,n2:2, or the name of a host file")
    for host, counts in found.items():
        if 0 in counts and any(counts):
            raise Error(
                f"{name} has '{host}' both with a number of places and without; write each host "
                f"once, as {host}:{sum(counts) + counts.count(0)}"
            )
    repeated = any(0 in counts[1:] for counts in found.values())
    one = 1 if repeated else 0
    return [(host, sum(count or one for count in counts)) for host, counts in found.items()]


def _lines(name: str, path: str) -> list[str]:
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        why = getattr(problem, "strerror", None) or "it is no text"
        raise Error(f"{name} names the host file '{path}', which cannot be read: {why}") from None
    return [line for line in (each.partition("#")[0].strip() for each in text.splitlines()) if line]
