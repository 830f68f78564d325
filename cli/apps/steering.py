# SPDX-License-Identifier: BSD-3-Clause
"""A flow simulation that is watched and steered while it runs: what Figure 2 of Foster, Kohr,
Krishnaiyer, Choudhary, "Double Standards: Bringing Task Parallelism to HPF via the Message Passing
Interface", asks for. A viewer gets the velocities of a frame, moves tracers through them, and
returns their places, where the simulation then lets dye in.

  data        all processes compute; then one looks at the frame, and the others wait
  tasks       the viewer is a task of one process, and looks while the others compute the next frame
  persistent  the same, with sends and receives that are prepared once

In a terminal the frames are shown as they come; --out DIR writes them as pictures. --check compares
velocities and dye of every frame with a serial simulation.

With a port the simulation runs on until Ctrl-C. People look at it and steer it by keys. They start
and end their viewers when they like, several at once; the simulation goes on:

  hocket app steering --port duct --procs 2 --size 64x160      in one terminal
  hocket app steering --view duct                              in others
"""

from __future__ import annotations

import argparse
import math
import signal
import sys
from pathlib import Path
from typing import Any, Callable

import numpy as np
import numpy.typing as npt
from hocket.cli.apps import common, fft2d, sweeps, viewer
from hocket.cli.main import UsageError

import hocket as hk
from hocket.errors import Error

FORMS = ("data", "tasks", "persistent")
SWEEP = sweeps.Sweep("size", "a simulation that is steered", "a frame")
#: begins a line that describes a frame
MARK = "\x1e"
#: how fast a point is, as a character
SHADES = " .:-=+*#%@"

Field = npt.NDArray[np.float64]


def add_options(parser: argparse.ArgumentParser) -> None:
    """The program's own."""
    sweeps.add_size(parser, "48x96", "points")
    parser.add_argument("--frames", type=int, default=10, help="frames (10)")
    parser.add_argument("--steps", type=int, default=20, help="steps from frame to frame (20)")
    parser.add_argument("--tracers", type=int, default=12, help="tracers (12)")
    parser.add_argument("--out", metavar="DIR", help="write every frame there")
    sweeps.add_options(parser, 3)
    parser.add_argument("--forms", help="which of data,tasks,persistent (all that can be)")
    parser.add_argument("--port", metavar="NAME", help="run on, and let viewers look by this name")
    parser.add_argument(
        "--rate", type=float, default=200.0, help="its steps a second; 0: any (200)"
    )
    parser.add_argument("--address", default="", help="host:port for viewers on other hosts")
    parser.add_argument("--view", metavar="NAME", help="look at the simulation of this port")
    parser.add_argument("--key", help="the key file, for other hosts")


def run(options: argparse.Namespace) -> common.Result:
    """All forms in one start, taking turns; frames are of the first run of each."""
    common.at_least(options, frames=1, steps=1, tracers=1, procs=1)
    if options.port and options.view:
        raise UsageError("--port and --view are two programs; start each in a terminal of its own")
    if options.view:
        viewer.run(options.view, options.key)
        return common.Result({}, [])
    if options.port:
        return run_on(options)
    forms = fft2d.forms_of(options, FORMS, 2)
    rows, cols = common.pair(options.size, "--size")
    shows = sys.stdout.isatty() and not options.json
    with common.run_folder() as folder:
        words = {
            "rows": rows,
            "cols": cols,
            "frames": options.frames,
            "steps": options.steps,
            "tracers": options.tracers,
            "results": folder if options.check or options.out or shows else "",
            "forms": forms,
            "runs": options.runs,
        }
        watch = watcher(folder, (rows, cols), shows)
        facts = common.start("steering", options.procs, words, folder, options.timeout, watch)
        found = {form: frames_of(folder / form, (rows, cols)) for form in forms if words["results"]}
    good, verdict = True, "not asked for"
    if options.check:
        expected = serial(rows, cols, options.frames, options.steps, options.tracers)
        wrong = {form: compare(one, expected) for form, one in found.items()}
        good = all(value == "" for value in wrong.values())
        verdict = "  ".join(
            f"{form}: {value or 'every frame equals the serial simulation'}"
            for form, value in wrong.items()
        )
    if options.out:
        draw(next(iter(found.values())), options.out)
    lines = [
        f"{options.frames} frames of {rows}×{cols}, {options.steps} steps each, on {options.procs} "
        "processes",
        f"{'form':<12} {'a frame':>10} {'least':>10}",
    ]
    for form, one in facts["forms"].items():
        facts["forms"][form] = common.statistics(one["seconds_per_frame"])
        times = [common.seconds(facts["forms"][form][key]) for key in ("median_s", "minimum_s")]
        lines.append(f"{form:<12} {times[0]:>10} {times[1]:>10}")
    return common.Result(facts, lines, good, verdict)


