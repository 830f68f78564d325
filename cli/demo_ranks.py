# SPDX-License-Identifier: BSD-3-Clause
"""The processes of `hocket demo`: a 2-D FFT of a stream of images, in three forms.

Two are from Foster, Kohr, Krishnaiyer, Choudhary, "Double Standards: Bringing Task Parallelism to
HPF via the Message Passing Interface": the data-parallel form of its Figure 1 and the pipeline of
two tasks of its Figure 3. The third is that pipeline as a flow. Every result is compared
with a serial FFT of the same image.
"""

from __future__ import annotations

import importlib
import json
import time
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

import hocket as hk

from . import demo_teams, demo_transfers

#: begins a line of progress, which the command removes from the ranks' output
PROGRESS = "\x1e"
#: the tag of the paper's Figure 3
TAG = 99
#: images a batch: the forms take turns batch by batch, so that all see the same machine
BATCH = 12
#: the most bytes of results that wait for their comparison
KEPT = 256 << 20

Complex = npt.NDArray[np.complex128]


def stream(world: Any, frames: npt.NDArray[np.uint8], warmup: int) -> dict[str, Any]:
    """Send the frames through all forms, batch by batch in turn, and compare every result.

    Args:
        world: the tasks "rows" and "cols".
        frames: uint8 (F, N, N).
        warmup: frames at the start of each batch whose times are not used.

    Returns:
        of this process: times of completion by form and batch; verdicts and the first spectrum (on
        the lowest process that has the results); the six-step profiles; the transfer alone in
        several ways; the times of teams' operations; MPI's version.
    """
    both = Forms(world, frames)
    count, size = len(frames), frames.shape[1]
    batch = max(warmup + 1, min(BATCH, KEPT // max(1, 16 * size * size)))
    forms = {
        "pipelined": both.pipelined,
        "flow": both.flowing,
        "data-parallel": both.data_parallel,
    }
    times: dict[str, list[list[float]]] = {form: [] for form in forms}
    checks: list[dict[str, Any]] = []
    for first in range(0, count, batch):
        numbers = range(first, min(count, first + batch))
        for form, run in forms.items():
            _settle(both.everyone)
            begun = time.perf_counter()
            results, done = run(numbers)
            times[form].append([begun, *done])
            _settle(both.everyone)
            checks += both.compare(form, numbers, results)
    return {
        "task": world.name,
        "times": times,
        "checks": checks,
        "profiles": both.profiles,
        "transfers": demo_transfers.transfers(world, both.part, both.transfer, both.everyone),
        "teams": demo_teams.measure(world, both.everyone),
        "spectrum": both.first,
        "mpi": _mpi().Get_library_version().strip("\0").splitlines()[0],
    }


class Forms:
    """The forms over the same processes, with their layouts and arrays."""

    def __init__(self, world: Any, frames: npt.NDArray[np.uint8]) -> None:
        self.world = world
        self.first: npt.NDArray[Any] | None = None  # the spectrum of the first image
        self.profiles: list[list[dict[str, float]]] = []  # by batch: before it, after each image
        self.frames = frames
        self.everyone = _mpi().COMM_WORLD.Dup()
        self.here = world.comm
        self.image = (frames.shape[1], frames.shape[2])
        self.rows = hk.Layout(self.image, "(BLOCK,*)", self.here.size)
        self.cols = hk.Layout(self.image, "(*,BLOCK)", self.here.size)
        self.all = hk.Layout(self.image, "(BLOCK,*)", self.everyone.size)
        mine = self.rows if world.name == "rows" else self.cols
        self.part = hk.empty(mine, np.complex128, comm=self.here)
        self.whole = hk.empty(self.all, np.complex128, comm=self.everyone)
        self.turned = hk.empty(self.all, np.complex128, comm=self.everyone)
        # All images have the same route, so they share descriptors and plan.
        self.transfer = self._transfer(self.part, TAG)
        # A flow works on one image while the other travels.
        self.turns = [(part, self._transfer(part, TAG + 1)) for part in self._parts(mine, 2)]

    def _parts(self, layout: hk.Layout, count: int) -> list[Any]:
        return [hk.empty(layout, np.complex128, comm=self.here) for _ in range(count)]

    def _transfer(self, part: Any, tag: int) -> Any:
        count = len(self.frames)
        if self.world.name == "rows":
            return self.world.send_init(part, "cols", tag=tag, count=count)
        return self.world.recv_init(part, "rows", tag=tag, count=count)

    def flowing(self, numbers: range) -> tuple[list[Complex], list[float]]:
        """Figure 3 as steps with their accesses, without an explicit order."""
        results: list[Complex] = []
        done: list[float] = []

        def finish(number: int, part: Any) -> None:
            results.append(_fft(part.local, axis=0))
            done.append(time.perf_counter())
            if self.here.rank == 0:
                progress("flow", number)

        def move(transfer: Any) -> Any:
            transfer.start()
            return transfer

        with hk.Flow(workers=1) as flow:
            for number in numbers:
                part, transfer = self.turns[number % 2]
                if self.world.name == "rows":
                    flow.task(partial(self.read, number, part), outputs=[part])
                    flow.comm(partial(move, transfer), inputs=[part], priority=1)
                else:
                    flow.comm(partial(move, transfer), outputs=[part], priority=1)
                    flow.task(partial(finish, number, part), inputs=[part], inouts=["results"])
        return results, done

    def pipelined(self, numbers: range) -> tuple[list[Complex], list[float]]:
        """Figure 3: task rows transforms rows and sends; task cols receives and transforms
        columns, while rows is at the next image."""
        results, done = [], []
        self.profiles.append([self.world.profile()])
        for number in numbers:
            if self.world.name == "rows":
                self.read(number, self.part)
                self.transfer.start()
                self.transfer.wait()
            else:
                self.transfer.start()
                self.transfer.wait()
                results.append(_fft(self.part.local, axis=0))
                done.append(time.perf_counter())
                if self.here.rank == 0:
                    progress("pipelined", number)
            self.profiles[-1].append(self.world.profile())
        return results, done

    def data_parallel(self, numbers: range) -> tuple[list[Complex], list[float]]:
        """Figure 1: all processes transform rows, transpose, transform rows again. The result is
        the spectrum transposed."""
        results, done = [], []
        for number in numbers:
            self.read(number, self.whole)
            hk.redistribute(self.whole, self.all, axes=(1, 0), out=self.turned)
            results.append(_fft(self.turned.local, axis=1))
            done.append(time.perf_counter())
            if self.everyone.rank == 0:
                progress("data-parallel", number)
        return results, done

    def read(self, number: int, array: Any) -> None:
        """This process's rows of an image, transformed."""
        rows = array.layout.global_indices(array.comm.rank)[0]
        if len(rows):
            image = self.frames[number, rows[0] : rows[-1] + 1].astype(np.float64)
            array.local[...] = _fft(image, axis=1)

    def compare(self, form: str, numbers: range, results: list[Complex]) -> list[dict[str, Any]]:
        """Collect every result on the lowest process that has it, and compare it there."""
        verdicts: list[dict[str, Any]] = []
        if form != "data-parallel" and self.world.name == "cols":
            layout, comm = self.cols, self.here
        elif form == "data-parallel":
            layout, comm = self.all, self.everyone
        else:
            return verdicts
        for number, local in zip(numbers, results):
            spectrum: Any = hk.wrap(local, layout, comm=comm).gather(0)
            if spectrum is not None:
                found = spectrum.T if form == "data-parallel" else spectrum
                if self.first is None and form == "pipelined":
                    self.first = found
                verdicts.append(
                    {"form": form, "frame": number, **verdict(found, self.frames[number])}
                )
        return verdicts


def verdict(spectrum: npt.NDArray[Any], image: npt.NDArray[np.uint8]) -> dict[str, Any]:
    """Compares a spectrum with SciPy's serial 2-D FFT of the image.

    An element may differ by rounding: 16 eps log2(N²) of its own size and the spectrum's root mean
    square together, the growth of an FFT's error (Higham, "Accuracy and Stability of Numerical
    Algorithms", section 24.1). NaN is wrong.

    Returns:
        "right", and "worst": the largest difference in units of the allowed one.
    """
    expected = importlib.import_module("scipy.fft").fft2(image.astype(np.float64))
    mean_square = float(np.sqrt(np.mean(np.abs(expected) ** 2))) if expected.size else 0.0
    grain = 16 * np.finfo(np.float64).eps * max(1.0, np.log2(max(2, expected.size)))
    allowed = grain * (np.abs(expected) + mean_square) + np.finfo(np.float64).tiny
    if spectrum.shape != expected.shape:
        return {"right": False, "worst": float("inf")}
    worst = float(np.max(np.abs(spectrum - expected) / allowed, initial=0.0))
    return {"right": worst <= 1.0, "worst": worst}


def progress(form: str, frame: int) -> None:
    """Reports to the command that an image is done."""
    print(PROGRESS + json.dumps({"form": form, "frame": frame}), flush=True)


def _fft(values: npt.NDArray[Any], axis: int) -> Complex:
    if values.size == 0:  # a process without rows; SciPy rejects transforms of length 0
        return np.zeros(values.shape, np.complex128)
    result: Complex = importlib.import_module("scipy.fft").fft(values, axis=axis)
    return result


def _settle(comm: Any) -> None:
    """A barrier that leaves the processor to computing processes."""
    request = comm.Ibarrier()
    while not request.Test():
        time.sleep(0.0002)


def _mpi() -> Any:
    return importlib.import_module("mpi4py.MPI")
