# SPDX-License-Identifier: BSD-3-Clause
"""The hosts of a run: this one alone, those of a Slurm allocation, or those of a list."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shlex
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Protocol, Union

from . import mpiexec, sessions, slurm
from .errors import Error

#: `hosts=` of `hk.run`: "n1:2,n2:2", the name of a host file, or a list of the first form
Given = Union[str, "os.PathLike[str]", Sequence[str], None]
#: (processes, command line) for each program, in rank order
Programs = Sequence["tuple[int, Sequence[str]]"]

#: seconds in which a host must answer
ANSWER = 60.0
#: hosts that are asked at a time
_AT_ONCE = 16
#: variables that belong to a host or to its launcher, and not to the run
_LOCAL = re.compile(r"(OMPI|PMIX|PMI|PRTE|HYDRA|SSH|SLURM)_|(HOSTNAME|OLDPWD|PWD|SHLVL|_)$")
#: a process selects its program by its rank, and takes the run's environment
_CHOOSE = (
    "import json, os, sys; "
    "run = json.load(open(sys.argv[1])); "
    "os.environ.update(run['environment']); "
    "rank = next(int(os.environ[name]) for name in run['rank'] if name in os.environ); "
    "os.chdir(run['folder']); "
    "argv = run['programs'][rank]; "
    "os.execvp(argv[0], argv)"
)
_VERSIONS = (
    "import importlib.metadata as m, mpi4py; mpi4py.rc.initialize = False; "
    "from mpi4py import MPI; "
    "mpi = MPI.Get_library_version().splitlines()[0].split(','); "
    "print('hocket', m.version('hocket'), 'with', *mpi[0].split())"
)
#: a script for each host before any process starts; it answers in one line. Its argument: the
#: name by which the run calls the host
_ASK = """\
host=${{1:-$(hostname)}}
test -x {python} || {{ echo "$host: no {python}"; exit; }}
test -d {folder} || {{ echo "$host: no {folder}"; exit; }}
test -d {cwd} || {{ echo "$host: no {cwd}"; exit; }}
version=$({python} -c {versions} 2>&1) || {{ echo "$host: no hocket in {python}"; exit; }}
echo "$host: $version"
"""


class Hosts(Protocol):
    """Several hosts, on which a launcher starts processes."""

    count: int

    def ask(self, script: str) -> list[str]:
        """The answers of all hosts to a script of the shell."""

    def require_room(self, processes: int) -> None:
        """Raises Error if the hosts have too few places for these processes."""

    def command(self, count: int, argv: Sequence[str]) -> list[str]:
        """The command line that starts so many processes of one program."""

    def labelled(self, line: str) -> list[tuple[int | None, str]]:
        """(rank, text) of each piece of a line that the launcher prints; rank None: the
        launcher's own. Only the last piece ends its rank's line."""


def find(given: Given, name: str = "hosts") -> Hosts | None:
    """The hosts of a run: `given`, else `$HOCKET_HOSTS`, else those of a Slurm allocation; None
    for this host alone. `name`: of the argument, for errors.

    Raises
    ------
    Error
        the list or the file cannot be read.
    """
    if given is None and os.environ.get("HOCKET_HOSTS"):
        name, given = "HOCKET_HOSTS", os.environ["HOCKET_HOSTS"]
    if given is not None:
        return Listed(parse(name, given))
    return slurm.Allocation() if slurm.hosts() > 1 else None


class Listed:
    """Hosts of a list, with the number of processes of each; 0: unspecified."""

    def __init__(self, places: Sequence[tuple[str, int]]) -> None:
        self.places = places
        self.count = len(places)

    def ask(self, script: str) -> list[str]:
        """One `mpiexec` for each host, so that a host that does not answer is known."""
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            return list(pool.map(lambda place: self._ask(place[0], script), self.places))

    def _ask(self, host: str, script: str) -> str:
        launcher = mpiexec.find()
        env = mpiexec.environment(mpiexec.flavour(launcher))
        argv = ["sh", "-c", script, "sh", host]
        line = mpiexec.command(launcher, [(1, argv)], mpiexec.spread(launcher, [(host, 1)]))
        began = time.monotonic()
        said = []
        pipe, mixed = subprocess.PIPE, subprocess.STDOUT
        with sessions.start(
            line, env, stdin=subprocess.DEVNULL, stdout=pipe, stderr=mixed
        ) as asked:
            limit = threading.Timer(ANSWER, sessions.end, (asked, 0))
            limit.start()
            try:
                # Open MPI's launcher does not always end after its processes, so hocket ends it.
                for text in asked.stdout or ():
                    _, answer = self.labelled(text.decode(errors="replace").rstrip())[-1]
                    if answer.startswith(f"{host}: "):
                        return answer
                    said.append(answer)
                late = time.monotonic() - began >= ANSWER
            finally:
                limit.cancel()
                sessions.end(asked, 1)
        return f"{host}: no answer " + (f"within {ANSWER:g} s" if late else f"({_brief(said)})")

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


def _brief(said: Sequence[str]) -> str:
    """The line of a launcher's text that says why a host is not there."""
    lines = [line.strip() for line in said if line.strip("- ")]
    why = [line for line in lines if re.match(r"(ssh|bash|sh|/\S+):", line)]
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
    on each line: `n1 slots=2` (Open MPI), `n1:2` (MPICH) or `n1`.

    Raises
    ------
    Error
        a file that cannot be read, no host, or no number of places.
    """
    if isinstance(given, (str, os.PathLike)):
        text = os.fspath(given)
        is_file = os.sep in text or Path(text).is_file()
        words: Iterable[str] = _lines(name, text) if is_file else text.split(",")
    else:
        words = given
    found: dict[str, int] = {}
    for word in words:
        match = re.fullmatch(r"\s*([\w.-]+)(?:(?::|\s+slots\s*=\s*)(\d+))?\s*", word)
        if match is None or (match[2] is not None and int(match[2]) < 1):
            raise Error(
                f"{name} has '{word}', which is no host; write n1:2,n2:2, or a file with lines as "
                "'n1 slots=2'"
            )
        found[match[1]] = found.get(match[1], 0) + int(match[2] or 0)
    if not found:
        raise Error(f"{name} has no host; write n1:2,n2:2, or the name of a host file")
    return list(found.items())


def _lines(name: str, path: str) -> list[str]:
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        why = getattr(problem, "strerror", None) or "it is no text"
        raise Error(f"{name} names the host file '{path}', which cannot be read: {why}") from None
    return [line for line in (each.partition("#")[0].strip() for each in text.splitlines()) if line]


def shared_folder() -> Path:
    """The folder for a run's files, which all hosts must share: `$HOCKET_SHARED`, else the working
    directory.

    Raises
    ------
    Error
        HOCKET_SHARED names no folder.
    """
    named = os.environ.get("HOCKET_SHARED")
    if named and not Path(named).is_dir():
        raise Error(
            f"HOCKET_SHARED names '{named}', which is no folder; name one that all hosts of the "
            "run see, or unset it for the working directory"
        )
    return Path(named or Path.cwd())


def check(hosts: Hosts, folder: Path) -> None:
    """Checks the prerequisites of a run on every host.

    Raises
    ------
    Error
        a host does not answer, lacks this Python, the run's folder, the working directory or
        hocket, or has another version of hocket or of the MPI; the message names each.
    """
    names = {"python": sys.executable, "folder": str(folder), "cwd": str(Path.cwd())}
    names["versions"] = _VERSIONS
    quoted = {name: shlex.quote(path) for name, path in names.items()}
    answers = sorted(set(hosts.ask(_ASK.format(**quoted))))
    missing = [answer for answer in answers if ": no " in answer]
    if missing:
        silent = all(": no answer" in answer for answer in missing)
        mend = (
            "start them, or correct their names; ssh must reach each without a password"
            if silent
            else "put Python's environment, the program and the run's folder (HOCKET_SHARED, else "
            "the working directory) on a file system that all hosts share"
        )
        listed = "; ".join(missing)
        raise Error(f"not every host of the run has what it needs: {listed}; {mend}")
    if len({answer.split(": ", 1)[1] for answer in answers}) > 1:
        raise Error(
            "the hosts of the run have different versions: "
            + "; ".join(answers)
            + "; install the same one everywhere"
        )


def silent(hosts: Hosts) -> str:
    """The hosts that do not answer, with the reasons."""
    with contextlib.suppress(Error):
        answers = hosts.ask('echo "${1:-$(hostname)}: there"')
        return "\n".join(answer for answer in answers if ": no " in answer)
    return ""


def command(
    hosts: Hosts, programs: Programs, folder: Path, environment: Mapping[str, str]
) -> list[str]:
    """The command that starts these programs as one set of ranks, in this order, spread over the
    hosts. Each has this process's working directory and the environment of the run."""
    passed = {name: text for name, text in environment.items() if not _LOCAL.match(name)}
    run = {
        "programs": [list(argv) for count, argv in programs for _ in range(count)],
        "environment": passed,
        "rank": ["SLURM_PROCID"] if isinstance(hosts, slurm.Allocation) else mpiexec.RANK,
        "folder": str(Path.cwd()),
    }
    listed = folder / "programs"
    listed.write_text(json.dumps(run), encoding="utf-8")
    argv = [sys.executable, "-c", _CHOOSE, str(listed)]
    return hosts.command(sum(count for count, _ in programs), argv)
