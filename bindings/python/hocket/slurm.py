# SPDX-License-Identifier: BSD-3-Clause
"""Starts processes on the hosts of a Slurm allocation, by `srun`."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from . import mpiexec
from .errors import Error
from .logs import logger

#: a process of a step selects its program by its number
_CHOOSE = (
    "import json, os, sys; "
    "programs = json.load(open(sys.argv[1])); "
    "argv = programs[int(os.environ['SLURM_PROCID'])]; "
    "os.execvp(argv[0], argv)"
)
#: a script for each host before any process starts; each answers in one line
_ASK = """\
host=$(hostname)
test -x {python} || {{ echo "$host: no {python}"; exit; }}
test -d {folder} || {{ echo "$host: no {folder}"; exit; }}
test -d {cwd} || {{ echo "$host: no {cwd}"; exit; }}
version=$({python} -c 'import importlib.metadata as m; print(m.version("hocket"))' 2>&1) \
|| {{ echo "$host: no hocket in {python}"; exit; }}
echo "$host: hocket $version"
"""


def hosts() -> int:
    """The number of hosts of this process's allocation, if Slurm can start processes on them; 0
    outside an allocation and within a step."""
    if "SLURM_JOB_ID" not in os.environ or shutil.which("srun") is None:
        return 0
    text = os.environ.get("SLURM_JOB_NUM_NODES", os.environ.get("SLURM_NNODES", "1"))
    return int(text) if text.isdecimal() else 1


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
            "allocation see, or unset it for the working directory"
        )
    return Path(named or Path.cwd())


def check(folder: Path) -> None:
    """Checks the prerequisites of a run on every host.

    Raises
    ------
    Error
        a host lacks this Python, the run's folder, the working directory or hocket, or has another
        version of hocket; the message names each.
    """
    names = {"python": sys.executable, "folder": str(folder), "cwd": str(Path.cwd())}
    script = _ASK.format(**{name: shlex.quote(path) for name, path in names.items()})
    words = ["srun", f"--nodes={hosts()}", f"--ntasks={hosts()}", "--overcommit"]
    # A host may lack the working directory.
    line = [*words, "--overlap", "--mpi=none", "--chdir=/", "sh", "-c", script]
    done = subprocess.run(line, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    answers = sorted(set(done.stdout.splitlines()))
    missing = [answer for answer in answers if ": no " in answer]
    if done.returncode != 0 and not missing:
        raise Error(f"srun cannot start processes on the allocation's hosts: {done.stderr.strip()}")
    if missing:
        raise Error(
            "not every host of the allocation has what the run needs: "
            + "; ".join(missing)
            + "; put Python's environment, the program and the run's folder (HOCKET_SHARED, else "
            "the working directory) on a file system that all hosts share"
        )
    if len({answer.split(": ", 1)[1] for answer in answers}) > 1:
        raise Error(
            "the hosts of the allocation have different versions: "
            + "; ".join(answers)
            + "; install the same one everywhere"
        )


def require_room(processes: int) -> None:
    """Logs if processes share cores; the allocation need not have a core for each."""
    tasks = os.environ.get("SLURM_NTASKS", "")
    if tasks.isdecimal() and int(tasks) < processes:
        logger.warning(
            "the Slurm allocation has %s tasks, and the run %d processes: some share a core",
            tasks,
            processes,
        )


def command(programs: Sequence[tuple[int, Sequence[str]]], folder: Path) -> list[str]:
    """The `srun` command that starts these programs as one set of ranks, in this order, spread
    over the allocation's hosts. Each line of output begins with its rank."""
    count = sum(processes for processes, _ in programs)
    listed = folder / "programs"
    listed.write_text(json.dumps([list(argv) for n, argv in programs for _ in range(n)]))
    line = ["srun", f"--nodes={min(hosts(), count)}", f"--ntasks={count}", "--overcommit"]
    line += ["--overlap", "--label", "--kill-on-bad-exit=1", "--cpu-bind=none"]
    if "SLURM_MPI_TYPE" not in os.environ:
        kind = mpiexec.flavour(mpiexec.find())
        line.append("--mpi=pmix" if kind.startswith("openmpi") else "--mpi=pmi2")
    return [*line, sys.executable, "-c", _CHOOSE, str(listed)]


def labelled(line: str) -> tuple[int | None, str]:
    """(rank, text) of a line of `srun --label`; rank None: a message of srun itself."""
    match = re.match(r" *(\d+): ?(.*)", line, re.DOTALL)
    if match is None or match[2].startswith("slurmstepd-"):
        return None, line
    return int(match[1]), match[2]


def first_to_go(said: str) -> mpiexec.Gone | None:
    """Parses srun's report of the first process that ended badly: "n2: task 3: Killed"."""
    found = re.findall(r"srun: error: (\S+): tasks? (\d+)[\d,-]*: (.*)", said)
    # A crash comes first: srun kills the others. A process that only notices another's end has Open
    # MPI's status for that, and srun may report it sooner.
    crashes = [each for each in found if re.match("Segm|Abort|Bus|Illegal|Floating", each[2])]
    causes = [each for each in found if not each[2].endswith("exit code 14")]
    first = crashes or causes or found
    if not first:
        return None
    host, task, how = first[0]
    code = re.search(r"exit code (\d+)", how)
    how = f"with status {code[1]}" if code else how.strip()
    return mpiexec.Gone(rank=int(task), how=f"{how}, on host {host}")
