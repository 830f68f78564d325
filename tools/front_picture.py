# SPDX-License-Identifier: BSD-3-Clause
"""Draws docs/pictures/redistribute.svg: the elements of an array move from one layout to another.

Run it with the Python of `make -s which`: $(make -s which) tools/front_picture.py FILE
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import hocket as hk

SIZE, PROCESSES = 6, 3
CELL, GAP, TOP = 30, 60, 76
COLOURS = ("#3949ab", "#00897b", "#fb8c00")
BEFORE = hk.Layout((SIZE, SIZE), "(BLOCK, *)", PROCESSES)
AFTER = hk.Layout((SIZE, SIZE), "(*, BLOCK)", PROCESSES)
PANEL = SIZE * CELL + 16
# Users who have asked their system for less motion see the array by rows.
STYLE = """
text { font-family: system-ui, sans-serif; fill: #777; }
.box { fill: none; stroke: #999; }
.number { fill: white; font-size: 13px; text-anchor: middle; }
.before, .after, .element { animation: 9s infinite ease-in-out; }
.after { opacity: 0; }
@media (prefers-reduced-motion: no-preference) {
  .element { animation-name: move; }
  .before { animation-name: fade-out; }
  .after { animation-name: fade-in; }
}
@keyframes move {
  0%, 30%, 100% { transform: none; }
  50%, 80% { transform: translate(var(--x), var(--y)); }
}
@keyframes fade-out { 0%, 35%, 100% { opacity: 1; } 45%, 85% { opacity: 0; } }
@keyframes fade-in { 0%, 35%, 100% { opacity: 0; } 45%, 85% { opacity: 1; } }
"""


def corner(layout: hk.Layout, index: tuple[int, int]) -> tuple[int, int]:
    """Pixels of an element in its owner's local array."""
    owner, (row, column) = layout.owner(index), layout.local_index(index)
    rows, columns = layout.local_shape(owner)
    left = 8 + owner * (PANEL + GAP) + (SIZE - columns) * CELL // 2
    return left + column * CELL, TOP + 8 + (SIZE - rows) * CELL // 2 + row * CELL


def draw() -> str:
    """The picture as SVG."""
    width, height = PROCESSES * PANEL + (PROCESSES - 1) * GAP, TOP + PANEL + 34
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}">',
        f"<title>Elements of an array move from {BEFORE} to {AFTER}</title>",
        f"<style>{STYLE}</style>",
    ]
    for name, layout, words in (
        ("before", BEFORE, "blocks of rows"),
        ("after", AFTER, "blocks of columns"),
    ):
        out.append(
            f'<text class="{name}" x="{width / 2}" y="34" text-anchor="middle" font-size="22">'
            f"{layout.dist}: {words}</text>"
        )
    for process in range(PROCESSES):
        left = process * (PANEL + GAP)
        out.append(
            f'<rect class="box" x="{left}.5" y="{TOP}.5" '
            f'width="{PANEL - 1}" height="{PANEL - 1}" rx="8"/>'
        )
        middle = left + PANEL / 2
        out.append(
            f'<text x="{middle}" y="{TOP + PANEL + 22}" text-anchor="middle" font-size="15">'
            f"process {process}</text>"
        )
    for row, column in np.ndindex(SIZE, SIZE):
        index = (int(row), int(column))
        (x, y), (u, v) = corner(BEFORE, index), corner(AFTER, index)
        out.append(
            f'<g class="element" style="--x:{u - x}px;--y:{v - y}px">'
            f'<rect x="{x + 1}" y="{y + 1}" width="{CELL - 2}" height="{CELL - 2}" rx="3" '
            f'fill="{COLOURS[BEFORE.owner(index)]}"/>'
            f'<text class="number" x="{x + CELL / 2}" y="{y + 20}">{10 * row + column}</text></g>'
        )
    return "\n".join([*out, "</svg>", ""])


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(draw(), encoding="utf-8")
