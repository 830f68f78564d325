# SPDX-License-Identifier: BSD-3-Clause
"""The time of kernels on this machine, for simulated processors: each is an application on one
process, whose time is divided by its work."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

#: as `apps::Work` has them, and in its order
KINDS = ("fft", "product", "stencil", "blas", "panel", "move")
_SIDE, _POINTS, _UNKNOWNS, _SHAPE = 512, 2 * 192 * 192 + 96 * 96, 2000, (128, 512, 64)


def _app(name: str, *words: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "hocket", "app", name, *words, "--json"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        said = (done.stderr.strip() or "nothing").splitlines()[-1]
        raise RuntimeError(f"`hocket app {name}`, which times a kernel, says: {said}")
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def measure() -> dict[str, float]:
    """Seconds a unit of each kind, from minima."""
    fft = _app("fft2d", "--procs", "1", "--forms", "data", "--size", str(_SIDE), "--frames", "10")
    blocks = _app("multiblock", "--procs", "1", "--forms", "data")
    linpack = _app("linpack", "--n", str(_UNKNOWNS), "--mode", "plain", "--runs", "3")
    shape = ",".join(map(str, _SHAPE))
    remap = _app("remap", "--procs", "1", "--shape", shape, "--forms", "in-place")
    lines = 2 * 5 * _SIDE**2 * math.log2(_SIDE)
    moved = remap["forms"]
    moved = moved["in place"] if isinstance(moved, dict) else moved[0]
    move = moved["minimum_s"] / (2 * 8 * math.prod(_SHAPE))
    return {
        "fft": fft["forms"]["data"]["minimum_s"] / lines,
        "product": 48 * move,  # two numbers read, one written
        "stencil": blocks["forms"]["data"]["minimum_s"] / _POINTS,
        "blas": linpack["modes"]["plain"]["minimum_s"] / (2 / 3 * _UNKNOWNS**3),
        "panel": 4 * move,  # for a product and a difference, a number is read and written
        "move": move,
    }


def known(path: str | None) -> dict[str, float]:
    """From a file of a run, or numbers in the order of `KINDS`, or measured now."""
    if path is None:
        return measure()
    if path.count(",") == len(KINDS) - 1 and not Path(path).exists():
        return check({kind: float(word) for kind, word in zip(KINDS, path.split(","))}, path)
    found = json.loads(Path(path).read_text(encoding="utf-8"))
    return check(found.get("kernels", found), path)


def check(found: Mapping[str, Any], path: str) -> dict[str, float]:
    """Raises ValueError if one is missing."""
    for kind in KINDS:
        if not isinstance(found.get(kind), (int, float)) or not 0 < found[kind] < math.inf:
            raise ValueError(f"--kernels {path}: it has no seconds of '{kind}'")
    return {kind: float(found[kind]) for kind in KINDS}


def words(kernels: Mapping[str, float], slowness: float) -> str:
    """As a simulated program reads them."""
    return ",".join(repr(kernels[kind] * slowness) for kind in KINDS)
