# SPDX-License-Identifier: BSD-3-Clause
"""The errors that hocket raises. Each message states the cause, the values and the remedy."""

from __future__ import annotations

from typing import Optional

__all__ = [
    "DeadlineError",
    "EndOfStream",
    "Error",
    "LayoutError",
    "MismatchError",
    "PeerLostError",
    "StepError",
]


class Error(Exception):
    """The base class of every error that hocket raises.

    Examples
    --------
    >>> try:
    ...     hk.Layout((8, 8), "(BLOK, *)", 2)
    ... except hk.Error as error:
    ...     print(type(error).__name__)
    LayoutError
    """


class LayoutError(Error, ValueError):
    """An invalid layout, alignment, section or plan.

    Examples
    --------
    >>> hk.Layout((8, 8), "(BLOCK, *)", 2).owner((8, 0))
    Traceback (most recent call last):
        ...
    hocket.errors.LayoutError: ...
    """


class MismatchError(Error):
    """Two sides of one operation disagree: shape, dtype, layout, arguments.

    Every process of both sides raises it, naming both values, before any data moves.

    Examples
    --------
    >>> a = hk.zeros(hk.Layout((8,), "(*)"))
    >>> hk.redistribute(a, a.layout, out=hk.zeros(a.layout, "int32"))
    Traceback (most recent call last):
        ...
    hocket.errors.MismatchError: ...
    """


class DeadlineError(Error, TimeoutError):
    """A wait ended because the caller's deadline passed.

    Examples
    --------
    On two processes:

    >>> world = hk.tasks({"rows": 1, "cols": 1})
    >>> try:
    ...     world.probe(timeout=0.01)
    ... except TimeoutError as error:
    ...     print(type(error).__name__)
    DeadlineError
    """


class PeerLostError(Error):
    """A wait ended because a process that it depended on has ended.

    Examples
    --------
    >>> def program(comm):
    ...     if comm.rank == 1:
    ...         os._exit(1)  # a crash
    ...     hk.Team(comm).wait()
    >>> import contextlib, io, os
    >>> with contextlib.redirect_stderr(io.StringIO()):
    ...     try:
    ...         hk.run(program, ranks=2)
    ...     except hk.PeerLostError as error:
    ...         print("rank 1" in str(error))
    True
    """


class EndOfStream(Error):
    """A receive on a channel that its sender has closed.

    Examples
    --------
    On two processes:

    >>> world = hk.tasks({"camera": 1, "filter": 1})
    >>> frame = hk.zeros(hk.Layout(4, "(*)"), comm=world.comm)
    >>> if world.name == "camera":
    ...     frames = world.channel("frames", "filter")
    ...     frames.send(frame)
    ...     frames.close()
    ... else:
    ...     frames = world.channel("frames", "camera")
    ...     try:
    ...         while True:
    ...             status = frames.recv(frame)
    ...     except hk.EndOfStream:
    ...         assert status.source == "camera"
    """


class StepError(Error):
    """A step of a flow has failed; ``__cause__`` is the step's own error.

    It also has the type, arguments and attributes of that error: ``except KeyError`` catches the
    error of a step that has raised a KeyError. If the class forbids subclasses, only ``__cause__``
    has it.

    Attributes
    ----------
    step
        name of the step

    Examples
    --------
    >>> def divide():
    ...     return 1 / 0
    >>> try:
    ...     with hk.Flow(workers=1) as f:
    ...         f.task(divide)
    ... except hk.StepError as error:
    ...     print(error.step, type(error.__cause__).__name__)
    divide ZeroDivisionError
    """

    step: str = ""
    _message: Optional[str] = None

    def __str__(self) -> str:
        return super().__str__() if self._message is None else self._message
