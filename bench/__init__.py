# SPDX-License-Identifier: BSD-3-Clause
"""The one timing harness of the project, and the figures that it draws: ``hocket bench NAME``."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["main", "names"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run ``hocket bench`` with these arguments (default: ``sys.argv[1:]``); the exit status."""
    from .command import main as run

    return run(argv)


def names() -> dict[str, str]:
    """The benchmarks, each with what it measures."""
    from . import options, registry

    return {name: options.summary(name) for name in registry.names()}