def run_on(options: argparse.Namespace) -> common.Result:
    """The simulation with a port, until Ctrl-C or until an observer sets `go` to False."""
    rows, cols = common.pair(options.size, "--size")
    if not options.rate >= 0:
        raise UsageError(f"--rate {options.rate:g}: give steps a second, 0 or more")
    words = {
        "rows": rows,
        "cols": cols,
        "port": options.port,
        "address": options.address,
        "key": options.key or "",
        "rate": options.rate,
    }

    def stop(*_: object) -> None:
        signal.signal(signal.SIGINT, before)  # Ctrl-C again ends the processes
        with hk.observe(options.port, key=options.key, timeout=5) as observer:
            observer["go"] = False

    before = signal.signal(signal.SIGINT, stop)
    try:
        with common.run_folder() as folder:
            facts = common.start("steering", options.procs, words, folder, math.inf)
    finally:
        signal.signal(signal.SIGINT, before)
    return common.Result(facts, [f"stopped after {facts['steps']} steps"])


def watcher(folder: Path, shape: tuple[int, int], shows: bool) -> Callable[[str], bool]:
    """Removes the lines that describe frames, and shows the frames."""

    def take(line: str) -> bool:
        if not line.startswith(MARK):
            return False
        if shows:
            form, number = line[len(MARK) :].split()
            velocity, dye = frames_of(folder / form, shape)
            if len(dye) > int(number):
                print(f"{form}, frame {number}")
                print(text_of(velocity[int(number)], dye[int(number)]), flush=True)
        return True

    return take


