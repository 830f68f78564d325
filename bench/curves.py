# SPDX-License-Identifier: BSD-3-Clause
"""Curves over processes: an application's forms beside each other on a simulated machine."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Callable

from hocket.cli.apps import common, linpack

from . import simulation
from .kernels import words as model_words
from .platforms import Platform

Words = dict[str, object]
#: bytes of a message from which its sender waits for the receiver
_ENDS_AT_ONCE = 65536


@dataclass(frozen=True)
class Point:
    """One simulated start."""

    platform: Platform
    processes: int
    threads: int  #: of each process: they share local permutations, and LINPACK's products
    size: int  #: N: see `Curve.size`
    frames: int
    nb: int
    noise: tuple[float, float] = (0.0, 0.0)  #: see `apps/model.hpp`
    coarse: int = 1  #: a number stands for a square of numbers of this side: see `coarsened`
    modes: tuple[str, ...] = linpack.MODES  #: of LINPACK
    widths: tuple[int, ...] = ()  #: of its updates: one for all modes, or one for each


@dataclass(frozen=True)
class Curve:
    """``words`` are an application's parameters; ``times`` finds a form's seconds in its report."""

    app: str
    title: str
    size: str  #: the meaning of N
    forms: tuple[str, ...]
    platforms: tuple[str, ...]
    processes: tuple[int, ...]
    sizes: tuple[int, ...]
    words: Callable[[Point, Path], Words]
    times: Callable[[Mapping[str, Any]], dict[str, float]]
    least: int = 1  #: processes
    program: str = ""  #: in the folder of simulated programs; "": the application
    threads: tuple[int, ...] = (1,)
    settings: tuple[str, ...] = ()  #: further options of `smpirun`
    #: seconds of kernels at a point, if not those of one thread and one number
    speeds: Callable[[Point, Mapping[str, float]], Mapping[str, float]] = lambda _, kernels: kernels
    coarsens: bool = False  #: whether one number may stand for several

    def run(
        self, point: Point, kernels: Mapping[str, float], timeout: float | None
    ) -> dict[str, float]:
        """Simulated seconds by form."""
        with tempfile.TemporaryDirectory(prefix="hocket-bench-") as name:
            folder = Path(name)
            settings = self.options(point, folder)
            models = {"model": point, "model_of_step": replace(point, threads=1)}
            given = {
                "results": "",
                "runs": 1,
                **{word: self.model(its, kernels) for word, its in models.items()},
                "noise_every": point.noise[0],
                "noise_lasts": point.noise[1],
                **self.words(point, folder),
            }
            words = [f"{key}={_plain(value)}" for key, value in given.items()]
            program = simulation.BUILT / (self.program or f"apps/hocket_app_{self.app}")
            return self.times(simulation.start(program, settings, words, timeout))

    def model(self, point: Point, kernels: Mapping[str, float]) -> str:
        """The seconds of kernels, as a program reads them."""
        return model_words(self.speeds(point, kernels), point.platform.slowness)

    def options(self, point: Point, folder: Path) -> list[str]:
        """Options of `smpirun`, whose files it writes to the folder."""
        # Each number that travels stands for several.
        fewer = 1 / point.coarse**2
        platform = point.platform.scaled(fewer, inside=fewer)
        longest = max(1, round(_ENDS_AT_ONCE * fewer))
        return [
            *platform.write(folder, point.processes, point.threads),
            f"--cfg=smpi/send-is-detached-thresh:{longest}",
            *self.settings,
        ]


def _plain(value: object) -> str:
    return ",".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)


def _black(folder: Path, pixels: int) -> Path:
    path = folder / "images"
    with path.open("wb") as file:
        file.truncate(pixels)  # nothing reads them
    return path


def _images(point: Point) -> Words:
    return {"rows": point.size, "cols": point.size, "frames": point.frames}


def _fft(point: Point, folder: Path) -> Words:
    images = _black(folder, point.size**2 * point.frames)
    return {**_images(point), "input": images, "forms": FFT.forms}


def _convolution(point: Point, folder: Path) -> Words:
    images = _black(folder, point.size**2 * point.frames)
    # Equal shares, as in the paper's FFT: the task that only multiplies moves as much.
    sizes = common.shares(point.processes, [1, 1, 1, 1])
    return {
        **_images(point),
        "first": images,
        "second": images,
        "sizes": sizes,
        "forms": CONVOLUTION.forms,
    }


def _of_images(report: Mapping[str, Any]) -> dict[str, float]:
    return {name: form["seconds_per_image"][0] for name, form in report["forms"].items()}


def _multiblock(point: Point, folder: Path) -> Words:
    # The paper's three, of which the small one has 96 x 96 points.
    n = point.size
    places = [[0, 0, 2 * n, 2 * n], [n // 2, 2 * n, n, n], [0, 3 * n, 2 * n, 2 * n]]
    return {
        "blocks": ";".join(",".join(map(str, place)) for place in places),
        "processes": common.shares(point.processes, [rows * cols for *_, rows, cols in places]),
        "steps": 1,
        "told": 1,
        "timed": point.frames,
        "progress": 0,
        **{"snapshots": "", "every": 1, "restart": ""},
        "forms": MULTIBLOCK.forms,
    }


def _of_steps(report: Mapping[str, Any]) -> dict[str, float]:
    return {name: form["seconds_per_step"][0] for name, form in report["forms"].items()}


def grid_of(processes: int) -> tuple[int, int]:
    """The most nearly square, with at most as many rows as columns, as HPL advises."""
    rows = max(p for p in range(1, math.isqrt(processes) + 1) if processes % p == 0)
    return rows, processes // rows


def coarsened(point: Point, kernels: Mapping[str, float]) -> dict[str, float]:
    """A matrix of squares in place of numbers: products have as many more operations as a cube
    has numbers. The program adds those within a column of squares, which is a panel. Threads share
    products evenly."""
    side = point.coarse
    blas = kernels["blas"] * side**3 / point.threads
    return {
        **kernels,
        "blas": blas,
        "panel": kernels["panel"] * side**2,
        "move": kernels["move"] * side**2,
    }


def _linpack(point: Point, folder: Path) -> Words:
    side = point.coarse
    n, nb = point.size // side, point.nb // side
    return {
        "n": n,
        "nb": nb,
        "coarse": side,
        # The program's own pieces, after which a flow polls messages and yields: as long as on the
        # machine that times the kernels, since urgent steps wait for their ends.
        "piece_rows": max(1, round(1024 / point.platform.slowness) // side),
        "piece_columns": max(1, 512 // side),
        "search_width": max(1, 64 // side),
        "grid": grid_of(point.processes),
        "modes": point.modes,
        "width": [max(1, width // side) for width in point.widths]
        # Of wider updates, some workers would have none; narrower ones are more messages.
        or max(1, min(max(point.nb, 256), 512) // side),
        "workers": point.threads,
        "seed": 1,
        "singular": 0,
        "pivots": 0,
    }


def _of_modes(report: Mapping[str, Any]) -> dict[str, float]:
    return {name: mode["seconds"][0] for name, mode in report["modes"].items()}


def _remap(point: Point, folder: Path) -> Words:
    n = point.size
    return {
        "shape": (2 * n, 8 * n, n),  # as the paper's 64 x 512 x 128, which it writes reversed
        "axes": (1, 0, 2),
        "dist": "(BLOCK,*,*)",  # smpirun splits words at blanks
        "threads": point.threads,
        "forms": "two-array,in-place",
    }


def _team(point: Point, folder: Path) -> Words:
    return {}


def _of_operations(report: Mapping[str, Any]) -> dict[str, float]:
    return dict(report["seconds"])


def _of_forms(report: Mapping[str, Any]) -> dict[str, float]:
    return {form["form"]: form["seconds"][0] for form in report["forms"]}


_DOUBLE = (2, 4, 8, 16, 32, 64, 128)
FFT = Curve(
    app="fft2d",
    title="2-D FFT of a stream of images",
    size="pixels a side",
    forms=("data", "persistent"),
    platforms=("sp1", "ethernet"),
    processes=_DOUBLE,
    sizes=(64, 256, 1024),
    words=_fft,
    times=_of_images,
    least=2,
)
CONVOLUTION = Curve(
    app="convolution",
    title="convolution of two streams",
    size="pixels a side",
    forms=("data", "persistent"),
    platforms=("sp1", "ethernet"),
    processes=_DOUBLE[1:],
    sizes=(64, 256, 1024),
    words=_convolution,
    times=_of_images,
    least=4,
)
MULTIBLOCK = Curve(
    app="multiblock",
    title="Poisson solver on three blocks",
    size="points of the small block's side",
    forms=("data", "tasks"),
    platforms=("sp2", "sp1"),
    processes=_DOUBLE[1:],
    sizes=(96,),
    words=_multiblock,
    times=_of_steps,
    least=3,
)
LINPACK = Curve(
    app="linpack",
    title="LINPACK",
    size="unknowns",
    forms=linpack.MODES,
    platforms=("js21",),
    processes=(4, 16, 64),
    sizes=(512, 1024),
    words=_linpack,
    times=_of_modes,
    speeds=coarsened,
    coarsens=True,
)
REMAP = Curve(
    app="remap",
    title="remap of a three-dimensional array",
    size="first extent",
    forms=("two-array", "in place"),
    platforms=("sp",),
    processes=(16, 32, 64, 128),
    sizes=(64,),
    words=_remap,
    times=_of_forms,
    threads=(1, 4, 16),
)
TEAM = Curve(
    app="team",
    title="operations of a team, 8 bytes a process",
    size="nothing here",
    forms=("MPI_Barrier", "wait", "MPI_Allreduce", "reduce_add", "MPI_Allgather", "gather"),
    platforms=("sp2", "cluster"),
    processes=(2, 4, 8, 16, 32, 64, 128),
    sizes=(1,),
    words=_team,
    times=_of_operations,
    program="tests/simulated/simulated_teams",
    # Open MPI's choice of collectives; SMPI's own choice is linear in the processes.
    settings=("--cfg=smpi/coll-selector:ompi",),
)
CURVES = {
    "fft": FFT,
    "convolution": CONVOLUTION,
    "multiblock": MULTIBLOCK,
    "linpack": LINPACK,
    "remap": REMAP,
    "team": TEAM,
}


def crossover(sizes: Sequence[float], ratios: Sequence[float]) -> float | None:
    """The value of a falling or rising variable at which a ratio passes 1, by interpolation of
    logarithms; None if it does not."""
    for (x0, y0), (x1, y1) in zip(zip(sizes, ratios), zip(sizes[1:], ratios[1:])):
        if (y0 < 1) != (y1 < 1):
            part = math.log(y0) / (math.log(y0) - math.log(y1))
            return math.exp(math.log(x0) + part * (math.log(x1) - math.log(x0)))
    return None
