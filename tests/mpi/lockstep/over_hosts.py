# SPDX-License-Identifier: BSD-3-Clause
"""Stands for `mpiexec` where `HOCKET_HOSTS` names hosts: spreads the ranks of a plain `mpiexec -n 4
program` over them, so that tests which know one host only run on several.

Ranks get the environment and the working directory of the test. Lines that name hosts go to the
launcher unchanged.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Mapping, MutableMapping
from pathlib import Path

from hocket import host_lists, hosts, mpiexec

REAL = "LOCKSTEP_MPIEXEC"  # environment variable: the launcher for which this program stands
#: options of hocket's own lines, whose output begins with ranks
_LABELS = ("--output", "-prepend-pattern")


def prepare(environment: MutableMapping[str, str], folder: Path) -> None:
    """Makes this program the `mpiexec` of an environment. All hosts see the folder."""
    real = mpiexec.find()
    script = folder / "mpiexec"
    path = str(Path(__file__).resolve())
    script.write_text(f"#!/bin/sh\nexec '{sys.executable}' '{path}' \"$@\"\n", encoding="utf-8")
    script.chmod(0o700)
    environment[REAL] = str(real)
    environment["HOCKET_MPIEXEC"] = str(script)
    # Of their own each host has /tmp, and a launcher's daemons need that.
    environment["TMPDIR"] = environment["HOCKET_SHARED"] = str(folder)
    tempfile.tempdir = None  # made anew from TMPDIR
    key = folder / "meeting.key"
    key.touch(mode=0o600)
    key.write_bytes(os.urandom(40))
    environment["LOCKSTEP_KEY"], environment["LOCKSTEP_HOST"] = str(key), os.uname().nodename
    paths = [str(Path(path).parent / "meeting"), environment.get("PYTHONPATH", "")]
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, paths))


def line_of(words: list[str], real: Path, environment: Mapping[str, str]) -> list[str]:
    """The launcher's line for these words of a plain `mpiexec`."""
    options: list[str] = []
    if words[:1] == ["--with-ft"]:
        options, words = words[:2], words[2:]
    if not words or words[0] not in ("-n", "-np"):
        return [str(real), *options, *_with_prefix_of(real, words)]
    programs: list[tuple[int, list[str]]] = []
    while words:
        end = words.index(":") if ":" in words else len(words)
        programs.append((int(words[1]), words[2:end]))
        words = words[end + 1 :]
    folder = Path(tempfile.mkdtemp(prefix="line-", dir=environment["TMPDIR"]))
    listed = host_lists.Listed(host_lists.parse("HOCKET_HOSTS", environment["HOCKET_HOSTS"]))
    line = hosts.command(listed, programs, folder, environment)
    for label in _LABELS:
        if label in line:
            at = line.index(label)
            del line[at : at + 2]
    return [str(real), *options, *_with_prefix_of(real, line[1:])]


def _with_prefix_of(real: Path, words: list[str]) -> list[str]:
    """Open MPI's option --prefix, which hocket derives from the path of `mpiexec`."""
    if "--prefix" in words:
        words[words.index("--prefix") + 1] = str(real.resolve().parents[1])
    return words


def main() -> None:
    real = Path(os.environ[REAL])
    line = line_of(sys.argv[1:], real, os.environ)
    environment = {**os.environ}
    for name in ("TMPDIR", "OMPI_MCA_btl_sm_backing_directory"):
        environment.pop(name, None)
    os.execve(shutil.which(line[0]) or line[0], line, environment)


if __name__ == "__main__":
    main()
