# SPDX-License-Identifier: BSD-3-Clause
"""HPL under the simulator, beside the application: its own program, compiled with SMPI's compiler
and with calls of BLAS that only spend their simulated time (``apps/timed_blas.c``)."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path

from . import simulation
from .curves import Curve, Point, coarsened, grid_of
from .linear_solvers import Setting, System, input_of_hpl, result_of_hpl

NAME = "HPL"
_SWAP_FROM = 64  # columns, from which rows are spread instead of exchanged


@dataclass(frozen=True)
class BesideHpl(Curve):
    """A curve with HPL as its last form. Its processes have one processor each, as HPL has no
    threads."""

    xhpl: str = ""
    #: NB is that of the matrix, whatever a number stands for
    setting: Setting = field(default_factory=lambda: Setting(128, 1, 1))

    def run(
        self, point: Point, kernels: Mapping[str, float], timeout: float | None
    ) -> dict[str, float]:
        found = super().run(point, kernels, timeout)
        return {**found, NAME: self.seconds_of_hpl(point, kernels, timeout)}

    def seconds_of_hpl(
        self, point: Point, kernels: Mapping[str, float], timeout: float | None
    ) -> float:
        """HPL's own time."""
        one = replace(point, processes=point.processes * point.threads, threads=1)
        side = point.coarse
        speeds = coarsened(one, kernels)
        # A column of squares has products within, which the application announces itself.
        panel = speeds["panel"] + (speeds["blas"] if side > 1 else 0)
        times = [seconds * point.platform.slowness for seconds in (speeds["blas"], panel)]
        rows, columns = grid_of(one.processes)
        setting = replace(self.setting, nb=max(1, self.setting.nb // side))
        system = System(point.size // side, setting.nb, rows, columns, 1, 1, timeout, None)
        with tempfile.TemporaryDirectory(prefix="hocket-bench-") as name:
            folder = Path(name)
            settings = self.options(one, folder)
            text = input_of_hpl(system, setting, max(1, _SWAP_FROM // side))
            (folder / "HPL.dat").write_text(text, encoding="utf-8")
            more = {"HOCKET_TIMED_BLAS": ",".join(map(repr, times))}
            program = Path(self.xhpl).resolve()
            said = simulation.output(program, settings, [], timeout, folder=folder, more=more)
        return result_of_hpl(said)[0]


def beside(curve: Curve, xhpl: str, setting: Setting) -> BesideHpl:
    """The curve, and HPL's program with this setting."""
    given = {each.name: getattr(curve, each.name) for each in fields(curve)}
    given["forms"] = (*curve.forms, NAME)
    return BesideHpl(**given, xhpl=xhpl, setting=setting)
