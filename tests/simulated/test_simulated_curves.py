# SPDX-License-Identifier: BSD-3-Clause
"""The applications on simulated machines, as `hocket bench simulate` runs them."""

from __future__ import annotations

import math
import shutil

import pytest
from hocket.bench import simulation
from hocket.bench.curves import CURVES, Point
from hocket.bench.kernels import KINDS
from hocket.bench.platforms import PLATFORMS, Platform

pytestmark = pytest.mark.soak

KERNELS = dict.fromkeys(KINDS, 1e-9)
#: messages cost nearly nothing, computing much
FREE = Platform("free", "none", 16, 1, 1e15, 1e-12, 0.0, 1000.0, "made up")


def built(curve):
    program = simulation.BUILT / (curve.program or f"apps/hocket_app_{curve.app}")
    return shutil.which("smpirun") is not None and program.is_file()


def seconds(curve, platform, processes, size, threads=1, frames=4, noise=(0.0, 0.0), coarse=1):
    if not built(CURVES[curve]):
        pytest.skip("the simulated program is not built")
    point = Point(platform, processes, threads, size, frames, 8, noise, coarse)
    return CURVES[curve].run(point, KERNELS, 120)


def test_computing_takes_what_the_model_says():
    n = 64
    found = seconds("fft", FREE, 4, n)
    lines = 2 * 5 * n * n * math.log2(n) * KERNELS["fft"] * FREE.slowness
    assert found["data"] == pytest.approx(lines / 4, rel=0.1)
    # Two tasks of two processes, each with half of the work: as fast, once the pipeline is full.
    assert found["persistent"] == pytest.approx(lines / 4, rel=0.5)


def test_dear_messages_make_the_pipeline_win():
    sp1 = PLATFORMS["sp1"]
    few, many = seconds("fft", sp1, 2, 256), seconds("fft", sp1, 16, 32)
    assert many["data"] / many["persistent"] > 1.2
    assert few["data"] / few["persistent"] < many["data"] / many["persistent"]


@pytest.mark.parametrize(
    ("curve", "processes", "size"),
    [
        ("convolution", 8, 32),
        ("multiblock", 6, 16),
        ("linpack", 16, 64),
        ("remap", 4, 8),
        ("team", 5, 1),
    ],
)
def test_each_application_runs_in_all_its_forms(curve, processes, size):
    platform = PLATFORMS["js21"]
    found = seconds(curve, platform, processes, size)
    assert sorted(found) == sorted(CURVES[curve].forms)
    assert all(0 < time < math.inf for time in found.values())


def test_threads_share_what_is_local():
    one, four = (seconds("remap", FREE, 2, 16, threads=each) for each in (1, 4))
    moved = 2 * 8 * (2 * 16) * (8 * 16) * 16 / 2 * KERNELS["move"] * FREE.slowness
    assert one["in place"] - four["in place"] == pytest.approx(0.75 * moved, rel=0.1)


def test_a_number_that_stands_for_many_takes_their_time():
    fine, coarse = (seconds("linpack", FREE, 4, 128, coarse=side)["plain"] for side in (1, 4))
    assert coarse == pytest.approx(fine, rel=0.25)


def test_interruptions_add_the_part_of_computing_that_was_asked_for():
    calm = seconds("multiblock", FREE, 3, 64, frames=20)["tasks"]
    disturbed = seconds("multiblock", FREE, 3, 64, frames=20, noise=(calm / 10, calm / 100))
    # A tenth on the average of each process; the slowest of three is waited for.
    assert 1.03 < disturbed["tasks"] / calm < 1.4
