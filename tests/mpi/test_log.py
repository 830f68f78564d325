# SPDX-License-Identifier: BSD-3-Clause
"""Python's logger `hocket` gets choices and their reasons; nothing while it is disabled."""

import logging
import os
import re
import subprocess
import sys

import numpy as np
from lockstep import ranks
from mpi4py import MPI

import hocket as hk


class Listener(logging.Handler):
    """Keeps the messages that it gets."""

    def __init__(self, level):
        super().__init__()
        self.level_wanted, self.texts = level, []

    def emit(self, record):
        self.texts.append(f"{record.levelname} {record.getMessage()}")

    def __enter__(self):
        self.logger = logging.getLogger("hocket")
        self.before = self.logger.level
        self.logger.addHandler(self)
        self.logger.setLevel(self.level_wanted)
        return self

    def __exit__(self, *_):
        self.logger.removeHandler(self)
        self.logger.setLevel(self.before)

    def told(self, pattern):
        return [text for text in self.texts if re.search(pattern, text)]


def turned(comm, n):
    """An array of a shape that no other test moves, in rows and then in columns."""
    rows = hk.Layout((n, n), "(BLOCK, *)", comm.size)
    a = hk.from_function(lambda i, j: n * i + j, rows, "int64", comm)
    b = hk.redistribute(a, hk.Layout((n, n), "(*, BLOCK)", comm.size))
    assert (b.local == np.add.outer(n * np.arange(n), b.layout.global_indices(comm.rank)[1])).all()


@ranks(2, 3)
def test_choices_are_told_at_debug(comm):
    own = comm.Dup()
    with Listener(logging.DEBUG) as heard:
        turned(own, 331)
    strategy, transfer = r"\(331, 331\) \(BLOCK, \*\)", f"sends {comm.size - 1} message"
    chosen = heard.told(rf"DEBUG strategy \w+ for {strategy}.* direct \S+ s, .*hybrid \S+ s")
    assert len(chosen) == (1 if comm.rank == 0 else 0)  # which chooses for all
    assert heard.told(rf"DEBUG transfer of {strategy}.*, strategy direct: .*{transfer}")
    near = comm.Split_type(MPI.COMM_TYPE_SHARED)
    shares = "shares memory" if near.size > 1 else "is alone on its node"
    place = rf"DEBUG process {comm.rank} of {comm.size} of a communicator {shares}"
    assert heard.told(place), heard.texts
    copy = heard.told(r"DEBUG a message of \d+ bytes in \d+ runs within the node: .* one copy")
    assert bool(copy) == (near.size > 1)
    near.Free()
    own.Free()


@ranks(2)
def test_nothing_is_told_to_who_does_not_listen(comm):
    with Listener(logging.WARNING) as heard:
        turned(comm, 332)
    with Listener(logging.INFO) as less:
        turned(comm, 333)
    assert heard.texts == [] and not less.told("DEBUG")
    with Listener(logging.DEBUG) as again:
        turned(comm, 334)
    assert again.told("DEBUG transfer of")


@ranks(1)
def test_a_handler_that_fails_fails_alone(comm):
    class Failing(Listener):
        def emit(self, record):
            if record.levelno == logging.DEBUG:  # the library's
                raise ValueError("no disk")

    unraisable = []
    before, sys.unraisablehook = sys.unraisablehook, unraisable.append
    try:
        with Failing(logging.DEBUG):
            turned(comm, 335)
    finally:
        sys.unraisablehook = before
    assert unraisable and all("no disk" in str(each.exc_value) for each in unraisable)


PROGRAM = """
import logging, sys
words = "%(levelname)s %(name)s %(message)s"
logging.basicConfig(level=logging.INFO, format=words, stream=sys.stdout)
import hocket as hk
hk.zeros(hk.Layout(3, "*"))
hk.run(lambda comm: None, ranks=1)
"""


def test_what_holds_for_the_program_is_told_at_info():
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, "HOCKET_THREADS": "2"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert re.search(r"^INFO hocket MPI: \S.* hocket was built with ", done.stdout, re.MULTILINE)
    assert re.search(r"^INFO hocket settings: .*HOCKET_THREADS=2", done.stdout, re.MULTILINE)
    assert re.search(r"^INFO hocket starting 1 process\b.*mpiexec", done.stdout, re.MULTILINE)
    assert "DEBUG" not in done.stdout
