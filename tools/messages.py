# SPDX-License-Identifier: BSD-3-Clause
"""Messages of the set-up, and runs of other programs. All output goes to stderr: the output of
`make -s which` is one path only."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NoReturn, Optional, Union

ROOT = Path(__file__).resolve().parent.parent
#: where environments and builds are: the checkout, or the folder of `make BUILD=FOLDER`
PLACE = Path(os.environ.get("HOCKET_BUILD") or ROOT).resolve()
Argument = Union[str, Path]


def say(text: str) -> None:
    """One line of progress."""
    print(f"hocket: {text}", file=sys.stderr, flush=True)


def stop(text: str) -> NoReturn:
    """Ends the program with an error and its remedy."""
    print(f"hocket: {text}", file=sys.stderr, flush=True)
    raise SystemExit(1)


def run(
    command: Sequence[Argument],
    *,
    log: Optional[Path] = None,
    env: Optional[Mapping[str, str]] = None,
    cwd: Path = ROOT,
    progress: str = "",
) -> None:
    """Runs a step of the set-up. With `log` its output goes there, and is shown if it fails;
    with `progress`, Ninja's count is printed every few seconds."""
    words = [str(word) for word in command]
    if log is None:
        process = subprocess.Popen(words, env=env, cwd=cwd, stdout=sys.stderr)
        process.wait()
    else:
        with log.open("a", encoding="utf-8") as sink:
            sink.write(f"$ {' '.join(words)}\n")
            sink.flush()
            process = subprocess.Popen(
                words, env=env, cwd=cwd, stdout=sink, stderr=subprocess.STDOUT
            )
            if progress:
                follow(process, log, progress)
            process.wait()
        if process.returncode != 0:
            tail = log.read_text(encoding="utf-8", errors="replace").splitlines()[-60:]
            print("\n".join(tail), file=sys.stderr)
    if process.returncode != 0:
        where = f" (all of its output: {log})" if log else ""
        stop(f"`{' '.join(words)}` failed with code {process.returncode}{where}.")


SECONDS_BETWEEN_LINES = 5.0


def follow(process: subprocess.Popen[bytes], log: Path, what: str) -> None:
    """Prints Ninja's progress, from the last "[n/m]" of its log, until it ends."""
    said = ""
    while True:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(SECONDS_BETWEEN_LINES)
            return
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - 4096))
            counts = re.findall(r"^\[(\d+/\d+)\]", file.read().decode(errors="replace"), re.M)
        if counts and counts[-1] != said:
            said = counts[-1]
            say(f"{what}: {said.replace('/', ' of ')}")
