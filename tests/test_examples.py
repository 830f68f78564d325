# SPDX-License-Identifier: BSD-3-Clause
"""Every example runs as it stands, and prints what it promises."""

from __future__ import annotations

import importlib.util
import math
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import built
import hocket as hk

EXAMPLES = Path(__file__).parent.parent / "examples"
PARTS = {"05_rows.py", "05_columns.py", "12_listener.py"}
#: jobs of their own, which meet by a port
JOBS = {"23_samples.py", "23_training.py", "24_analysis.py"}
#: a line of the output of each, exactly
EXPECTED = {
    "01_redistribute.py": " [30 32 34]]",
    "02_two_tasks.py": "image 4: the pipeline's spectrum is the serial one",
    "03_transpose.py": " [  6 106 206 306 406]]",
    "04_scatter_gather.py": "[0. 1. 2. 3. 4. 5. 6. 7. 8. 9.]",
    "06_plan_without_mpi.py": "process 0 sends [(0, 85000), (1, 82500), (2, 82500)]",
    "07_errors.py": None,
    "08_convolution.py": "image 2: the four tasks' result is the sum that defines a convolution",
    "09_blocks.py": None,
    "10_remap.py": "each process has whole circles of latitude: (3, 4, 16); remapped: (8, 6, 16)",
    "14_heat.py": "total 15994.956643, hottest 74.4818 at (23, 19)",
    "15_conjugate_gradient.py": (
        "46 steps on 1, 2 and 3 processes, sum of the solution 19.565743413970"
    ),
    "16_k_means.py": "centres: (-0.02, 0.01), (5.07, 0.99), (1.95, 6.03)",
    "17_sort.py": "quartiles [123, 245, 373], 500 distinct values, the least one at 173",
    "18_transfer.py": "the same as on one process: True",
    "13_pingpong.py": "20 times to and fro, and every element is where it belongs",
    "19_restart.py": "4 snapshots; restarted on three processes: bit for bit",
    "20_figures_1_and_3.py": "figure_3: 20 spectra, each that of a serial FFT",
    "21_figure_5.py": "figure 5: 20 spectra, each that of a serial FFT",
    "22_resize.py": "2 -> 3 -> 1 processes: the same bits as on one: True",
    "11_steering.py": "the hottest point follows the viewer: [0, 10, 20, 30]",
}

#: examples on arrays, and the function of each that computes
COMPUTING = {
    "14_heat": "plate",
    "15_conjugate_gradient": "solve",
    "16_k_means": "cluster",
    "17_sort": "order",
}


def run(*words: str) -> str:
    done = subprocess.run(
        [sys.executable, *words], cwd=EXAMPLES, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ""
    return done.stdout


def test_every_example_is_here():
    assert {path.name for path in EXAMPLES.glob("*.py")} == set(EXPECTED) | PARTS | JOBS


@pytest.mark.parametrize("name", sorted(set(EXPECTED) | PARTS | JOBS))
def test_an_example_is_short(name):
    """Forty lines of code at most, beside blank ones, comments and what it says of itself."""
    text = (EXAMPLES / name).read_text(encoding="utf-8").split('"""', 2)[-1]
    lines = [line for line in text.splitlines() if line.strip() and line.strip()[0] != "#"]
    assert 3 < len(lines) <= 40


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_example(name):
    output = run(name)
    line = EXPECTED[name]
    if line is not None:
        assert line in output.splitlines()


def answers(comm):
    """Those of each example on arrays, on the first one, two, … processes."""
    found = []
    for name, function in COMPUTING.items():
        spec = importlib.util.spec_from_file_location(function, EXAMPLES / f"{name}.py")
        example = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(example)
        for size in range(1, comm.size + 1):
            part = comm.Split(int(comm.rank >= size), comm.rank)
            if comm.rank < size:
                found.append((name, getattr(example, function)(part)))
            comm.barrier()
            part.Free()
    return found


def test_the_same_bits_on_one_to_six_processes():
    found = hk.run(answers, ranks=6)[0]
    assert len(found) == 6 * len(COMPUTING)
    firsts = dict(reversed(found))
    for name, answer in found:
        np.testing.assert_equal(answer, firsts[name])


def test_two_programs_as_tasks():
    output = run("-m", "hocket", "run", "rows=2:05_rows.py", "columns=3:05_columns.py").splitlines()
    assert "columns[2] | process 2 has columns [4, 5] from (6, 6) (BLOCK, *) @ (2)" in output
    assert "rows[1]    | process 1 has sent 3 rows" in output


def test_a_program_in_cpp_and_one_in_python():
    waves = built.folder() / "tests" / "example_waves"
    output = run("-m", "hocket", "run", f"waves=2:{waves} 400", "listener=1:12_listener.py")
    # A string at rest swings as the first mode; the time steps start half a step early.
    phase, top = math.pi / 65, math.sin(32 * math.pi / 65)
    for step in (100, 200, 300, 400):
        height = top * math.cos(phase * (step + 0.5)) / math.cos(phase / 2)
        line = f"step {step}: {height:+.3f} in the middle, sent as (64) (BLOCK) @ (2)"
        assert f"listener[0] | {line}" in output.splitlines(), output


@pytest.mark.soak
def test_many_random_numbers_of_processes():
    sizes = [str(size) for size in np.random.default_rng(1).integers(1, 6, 21)]
    line = f"{' -> '.join(sizes)} processes: the same bits as on one: True"
    assert run("22_resize.py", *sizes).splitlines() == [line]


def job(folder, ranks, *words):
    """A job of `hocket run` in the folder."""
    program = words[0] if words[0].startswith("/") else EXAMPLES / words[0]
    line = f"job={ranks}:{program} {' '.join(words[1:])}"
    command = [sys.executable, "-m", "hocket", "run", line]
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True)


