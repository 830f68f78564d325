# SPDX-License-Identifier: BSD-3-Clause
"""Common to all applications: processes, figures, and the record of a run."""

from __future__ import annotations

import argparse
import datetime
import json
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Callable

import numpy as np
from hocket.cli.main import UsageError

from hocket import hosts, processes
from hocket.errors import DeadlineError, Error
from hocket.launch import explain, lost
from hocket.task_ranks import RankMap

#: names the folder of the compiled programs, if not the checkout's build folder
VARIABLE = "HOCKET_APPS"


@dataclass
class Result:
    """The results of a program."""

    facts: dict[str, Any]  #: for the JSON
    lines: list[str]  #: for people
    good: bool = True
    verdict: str = "not asked for"
    threads: int = 1  #: of each process
    parameters: dict[str, Any] = field(default_factory=dict)  #: beside the options


def at_least(options: argparse.Namespace, **least: int) -> None:
    """Refuses options that are too small, by name.

    Raises:
        UsageError: the first of them.
    """
    for name, bound in least.items():
        value = getattr(options, name)
        if value < bound:
            raise UsageError(f"--{name.replace('_', '-')} {value}: give {bound} or more")


def wholes(text: str, name: str, least: int = 1) -> list[int]:
    """A list of whole numbers, as "16,64,256".

    Raises:
        UsageError: an entry is no whole number of at least `least`, or the list is empty.
    """
    words = [word.strip() for word in text.split(",")]
    if not all(word.isdecimal() and int(word) >= least for word in words):
        raise UsageError(
            f"{name} {text}: give whole numbers of at least {least} with commas between them"
        )
    return [int(word) for word in words]


def pair(text: str, name: str) -> tuple[int, int]:
    """ "512" or "300x200" as rows and columns.

    Raises:
        UsageError: it is neither.
    """
    words = text.lower().split("x")
    if len(words) > 2 or not all(word.isdecimal() and int(word) > 0 for word in words):
        raise UsageError(f"{name} {text}: give a whole number, or two as 300x200")
    return int(words[0]), int(words[-1])


def program(name: str) -> Path:
    """The compiled program. Raises `Error` where it is not built."""
    root = Path(__file__).resolve().parents[2] / "build"
    named = os.environ.get(VARIABLE)
    # An environment `.env/mpich` belongs to the build `build/mpich`.
    folders = [Path(named)] if named else [root / Path(sys.prefix).name / "apps", root / "apps"]
    for folder in folders:
        if (folder / f"hocket_app_{name}").is_file():
            return folder / f"hocket_app_{name}"
    raise Error(
        f"hocket_app_{name} is not built: looked in {', '.join(map(str, folders))}; run `make "
        f"bench` in a checkout of hocket, which builds them, or set {VARIABLE} to their folder"
    )


def run_folder() -> AbstractContextManager[Path]:
    """A folder for the files of a program's processes, removed in the end. If HOCKET_HOSTS or a
    Slurm allocation names several hosts, all of them see it.
    """
    return processes.run_folder(hosts.find(None))


