# SPDX-License-Identifier: BSD-3-Clause
"""What can go wrong. Every message says what went wrong, with which values, and how to mend it."""

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
    """Root of every error that hocket raises.

    Examples
    --------
    >>> try:
    ...     hk.Layout((8, 8), "(BLOK, *)", 2)
    ... except hk.Error as error:
    ...     print(type(error).__name__)
    LayoutError
    """


class LayoutError(Error, ValueError):
    """A layout, an alignment, a section or a plan that cannot be.

    Examples
    --------
    >>> hk.Layout((8, 8), "(BLOCK, *)", 2).owner((8, 0))
    Traceback (most recent call last):
        ...
    hocket.errors.LayoutError: ...
    """


class MismatchError(Error):
    """Two sides of one operation disagree: shape, dtype, layout, arguments.

    Raised on every process of both sides, naming both, before any data moves.

    Examples
    --------
    >>> a = hk.zeros(hk.Layout((8,), "(*)"))
    >>> hk.redistribute(a, a.layout, out=hk.zeros(a.layout, "int32"))
    Traceback (most recent call last):
        ...
    hocket.errors.MismatchError: ...
    """


class DeadlineError(Error, TimeoutError):
    """A wait ended because the deadline that the caller set has passed.

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
    """A wait ended because a process that it depended on is gone.

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
    """A step of a flow has failed; the step's own error is ``__cause__``.

    It is of the type of that error, too, and has its arguments and attributes: ``except KeyError``
    finds the error of a step that has raised a KeyError. Only a class that forbids derived classes
    is left to ``__cause__``.

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
