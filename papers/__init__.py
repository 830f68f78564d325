# SPDX-License-Identifier: BSD-3-Clause
"""The papers' claims, tested here: ``hocket papers``. Uses the benchmarks and the programs."""

from __future__ import annotations

__all__ = ["main"]


def main(words: list[str]) -> int:
    """Run ``hocket papers`` with these words; the exit status."""
    from .command import main as run

    return run(words)
