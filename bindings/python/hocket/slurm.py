# SPDX-License-Identifier: BSD-3-Clause
"""Starts processes on the hosts of a Slurm allocation, by `srun`."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import time
from collections.abc import Sequence

from . import mpiexec, sessions
from .errors import Error
from .logs import logger


def hosts() -> int:
    """The number of hosts of this process's allocation, if Slurm can start processes on them; 0
    outside an allocation and within a step."""
    if "SLURM_JOB_ID" not in os.environ or shutil.which("srun") is None:
        return 0
    text = os.environ.get("SLURM_JOB_NUM_NODES", os.environ.get("SLURM_NNODES", "1"))
    return int(text) if text.isdecimal() else 1


def _names() -> list[str]:
    """The names of the hosts of this process's allocation; none if Slurm does not tell them."""
    line = ["scontrol", "show", "hostnames", os.environ.get("SLURM_JOB_NODELIST", "")]
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        done = subprocess.run(line, capture_output=True, text=True, timeout=10)
        return done.stdout.split() if done.returncode == 0 else []
    return []


class Allocation:
    """The hosts of this process's allocation."""

    def __init__(self) -> None:
        self.count = hosts()

    def ask(self, script: str, seconds: float, until: float) -> list[str]:
        """One process on each host."""
        words = ["srun", f"--nodes={self.count}", f"--ntasks={self.count}", "--overcommit"]
        # A host may lack the working directory.
        line = [*words, "--overlap", "--mpi=none", "--chdir=/", "sh", "-c", script, "sh"]
        pipe, limit = subprocess.PIPE, min(seconds, until - time.monotonic())
        late = False
        with sessions.start(
            line, os.environ, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, text=True
        ) as asked:
            try:
                printed, said = asked.communicate(timeout=max(limit, 0))
            except subprocess.TimeoutExpired:
                late = True
                sessions.end(asked, 5)
                printed, said = asked.communicate()
            finally:
                sessions.end(asked, 5)
        # Other lines come from the programs with which a site prepares jobs.
        names = _names()
        answers = [line for line in printed.splitlines() if line.partition(": ")[0] in names]
        if late:
            there = {answer.partition(": ")[0] for answer in answers}
            silent = [name for name in names if name not in there]
            answers += [f"{name}: no answer within {limit:.3g} s" for name in silent]
        if (late or asked.returncode != 0) and not any(": no " in answer for answer in answers):
            raise Error(f"srun cannot start processes on the allocation's hosts: {said.strip()}")
        return answers

    def require_room(self, processes: int) -> None:
        """Logs if processes share cores; the allocation need not have a core for each."""
        tasks = os.environ.get("SLURM_NTASKS", "")
        if tasks.isdecimal() and int(tasks) < processes:
            logger.warning(
                "the Slurm allocation has %s tasks, and the run %d processes: some share a core",
                tasks,
                processes,
            )

    def command(self, count: int, argv: Sequence[str]) -> list[str]:
        """A line of `srun`. Each line of its output begins with a rank.

        MPICH puts the addresses of its processes into requests to Slurm (PMI). Slurm's plug-in for
        PMI-2 reads at most 1024 bytes of a request, and takes the rest for another one
        (handle_pmi1_cmd). Addresses of UCX are longer, those of libfabric (OFI) are not. With UCX,
        MPI_Init failed or hung in half of the starts.
        """
        line = ["srun", f"--nodes={min(self.count, count)}", f"--ntasks={count}", "--overcommit"]
        # hocket ends the others itself, because Slurm may name them before the first.
        line += ["--overlap", "--label", "--kill-on-bad-exit=0", "--cpu-bind=none"]
        if "SLURM_MPI_TYPE" not in os.environ:
            launcher = mpiexec.find()
            openmpi = mpiexec.flavour(launcher).startswith("openmpi")
            line.append("--mpi=pmix" if openmpi else "--mpi=pmi2")
            if mpiexec.prefers_ucx(launcher):  # the user's own choice comes later
                line += ["env", "MPIR_CVAR_CH4_NETMOD=ofi"]
        return [*line, *argv]

    def labelled(self, line: str) -> list[tuple[int | None, str]]:
        """(rank, text) of a line of `srun --label`; rank None: a message of srun itself."""
        match = re.match(r" *(\d+): ?(.*)", line, re.DOTALL)
        if match is None or match[2].startswith("slurmstepd-"):
            return [(None, line)]
        return [(int(match[1]), match[2])]


def first_to_go(said: str) -> mpiexec.Gone | None:
    """Parses srun's report of the first process that ended badly: "n2: task 3: Killed"."""
    found = re.findall(r"srun: error: (\S+): tasks? (\d[\d,-]*): (.*)", said)
    if not found:
        return None
    crashes = [each for each in found if re.match("Segm|Abort|Bus|Illegal|Floating", each[2])]
    # Open MPI's status of a process that only notices another's end, which may be reported sooner.
    notices = [each for each in found if each[2].endswith("exit code 14")]
    others = [each for each in found if each not in notices]
    causes = (crashes or others)[:1]
    if notices and not crashes and len(others) > 1:
        # Slurm has killed the others at once. A process notices an end by a socket, so the first to
        # go was on another host.
        there = {host for host, _, _ in notices}
        causes = [each for each in others if each[0] not in there]
    if len({host for host, _, _ in causes}) != 1:
        return mpiexec.Gone(rank=_numbers(notices[0][1])[0], noticed=True)
    host, _, how = causes[0]
    ranks = [number for _, tasks, _ in causes for number in _numbers(tasks)]
    code = re.search(r"exit code (\d+)", how)
    how = f"with status {code[1]}" if code else how.strip()
    gone = mpiexec.Gone(how=f"{how}, on host {host}")
    if len(ranks) > 1:
        gone.candidates = ranks
    else:
        gone.rank = ranks[0]
    return gone


def _numbers(listed: str) -> list[int]:
    """The numbers of a list of Slurm's: 0,2-4."""
    found: list[int] = []
    for part in filter(None, listed.split(",")):
        first, _, last = part.partition("-")
        found += range(int(first), int(last or first) + 1)
    return found
