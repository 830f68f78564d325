# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of what was measured."""

from __future__ import annotations

from typing import Any


def axes_of() -> tuple[Any, Any]:
    """A figure and its axes. Raises RuntimeError where there is no matplotlib."""
    try:
        import matplotlib
    except ImportError as error:
        raise RuntimeError(f"--plot needs matplotlib ({error}); pip install matplotlib") from error

    matplotlib.use("Agg")
    from matplotlib import pyplot

    return pyplot.subplots(figsize=(8, 5), layout="constrained")


def save(figure: Any, plot: str) -> None:
    """Writes it, and says so."""
    figure.savefig(plot, dpi=120)
    print(f"drawn: {plot}")
