# SPDX-License-Identifier: BSD-3-Clause
"""The hosts of a run: this one alone, those of a Slurm allocation, or those of a list."""

from __future__ import annotations

import contextlib
import json
import math
import os
import re
import shlex
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol, Union

from . import mpiexec, slurm
from .errors import DeadlineError, Error
from .host_lists import Listed, parse

#: `hosts=` of `hk.run`: "n1:2,n2:2", the name of a host file, or a list of the first form
Given = Union[str, "os.PathLike[str]", Sequence[str], None]
#: (processes, command line) for each program, in rank order
Programs = Sequence["tuple[int, Sequence[str]]"]

#: seconds in which a host must answer
ANSWER = 60.0
#: variables that belong to a host or to its launcher, and not to the run
_LOCAL = re.compile(r"(OMPI|PMIX|PMI|PRTE|HYDRA|SSH|SLURM)_|(HOSTNAME|OLDPWD|PWD|SHLVL|_)$")
#: a process selects its program by its rank, and takes the run's environment
_CHOOSE = (
    "import json, os, sys; "
    "run = json.load(open(sys.argv[1])); "
    "os.environ.update(run['environment']); "
    "os.path.isdir(os.environ.get('TMPDIR', '/')) or os.environ.pop('TMPDIR'); "
    "rank = next(int(os.environ[name]) for name in run['rank'] if name in os.environ); "
    "os.chdir(run['folder']); "
    "argv = run['programs'][rank]; "
    "os.execvp(argv[0], argv)"
)
_VERSIONS = (
    "import importlib.metadata as m, platform, sys, mpi4py; mpi4py.rc.initialize = False; "
    "from mpi4py import MPI; "
    "mpi = MPI.Get_library_version().splitlines()[0].split(','); "
    "print('hocket', m.version('hocket'), 'with', *mpi[0].split(), end=', '); "
    "print(platform.machine(), sys.byteorder, 'endian')"
)
#: a script for each host before any process starts; it answers in one line. Its argument: the
#: name by which the run calls the host. Messages of Python are no answer, but say why there is none
_ASK = """\
host=${{1:-${{SLURMD_NODENAME:-$(hostname)}}}}
test -x {python} || {{ echo "$host: no {python}"; exit; }}
test -d {folder} || {{ echo "$host: no {folder}"; exit; }}
test -d {cwd} || {{ echo "$host: no {cwd}"; exit; }}
version=$({python} -c {versions} 2>/dev/null) || {{
    why=$({python} -c {versions} 2>&1 | tail -n 1)
    echo "$host: no hocket in {python} ($why)"
    exit
}}
echo "$host: $version"
"""


class Hosts(Protocol):
    """Several hosts, on which a launcher starts processes."""

    count: int

    def ask(self, script: str, seconds: float, until: float) -> list[str]:
        """The answers of all hosts to a script of the shell, "HOST: …". "HOST: no answer …" for
        each that takes longer than these seconds, or than `until` (of time.monotonic)."""

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


def check(hosts: Hosts, folder: Path, until: float = math.inf) -> None:
    """Checks the prerequisites of a run on every host.

    Raises
    ------
    Error
        a host does not answer, lacks this Python, the run's folder, the working directory or
        hocket, or has another version of hocket or of the MPI, or another kind of processor or
        byte order; the message names each.
    DeadlineError
        it is later than `until` (of time.monotonic).
    """
    names = {"python": sys.executable, "folder": str(folder), "cwd": str(Path.cwd())}
    names["versions"] = _VERSIONS
    quoted = {name: shlex.quote(path) for name, path in names.items()}
    answers = sorted(set(hosts.ask(_ASK.format(**quoted), ANSWER, until)))
    missing = [answer for answer in answers if ": no " in answer]
    listed = "; ".join(missing)
    if missing and time.monotonic() >= until:
        raise DeadlineError(
            f"the time limit of the run passed before all of its hosts had answered: {listed}; "
            "give a larger limit, or leave these hosts out"
        )
    if missing:
        silent = all(": no answer" in answer for answer in missing)
        mend = (
            "start them, or correct their names; ssh must reach each without a password"
            if silent
            else "put Python's environment, the program and the run's folder (HOCKET_SHARED, else "
            "the working directory) on a file system that all hosts share"
        )
        raise Error(f"not every host of the run has what it needs: {listed}; {mend}")
    if len({answer.split(": ", 1)[1] for answer in answers}) > 1:
        raise Error(
            "the hosts of the run have different versions or processors: "
            + "; ".join(answers)
            + "; install the same version everywhere, and join different processors by ports"
        )


def silent(hosts: Hosts) -> str:
    """The hosts that do not answer, with the reasons."""
    with contextlib.suppress(Error):
        script = 'echo "${1:-${SLURMD_NODENAME:-$(hostname)}}: there"'
        answers = hosts.ask(script, ANSWER, math.inf)
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
