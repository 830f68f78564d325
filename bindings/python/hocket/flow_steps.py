# SPDX-License-Identifier: BSD-3-Clause
"""The steps of flows in Python: their functions, accesses and errors."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Iterable, Sequence
from types import MemberDescriptorType
from typing import Any, Callable, Optional

from hocket import _mpi
from hocket.arguments import as_number, printable
from hocket.errors import Error, StepError
from hocket.reductions import Reduction
from hocket.regions import Touched, regions_of
from hocket.verbs import Verbs


def accesses_of(
    inputs: Iterable[Touched], outputs: Iterable[Touched], inouts: Iterable[Touched]
) -> tuple[list[_mpi.Access], list[Any]]:
    """All accesses of a step, and the objects that must live as long as the step."""
    accesses: list[_mpi.Access] = []
    hold: list[Any] = []
    for kind, word, names in (
        (_mpi.AccessKind.read, "inputs", inputs),
        (_mpi.AccessKind.write, "outputs", outputs),
        (_mpi.AccessKind.update, "inouts", inouts),
    ):
        for touched in as_names(names, word):
            hold.append(touched)
            accesses += [_mpi.Access(kind, region) for region in regions_of(touched)]
    return accesses, hold


def as_names(names: Any, word: str) -> Sequence[Touched]:
    """The regions of one kind of access, as a list. (An array or a string has items, too.)"""
    if not isinstance(names, (list, tuple)):
        raise Error(
            f"{word} is {type(names).__name__}; give a list of arrays and keys, as {word}=[a, 'b']"
        )
    return names


# A call of these functions makes a generator, and runs none of their code.
_RUNS_LATER = inspect.CO_GENERATOR | inspect.CO_ASYNC_GENERATOR


def as_function(fn: Any) -> tuple[Callable[..., Any], bool]:
    """The function of a step, and whether it waits in its middle: an ``async def`` one."""
    if not callable(fn):
        raise Error(f"{fn!r} is no function; a step is one without arguments, as lambda: f(a, b)")
    inner = getattr(fn, "func", fn)  # of functools.partial
    flags = getattr(getattr(inner, "__code__", None), "co_flags", 0)
    if flags & _RUNS_LATER:
        raise Error(
            f"{name_of(None, fn)!r} is a generator function: a call of it runs "
            "nothing; give a function that runs to its end, as lambda: list(f())"
        )
    return fn, bool(flags & inspect.CO_COROUTINE)


def speaker_of(w: Any) -> Verbs:
    """The tasks that send or receive in a step. Raises `Error`."""
    if not isinstance(w, Verbs):
        raise Error(f"w is {type(w).__name__}; give what hk.tasks has made")
    return w


def with_parts(fn: Callable[..., Any], reductions: list[Reduction]) -> Callable[..., Any]:
    def called(addresses: list[int]) -> None:
        fn(*(each.array_at(address) for each, address in zip(reductions, addresses)))

    return called


def share_of(threads: Any) -> int:
    """Threads of one step; 0: the flow's number."""
    share = 0 if threads is None else as_number(threads, "threads")
    if threads is not None and share < 1:
        raise Error(f"threads is {share}; give 1 or more, or None for as many as the flow says")
    return share


def name_of(name: Optional[str], fn: Any) -> str:
    if name is None:
        inner = getattr(fn, "func", fn)  # of functools.partial
        name = getattr(inner, "__name__", type(inner).__name__)
    return printable(str(name))


#: Classes that Python code has made: Py_TPFLAGS_HEAPTYPE.
_HEAP_TYPE = 1 << 9


def raise_thrown(thrown: Optional[_mpi.Thrown]) -> None:
    if thrown is None:
        return
    where, step = thrown.where, thrown.step
    try:
        thrown.raise_again()
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:
        raise _of_type(error, f"{where} failed: {_words_of(error)}", step) from error
    finally:
        # It holds the error in C++, and the error's traceback this frame: a cycle that Python's
        # collector does not see.
        del thrown


def _words_of(error: BaseException) -> str:
    try:
        return str(error) or type(error).__name__
    except Exception:  # the exception's str fails, too
        return type(error).__name__


def _of_type(error: BaseException, message: str, step: str) -> StepError:
    """A StepError that also has the type of the step's error, for `except ValueError`.

    Does not call constructors written in Python, because their arguments are unknown.
    """
    kind = type(error)
    try:
        mixed = kind
        if not issubclass(kind, StepError):
            mixed = type("StepError", (StepError, kind), {"__module__": "hocket"})
        native: Any = next(each for each in kind.__mro__ if not each.__flags__ & _HEAP_TYPE)
        made: StepError = native.__new__(mixed, *error.args)
        made.args = error.args
        for each in kind.__mro__:
            for name, member in vars(each).items():
                if isinstance(member, MemberDescriptorType):
                    with contextlib.suppress(AttributeError, TypeError):  # not set, or read-only
                        setattr(made, name, getattr(error, name))
        vars(made).update(vars(error))
    except Exception:  # the class forbids subclasses
        made = StepError(message)
    made.step, made._message = step, message
    return made
