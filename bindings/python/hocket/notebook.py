# SPDX-License-Identifier: BSD-3-Clause
"""Layouts and plans as text and as HTML for notebooks."""

from __future__ import annotations

import colorsys
import html
from collections.abc import Iterable
from typing import Protocol

_MOST = 32


class _Layout(Protocol):
    """The attributes of layouts that this module uses. (Their module imports this one.)"""

    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def size(self) -> int: ...
    def owners(self, index: Iterable[int]) -> list[int]: ...


class _Plan(Protocol):
    """The attributes of plans that this module uses."""

    @property
    def source(self) -> _Layout: ...
    @property
    def destination(self) -> _Layout: ...
    def sends(self, rank: int) -> list[tuple[int, int]]: ...
    def explain(self) -> str: ...


def _thinned(extent: int, most: int) -> list[int]:
    """At most so many indices of a dimension, evenly spread."""
    if extent <= most:
        return list(range(extent))
    return [k * extent // most for k in range(most)]


def _owner_rows(layout: _Layout, most: int) -> list[list[int | None]]:
    """The lowest owner of each element of the last two dimensions; None: no owner."""
    shape = layout.shape
    if 0 in shape:
        return []
    rows = _thinned(shape[-2], most) if len(shape) > 1 else [0]
    columns = _thinned(shape[-1], most) if shape else [0]
    lead = (0,) * max(0, len(shape) - 2)
    table: list[list[int | None]] = []
    for i in rows:
        table.append([])
        for j in columns:
            index = ((*lead, i, j) if len(shape) > 1 else (j,)) if shape else ()
            owners = layout.owners(index)
            table[-1].append(owners[0] if owners else None)
    return table


def layout_text(layout: _Layout, most: int = 64) -> str:
    """One line a row, one process number an element; '.' for an element without owner."""
    table = _owner_rows(layout, most)
    width = max((len(str(owner)) for row in table for owner in row if owner is not None), default=1)
    lines = [
        " ".join(("." if owner is None else str(owner)).rjust(width) for owner in row)
        for row in table
    ]
    return "\n".join([str(layout), *lines])


def colour(process: int, size: int) -> str:
    """A light colour for each process; consecutive processes have very different hues."""
    hue = (process * 0.618034) % 1.0
    light = 0.72 + 0.12 * ((process // max(size // 3, 1)) % 3) / 2
    red, green, blue = colorsys.hls_to_rgb(hue, light, 0.65)
    return f"#{int(255 * red):02x}{int(255 * green):02x}{int(255 * blue):02x}"


def layout_html(layout: _Layout) -> str:
    """The layout's text and a table of owners, coloured."""
    cells = "padding:1px 4px;border:1px solid #fff;text-align:center;color:#000"
    rows = []
    for row in _owner_rows(layout, _MOST):
        rows.append(
            "".join(
                f'<td style="{cells};background:{colour(owner, layout.size)}">{owner}</td>'
                if owner is not None
                else f'<td style="{cells}">&middot;</td>'
                for owner in row
            )
        )
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    text = str(layout)
    shown = html.escape(text if len(text) <= 300 else text[:300] + "…")
    return f'<div><code>{shown}</code><table style="border-collapse:collapse">{body}</table></div>'


def plan_html(plan: _Plan) -> str:
    """The plan's totals and its traffic, as a table if it is small."""
    text = html.escape(plan.explain())
    if plan.source.size > _MOST or plan.destination.size > _MOST:
        return f"<pre>{text}</pre>"
    head = "".join(f"<th>{process}</th>" for process in range(plan.destination.size))
    rows = []
    for rank in range(plan.source.size):
        sent = dict(plan.sends(rank))
        entries = "".join(
            f"<td style='text-align:right'>{sent.get(process, '')}</td>"
            for process in range(plan.destination.size)
        )
        rows.append(f"<tr><th>{rank}</th>{entries}</tr>")
    return (
        f"<div><pre>{text}</pre><table><caption>elements, from row to column</caption>"
        f"<tr><th></th>{head}</tr>{''.join(rows)}</table></div>"
    )