def start(
    name: str,
    procs: int,
    words: Mapping[str, object],
    folder: Path,
    timeout: float,
    watch: Callable[[str], bool] = lambda _: False,
) -> dict[str, Any]:
    """Run a program on new processes.

    Args:
        words: its parameters. folder: from `run_folder`. timeout: seconds until all are
        ended. watch: called with every other printed line; True suppresses the line.

    Returns:
        the report of its process 0.

    Raises:
        Error: the error of its processes. DeadlineError: `timeout` passed.
    """
    argv = [str(program(name)), *(f"{key}={_plain(value)}" for key, value in words.items())]
    seats: RankMap = [(None, rank) for rank in range(procs)]
    reports: list[str] = []
    errors: dict[int, str] = {}  # the last error of each process, of one line or several

    def take(rank: int | None, stream: str, line: str) -> None:
        if rank == 0 and stream == "out" and line.startswith("{"):
            reports.append(line)
        elif stream == "err" and rank is not None and line.startswith("error: "):
            errors[rank] = line[len("error: ") :]
        elif stream == "err" and rank in errors:
            errors[rank] += "\n" + line
        elif rank is not None and not (stream == "out" and watch(line)):
            print(line, file=sys.stdout if stream == "out" else sys.stderr, flush=True)

    outcome = processes.supervise(
        [(procs, [sys.executable, "-m", "hocket.cli.launch", *argv])],
        folder,
        on_line=take,
        timeout=timeout,
        python=False,
        hosts=hosts.find(None),
    )
    if outcome.timed_out:
        raise DeadlineError(
            f"hocket app {name} had not ended after {timeout:g} s; give a larger --timeout, or "
            "less to do"
        )
    if errors:
        # several processes have the same error
        raise Error("; ".join(dict.fromkeys(errors.values())))
    if outcome.failures:
        raise Error(explain(outcome.failures, seats))
    if outcome.code != 0 or not reports:
        raise Error(lost(outcome, folder, [], seats))
    report: dict[str, Any] = json.loads(reports[-1])
    return report


def _plain(value: object) -> object:
    if isinstance(value, (list, tuple)):
        return ",".join(map(str, value))
    return int(value) if isinstance(value, bool) else value


def shares(total: int, weights: Sequence[int]) -> list[int]:
    """`total` processes in proportion to weights, at least one each, by largest remainders.

    Raises:
        UsageError: there are fewer processes than weights.
    """
    if total < len(weights):
        raise UsageError(f"{len(weights)} tasks need as many processes, and there are {total}")
    spare = total - len(weights)
    exact = [spare * weight / max(1, sum(weights)) for weight in weights]
    found = [int(one) for one in exact]
    most = sorted(range(len(weights)), key=lambda i: found[i] - exact[i])
    for i in most[: spare - sum(found)]:
        found[i] += 1
    return [1 + one for one in found]


def forms_of(
    asked: str | None, known: Sequence[str], procs: int, tasks: Mapping[str, int]
) -> list[str]:
    """The forms to run: the requested ones, else all that have enough processes.

    Args:
        asked: by commas, as given with ``--forms``. tasks: the number of tasks of forms with
        several.

    Raises:
        UsageError: an unknown form, or one with more tasks than processes.
    """
    possible = [form for form in known if procs >= tasks.get(form, 1)]
    if asked is None:
        return possible
    for form in asked.split(","):
        if form not in known:
            raise UsageError(f"--forms {form}: there are {', '.join(known)}")
        if form not in possible:
            raise UsageError(
                f"the form {form} has {tasks[form]} tasks, of a process each at least, but --procs "
                f"is {procs}; give {tasks[form]} or more, or --forms {possible[0]}"
            )
    return list(dict.fromkeys(asked.split(",")))


def statistics(samples: Sequence[float]) -> dict[str, Any]:
    """Median, minimum, 99th percentile, and count of runs."""
    if not samples:
        return {"runs": 0, "median_s": None, "minimum_s": None, "percentile_99_s": None}
    return {
        "runs": len(samples),
        "median_s": float(np.median(samples)),
        "minimum_s": float(np.min(samples)),
        "percentile_99_s": float(np.percentile(samples, 99)),
    }


def seconds(value: float | None) -> str:
    """A time for people."""
    if value is None:
        return "–"
    if value >= 1:
        return f"{value:.3g} s "
    return f"{value * 1e3:.3g} ms" if value >= 1e-3 else f"{value * 1e6:.3g} µs"


def record(name: str, options: argparse.Namespace, result: Result) -> dict[str, Any]:
    """A run with all its parameters."""
    from hocket.cli import info

    asked = {key: value for key, value in vars(options).items() if key != "json"}
    facts = dict(result.facts)
    return {
        "app": name,
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "parameters": {**asked, **result.parameters},
        "ranks": facts.pop("ranks", None),
        "threads": result.threads,
        "mpi": facts.pop("mpi", None),
        "machine": info.machine(),
        **facts,
        "check": {"asked": options.check, "good": result.good, "verdict": result.verdict},
    }
