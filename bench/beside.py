# SPDX-License-Identifier: BSD-3-Clause
"""Another MPI in the same table: its own environment and build, whose programs take turns with
those of this one.

One process can use one MPI only. So contestants with different MPIs run in different programs,
which take turns; their output is joined, question by question.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from .harness import Figure
from .record import Question

#: the number of starts of each program, so that all meet slow times of the machine
TURNS = 3

Tables = list[tuple[Question, list[Figure]]]


@dataclass(frozen=True)
class Beside:
    """An MPI's environment, with its ``mpiexec``, and the folder of the programs built with it."""

    environment: Path
    programs: Path

    @property
    def launcher(self) -> Path:
        """Its ``mpiexec``."""
        return self.environment / "bin" / "mpiexec"

    @property
    def name(self) -> str:
        """The name for its contestants."""
        return self.environment.name


def resolve(text: str) -> Beside:
    """``.env/mpich`` (with the build in ``build/mpich``), ``mpich`` for short, or
    ``ENVIRONMENT:BUILD``.

    Raises:
        ValueError: there is no such environment or build; explains how to make one.
    """
    root = Path(__file__).resolve().parents[1]
    first, _, build = text.partition(":")
    environment = Path(first)
    if os.sep not in first and not environment.is_dir():
        environment = root / ".env" / first
    environment = environment.resolve()
    at = Path(build) if build else environment.parent.parent / "build" / environment.name
    found = Beside(environment, at.resolve() / "bench")
    if not found.launcher.is_file():
        raise ValueError(
            f"--beside {text}: no {found.launcher}; make the environment first (make which MPI="
            f"{found.name})"
        )
    if not found.programs.is_dir():
        raise ValueError(
            f"--beside {text}: no {found.programs}; build it (make which MPI={found.name}), or "
            "name the build: ENVIRONMENT:BUILD"
        )
    return found


def pooled(turns: Sequence[Tables]) -> Tables:
    """The samples of one program's turns, as one."""
    first = [(question, [*figures]) for question, figures in turns[0]]
    for more in turns[1:]:
        for (question, figures), (again, further) in zip(first, more):
            if question != again or [f.name for f in figures] != [f.name for f in further]:
                raise ValueError(f"it printed {dict(again.parameters)} in one turn, not in another")
            for index, (figure, other) in enumerate(zip(figures, further)):
                figures[index] = dataclasses.replace(
                    figure,
                    samples=[*figure.samples, *other.samples],
                    error=figure.error or other.error,
                )
    return first


def joined(tables: Sequence[tuple[str, Tables]]) -> Tables:
    """The tables of several MPIs by name, question by question; the best baseline is the one to
    beat."""
    out: Tables = []
    for index, (question, _) in enumerate(tables[0][1]):
        figures: list[Figure] = []
        baseline: list[str] = []
        limit: list[str] = []
        for name, ours in tables:
            other, more = ours[index]
            if other.parameters != question.parameters:
                raise ValueError(f"{name} printed {dict(other.parameters)} as another question")
            figures += [dataclasses.replace(f, name=f"{f.name}, {name}") for f in more]
            baseline += [f"{each}, {name}" for each in other.baseline]
            limit += [f"{each}, {name}" for each in other.limit]
        out.append((dataclasses.replace(question, baseline=baseline, limit=limit), figures))
    return out