def text_of(velocity: Field, dye: Field) -> str:
    """A frame for a terminal: how fast the flow is, and o where there is dye."""
    rows, cols = dye.shape
    down, along = max(1, -(-rows // 24)), max(1, -(-cols // 78))
    speed = np.hypot(velocity[..., 0], velocity[..., 1])[::down, ::along]
    top = float(np.max(speed)) or 1.0
    shades = np.minimum((speed / top * len(SHADES)).astype(int), len(SHADES) - 1)
    lines = []
    for i, row in enumerate(shades):
        cells = [
            dye[i * down : (i + 1) * down, j * along : (j + 1) * along] for j in range(len(row))
        ]
        lines.append("".join("o" if cell.any() else SHADES[s] for s, cell in zip(row, cells)))
    return "\n".join(lines)


def frames_of(path: Path, shape: tuple[int, int]) -> tuple[Field, Field]:
    """Velocities (frame, row, column, 2) and dye (frame, row, column) that a viewer has written."""
    velocity = np.fromfile(f"{path}.velocity", np.float64)
    dye = np.fromfile(f"{path}.dye", np.float64)
    points = shape[0] * shape[1]
    velocity = velocity[: len(velocity) // (2 * points) * 2 * points]
    dye = dye[: len(dye) // points * points]
    return velocity.reshape(-1, *shape, 2), dye.reshape(-1, *shape)


BY_ROW = np.array([0, 0, 1, 0, -1, 1, 1, -1, -1])
BY_COL = np.array([0, 1, 0, -1, 0, 1, -1, -1, 1])
OPPOSITE = [0, 3, 4, 1, 2, 7, 8, 5, 6]
WEIGHT = np.array([4 / 9] + [1 / 9] * 4 + [1 / 36] * 4)
RELAXATION, FORCE = 0.6, 1e-5


def serial(rows: int, cols: int, frames: int, steps: int, tracers: int) -> tuple[Field, Field]:
    """The same simulation on one grid: collision at every point, then `numpy.roll`."""
    row, col = np.indices((rows, cols))
    solid = (row - rows / 3) ** 2 + (col - cols / 4) ** 2 < (rows / 8) ** 2
    f = np.tile(WEIGHT, (rows, cols, 1))
    dye = np.zeros((rows, cols))
    places = np.array([[(t + 0.5) / tracers * rows, min(1, cols - 1)] for t in range(tracers)])
    velocities, dyes = [], []
    for frame in range(frames):
        for _ in range(steps):
            f = streamed(collided(f, solid))
        if frame > 0:
            at = places.astype(int)
            np.add.at(dye, (at[:, 0], at[:, 1]), 1)
        velocity = np.stack([f @ BY_ROW, f @ BY_COL], axis=-1) / f.sum(axis=-1)[..., None]
        velocities.append(velocity)
        dyes.append(dye.copy())
        at = places.astype(int)
        places = (places + steps * velocity[at[:, 0], at[:, 1]]) % (rows, cols)
    return np.array(velocities), np.array(dyes)


def collided(
    f: Field, solid: npt.NDArray[np.bool_], relaxation: float = RELAXATION, force: float = FORCE
) -> Field:
    """One relaxation towards rest, driven; bounced back where the disc is."""
    density = f.sum(axis=-1)
    u, v = f @ BY_ROW / density, f @ BY_COL / density
    along = 3.0 * (u[..., None] * BY_ROW + v[..., None] * BY_COL)
    square = 1.5 * (u * u + v * v)[..., None]
    rest = WEIGHT * density[..., None] * (1.0 + along + 0.5 * along**2 - square)
    after = f - (f - rest) / relaxation + 3.0 * force * WEIGHT * BY_COL
    result: Field = np.where(solid[..., None], f[..., OPPOSITE], after)
    return result


def streamed(f: Field) -> Field:
    """Every part moved to the next point."""
    parts = [np.roll(f[..., q], (BY_ROW[q], BY_COL[q]), (0, 1)) for q in range(len(WEIGHT))]
    return np.stack(parts, axis=-1)


def compare(found: tuple[Field, Field], expected: tuple[Field, Field]) -> str:
    """The error, or nothing."""
    for name, one, other in zip(("velocity", "dye"), found, expected):
        if one.shape != other.shape:
            return f"{name} has shape {one.shape}, not {other.shape}"
        off = np.abs(one - other).reshape(len(one), -1).max(axis=1)
        bad = np.flatnonzero(~(off <= 1e-12))
        if len(bad):
            return f"the {name} of frame {bad[0]} is off by {off[bad[0]]:.2g}"
    return ""


def draw(frames: tuple[Field, Field], folder: str) -> None:
    """Every frame as a picture. Raises `Error` if hocket cannot write them."""
    from hocket import plotting

    place = Path(folder)
    try:
        place.mkdir(parents=True, exist_ok=True)
        for number, (velocity, dye) in enumerate(zip(*frames)):
            speed = np.hypot(velocity[..., 0], velocity[..., 1])
            shown: Any = np.where(dye > 0, 1.2 * speed.max(), speed)
            plotting.plot_image(shown, place / f"frame{number:03}.png", f"frame {number}")
    except OSError as problem:
        raise Error(f"--out {folder} cannot be written: {problem.strerror}") from problem
