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
    """Root of every error that hocket raises."""


class LayoutError(Error, ValueError):
    """A layout, an alignment, a section or a plan that cannot be."""


class MismatchError(Error):
    """Two sides of one operation disagree: shape, dtype, layout, arguments.

    Raised on every process of both sides, naming both, before any data moves.
    """


class DeadlineError(Error, TimeoutError):
    """A wait ended because the deadline that the caller set has passed."""


class PeerLostError(Error):
    """A wait ended because a process that it depended on is gone."""


class EndOfStream(Error):
    """A receive on a channel that its sender has closed."""


class StepError(Error):
    """A step of a flow has failed; the step's own error is ``__cause__``.

    It is of the type of that error, too, and has its arguments and attributes: ``except KeyError``
    finds the error of a step that has raised a KeyError. Only a class that forbids derived classes
    is left to ``__cause__``.

    Attributes
    ----------
    step : name of the step
    """

    step: str = ""
    _message: Optional[str] = None

    def __str__(self) -> str:
        return super().__str__() if self._message is None else self._message
