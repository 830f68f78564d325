# SPDX-License-Identifier: BSD-3-Clause
"""The public names of the package, with their docstrings and the examples in these."""

from __future__ import annotations

import contextlib
import doctest
import inspect
import io
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import hocket as hk

#: an example that says so is run by two processes, together
TWO = "On two processes:"


def public() -> dict[str, Any]:
    """Every public function, class, method and property, inherited ones too, by name."""
    found: dict[str, Any] = {}
    for name in hk.__all__:
        thing = getattr(hk, name)
        if not callable(thing):
            continue
        found[name] = thing
        for own in dir(thing) if inspect.isclass(thing) else ():
            home = next(each for each in thing.__mro__ if own in vars(each))
            if own.startswith("_") or not home.__module__.startswith("hocket"):
                continue
            member = vars(home)[own]
            function = getattr(member, "fget", None) or getattr(member, "__func__", member)
            if inspect.isfunction(function):
                found[f"{name}.{own}"] = function
    return found


def texts() -> dict[str, str]:
    """The docstrings of these, and of the package itself."""
    of_each = {name: inspect.getdoc(thing) or "" for name, thing in public().items()}
    return {"hocket": inspect.getdoc(hk) or "", **of_each}


def failures(names: Iterable[str], comm: Any = None) -> str:
    """Runs the examples of these docstrings, each with `hk` and `np` at hand, in a folder of its
    own, which the processes of `comm` share; what came out otherwise than they say."""
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE | doctest.IGNORE_EXCEPTION_DETAIL
    runner = doctest.DocTestRunner(verbose=False, optionflags=flags)
    told = io.StringIO()
    every = texts()
    for name in names:
        given = {"hk": hk, "np": np}
        test = doctest.DocTestParser().get_doctest(every[name], given, name, name, 0)
        with _elsewhere(comm):
            runner.run(test, out=told.write)
    return told.getvalue()


@contextlib.contextmanager
def _elsewhere(comm: Any) -> Iterator[None]:
    before = Path.cwd()
    first = comm is None or comm.rank == 0
    folder = tempfile.mkdtemp() if first else None
    os.chdir(folder if comm is None else comm.bcast(folder))
    try:
        yield
    finally:
        os.chdir(before)
        if comm is not None:
            comm.barrier()
        if first:
            shutil.rmtree(folder)
