# SPDX-License-Identifier: BSD-3-Clause
"""The memory that programs can still allocate."""

from __future__ import annotations

from pathlib import Path


def free_memory() -> int | None:
    """Bytes that programs can allocate now, including reclaimable file caches (`MemAvailable` of
    proc(5)); None if the system does not report it."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        return next(int(ln.split()[1]) for ln in lines if ln.startswith("MemAvailable")) * 1024
    except (OSError, StopIteration, ValueError):
        return None
