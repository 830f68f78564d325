# SPDX-License-Identifier: BSD-3-Clause
"""Started operations of teams, which progress while the program does other things."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, Callable, Optional

from hocket import _mpi
from hocket.arguments import as_seconds
from hocket.team_values import as_value


class TeamRequest:
    """A started operation of a team; `Team.start` makes it. A flow's `comm` step may return it.

    Examples
    --------
    On two processes:

    >>> team = hk.Team()
    >>> request = team.start("reduce_add", 10 * team.process)
    >>> int(request.wait())
    10
    """

    __slots__ = ("_core", "_kind")

    def __init__(self, core: _mpi.TeamStarted, kind: Callable[[Any], Any]) -> None:
        self._core = core
        self._kind = kind

    def wait(self, timeout: Optional[float] = None) -> Any:
        """Waits until the operation completes; returns its result.

        Raises the errors of `Team`.

        Examples
        --------
        On two processes:

        >>> team = hk.Team()
        >>> team.start("any", team.process == 1).wait(timeout=60)
        True
        """
        self._core.wait(as_seconds(timeout))
        return self.value()

    def __await__(self) -> Generator[Any, None, Any]:
        """In an ``async def`` step of a flow: gives the worker back until it is done."""
        yield self
        return self.value()

    def test(self) -> bool:
        """Whether the operation has completed. Never waits.

        As `Team`.

        Examples
        --------
        On two processes:

        >>> team = hk.Team()
        >>> request = team.start("wait")
        >>> while not request.test():
        ...     pass  # something else is done meanwhile
        """
        return self._core.test()

    def value(self) -> Any:
        """The result of a completed operation.

        Raises
        ------
        Error
            before completion; and the error of the operation.

        Examples
        --------
        On two processes:

        >>> team = hk.Team()
        >>> request = team.start("scan_add", 1)
        >>> int(request.wait()) == int(request.value()) == team.process + 1
        True
        """
        return as_value(self._kind, self._core.value())
