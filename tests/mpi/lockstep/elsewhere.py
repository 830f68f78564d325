# SPDX-License-Identifier: BSD-3-Clause
"""Processes of this host and of the other hosts of HOCKET_HOSTS, which number theirs apart."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from pathlib import Path
from typing import NamedTuple

from hocket import host_lists
from lockstep.job import HOSTS


class Process(NamedTuple):
    """A process of a host, which states its number and its host as text."""

    pid: int
    host: str

    @classmethod
    def read(cls, text: str) -> Process:
        pid, host = text.split()
        return cls(int(pid), host)

    @property
    def here(self) -> bool:
        return self.host == os.uname().nodename

    def kill(self, number: int = signal.SIGKILL) -> None:
        """Ends it by force, or sends it another signal."""
        if self.here:
            os.kill(self.pid, number)
        else:
            line = f"kill -{int(number)} {self.pid}"
            subprocess.run([*_shell_of(self.host), line], check=True)


def with_variable(variable: str) -> list[Process]:
    """All processes on all hosts that have NAME=VALUE in their environment."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if variable.encode() in (entry / "environ").read_bytes().split(b"\0"):
                found.append(Process(int(entry.name), os.uname().nodename))
    for host, _ in host_lists.parse("HOCKET_HOSTS", HOSTS) if HOSTS else []:
        if host == os.uname().nodename:
            continue
        look = f"grep -lzsxF '{variable}' /proc/[0-9]*/environ"
        done = subprocess.run([*_shell_of(host), look], capture_output=True, text=True)
        found += [Process(int(Path(line).parent.name), host) for line in done.stdout.split()]
    return found


def _shell_of(host: str) -> list[str]:
    """The beginning of a command line for the shell of another host."""
    return [os.environ.get("HYDRA_LAUNCHER_EXEC", "ssh"), host]
