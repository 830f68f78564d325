# SPDX-License-Identifier: BSD-3-Clause
"""The cases: one module each in ``bench/cases``, found by name."""

from __future__ import annotations

import argparse
import difflib
import importlib
import pkgutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, cast

from . import cases
from .group import Group
from .harness import Contestant
from .record import Question


@dataclass(frozen=True)
class Match:
    """Contestants for one question. ``steps_per_call``: see `harness.measure`."""

    question: Question
    contestants: Sequence[Contestant]
    steps_per_call: int = 1


@dataclass(frozen=True)
class Native:
    """A C++ program of ``bench/native`` that measures by the same method and prints JSON lines."""

    program: str
    arguments: tuple[str, ...] = ()


@dataclass(frozen=True)
class Pass:
    """One start of the processes: their number, and its differences from other starts."""

    ranks: int
    threads: int
    words: tuple[str, ...] = ()  #: further options, which override those given
    more: Mapping[str, str] = field(default_factory=dict)  #: of their environment
    rate: str | None = None  #: half of them on either side of a `ShapedLink`


class Case(Protocol):
    """The interface of a module in ``bench/cases``. Its docstring's first line is its
    help."""

    RANKS: int  #: processes to start unless ``--ranks`` says otherwise; 0: it needs no MPI

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Options of this case alone."""
        ...

    def validate(self, options: argparse.Namespace) -> None:
        """Raise ValueError, with a remedy, before any process is started."""
        ...

    def matches(self, options: argparse.Namespace, group: Group) -> Iterator[Match]:
        """The measurements in Python, on every process of the group; memory is freed between
        them."""
        ...

    def natives(self, options: argparse.Namespace) -> Sequence[Native]:
        """Programs to run after that."""
        ...

    # Optional, for where one start is not enough:
    # def passes(self, options: argparse.Namespace) -> list[Pass]
    # def finish(self, options: argparse.Namespace, document: dict[str, Any]) -> None
    #   where all tables together say more than each: prints and draws it. Optional.


def names() -> list[str]:
    """The names of all cases, sorted."""
    return sorted(module.name for module in pkgutil.iter_modules(cases.__path__))


def load(name: str) -> Case:
    """The case of that name. Raises ValueError if there is none; suggests the closest name."""
    known = names()
    if name not in known:
        near = difflib.get_close_matches(name, known, n=1)
        hint = f"did you mean '{near[0]}'?" if near else f"there are: {', '.join(known)}"
        raise ValueError(f"no benchmark is called '{name}'; {hint}")
    return cast(Case, importlib.import_module(f"{cases.__name__}.{name}"))
