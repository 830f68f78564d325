# SPDX-License-Identifier: BSD-3-Clause
"""The viewer of a running flow: draws it in a terminal, and steers it by keys.

Needs no MPI. It waits for the simulation, and again if the simulation ends.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from hocket.cli.apps.screen import Screen, painted

import hocket as hk
from hocket import _pure, sessions

HELP = "arrows: move   space: smoke here, on/off   c: clear   + -: viscosity   f s: faster, slower"
HELP_TOO = "v: velocities or smoke   q: leave; the simulation goes on"
#: seconds from picture to picture, and that each answer may take
EVERY, PATIENCE = 0.1, 5.0
#: the cells that a key moves the cursor
STEPS = {"up": (-1, 0), "down": (1, 0), "left": (0, -1), "right": (0, 1)}

Numbers = npt.NDArray[Any]


@dataclass
class View:
    """The choices of the person who looks."""

    row: int = -1  #: the cursor; -1: in the middle, as soon as the shape is known
    col: int = -1
    shown: str = "smoke"
    said: str = ""  #: why the last key did nothing


def run(name: str, key: str | None) -> None:
    """Looks until the person leaves. While it cannot look, it shows why, and tries again."""
    view = View()
    with sessions.exit_on_sigterm(), Screen() as screen:
        while True:
            reason = "there is no such port"
            try:
                if _may_be_there(name):
                    with hk.observe(name, key=key, timeout=PATIENCE) as observer:
                        _look(observer, name, screen, view)
                        return
            except hk.EndOfStream:
                reason = "the simulation has ended"
            except hk.Error as error:
                reason = str(error).splitlines()[0]
            screen.draw([f"waiting for {name}: {reason}", "", "q: leave"])
            if "q" in screen.keys(0.5):
                return


def _may_be_there(name: str) -> bool:
    """False: no program of this host has the port, so a look would only wait for it."""
    return ":" in name or any(port[0] == name for port in _pure.ports())


def _look(observer: hk.Observer, name: str, screen: Screen, view: View) -> None:
    """Draws picture after picture. Returns once the person leaves."""
    missing = {"smoke", "velocity", "solid", "viscosity", "sources"} - set(observer)
    if missing:
        raise hk.Error(
            f"the program of the port {name!r} has published no {min(missing)}, so it is no flow; "
            f"`hocket observe {name}` lists what it has"
        )
    rows, cols = observer["smoke"].shape
    if view.row < 0:
        view.row, view.col = rows // 2, cols // 2
    solid = observer["solid"][...]
    while True:
        began = time.monotonic()
        height, width = fitted(rows, cols, *screen.room(4), screen.colours)
        down, along = max(1, rows // height), max(1, cols // width)
        field = _brightness(observer[view.shown][::down, ::along], view.shown)
        at = np.ix_(_spread(height, rows), _spread(width, cols))
        values = np.where(solid[at], np.nan, field[at[0] // down, at[1] // along])
        marks = {
            (row * height // rows, col * width // cols): mark
            for mark, points in (("o", points_of(observer["sources"])), ("+", [_cursor(view)]))
            for row, col in points
            if 0 <= row < rows and 0 <= col < cols
        }
        title = (
            f"{name}: {view.shown}, step {observer.step}, viscosity {observer['viscosity']:.4g}, "
            f"cursor {view.row},{view.col}"
        )
        picture = painted(values, marks, screen.colours)
        screen.draw([title, *picture, view.said, HELP, HELP_TOO])
        for pressed in screen.keys(max(0.0, EVERY - (time.monotonic() - began))):
            if pressed == "q":
                return
            if pressed in STEPS:
                by = STEPS[pressed]
                view.row = (view.row + by[0] * math.ceil(rows / height)) % rows
                view.col = (view.col + by[1] * math.ceil(cols / width)) % cols
            else:
                view.said = _steer(observer, pressed, view)


def _steer(observer: hk.Observer, pressed: str, view: View) -> str:
    """Does what a key asks for. Returns why it cannot."""
    try:
        if pressed in "+-":
            factor = 1.25 if pressed == "+" else 0.8
            observer["viscosity"] = max(
                0.005, min(observer["viscosity"] * factor, 0.3)
            )  # of NaN, too
        elif pressed in "fs":
            observer["rate"] = max(1.0, observer["rate"] * (2.0 if pressed == "f" else 0.5))
        elif pressed == " ":
            points = points_of(observer["sources"])
            here = _cursor(view)
            points = [p for p in points if p != here] if here in points else [*points, here]
            observer["sources"] = " ".join(f"{row},{col}" for row, col in points)
        elif pressed == "c":
            observer["sources"] = ""
        elif pressed == "v":
            view.shown = "velocity" if view.shown == "smoke" else "smoke"
    except (hk.DeadlineError, hk.PeerLostError, hk.EndOfStream):
        raise
    except hk.Error as error:  # a key file that lets look on, not steer
        return str(error).splitlines()[0]
    return ""


def _cursor(view: View) -> tuple[int, int]:
    return view.row, view.col


def points_of(text: str) -> list[tuple[int, int]]:
    """The parameter `sources`, "12,30 7,40", as rows and columns, up to the first word that is
    none."""
    points = []
    for word in text.split():
        try:
            row, col = (int(float(number)) for number in word.split(","))
        except (ValueError, OverflowError):
            break
        points.append((row, col))
    return points


def _brightness(values: Numbers, shown: str) -> Numbers:
    """From 0 to 1 for each point: the smoke, or the speed of the fluid."""
    if shown == "smoke":
        smoke: Numbers = np.sqrt(np.clip(values, 0, 1))
        return smoke
    speed: Numbers = np.hypot(values[..., 0], values[..., 1])
    return speed / max(float(speed.max(initial=0)), 1e-9)


def fitted(rows: int, cols: int, lines: int, columns: int, colours: bool) -> tuple[int, int]:
    """Height and width in cells of the largest picture with square points. A character is twice as
    high as wide. In colours it has two cells, one above the other."""
    tall = 1.0 if colours else 0.5
    scale = min(columns / cols, lines * (2 if colours else 1) / (rows * tall))
    return max(1, int(rows * tall * scale)), max(1, int(cols * scale))


def _spread(cells: int, points: int) -> npt.NDArray[np.int64]:
    """The point of each cell."""
    return np.arange(cells) * points // cells


__all__ = ["View", "fitted", "points_of", "run"]