def test_training_is_stopped_and_goes_on(tmp_path):
    name = f"samples-{os.getpid()}"
    simulation = job(tmp_path, 2, "23_samples.py", name)
    first = job(tmp_path, 2, "23_training.py", name)
    try:
        while not (tmp_path / "checkpoint.npy").exists():
            assert first.poll() is None
            time.sleep(0.005)
        first.terminate()
        first.wait(60)
        frames = int(np.load(tmp_path / "checkpoint.npy")[0])
        assert 0 < frames < 200
        printed = job(tmp_path, 1, "23_training.py", name).communicate(timeout=60)[0]
        assert simulation.wait(60) == 0
    finally:
        for started in (simulation, first):
            started.kill()
    assert printed == f"job[0] | 200 frames: {', '.join(f'{w:.12f}' for w in trained())}\n"


def trained():
    """The weights that the training finds if nothing stops it."""
    line = hk.Layout(300, "(*)")
    u, weights = hk.random(0).normal(line).local, np.zeros(3)
    for frame in range(1, 201):
        near = np.stack([np.roll(u, 1), u, np.roll(u, -1)], axis=1)
        after = near @ (0.2, 0.5, 0.3)
        weights -= 0.2 * np.mean((near @ weights - after)[:, np.newaxis] * near, axis=0)
        u = 0.5 * after + hk.random(frame).normal(line).local
    return weights


@pytest.mark.parametrize("ranks", [1, 2, 3])
@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("heat", "total 15994.956643, hottest 74.4818 at (23, 19)"),
        ("conjugate_gradient", "47 steps, sum of the solution -2.004093534760"),
    ],
)
def test_programs_in_cpp_on_arrays(name, line, ranks, tmp_path):
    """The same on any number of processes, and of the heat what 14_heat.py prints."""
    printed = built.start(built.folder() / "tests" / f"example_{name}", ranks, tmp_path)
    assert printed.splitlines() == [line]


def test_the_guide_shows_the_lines_of_the_programs_in_cpp():
    for page, name in (("coupled", "12_waves"), ("computing", "20_heat")):
        text = (EXAMPLES.parent / f"docs/guide/{page}.md").read_text(encoding="utf-8")
        shown = text.split("```cpp\n")[1].split("```")[0].splitlines()
        program = (EXAMPLES / f"cpp/{name}.cpp").read_text(encoding="utf-8").splitlines()
        assert {line.strip() for line in shown} <= {line.strip() for line in program}


def test_both_sides_name_both_sides():
    left, right = run("07_errors.py").splitlines()
    assert left.startswith("left: ") and right.startswith("right: ")
    for message in (left, right):
        assert "'left'" in message and "'right'" in message
        assert "float64" in message and "float32" in message
