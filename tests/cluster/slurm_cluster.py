# SPDX-License-Identifier: BSD-3-Clause
"""A Slurm cluster of two nodes on this machine, made for tests and taken down after them.

Debian's slurm-wlm and munge, as root: a controller and two node daemons, each with a host name,
shared memory and a folder for temporary files of its own. `python tests/cluster/slurm_cluster.py
COMMAND …` runs a command while the cluster is there.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

NODES = ("n1", "n2")
PROGRAMS = ("slurmctld", "slurmd", "munged", "unshare")

_CONFIGURATION = """\
ClusterName=hocket
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.sock
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool.%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=pmix
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
PreemptType=preempt/partition_prio
PreemptMode=CANCEL
SlurmdTimeout=10
KillWait=5
{nodes}
PartitionName=DEFAULT Nodes=ALL MaxTime=INFINITE State=UP
PartitionName=all Default=YES OverSubscribe=FORCE:8 PreemptMode=OFF
PartitionName=spare OverSubscribe=NO PriorityTier=1 GraceTime=60
PartitionName=urgent OverSubscribe=NO PriorityTier=9
"""


def missing() -> list[str]:
    """The missing prerequisites of a cluster on this machine."""
    found = [name for name in PROGRAMS if shutil.which(name, path=_path()) is None]
    return found + ([] if os.geteuid() == 0 else ["the right to be root"])


def _path() -> str:
    return os.environ.get("PATH", "") + ":/usr/sbin:/sbin"


def _free_ports(count: int) -> list[int]:
    with contextlib.ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


@contextlib.contextmanager
def cluster() -> Iterator[dict[str, str]]:
    """Gives the environment in which Slurm's commands reach the cluster; `FOLDER` in it is the
    folder of the cluster, whose `tmp` each node sees as its own.

    Raises
    ------
    RuntimeError
        a daemon did not start; its log is in the text.
    """
    folder = Path(tempfile.mkdtemp(prefix="hocket-slurm-"))
    environment = {**os.environ, "PATH": _path(), "SLURM_CONF": str(folder / "slurm.conf")}
    environment["FOLDER"] = str(folder)
    try:
        _write(folder)
        _start(folder, environment)
        yield environment
    finally:
        for name in ("slurmctld", "munged", *(f"slurmd.{node}" for node in NODES)):
            with contextlib.suppress(OSError, ValueError):
                os.kill(int((folder / f"{name}.pid").read_text()), signal.SIGTERM)
        time.sleep(1)
        shutil.rmtree(folder, ignore_errors=True)


def _write(folder: Path) -> None:
    """The key, the folders and the configuration."""
    key = folder / "munge.key"
    key.touch(0o400)
    key.write_bytes(os.urandom(1024))
    (folder / "state").mkdir()
    (folder / "tmp").mkdir()
    controller, *ports = _free_ports(1 + len(NODES))
    nodes = []
    for node, port in zip(NODES, ports):
        (folder / f"tmp.{node}").mkdir()
        nodes.append(f"NodeName={node} NodeHostname={node} NodeAddr=127.0.0.1 Port={port} CPUs=2")
    names = {"folder": folder, "port": controller, "nodes": "\n".join(nodes)}
    text = _CONFIGURATION.format(host=socket.gethostname(), **names)
    (folder / "slurm.conf").write_text(text)
    (folder / "mpi.conf").write_text(f"PMIxCliTmpDirBase={folder}/tmp\n")


def _start(folder: Path, environment: dict[str, str]) -> None:
    """All daemons, until both nodes are idle."""

    def run(*words: str) -> None:
        subprocess.run(words, env=environment, check=True, stdout=subprocess.DEVNULL)

    run(
        "munged", "--force", f"--key-file={folder}/munge.key", f"--socket={folder}/munge.sock",
        f"--pid-file={folder}/munged.pid", f"--log-file={folder}/munged.log",
        f"--seed-file={folder}/munge.seed",
    )  # fmt: skip
    run("slurmctld", "-c")
    for node in NODES:
        mount = f"mount --bind '{folder}/tmp.{node}' '{folder}/tmp' && mount -t tmpfs shm /dev/shm"
        run("unshare", "-m", "-u", "sh", "-c", f"hostname {node} && {mount} && slurmd -N {node}")
    limit = time.monotonic() + 60
    while True:
        state = subprocess.run(
            ["sinfo", "-h", "-o", "%t %D"], env=environment, capture_output=True, text=True
        )
        if state.stdout.split() == ["idle", str(len(NODES))]:
            return
        if time.monotonic() > limit:
            logs = "\n".join(path.read_text()[-2000:] for path in folder.glob("*.log"))
            raise RuntimeError(f"the cluster did not start: {state.stdout}{state.stderr}\n{logs}")
        time.sleep(0.2)


if __name__ == "__main__":
    if lacking := missing():
        raise SystemExit(f"a Slurm cluster needs {', '.join(lacking)} (Debian: slurm-wlm munge)")
    with cluster() as made:
        raise SystemExit(subprocess.run(sys.argv[1:], env=made).returncode)
