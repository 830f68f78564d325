# SPDX-License-Identifier: BSD-3-Clause
"""What a flow makes of a function, of what it touches, and of what it throws."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Callable, Optional

from hocket import _mpi
from hocket.arguments import as_number
from hocket.errors import Error, StepError
from hocket.reductions import Reduction
from hocket.regions import Touched, regions_of


def accesses_of(
    inputs: Iterable[Touched], outputs: Iterable[Touched], inouts: Iterable[Touched]
) -> tuple[list[_mpi.Access], list[Any]]:
    """All accesses of a step, and what must live as long as it."""
    accesses: list[_mpi.Access] = []
    hold: list[Any] = []
    for kind, word, names in (
        (_mpi.AccessKind.read, "inputs", inputs),
        (_mpi.AccessKind.write, "outputs", outputs),
        (_mpi.AccessKind.update, "inouts", inouts),
    ):
        if not isinstance(names, (list, tuple)):
            raise Error(
                f"{word} is {type(names).__name__}; give a list of arrays and keys, as "
                f"{word}=[a, 'b']"
            )
        for touched in names:
            hold.append(touched)
            accesses += [_mpi.Access(kind, region) for region in regions_of(touched)]
    return accesses, hold


def as_function(fn: Any) -> Callable[..., Any]:
    if not callable(fn):
        raise Error(f"{fn!r} is no function; a step is one without arguments, as lambda: f(a, b)")
    return fn  # type: ignore[no-any-return]


def with_parts(fn: Callable[..., Any], reductions: list[Reduction]) -> Callable[..., Any]:
    def called(addresses: list[int]) -> None:
        fn(*(each.array_at(address) for each, address in zip(reductions, addresses)))

    return called


def share_of(threads: Any) -> int:
    """Threads of one step; 0: as many as the flow says."""
    share = 0 if threads is None else as_number(threads, "threads")
    if threads is not None and share < 1:
        raise Error(f"threads is {share}; give 1 or more, or None for as many as the flow says")
    return share


def name_of(name: Optional[str], fn: Any) -> str:
    if name is not None:
        return str(name)
    inner = getattr(fn, "func", fn)  # of functools.partial
    return str(getattr(inner, "__name__", type(inner).__name__))


def raise_thrown(thrown: Optional[_mpi.Thrown]) -> None:
    if thrown is None:
        return
    try:
        thrown.raise_again()
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:
        words = str(error) or type(error).__name__
        raise _of_type(type(error), f"{thrown.where} failed: {words}", thrown.step) from error


def _of_type(kind: type[BaseException], message: str, step: str) -> StepError:
    """A StepError that is one of the step's own error, too, so that `except ValueError` finds it.

    Types with a layout or a constructor of their own are left to ``__cause__``.
    """
    try:
        mixed = type("StepError", (StepError, kind), {"__module__": "hocket"})
        made: StepError = mixed(message)
        plain = str(made) == message
    except Exception:  # whatever a constructor may do
        plain = False
    if not plain:
        made = StepError(message)
    made.step = step
    return made
