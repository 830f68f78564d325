# SPDX-License-Identifier: BSD-3-Clause
"""What the set-up says, and how it runs other programs. All of it goes to stderr: the output of
`make -s which` is one path and nothing else."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NoReturn, Optional, Union

ROOT = Path(__file__).resolve().parent.parent
Argument = Union[str, Path]


def say(text: str) -> None:
    """One line of progress."""
    print(f"hocket: {text}", file=sys.stderr, flush=True)


def stop(text: str) -> NoReturn:
    """Ends the program with an error that says what is wrong and how to mend it."""
    print(f"hocket: {text}", file=sys.stderr, flush=True)
    raise SystemExit(1)


def run(
    command: Sequence[Argument],
    *,
    log: Optional[Path] = None,
    env: Optional[Mapping[str, str]] = None,
    cwd: Path = ROOT,
) -> None:
    """Runs a step of the set-up. With `log` its output goes there, and is shown if it fails."""
    words = [str(word) for word in command]
    if log is None:
        done = subprocess.run(words, env=env, cwd=cwd, stdout=sys.stderr, check=False)
    else:
        with log.open("a", encoding="utf-8") as sink:
            sink.write(f"$ {' '.join(words)}\n")
            sink.flush()
            done = subprocess.run(
                words, env=env, cwd=cwd, stdout=sink, stderr=subprocess.STDOUT, check=False
            )
        if done.returncode != 0:
            tail = log.read_text(encoding="utf-8", errors="replace").splitlines()[-60:]
            print("\n".join(tail), file=sys.stderr)
    if done.returncode != 0:
        where = f" (all of its output: {log})" if log else ""
        stop(f"`{' '.join(words)}` failed with code {done.returncode}{where}.")
