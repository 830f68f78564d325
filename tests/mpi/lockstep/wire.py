# SPDX-License-Identifier: BSD-3-Clause
"""What pytest's process and the ranks say to each other: pickled, over one socket a rank."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

# Environment variables: the socket of the ranks' reports, a path or "ADDRESS PORT"; their files.
SOCKET = "HOCKET_TEST_SOCKET"
FOLDER = "HOCKET_TEST_FOLDER"


@dataclass(frozen=True)
class Hello:
    """A rank's first words."""

    rank: int
    size: int
    pid: int
    host: str = ""


@dataclass(frozen=True)
class Call:
    """One test function, to be called on every rank."""

    path: str  # the file that holds it
    function: str
    arguments: dict[str, Any] = field(default_factory=dict)
    groups: dict[str, int] = field(default_factory=dict)
    wants: frozenset[str] = frozenset()  # which of "comm", "groups" the function takes
    search_path: tuple[str, ...] = ()  # sys.path, so that helpers beside the tests import


@dataclass(frozen=True)
class Outcome:
    """How the call went on one rank."""

    state: str  # "passed" | "failed" | "skipped" | "ended"
    text: str = ""
