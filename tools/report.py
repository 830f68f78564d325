# SPDX-License-Identifier: BSD-3-Clause
"""Runs the parts of a command, some at the same time, and reports the end of each."""

from __future__ import annotations

import json
import os
import re
import subprocess
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import build
from messages import ROOT

AGAIN = 3  # more failures than these are no accidents
Result = TypeVar("Result")
#: pytest's dots, which are useless once the part has ended
DOTS = re.compile(rb"^[.sxXFE]+ *(\[ *\d+%\])?$\n?", re.MULTILINE)


class Report:
    """Collects the parts that ran, their durations, failures, and the parts that could not run."""

    def __init__(self) -> None:
        self.failed: list[str] = []
        self.absent: list[str] = []
        self.unsteady: list[str] = []
        self.times: list[tuple[float, str]] = []
        self.began = time.monotonic()
        self._printing = threading.Lock()

    def step(self, title: str, call: Callable[[], Result]) -> Result | None:
        """Calls a function of the set-up; None if it stopped with a message."""
        began = time.monotonic()
        try:
            return call()
        except SystemExit:
            self.failed.append(title)
            return None
        finally:
            self.times.append((time.monotonic() - began, title))

    def run(self, title: str, command: Sequence[str], cwd: Path = ROOT) -> int:
        """Runs one part, whose output is printed when it ends; its exit code."""
        with self._printing:
            print(f"== {title} …", flush=True)
        began = time.monotonic()
        done = subprocess.run(
            list(command),
            cwd=cwd,
            env=quiet_environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        seconds = time.monotonic() - began
        self.times.append((seconds, title))
        code = done.returncode
        with self._printing:
            text = done.stdout if code != 0 else DOTS.sub(b"", done.stdout)
            print(text.decode(errors="replace").rstrip())
            verdict = "passed" if code == 0 else f"FAILED ({code})"
            print(f"== {title}: {verdict}, {seconds:.0f} s\n", flush=True)
        if code != 0:
            self.failed.append(title)
        return code

    def run_apart(self, title: str, command: str) -> int:
        """Runs a shell command in a folder of its own, where its programs may write files."""
        with tempfile.TemporaryDirectory(prefix="hocket-") as folder:
            return self.run(title, ["sh", "-c", command], Path(folder))

    def tests(self, title: str, pytest: Sequence[str], folder: Path) -> None:
        """Runs one part with pytest. If at most AGAIN tests failed, those run once more, alone:
        on a machine with other users, one start of a job among a thousand may fail without a
        fault of the test. Tests that pass then are listed at the end, with their first output
        above, because they may also have a race."""
        kept = folder / "pytest" / title.replace(" ", "-")
        command = [*pytest, "-o", f"cache_dir={kept}"]
        if self.run(title, command) != 1:  # pytest's code for: all ran, some failed
            return
        failed = json.loads((kept / "v/cache/lastfailed").read_text(encoding="utf-8"))
        if len(failed) <= AGAIN:
            self.failed.remove(title)
            if self.run(f"{title}, what failed", [*command, "--last-failed"]) == 0:
                self.unsteady += failed

    def together(self, *lanes: Callable[[], object]) -> None:
        """Runs sequences of parts concurrently, because tests of several processes wait more
        than they compute."""
        threads = [threading.Thread(target=self._lane, args=(lane,)) for lane in lanes]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def _lane(self, lane: Callable[[], object]) -> None:
        try:
            lane()
        # otherwise a thread's exception would be lost, and its parts count as passed
        except BaseException as error:
            traceback.print_exc()
            self.failed.append(f"{type(error).__name__}: {error}")

    def close(self, what: str) -> int:
        """The closing lines; the exit code. HOCKET_TIMES names a file that collects the times of
        several commands."""
        seconds = time.monotonic() - self.began
        lines = [f"{time_of:7.0f} s  {title}" for time_of, title in sorted(self.times)[::-1]]
        print(f"{what} took {seconds:.0f} s:", *lines, sep="\n")
        if collected := os.environ.get("HOCKET_TIMES"):
            with Path(collected).open("a", encoding="utf-8") as file:
                file.writelines(f"{line} ({what})\n" for line in lines)
        for line in self.absent:
            print(f"not run: {line}")
        for name in self.unsteady:
            print(f"unsteady: {name} failed, and passed when it ran again alone")
        if self.absent and os.environ.get("HOCKET_TEST_ALL"):
            self.failed.append("HOCKET_TEST_ALL asks that nothing is left out")
        if self.failed:
            print(f"{what} FAILED after {seconds:.0f} s: {', '.join(self.failed)}")
            return 1
        print(f"{what} passed in {seconds:.0f} s")
        return 0


def quiet_environment() -> dict[str, str]:
    """Threads of numerical libraries would only compete with each other."""
    threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    return {**threads, **os.environ, **build.bytecode()}
