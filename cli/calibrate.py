# SPDX-License-Identifier: BSD-3-Clause
"""`hocket calibrate`: measures costs on this machine, and keeps them for the choice of plans."""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from hocket.cli.main import Parser, UsageError
from hocket.cli.message_costs import measure

import hocket as hk
from hocket import _pure, costs
from hocket.errors import Error

_HELP = """\
Measure what messages between two processes of this machine cost, and keep it:

  hocket calibrate                                measure, print, keep
  hocket calibrate --set far_message=5e-5 …       costs between nodes, by hand
  hocket calibrate --output FILE                  keep it there; HOCKET_MODEL=FILE uses it

Costs between nodes, by two processes of a job, one on each; those kept before stay beside them:

  mpiexec -n 2 --host here,there hocket calibrate --in-job

Plans predict by it, and strategy="auto" chooses by it.

What passes over an array in place cost this processor, by which permute_inplace and remap choose
them, and how far ahead its kernels prefetch, how large their tiles are, and how they store; without
it, hocket has the figures of the nearest processor that it was measured on:

  hocket calibrate --passes

How many processes of this node write files fastest, as the default of writers= in stores:

  hocket calibrate --writers --folder .
"""


def main(words: list[str]) -> int:
    """Measure, print and write the model."""
    parser = Parser(prog="hocket calibrate", description=_HELP)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--output", metavar="FILE", help="where to keep it (the user's)")
    parser.add_argument("--set", metavar="COST=SECONDS", action="append", default=[])
    parser.add_argument("--dry-run", action="store_true", help="measure and print; keep nothing")
    parser.add_argument(
        "--repeat", type=int, default=15, help="measurements of each (15; of passes at most 3)"
    )
    parser.add_argument(
        "--in-job",
        action="store_true",
        help="this is one of the two processes of an MPI job: measure between them",
    )
    parser.add_argument(
        "--writers", action="store_true", help="measure how many processes write fastest, instead"
    )
    parser.add_argument(
        "--passes", action="store_true", help="measure passes over an array in place, instead"
    )
    parser.add_argument("--folder", metavar="DIR", default=".", help="where those write (here)")
    options = parser.parse_args(words)
    if options.repeat < 1:
        raise UsageError(f"--repeat {options.repeat}: measure once or more")
    by_hand = _given(options.set)
    path = options.output or costs.path()
    if path == "default" and not options.dry_run:  # HOCKET_MODEL forbids reading a file
        raise UsageError("HOCKET_MODEL is 'default'; unset it, or name a file by --output")
    if options.passes:
        text = _pure.measure_passes(min(options.repeat, 3))
        print(text, end="")
        if not options.dry_run:
            _keep(f"{path}.passes", text)
        return 0
    if options.writers:
        return _writers(options.folder, path, options.repeat, options.dry_run)
    if options.in_job:
        first, measured = _in_job(options.repeat)
        if not first:
            return 0
    else:
        measured = hk.run(_measured, args=(options.repeat,), ranks=2)[0]
    model = costs.checked({**_kept(path), **measured, **by_hand})
    for name, meaning in costs.MEANING.items():
        print(f"{name:<12} {model[name]:9.3g} s  {meaning}")
    if not options.dry_run:
        _keep(path, costs.text_of(model))
    return 0


def _keep(path: str, text: str) -> None:
    try:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text(text, encoding="utf-8")
    except OSError as problem:
        raise UsageError(
            f"cannot write '{path}': {problem.strerror}; name a file by --output"
        ) from (problem)
    print(f"kept in {path}")


def _writers(folder: str, path: str, repeat: int, dry: bool) -> int:
    """Measures the rates of 1, 2, 4, … writers, and keeps the fewest within 10 % of the best."""
    ranks = max(2, min(16, len(os.sched_getaffinity(0))))
    try:
        with tempfile.TemporaryDirectory(prefix="hocket-calibrate-", dir=folder) as where:
            rates = hk.run(write_rates, args=(where, min(repeat, 5)), ranks=ranks)[0]
    except OSError as problem:
        raise UsageError(f"--folder {folder}: {problem.strerror}") from None
    for count, rate in rates.items():
        print(f"{count:>3} writers {rate / 1e9:9.3g} GB/s")
    best = min(count for count, rate in rates.items() if rate >= 0.9 * max(rates.values()))
    print(f"{best:>3} writers a node are the default of stores")
    if not dry:
        _keep(f"{path}.writers", f"{best}\n")
    return 0


def write_rates(comm: Any, folder: str, repeat: int) -> dict[int, float]:
    """Bytes a second that so many processes write to a store, by their number."""
    os.environ["HOCKET_MODEL"] = "default"  # the file may not exist yet
    rows, columns = 16 * comm.size, 1 << 19
    a = hk.zeros(hk.Layout((rows, columns), "(BLOCK, *)", comm.size), "uint8", comm)
    a.local[...] = 1
    rates = {}
    for count in [n for n in (1, 2, 4, 8, 16) if n <= comm.size]:
        seconds = []
        with hk.open_store(f"{folder}/{count}.zarr", "w", comm=comm) as s:
            for turn in range(repeat + 1):
                s.create(f"t{turn}", a.shape, "uint8", chunks=(4, columns), codec="none")
                comm.Barrier()
                begun = time.perf_counter()
                s.write(f"t{turn}", a, writers=count)
                seconds.append(comm.allreduce(time.perf_counter() - begun) / comm.size)
        rates[count] = a.nbytes / statistics.median(seconds[1:])
        if comm.rank == 0:
            shutil.rmtree(f"{folder}/{count}.zarr")
    return rates


def _in_job(repeat: int) -> tuple[bool, dict[str, float]]:
    """Whether this process reports for both, and their measurements."""
    from mpi4py import MPI

    comm = MPI.COMM_WORLD
    if comm.size != 2:
        raise UsageError(
            f"--in-job: the job has {comm.size} process(es); start two, as mpiexec -n 2 --host "
            "here,there hocket calibrate --in-job"
        )
    return comm.rank == 0, _measured(comm, repeat)


def _measured(comm: Any, repeat: int) -> dict[str, float]:
    os.environ["HOCKET_MODEL"] = "default"  # the file may not exist yet
    return measure(comm, repeat)


def _kept(path: str) -> dict[str, float]:
    """The existing model: a measurement within a node keeps the costs between nodes."""
    try:
        return {**costs.DEFAULT, **costs.parse(Path(path).read_text(encoding="utf-8"))}
    except (OSError, UnicodeDecodeError, Error):  # none yet, or a damaged one, which this replaces
        return dict(costs.DEFAULT)


def _given(settings: list[str]) -> dict[str, float]:
    try:
        parsed = [costs.parse(each) for each in settings]
    except Error as problem:
        raise UsageError(f"--set: {problem}") from None
    names = [each.partition("=")[0].strip() for each in settings]
    return {name: model[name] for name, model in zip(names, parsed)}
