# SPDX-License-Identifier: BSD-3-Clause
"""How many examples hypothesis draws."""

from __future__ import annotations

from hypothesis import settings


def examples(count: int) -> int:
    """`count` where they are the same each time, as in CI; five times as many new ones in soak."""
    return count if settings.default.derandomize else 5 * count
