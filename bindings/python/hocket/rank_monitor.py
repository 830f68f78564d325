# SPDX-License-Identifier: BSD-3-Clause
"""Finds ranks that have ended without a report.

Launchers end the other ranks at once when one ends, and do not always name the first.
"""

from __future__ import annotations

import contextlib
import os
import select
import selectors
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Callable

from . import mpiexec

#: whether the system can watch processes that are not children of this one
SEES = hasattr(os, "pidfd_open")
#: the files that a rank leaves when it is done
_WORDS = (".result", ".ended", ".failure")
#: seconds in which a rank must leave MPI once all are done, although another rank ended before
LEAVING = 10.0
#: seconds after which a rank that has not reported yet must at least be a process
STARTING = 5.0


class RankMonitor:
    """Watches the processes of a run, by the `N.pid` that each rank leaves in its folder.

    Parameters
    ----------
    members
        returns the ids of all living processes of the run.
    selector
        wakes at the end of a process, before its consequences: these keys have no data.
    """

    def __init__(
        self,
        folder: Path,
        ranks: int,
        members: Callable[[], Iterable[int]],
        selector: selectors.BaseSelector,
    ) -> None:
        self._folder = folder
        self._ranks = ranks
        self._members = members
        self._selector = selector
        self._files: dict[int, int] = {}  # for living ranks
        self._pids: dict[int, int] = {}
        self._gone: set[int] = set()
        self._left_alone = float("inf")
        self._next_search = time.monotonic() + STARTING

    def silent(self) -> list[int]:
        """The ranks that have ended without a report."""
        if not SEES:
            return []
        for path in self._folder.glob("*.pid"):
            number = int(path.stem)
            if number in self._files or number in self._gone:
                continue
            try:
                self._pids[number] = int(path.read_text())
                self._files[number] = os.pidfd_open(self._pids[number])
                self._selector.register(self._files[number], selectors.EVENT_READ)
            except ProcessLookupError:
                self._gone.add(number)
            except OSError:  # no more open files: this rank is not watched
                continue
        ended = [number for number, file in self._files.items() if _ended(file)]
        for number in ended:
            self._let_go(number)
        self._gone.update(ended)
        return sorted(
            [number for number in self._gone if not self._has_spoken(number)] + self._never_there()
        )

    def living(self) -> list[int]:
        """The process ids of the ranks that existed at the last call of `silent`."""
        return [self._pids[number] for number in sorted(self._files)]

    def stuck(self) -> bool:
        """All ranks are done, one has ended, and the others do not leave MPI: it ended there,
        and they wait for it."""
        if not self._gone or not self._files or not all(map(self._has_spoken, range(self._ranks))):
            return False
        now = time.monotonic()
        self._left_alone = min(self._left_alone, now)
        return now - self._left_alone > LEAVING

    def close(self) -> None:
        for number in list(self._files):
            self._let_go(number)

    def _let_go(self, number: int) -> None:
        self._selector.unregister(self._files[number])
        os.close(self._files.pop(number))

    def _has_spoken(self, number: int) -> bool:
        return has_reported(self._folder, number)

    def _never_there(self) -> list[int]:
        """Ranks that ended before they could report at all. Rarely called, because it reads all
        of /proc."""
        missing = set(range(self._ranks)) - set(self._files) - self._gone
        if not missing or time.monotonic() < self._next_search:
            return []
        self._next_search = time.monotonic() + STARTING
        there = {_rank_of(pid) for pid in self._members()}
        # The rank has reported meanwhile, or the launcher sets no variable that hocket knows.
        if not there & set(range(self._ranks)):
            return []
        return [
            number
            for number in missing - there
            if not (self._folder / f"{number}.pid").exists() and not self._has_spoken(number)
        ]


def has_reported(folder: Path, number: int) -> bool:
    """Whether that rank has left the file of a rank that is done."""
    return any((folder / f"{number}{word}").exists() for word in _WORDS)


def _ended(file: int) -> bool:
    poll = select.poll()  # select does not support large file numbers
    poll.register(file, select.POLLIN)
    return bool(poll.poll(0))


def _rank_of(pid: int) -> int | None:
    with contextlib.suppress(OSError):
        content = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
        variables = dict(entry.split(b"=", 1) for entry in content if b"=" in entry)
        for name in mpiexec.RANK:
            text = variables.get(name.encode(), b"")
            if text.isdigit():
                return int(text)
    return None
