# SPDX-License-Identifier: BSD-3-Clause
"""hocket as a contestant: its own choices, the methods of the paper, the two-array form."""

from __future__ import annotations

from typing import Any

from .harness import Contestant, Step, UnavailableError
from .permutation import Permutation
from .subject import hocket


def _kernels() -> Any:
    hocket()
    import hocket.kernels as kernels

    return kernels


def out_of_place(problem: Permutation) -> Contestant:
    """`hk.permute`."""

    def prepare() -> Step:
        kernels = _kernels()
        source, target = problem.source, problem.target
        return problem.out_of_place(
            lambda: kernels.permute(source, problem.axes, out=target, threads=problem.threads)
        )

    return Contestant("hocket", prepare)


def in_place(problem: Permutation, method: str = "auto", schedule: str = "auto") -> Contestant:
    """`hk.permute_inplace`, by the method and with the schedule."""

    def prepare() -> Step:
        kernels = _kernels()
        hk = hocket()
        options = {"threads": problem.threads, "method": method}
        try:
            about = kernels.explain_permute(
                problem.shape, problem.axes, problem.source.itemsize, **options
            )
        except hk.Error as error:
            raise UnavailableError(str(error)) from error
        source = problem.source
        step = problem.in_place(
            lambda: kernels.permute_inplace(source, problem.axes, schedule=schedule, **options)
        )
        passes = [line for line in about.splitlines() if line[:1].isdigit()]
        return Step(step.run, step.check, step.spoil, extras=lambda: {"passes": "; ".join(passes)})

    name = "hocket in place" if method == "auto" else f"hocket in place, {method}"
    return Contestant(name if schedule == "auto" else f"{name}, {schedule}", prepare)


def two_arrays(problem: Permutation, copy_back: bool, schedule: str = "auto") -> Contestant:
    """The paper's two-array method: ordinary stores, as a compiler's loop would have them."""

    def prepare() -> Step:
        kernels = _kernels()
        source, target = problem.source, problem.target
        options = {"threads": problem.threads, "schedule": schedule, "copy_back": copy_back}

        def run() -> None:
            kernels.permute_two_arrays(source, problem.axes, target, **options)

        return problem.in_place(run) if copy_back else problem.out_of_place(run)

    name = "two arrays, copied back" if copy_back else "two arrays"
    return Contestant(name if schedule == "auto" else f"{name}, {schedule}", prepare)


def two_arrays_streaming(problem: Permutation) -> Contestant:
    """Its strongest form: streaming stores for large arrays, both times."""

    def prepare() -> Step:
        kernels = _kernels()
        source, target = problem.source, problem.target
        back = source.reshape(problem.result)
        same = tuple(range(len(problem.shape)))

        def run() -> None:
            kernels.permute(source, problem.axes, out=target, threads=problem.threads)
            kernels.permute(target, same, out=back, threads=problem.threads)

        return problem.in_place(run)

    return Contestant("two arrays, streaming stores, copied back", prepare)
