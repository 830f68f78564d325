# SPDX-License-Identifier: BSD-3-Clause
"""A network of a given speed on one machine: two network namespaces with a shaped link between
them.

Processes of a program are on two nodes, as far as they can see, and their messages travel through
the system's TCP at the link's rate. It needs root, `ip` and `tc`, and Open MPI.

``python -m hocket.bench.shaped_link [--rate 1gbit] COMMAND …`` runs a command on two processes, one
on either side. It removes the namespaces however the command ends; the next run removes those of a
killed process.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

from hocket import mpiexec
from hocket.errors import Error
from hocket.sessions import exit_on_sigterm

_PREFIX = "hocket-link-"
_SETTINGS = Path("/etc/netns")
_NETWORK = "10.77.0.0/24"
_AGENT = """#!/bin/sh
# Open MPI's way to another node: HOST COMMAND...
host=$1; shift
exec ip netns exec "$host" unshare --uts sh -c "hostname $host; $*"
"""


def _run(*words: str) -> None:
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode != 0:
        raise Error(f"`{' '.join(words)}` failed: {(done.stderr or done.stdout).strip()}")


def _require() -> None:
    missing = [name for name in ("ip", "tc", "unshare") if shutil.which(name) is None]
    if missing:
        raise Error(
            f"a shaped link needs {', '.join(missing)}; install Debian's iproute2 and util-linux"
        )
    if os.geteuid() != 0:
        raise Error("a shaped link needs root, to make network namespaces; run this as root")


def _take_down(name: str) -> None:
    # Deleting a namespace deletes its link.
    subprocess.run(["ip", "netns", "del", name], capture_output=True)
    shutil.rmtree(_SETTINGS / name, ignore_errors=True)


def _sweep() -> None:
    """Removes the namespaces of processes that have ended."""
    listed = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True).stdout
    left = {line.split()[0] for line in listed.splitlines() if line.startswith(_PREFIX)}
    if _SETTINGS.is_dir():
        left |= {path.name for path in _SETTINGS.glob(f"{_PREFIX}*")}
    for name in left:
        owner = name[len(_PREFIX) :].split("-")[0]
        if not Path(f"/proc/{owner}").exists():
            _take_down(name)


class ShapedLink:
    """Two nodes on this machine, while it is entered.

    Args:
        rate: bits a second, as `tc` writes them: "1gbit", "500mbit".

    Raises:
        Error: not root, something is missing, or `ip` or `tc` refuse.
    """

    def __init__(self, rate: str) -> None:
        _require()
        self.rate = rate
        self.nodes = [f"{_PREFIX}{os.getpid()}-{side}" for side in (0, 1)]
        self._folder = tempfile.TemporaryDirectory(prefix=_PREFIX)
        self._agent = Path(self._folder.name) / "agent"

    def __enter__(self) -> ShapedLink:
        _sweep()
        try:
            self._set_up()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        for node in self.nodes:
            _take_down(node)
        self._folder.cleanup()

    def _set_up(self) -> None:
        here, there = self.nodes
        for node in self.nodes:
            _run("ip", "netns", "add", node)
        _run(*f"ip link add v0 netns {here} type veth peer name v1 netns {there}".split())
        hosts = ["127.0.0.1 localhost", *(f"10.77.0.{k + 1} {n}" for k, n in enumerate(self.nodes))]
        for side, node in enumerate(self.nodes):
            _run(*f"ip -n {node} addr add 10.77.0.{side + 1}/24 dev v{side}".split())
            _run(*f"ip -n {node} link set lo up".split())
            _run(*f"ip -n {node} link set v{side} up".split())
            shape = f"rate {self.rate} burst 512kb latency 50ms"
            _run(*f"tc -n {node} qdisc add dev v{side} root tbf {shape}".split())
            (_SETTINGS / node).mkdir(parents=True, exist_ok=True)
            (_SETTINGS / node / "hosts").write_text("\n".join(hosts) + "\n", encoding="ascii")
        self._agent.write_text(_AGENT, encoding="ascii")
        self._agent.chmod(0o700)

    def command(self, launcher: Path, command: Sequence[str], ranks: int) -> list[str]:
        """The command line that starts processes on both nodes, the first half here.

        Raises:
            Error: the launcher is not Open MPI's, or the processes cannot be halved.
        """
        if mpiexec.flavour(launcher) != "openmpi":
            raise Error(f"{launcher} is not Open MPI's, which alone is known to use a shaped link")
        if ranks % 2:
            raise Error(f"a link has two ends, and {ranks} processes cannot be halved")
        slots = ",".join(f"{node}:{ranks // 2}" for node in self.nodes)
        settings = (
            *("--prtemca", "plm_ssh_agent", str(self._agent)),
            *("--prtemca", "plm_ssh_no_tree_spawn", "1"),
            *("--prtemca", "prte_if_include", _NETWORK),
            *("--mca", "pml", "ob1", "--mca", "btl", "tcp,self"),
            *("--mca", "btl_tcp_if_include", _NETWORK),
        )
        begin = ("ip", "netns", "exec", self.nodes[0], "unshare", "--uts", "sh", "-c")
        return [
            *begin,
            'hostname "$0" && exec "$@"',
            self.nodes[0],
            *(str(launcher), "-n", str(ranks), "--host", slots, "--bind-to", "none"),
            *settings,
            *command,
        ]


def add_option(parser: argparse.ArgumentParser) -> None:
    """``--link RATE`` of a benchmark."""
    parser.add_argument(
        "--link",
        metavar="RATE",
        help="over a link of so many bits a second, as 1gbit, between two network namespaces; "
        "needs root and Open MPI (default: in shared memory)",
    )


def validate(options: argparse.Namespace) -> None:
    """Raises ValueError if a requested link is impossible."""
    if options.link:
        try:
            ShapedLink(options.link)
        except Error as error:
            raise ValueError(f"--link {options.link}: {error}") from error


def main(words: Sequence[str]) -> int:
    """The command's status."""
    parser = argparse.ArgumentParser(prog="python -m hocket.bench.shaped_link")
    parser.add_argument("--rate", default="1gbit", help="bits a second (1gbit)")
    parser.add_argument("command", nargs=argparse.REMAINDER, help="what each process runs")
    options = parser.parse_args(list(words))
    if not options.command:
        parser.error("give a command")
    launcher = mpiexec.find()
    try:
        with exit_on_sigterm(), ShapedLink(options.rate) as link:
            environment = mpiexec.environment(mpiexec.flavour(launcher))
            line = link.command(launcher, options.command, 2)
            return subprocess.run(line, env=environment).returncode
    except Error as problem:
        print(f"shaped_link: {problem}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
