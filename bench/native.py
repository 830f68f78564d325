# SPDX-License-Identifier: BSD-3-Clause
"""The compiled part of the benchmarks (``bench/native``): its location, and its output.

A program measures by the same method (``bench/native/harness.hpp``) and prints one JSON object a
line; the code for Python contestants computes the statistics.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from .harness import Figure, UnavailableError
from .record import Question

VARIABLE = "HOCKET_BENCH_NATIVE"


def folders() -> list[Path]:
    """Folders for compiled parts; the first that exists wins."""
    named = os.environ.get(VARIABLE)
    if named:
        return [Path(named)]
    # An environment `.env/mpich` belongs to the build `build/mpich`.
    build = Path(sys.prefix).parent.parent / "build"
    return [build / Path(sys.prefix).name / "bench", build / "bench"]


def _find(file: str, places: Sequence[Path] | None = None) -> Path:
    places = folders() if places is None else places
    for folder in places:
        if (folder / file).is_file():
            return folder / file
    looked = ", ".join(str(f) for f in places)
    raise UnavailableError(f"{file} is not built: looked in {looked}; set {VARIABLE} to its folder")


def program(name: str, places: Sequence[Path] | None = None) -> Path:
    """The program ``name``, in the folders of this build unless others are given. Raises
    `UnavailableError` if it is not built."""
    return _find(name, places)


def library(name: str) -> ctypes.CDLL:
    """The shared library ``name``, loaded. Raises `UnavailableError` if it is not built."""
    path = _find(f"lib{name}.so")
    try:
        return ctypes.CDLL(str(path))
    except OSError as error:
        raise UnavailableError(f"{path} does not load: {error}") from error


def read(output: str) -> tuple[dict[str, Any] | None, list[tuple[Question, list[Figure]]]]:
    """The output of a program: its description (MPI, ranks) and its tables.

    Raises ValueError naming the line that `harness.hpp` would not print.
    """
    about: dict[str, Any] | None = None
    tables: list[tuple[Question, list[Figure]]] = []
    for number, line in _objects(output):
        try:
            entry = json.loads(line)
            if "figures" in entry:
                tables.append((_question(entry), [_figure(f) for f in entry["figures"]]))
            elif "program" in entry:
                about = entry
            else:
                raise ValueError("neither 'figures' nor 'program' in it")
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(f"line {number} is no measurement ({error}): {line[:200]}") from error
    return about, tables


def _objects(output: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(output.splitlines(), 1):
        if line.startswith("{"):
            yield number, line


def _question(entry: dict[str, Any]) -> Question:
    return Question(
        dict(entry["parameters"]),
        tuple(entry.get("baseline", ())),
        tuple(entry.get("limit", ())),
        int(entry.get("bytes", 0)),
    )


def _figure(entry: dict[str, Any]) -> Figure:
    return Figure(
        str(entry["name"]),
        [float(s) for s in entry.get("samples", ())],
        int(entry.get("calls_per_run", 1)),
        entry.get("error"),
        entry.get("absent"),
        dict(entry.get("extras", {})),
    )
