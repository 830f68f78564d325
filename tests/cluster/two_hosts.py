# SPDX-License-Identifier: BSD-3-Clause
"""Two hosts on this machine, made for tests and taken down after them.

Each has its own network address, process numbers, mounts, host name, /tmp and /dev/shm, and an SSH
daemon as its first process; a link joins them. They share this machine's other file systems.
`python tests/cluster/two_hosts.py COMMAND …` runs a command on the first one, with a folder for
shared files in HOCKET_SHARED. It needs root, and Debian's openssh-server, iproute2 and util-linux.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

NAMES = ("h1", "h2")
LINKS = tuple(f"hk{side}-{os.getpid()}" for side in range(2))
PROGRAMS = ("sshd", "ssh", "ssh-keygen", "ip", "unshare", "nsenter")

_DAEMON = """\
Port 22
HostKey {folder}/key
AuthorizedKeysFile {folder}/key.pub
StrictModes no
PidFile none
UsePAM no
MaxStartups 100
"""
_CLIENT = """\
#!/bin/sh
exec ssh -F none -i {folder}/key -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null \
-o LogLevel=ERROR -o ConnectTimeout=10 "$@"
"""
_BEGIN = """\
hostname {name} && mount -t tmpfs tmp /tmp && mount -t tmpfs shm /dev/shm &&
mount -t sysfs sys /sys && mkdir -p /run/sshd &&
mount --bind {folder}/names /etc/hosts && ip link set lo up &&
exec {sshd} -D -e -f {folder}/daemon
"""


def missing() -> list[str]:
    """The missing prerequisites of two hosts on this machine."""
    found = [name for name in PROGRAMS if shutil.which(name, path=_path()) is None]
    return found + ([] if os.geteuid() == 0 else ["the right to be root"])


def _path() -> str:
    return os.environ.get("PATH", "") + ":/usr/sbin:/sbin"


class TwoHosts:
    """Two running hosts: `folder` is on both, and `environment` lets a launcher reach them."""

    def __init__(self, folder: Path, earlier: int) -> None:
        self.folder, self.earlier = folder, earlier
        self.first: dict[str, int] = {}  #: the first process of each host, as this host numbers it
        client = str(folder / "ssh")
        self.environment = {
            **os.environ,
            "PATH": _path(),
            "PRTE_MCA_plm_ssh_agent": client,
            "OMPI_MCA_plm_rsh_agent": client,
            "HYDRA_LAUNCHER": "ssh",
            "HYDRA_LAUNCHER_EXEC": client,
            # /tmp is each host's own.
            "PYTHONPYCACHEPREFIX": str(folder / "pycache"),
        }

    def command(self, name: str, words: Sequence[str]) -> list[str]:
        """The command line that runs a command on a host."""
        return ["nsenter", f"--target={self.first[name]}", "--all", "--wd=.", *words]

    def run(
        self, name: str, words: Sequence[str], cwd: Path, timeout: float, **more: str
    ) -> tuple[int, str]:
        """Runs a command on a host; (status, output)."""
        done = subprocess.run(
            self.command(name, words),
            cwd=cwd,
            env={**self.environment, **more},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=timeout,
        )
        return done.returncode, done.stdout

    def kill(self, name: str) -> None:
        """Ends a host with all its processes, as if it lost its power."""
        os.kill(self.first[name], signal.SIGKILL)

    def start(self, name: str) -> None:
        """Starts a host, with its end of the link."""
        side = NAMES.index(name)
        daemon = shutil.which("sshd", path=_path())
        script = _BEGIN.format(name=name, folder=self.folder, sshd=daemon)
        spaces = ["--net", "--pid", "--mount", "--uts", "--ipc", "--fork", "--mount-proc"]
        if side > 0 and self.earlier > 0:
            more = str(self.earlier)
            spaces += ["--time", "--monotonic", more, "--boottime", more]
        line = ["unshare", *spaces, "--kill-child", "sh", "-c", script]
        log = (self.folder / f"{name}.log").open("ab")
        began = subprocess.Popen(
            line, env=self.environment, start_new_session=True, stdout=log, stderr=log
        )
        log.close()
        children = Path(f"/proc/{began.pid}/task/{began.pid}/children")
        limit = time.monotonic() + 10
        while not (pids := children.read_text().split()) and time.monotonic() < limit:
            time.sleep(0.01)
        self.first[name] = int(pids[0])
        link = LINKS[side]
        self._run("ip", "link", "set", link, "netns", str(self.first[name]))
        inside = ["nsenter", f"--target={self.first[name]}", "--net", "ip"]
        self._run(*inside, *f"addr add 10.78.0.{side + 1}/24 dev {link}".split())
        self._run(*inside, "link", "set", link, "up")

    def _run(self, *words: str) -> None:
        subprocess.run(words, env=self.environment, check=True)


@contextlib.contextmanager
def two_hosts(earlier: int = 0) -> Iterator[TwoHosts]:
    """Gives two hosts, which end with the block. The second one's clock says that it was started so
    many seconds earlier than the first.

    Raises
    ------
    RuntimeError
        a daemon did not start; its log is in the text.
    """
    # Not in /tmp, of which each host has its own.
    folder = Path(tempfile.mkdtemp(prefix="hocket-hosts-", dir="/var/tmp"))
    made = TwoHosts(folder, earlier)
    try:
        subprocess.run(["ssh-keygen", "-q", "-N", "", "-f", str(folder / "key")], check=True)
        (folder / "daemon").write_text(_DAEMON.format(folder=folder))
        (folder / "ssh").write_text(_CLIENT.format(folder=folder))
        (folder / "ssh").chmod(0o700)
        lines = ["127.0.0.1 localhost", *(f"10.78.0.{k + 1} {n}" for k, n in enumerate(NAMES))]
        (folder / "names").write_text("\n".join(lines) + "\n")
        subprocess.run(
            ["ip", "link", "add", LINKS[0], "type", "veth", "peer", "name", LINKS[1]], check=True
        )
        for name in NAMES:
            made.start(name)
        _wait(made)
        yield made
    finally:
        for name in made.first:
            with contextlib.suppress(ProcessLookupError):
                made.kill(name)
        subprocess.run(["ip", "link", "del", LINKS[0]], capture_output=True)
        shutil.rmtree(folder, ignore_errors=True)


def _wait(made: TwoHosts) -> None:
    """Until each host's daemon answers the first host."""
    limit = time.monotonic() + 30
    for name in NAMES:
        ask = made.command(NAMES[0], [str(made.folder / "ssh"), name, "hostname"])
        while True:
            done = subprocess.run(ask, env=made.environment, capture_output=True, text=True)
            if done.stdout.strip() == name:
                break
            if time.monotonic() > limit:
                logs = "\n".join(path.read_text()[-2000:] for path in made.folder.glob("*.log"))
                raise RuntimeError(f"the hosts did not start: {done.stderr}\n{logs}")
            time.sleep(0.2)


if __name__ == "__main__":
    if lacking := missing():
        raise SystemExit(f"two hosts need {', '.join(lacking)} (Debian: openssh-server iproute2)")
    with two_hosts() as both:
        line = both.command(NAMES[0], sys.argv[1:])
        shared = {"HOCKET_SHARED": str(both.folder)}
        raise SystemExit(subprocess.run(line, env={**both.environment, **shared}).returncode)
