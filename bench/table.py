# SPDX-License-Identifier: BSD-3-Clause
"""Answers as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .record import Answer, Summary


def seconds(value: float | None) -> str:
    """A time with three digits and the unit that suits it: ``22.1 ms``."""
    if value is None:
        return "-"
    for scale, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "us")):
        if value >= scale:
            return f"{value / scale:#.3g}".rstrip(".") + f" {unit}"
    return f"{value / 1e-9:#.3g}".rstrip(".") + " ns"


def _ratio(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.2f}" if value >= 0.1 else f"{value:.2g}"


def _rate(line: Summary, moved: int) -> str:
    return f"{moved / line.median / 1e9:.2f}" if line.median else "-"


def align(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows as lines, their cells in columns; the first column to the left."""
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    return [
        "  ".join(
            [row[0].ljust(widths[0]), *(cell.rjust(w) for cell, w in zip(row[1:], widths[1:]))]
        ).rstrip()
        for row in rows
    ]


def _plain(value: Any) -> str:
    if isinstance(value, (tuple, list)):
        return "x".join(str(v) for v in value)
    return str(value)


def _extras(extras: Mapping[str, Any]) -> str:
    parts = []
    for name, value in extras.items():
        if isinstance(value, Mapping):
            each = [f"{k} {seconds(v) if isinstance(v, float) else v}" for k, v in value.items()]
            parts.append(f"{name}: {', '.join(each)}")
        else:
            parts.append(f"{name} {value}")
    return ", ".join(parts)


def render(result: Answer) -> str:
    """One table; the notes below it name contestants with errors or without a run."""
    question = result.question
    title = ", ".join(f"{name} {_plain(value)}" for name, value in question.parameters.items())
    header = ["", "median", "minimum", "99 %", "runs"]
    if question.bytes:
        header.append("GB/s")
    if result.limit is not None:
        header.append("of limit")
    if result.baseline is not None:
        header.append("speedup")
    rows: list[list[str]] = [header]
    remarks: list[str] = []
    for line in result.lines:
        if line.error is not None:
            remarks.append(f"  {line.name}: ERROR, {line.error}")
            continue
        if line.absent is not None:
            remarks.append(f"  {line.name}: not run, {line.absent}")
            continue
        runs = f"{line.runs}" if line.calls_per_run == 1 else f"{line.runs} x {line.calls_per_run}"
        times = [seconds(t) for t in (line.median, line.minimum, line.percentile_99)]
        row = ["  " + line.name, *times, runs]
        if question.bytes:
            row.append(_rate(line, question.bytes))
        if result.limit is not None:
            row.append(_ratio(line.of_limit))
        if result.baseline is not None:
            row.append(_ratio(line.speedup))
        rows.append(row)
        if line.extras:
            remarks.append(f"  {line.name}: {_extras(line.extras)}")
    text = [title]
    if len(rows) > 1:
        text += align(rows)
    text += remarks
    against = []
    if result.limit is not None:
        against.append(f"limit: {result.limit}")
    if result.baseline is not None:
        against.append(f"baseline: {result.baseline}")
    if against:
        text.append("  (" + "; ".join(against) + ")")
    return "\n".join(text)
