# SPDX-License-Identifier: BSD-3-Clause
"""The machine and the time of a measurement."""

from __future__ import annotations

import ctypes
import datetime
import importlib
import os
import platform
from pathlib import Path
from typing import Any

import numpy as np


def _cpu() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        text = ""
    for line in text.splitlines():
        if line.lower().startswith(("model name", "hardware")):
            return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def _caches() -> dict[str, str]:
    found: dict[str, str] = {}
    try:
        for entry in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
            level, kind, size = (
                (entry / name).read_text(encoding="ascii").strip()
                for name in ("level", "type", "size")
            )
            found[f"L{level} {kind.lower()}"] = size
    except OSError:
        pass  # a machine that does not report it
    return found


def _version(package: str) -> str | None:
    try:
        version = getattr(importlib.import_module(package), "__version__", None)
    except ImportError:
        return None
    return None if version is None else str(version)


class _Mallinfo2(ctypes.Structure):
    """glibc's `struct mallinfo2`, mallinfo(3)."""

    _fields_ = tuple(
        (name, ctypes.c_size_t)
        for name in (
            *("arena", "ordblks", "smblks", "hblks", "hblkhd"),
            *("usmblks", "fsmblks", "uordblks", "fordblks", "keepcost"),
        )
    )


def allocated() -> int | None:
    """Bytes that malloc has handed out in the main arena and by mmap; None without glibc 2.33."""
    query = getattr(ctypes.CDLL(None), "mallinfo2", None)
    if query is None:
        return None
    query.restype = _Mallinfo2
    info = query()
    return int(info.uordblks) + int(info.hblkhd)


def environment(library: str | None, standard: str | None) -> dict[str, Any]:
    """Machine, time, software, MPI (None if the measurement uses none)."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "machine": {
            "cpu": _cpu(),
            "cores": os.cpu_count(),
            "cores_allowed": cores,
            "caches": _caches(),
            "memory_bytes": os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"),
            "system": f"{platform.system()} {platform.release()}",
        },
        "software": {
            "python": platform.python_version(),
            "numpy": np.__version__,
            "mpi4py": _version("mpi4py"),
            "hocket": _version("hocket"),
        },
        "mpi": None if library is None else {"library": library, "standard": standard},
    }
