# SPDX-License-Identifier: BSD-3-Clause
"""Errors of steps: raised as often as somebody asks, and of the types of the steps' own errors."""

import functools
import gc
import subprocess
import sys
import weakref

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


async def wait_for_broken():
    await hk.completion(Broken())


def fail_in_identity(part):
    raise ValueError("no ink")


FAILING = {
    "task": lambda f: f.task(fail, inouts=["x"]),
    "start": lambda f: f.comm(fail, inouts=["x"]),
    "await": lambda f: f.task(wait_for_broken, inouts=["x"]),
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
        left = weakref.ref(f)
        del caught, f, on_x, ask
        gc.collect()
        assert left() is None  # the errors, which its frames belong to, are gone, too


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


class Coded(Exception):
    """It has a constructor of its own."""

    def __init__(self, code, *, reason):
        super().__init__(f"{code}: {reason}")
        self.code = code


class Slotted(Exception):
    __slots__ = ("code",)

    def __init__(self, code):
        self.code = code


class Unusual(ValueError):
    def __new__(cls, first, second):
        return super().__new__(cls, first)


class Alone(Exception):
    """Nothing can be derived from it."""

    def __init_subclass__(cls):
        raise TypeError("final")


# An error, and what a program may ask of it.
ERRORS = {
    "key": (KeyError("no such key"), lambda e: e.args == ("no such key",)),
    "file": (FileNotFoundError(2, "none", "a"), lambda e: (e.errno, e.filename) == (2, "a")),
    "text": (UnicodeDecodeError("utf-8", b"\xff", 0, 1, "bad"), lambda e: e.object == b"\xff"),
    "import": (ImportError("none", name="x"), lambda e: e.name == "x"),
    "end": (StopIteration(7), lambda e: e.value == 7),
    "coded": (Coded(4, reason="no ink"), lambda e: e.code == 4),
    "slotted": (Slotted(5), lambda e: e.code == 5),
    "unusual": (Unusual(1, 2), lambda e: e.args == (1, 2)),
    "layout": (hk.LayoutError("no layout"), lambda e: isinstance(e, ValueError)),
    "step": (hk.StepError("its own"), lambda e: True),
    "process": (subprocess.CalledProcessError(3, "ls"), lambda e: e.returncode == 3),
}
if sys.version_info >= (3, 11):
    GROUP = ExceptionGroup("two", [ValueError(1), KeyError(2)])  # noqa: F821
    ERRORS["group"] = GROUP, lambda e: e.split(KeyError)[0].exceptions == GROUP.exceptions[1:]


@ranks(1)
@pytest.mark.parametrize("which", ERRORS)
def test_a_step_error_is_of_the_type_of_the_steps_own(comm, which):
    error, same = ERRORS[which]
    f = hk.Flow(1)

    def fail():
        raise error

    def outer():
        f.task(fail, name="inner")
        f.wait()

    for step, told in ((fail, "step 'x' failed: "), (outer, "step 'x' failed: step 'inner' ")):
        f.task(step, name="x")
        with pytest.raises(type(error)) as caught:
            f.wait()
        found = caught.value
        assert isinstance(found, hk.StepError) and found.step == "x"
        assert same(found)
        assert str(found).startswith(told) and str(found).endswith(str(error))
    assert found.__cause__.__cause__ is error


@ranks(1)
def test_an_error_that_nothing_can_be_derived_from_is_the_cause(comm):
    def fail():
        raise Alone("no ink")

    f = hk.Flow(1)
    f.task(fail, name="x")
    with pytest.raises(hk.StepError, match="step 'x' failed: no ink") as caught:
        f.wait()
    assert type(caught.value.__cause__) is Alone


@ranks(1)
def test_a_text_that_no_encoding_holds_is_told(comm):
    """As a file name's, whose bytes are no UTF-8."""

    def fail_at_file():
        raise ValueError("no file \udc80")

    flow = hk.Flow(workers=1)
    flow.task(fail_at_file, inouts=["x"], name="open")
    for _ in range(2):
        with pytest.raises(ValueError, match="no file"):
            flow.wait_on("x")


@ranks(1)
def test_an_exit_without_an_entry_is_an_error(comm):
    flow = hk.Flow(workers=1)
    with pytest.raises(hk.Error, match="without its __enter__"):
        flow.__exit__(None, None, None)


@ranks(1)
def test_annotations_that_name_no_arguments(comm):
    with pytest.raises(hk.Error, match=r"without parentheses; write @hk.step\(\)"):
        hk.step(lambda a: None)
    with pytest.raises(hk.Error, match=r"inputs is 5; give a list of names, as inputs=\['A'\]"):
        hk.step(inputs=5)(lambda a: None)
    with pytest.raises(hk.Error, match=r"op is \['add'\]; give one of 'add'"):
        hk.Flow(1).task(lambda part: None, reduces=[np.zeros(3)], op=["add"])
