# SPDX-License-Identifier: BSD-3-Clause
"""How much memory programs could still have."""

from __future__ import annotations

from pathlib import Path


def free_memory() -> int | None:
    """Bytes that programs could have now, what caches of files would give up for them included
    (`MemAvailable` of proc(5)); None where the system does not say."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        return next(int(ln.split()[1]) for ln in lines if ln.startswith("MemAvailable")) * 1024
    except (OSError, StopIteration, ValueError):
        return None
