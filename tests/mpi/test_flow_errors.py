# SPDX-License-Identifier: BSD-3-Clause
"""Errors of steps: raised as often as somebody asks, and of the types of the steps' own errors."""

import functools
import subprocess
import sys

import numpy as np
import pytest
from lockstep import ranks

import hocket as hk


class Broken:
    """An operation whose poll raises."""

    def poll(self):
        raise ValueError("no ink")

    def __repr__(self):
        return "a broken operation"


def fail():
    raise ValueError("no ink")


def fail_in_identity(part):
    raise ValueError("no ink")


FAILING = {
    "task": lambda f: f.task(fail, inouts=["x"]),
    "start": lambda f: f.comm(fail, inouts=["x"]),
    "poll": lambda f: f.comm(Broken, inouts=["x"]),
    "reduction": lambda f: f.task(fail_in_identity, inouts=["x"], reduces=[np.zeros(3)]),
}


@ranks(1)
@pytest.mark.parametrize("how", FAILING)
def test_an_error_is_raised_as_often_as_it_is_asked_for(comm, how):
    for workers in (1, 3):
        f = hk.Flow(workers)
        FAILING[how](f)
        on_x = functools.partial(f.wait_on, "x")
        for ask in (on_x, on_x, f.wait):
            with pytest.raises(ValueError, match="no ink") as caught:
                ask()
            assert isinstance(caught.value, hk.StepError)
            assert type(caught.value.__cause__) is ValueError
        f.wait()
        with pytest.raises(hk.StepError, match="no ink"), hk.Flow(workers) as f:
            FAILING[how](f)
            with pytest.raises(hk.StepError, match="no ink"):
                f.wait_on("x")


AT_EXIT = """
import hocket as hk
f = hk.Flow(1)
f.task(lambda: 1 / 0, outputs=["x"], name="divide")
try:
    f.wait_on("x")
except ZeroDivisionError as error:
    print(error)
"""


def test_an_error_raised_before_is_told_again_at_the_end_of_the_program():
    line = [sys.executable, "-c", AT_EXIT]
    done = subprocess.run(line, capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout) == (0, "step 'divide' failed: division by zero\n")
    assert done.stderr.count("step 'divide' failed: division by zero") == 1
