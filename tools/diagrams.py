# SPDX-License-Identifier: BSD-3-Clause
"""Diagrams of the documents: sequence diagrams of the site, and the picture of the house.

MkDocs calls `on_page_markdown`, which draws each fence ```mermaid as SVG, so that the site needs no
network. Of Mermaid's language it knows `sequenceDiagram` with participants, messages and notes.
`python tools/diagrams.py FILE` draws docs/pictures/house.svg.
"""

from __future__ import annotations

import re
import sys
import textwrap
from html import escape
from pathlib import Path
from typing import Any

_FENCE = re.compile(r"^```mermaid\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_MESSAGE = re.compile(r"(\w+)(--?)>>(\w+): (.+)")
_NOTE = re.compile(r"Note over (\w+)(?:,(\w+))?: (.+)")
_COLUMN, _LEFT, _LINE = 240, 120, 19


def on_page_markdown(markdown: str, **_: Any) -> str:
    """The page with pictures in place of diagrams."""
    return _FENCE.sub(lambda fence: f'<div class="diagram">{sequence(fence[1])}</div>', markdown)


def sequence(text: str) -> str:
    """A sequence diagram as SVG on one line; raises ValueError for a line that it cannot read."""
    first, *lines = [line.strip() for line in text.splitlines() if line.strip()]
    if first != "sequenceDiagram":
        raise ValueError(f"'{first}' is no sequenceDiagram, which is all that is drawn here")
    names: dict[str, str] = {}
    body: list[str] = []
    y = 60
    for line in lines:
        if line.startswith("participant "):
            short, _, name = line.removeprefix("participant ").partition(" as ")
            names[short] = name or short
            continue
        places = {short: _LEFT + i * _COLUMN for i, short in enumerate(names)}
        if found := _MESSAGE.fullmatch(line):
            x, u = places[found[1]], places[found[3]]
            rows = textwrap.wrap(found[4], 26 if x == u else abs(u - x) // 8)
            y += 12 + _LINE * len(rows)
            body += _message(x, u, y, rows, dashed=found[2] == "--")
            y += 6
        elif found := _NOTE.fullmatch(line):
            x, u = places[found[1]], places[found[2] or found[1]]
            body.append(_note(x, u, y + 10, found[3]))
            y += 26 + _LINE * len(_note_rows(x, u, found[3]))
        else:
            raise ValueError(f"a line of a sequence diagram that is not drawn here: '{line}'")
    width, height = 2 * _LEFT + (len(names) - 1) * _COLUMN, y + 20
    heads = []
    for i, name in enumerate(names.values()):
        x = _LEFT + i * _COLUMN
        heads.append(f'<path class="life" d="M{x} 44V{height}"/>')
        heads.append(f'<rect class="head" x="{x - 95}" y="8" width="190" height="36" rx="5"/>')
        heads.append(f'<text class="name" x="{x}" y="31">{escape(name)}</text>')
    return f'<svg viewBox="0 0 {width} {height}" role="img">{"".join(heads + body)}</svg>'


def _message(x: int, u: int, y: int, rows: list[str], *, dashed: bool) -> list[str]:
    """An arrow with its words above it; beside it, if it goes to the same participant."""
    kind = "answer" if dashed else "message"
    middle, anchor = ((x + u) / 2, "middle") if x != u else (x + 32, "start")
    out = [
        f'<text x="{middle}" y="{y - 6 - _LINE * (len(rows) - 1 - i)}" text-anchor="{anchor}">'
        f"{escape(row)}</text>"
        for i, row in enumerate(rows)
    ]
    if x == u:
        out.append(f'<path class="{kind}" d="M{x} {y - 14}h24v14h-20"/>')
        return [*out, f'<path class="point" d="M{x} {y}l9 -4v8z"/>']
    back = 9 if u < x else -9
    out.append(f'<path class="{kind}" d="M{x} {y}H{u + back}"/>')
    return [*out, f'<path class="point" d="M{u} {y}l{back} -4v8z"/>']


def _note_rows(x: int, u: int, text: str) -> list[str]:
    return textwrap.wrap(text, (abs(u - x) + 190) // 9)


def _note(x: int, u: int, y: int, text: str) -> str:
    """A box over some participants."""
    left, right, rows = min(x, u) - 100, max(x, u) + 100, _note_rows(x, u, text)
    size = f'width="{right - left}" height="{8 + _LINE * len(rows)}"'
    out = f'<rect class="note" x="{left}" y="{y}" {size} rx="3"/>'
    for i, row in enumerate(rows):
        place = f'x="{(left + right) / 2}" y="{y + 17 + _LINE * i}"'
        out += f'<text {place} text-anchor="middle">{escape(row)}</text>'
    return out


#: room: column, row from the ground, columns, rows, contents. A room stands on the rooms that it
#: uses.
HOUSE = {
    "base": (0, 0, 12, 1, "errors, sizes, clock, settings, trace, thread pool"),
    "layout": (0, 1, 3, 1, "index algebra"),
    "kernel": (3, 1, 2, 2, "copy, permute"),
    "shm": (5, 1, 7, 1, "shared memory of a node: segments, flags, ring buffers, liveness"),
    "plan": (0, 2, 1, 2, "messages, model"),
    "zarr": (1, 2, 1, 2, "files of one process"),
    "net": (2, 2, 1, 2, "sockets, TLS, observers"),
    "comm": (5, 2, 7, 1, "MPI, operations, the one wait, agreement"),
    "transport": (3, 3, 4, 1, "ways to hand over a message"),
    "team": (7, 3, 2, 4, "aggregates over flags, then across nodes"),
    "flow": (9, 3, 3, 4, "dataflow graph and workers; knows no MPI"),
    "transfer": (0, 4, 7, 1, "one executor, plan cache, redistribute"),
    "store": (0, 5, 1, 2, "files"),
    "remap": (1, 5, 1, 2, "in place"),
    "halo": (2, 5, 1, 2, "borders"),
    "task": (3, 5, 2, 1, "groups, requests"),
    "port": (3, 6, 2, 1, "other jobs"),
    "array": (5, 5, 2, 2, "computing"),
    "public headers": (0, 7, 12, 1, "include/hocket: C++, C"),
    "bindings, apps, bench, cli, examples": (0, 8, 12, 1, "use public headers only"),
}
_NO_MPI = ("base", "layout", "kernel", "shm", "plan", "zarr", "net")
_CELL, _HEIGHT = 80, 64


def house() -> str:
    """The rooms as bricks: a room stands on the rooms that it uses."""
    rows = 1 + max(row for _, row, *_ in HOUSE.values())
    box = f"0 0 {12 * _CELL} {rows * _HEIGHT + 26}"
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{box}">',
        "<style>text{font-family:system-ui,sans-serif;fill:white;text-anchor:middle}"
        ".legend{fill:#777}</style>",
    ]
    for name, (column, row, columns, high, text) in HOUSE.items():
        x, y = column * _CELL, (rows - row - high) * _HEIGHT
        colour = "#00897b" if name in _NO_MPI else "#3949ab" if row < 7 else "#757575"
        size = f'width="{columns * _CELL - 4}" height="{high * _HEIGHT - 4}"'
        out.append(f'<rect x="{x + 2}" y="{y + 2}" {size} rx="5" fill="{colour}"/>')
        middle, top = x + columns * _CELL / 2, y + high * _HEIGHT / 2 - 4
        out.append(f'<text x="{middle}" y="{top}" font-size="17">{name}</text>')
        for i, line in enumerate(textwrap.wrap(text, columns * _CELL // 7)):
            out.append(f'<text x="{middle}" y="{top + 17 + 13 * i}" font-size="12">{line}</text>')
    legend = "green: without MPI · blue: with MPI · grey: outside src/"
    place = f'x="{6 * _CELL}" y="{rows * _HEIGHT + 18}"'
    return "\n".join([*out, f'<text class="legend" {place}>{legend}</text>', "</svg>", ""])


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(house(), encoding="utf-8")
