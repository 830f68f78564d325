# SPDX-License-Identifier: BSD-3-Clause
"""Continues long lines of Fortran."""

from __future__ import annotations


def wrapped(line: str, width: int = 100) -> str:
    """The line, continued at commas if it is too long."""
    if len(line) <= width:
        return line
    indent = " " * (len(line) - len(line.lstrip()) + 4)
    out, rest = [], line
    while len(rest) > width:
        at = rest.rfind(", ", 0, width - 2)
        if at <= len(indent):
            break
        out.append(rest[: at + 1] + " &")
        rest = indent + rest[at + 2 :]
    return "\n".join([*out, rest])
