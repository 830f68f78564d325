# SPDX-License-Identifier: BSD-3-Clause
"""Reads the output of started processes by whole lines."""

from __future__ import annotations

import os
import resource
import selectors
import time
from pathlib import Path
from typing import IO, Callable, Optional

#: (rank, "out" or "err", one line without its end); rank None: mpiexec itself
OnLine = Callable[[Optional[int], str, str], None]


class Readers:
    """The pipes of all ranks and of mpiexec, read line by line.

    `split`: the launcher alone has pipes, and its lines name the ranks; gives (rank, text) for each
    piece of a line, of which only the last ends its rank's line.
    """

    def __init__(
        self,
        selector: selectors.BaseSelector,
        folder: Path,
        ranks: int,
        on_line: OnLine,
        split: Callable[[str], list[tuple[int | None, str]]] | None = None,
    ) -> None:
        self._selector = selector
        self._on_line = on_line
        self._split = split
        self._rest: dict[int, bytes] = {}
        self._begun: dict[tuple[int | None, str], str] = {}  #: unfinished lines, by rank
        self._said: list[str] = []
        self.crashed: set[int] = set()  #: ranks whose faulthandler has reported a fatal signal
        self.noticed: set[int] = set()  #: ranks that Open MPI ended because another had ended
        if split is not None:  # the launcher carries what ranks of other hosts print
            return
        _raise_file_limit(2 * ranks + 64)
        for number in range(ranks):
            for name in ("out", "err"):
                path = folder / f"{number}.{name}"
                os.mkfifo(path, 0o600)
                self._add(os.open(path, os.O_RDONLY | os.O_NONBLOCK), number, name)

    def add(self, stream: IO[bytes] | None, name: str) -> None:
        """Also reads the output of mpiexec itself."""
        assert stream is not None
        number = os.dup(stream.fileno())
        stream.close()
        os.set_blocking(number, False)
        self._add(number, None, name)

    def _add(self, number: int, source: int | None, name: str) -> None:
        self._rest[number] = b""
        self._selector.register(number, selectors.EVENT_READ, (source, name))

    def read(self, seconds: float) -> bool:
        """Reads the available output; waits at most `seconds`. False if there was none."""
        # Keys without data belong to the watch of ended processes.
        events = [key for key, _ in self._selector.select(seconds) if key.data is not None]
        for key in events:
            source, name = key.data
            chunk = os.read(key.fd, 65536)
            *lines, rest = (self._rest[key.fd] + chunk).split(b"\n")
            if not chunk:
                lines, rest = ([rest] if rest else []), b""
                self._selector.unregister(key.fd)
                os.close(key.fd)
                del self._rest[key.fd]
            else:
                self._rest[key.fd] = rest
            for line in lines:
                self._pieces(source, name, line.decode(errors="backslashreplace"))
            if not chunk and self._split is not None:
                for number, of in [key for key in self._begun if key[1] == name]:
                    self._line(number, of, self._begun.pop((number, of)))
        return bool(events)

    def _pieces(self, source: int | None, name: str, line: str) -> None:
        if self._split is not None:
            *unfinished, (source, line) = self._split(line)
            for number, text in unfinished:
                self._begun[number, name] = self._begun.get((number, name), "") + text
            line = self._begun.pop((source, name), "") + line
        self._line(source, name, line)

    def _line(self, source: int | None, name: str, line: str) -> None:
        if source is None:
            self._said.append(line)
        elif name == "err" and line.startswith("Fatal Python error: "):
            self.crashed.add(source)
        elif line.endswith("*** An error occurred in Socket closed"):
            self.noticed.add(source)
        self._on_line(source, name, line)

    def said(self) -> str:
        return "\n".join(self._said).strip()

    def drain(self) -> None:
        """Reads the remaining output of ranks that have ended."""
        limit = time.monotonic() + 2
        while self._rest and time.monotonic() < limit and self.read(0):
            pass

    def close(self) -> None:
        for number in self._rest:
            os.close(number)
        self._rest.clear()


def _raise_file_limit(wanted: int) -> None:
    """Two pipes a rank: many ranks need more open files than shells usually allow."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        ceiling = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, ceiling), hard))
