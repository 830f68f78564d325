# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of measurements."""

from __future__ import annotations

from typing import Any

from hocket import plotting


def axes_of() -> tuple[Any, Any]:
    """A figure and its axes. Raises hocket's Error without matplotlib."""
    figure = plotting.new_figure(8, 5)
    return figure, figure.add_subplot()


def save(figure: Any, plot: str) -> None:
    """Writes it, and prints that. Raises hocket's Error if it cannot be written."""
    plotting.save_figure(figure, plot)
    print(f"drawn: {plot}")
