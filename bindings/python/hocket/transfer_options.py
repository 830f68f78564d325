# SPDX-License-Identifier: BSD-3-Clause
"""Options of messages between two tasks: strategy, stages, pieces."""

from __future__ import annotations

from typing import Any, Optional

from hocket import _mpi
from hocket.arguments import as_number, as_text
from hocket.errors import Error


def positive(value: Any, what: str) -> int:
    """A number of 1 or more; 0 for None. Raises `Error`."""
    if value is None:
        return 0
    number = as_number(value, what)
    if number < 1:
        raise Error(f"{what} is {value!r}; give a number of 1 or more, or leave it out")
    return number


def options_of(strategy: Any, stages: Optional[int], pieces: Optional[int]) -> _mpi.MessageOptions:
    """The options for the C++ library. Raises `Error` for wrong values."""
    return _mpi.MessageOptions(
        as_text(strategy, "strategy", "direct"),
        positive(stages, "stages"),
        positive(pieces, "pieces"),
    )
