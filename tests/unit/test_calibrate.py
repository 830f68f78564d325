# SPDX-License-Identifier: BSD-3-Clause
"""`hocket calibrate`, and the model that it keeps: who reads it, and what it changes."""

import os
import subprocess
import sys

import pytest
from hocket.cli.main import main

import hocket as hk
from hocket import mpiexec

CHOOSE = """
import hocket as hk
rows = hk.Layout((64, 64), "(BLOCK, *)", 16)
print(hk.plan(rows, hk.Layout((64, 64), "(*, BLOCK)", 8)).strategy, hk.model()["far_message"])
"""


def chosen(**environment):
    kept = {name: value for name, value in os.environ.items() if name != "HOCKET_MODEL"}
    return subprocess.run(
        [sys.executable, "-c", CHOOSE],
        env={**kept, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_what_is_measured_is_kept_and_used(tmp_path, capsys):
    path = tmp_path / "new" / "model"
    words = ["--repeat", "3", "--output", str(path), "--set", "far_message=0.5"]
    assert main(["calibrate", *words]) == 0
    shown = capsys.readouterr().out
    costs = hk.costs.parse(path.read_text(encoding="utf-8"))
    assert costs["far_message"] == 0.5
    assert 0 <= costs["message"] < 0.4 and 0 <= costs["byte"] < 1e-5  # on a busy machine
    assert 1e-12 < costs["copy"] < 1e-6 and costs["relay"] >= 0
    assert str(path) in shown and all(name in shown for name in costs)
    # 16 messages across would cost 8 s.
    assert chosen(HOCKET_MODEL=str(path)).stdout.split()[1] == "0.5"
    assert chosen(HOCKET_MODEL=str(path)).stdout.split()[0] != "direct"
    assert chosen(HOCKET_MODEL="default").stdout.split() == ["direct", "0.0"]
    home = tmp_path / "home" / ".config" / "hocket"
    home.mkdir(parents=True)
    (home / "model").write_text("far_message = 0.25", encoding="utf-8")
    found = chosen(HOME=str(tmp_path / "home"), XDG_CONFIG_HOME="").stdout.split()
    assert found[0] != "direct" and found[1] == "0.25"


PERMUTE = """
import numpy as np
import hocket as hk
from hocket import _pure
rng = np.random.default_rng(3)
for shape, axes in [
    ((700, 301), (1, 0)), ((301, 700), (1, 0)), ((400, 300), (1, 0)),
    ((60, 35, 44), (2, 1, 0)), ((9, 8, 7, 30), (3, 1, 0, 2)),
    ((5, 7, 6, 8, 9, 4), (5, 3, 1, 4, 2, 0)),
]:
    a = rng.random(shape)
    expected = a.transpose(axes).copy()
    assert np.array_equal(hk.permute_inplace(a, axes), expected), (shape, axes)
print(_pure.pass_costs_origin())
print(hk.explain_permute((7001, 3001), axes=(1, 0), itemsize=8))
"""


def permuted(model):
    """The origin of the costs, and the explanation of a permutation, of another process."""
    kept = {name: value for name, value in os.environ.items() if name != "HOCKET_MODEL"}
    return subprocess.run(
        [sys.executable, "-c", PERMUTE],
        env={**kept, "HOCKET_MODEL": str(model)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_measured_passes_are_kept_and_used(tmp_path, capsys):
    path = tmp_path / "model"
    assert main(["calibrate", "--passes", "--repeat", "1", "--output", str(path)]) == 0
    kept = tmp_path / "model.passes"
    text = kept.read_text(encoding="utf-8")
    assert str(kept) in capsys.readouterr().out
    path.write_text("", encoding="utf-8")
    done = permuted(path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("measured by hocket calibrate")
    # Costs that differ select other passes, which move the same elements to the same places.
    cheap = [line.split("=")[0] + "= 0.01" for line in text.splitlines() if "scattered" in line]
    others = [line for line in text.splitlines() if "scattered" not in line]
    kept.write_text("\n".join([*others, *cheap]), encoding="utf-8")
    other = permuted(path)
    assert other.returncode == 0, other.stderr
    alone = "1. cycles of 8 bytes blocks"  # by far the slowest, on any processor
    assert alone in other.stdout and alone not in done.stdout
    # No element depends on the distances.
    distances = [line.split(" =")[0] for line in text.splitlines() if "ahead" in line]
    distances += [
        "far_array",
        "short_block",
        "paired_block",
        "panel_row",
        "small_tile",
        "pair_tile",
        "fetched_tile",
    ]
    distances += ["past_panel", "near_cache", "streamed_copy", "abreast"]
    distances += ["ring_panel", "ring_row", "long_panel", "copy_piece"]
    assert distances[:4] == ["short_ahead", "long_ahead", "ring_ahead", "copy_ahead"]
    for value, *rules in (
        (64, "all", "first_level"),
        (1 << 24, "none", "second_level"),
        (12345, "conflicting", "first_level"),
    ):
        rule_names = ("streaming", "fetching")
        lines = [line for line in text.splitlines() if line.split(" =")[0] not in distances]
        lines = [line for line in lines if not line.startswith(rule_names)]
        assert len(lines) == len(text.splitlines()) - 21, text
        tried = [*lines, *(f"{name} = {value}" for name in distances)]
        tried += [f"{name} = {rule}" for name, rule in zip(rule_names, rules, strict=True)]
        kept.write_text("\n".join(tried), encoding="utf-8")
        assert permuted(path).returncode == 0
    # A file of another processor, as in a home that nodes share, is left alone.
    kept.write_text(text.replace("processor = ", "processor = not "), encoding="utf-8")
    assert permuted(path).stdout.startswith("those of ")
    assert permuted("default").stdout.startswith("those of ")


@pytest.mark.parametrize(
    "line",
    [
        *("scattered 8 = fast", "scattered 8 = -1", "scattered 4 = 1", "spread 8 = 1", "passes"),
        *("short_ahead = 63", "short_ahead 8 = 4096", "streaming = some", "fetching = all"),
        *("streaming = ", ""),
    ],
)
def test_passes_that_cannot_be_read(tmp_path, line):
    (tmp_path / "model").write_text("", encoding="utf-8")
    kept = tmp_path / "model.passes"
    kept.write_text(f"scattered 4 = 2\n{line}", encoding="utf-8")
    failed = permuted(tmp_path / "model").stderr
    assert str(kept) in failed and "hocket calibrate --passes" in failed, failed
    assert (f"'{line.strip()}'" if line else "no cost of buffered") in failed, failed


def test_two_processes_of_a_job_add_the_costs_between_their_nodes(tmp_path):
    path = tmp_path / "model"
    path.write_text("message = 0.125\nfar_relay = 0.25", encoding="utf-8")
    launcher = mpiexec.find()
    words = [sys.executable, "-m", "hocket", "calibrate", "--in-job", "--repeat", "3"]
    done = subprocess.run(
        mpiexec.command(launcher, [(2, words)]),
        env={
            **mpiexec.environment(mpiexec.flavour(launcher)),
            "HOCKET_NODES": "0,1",
            "HOCKET_MODEL": str(path),
        },
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("kept in") == 1
    costs = hk.costs.parse(path.read_text(encoding="utf-8"))
    assert costs["message"] == 0.125, "what was kept within a node is gone"
    assert costs["far_relay"] != 0.25 and "far_byte" in path.read_text(encoding="utf-8")


def test_models_that_cannot_be_read(tmp_path):
    wrong = tmp_path / "model"
    wrong.write_text("mesage = 1", encoding="utf-8")
    said = chosen(HOCKET_MODEL=str(wrong)).stderr
    assert str(wrong) in said and "did you mean 'message'" in said and "hocket calibrate" in said
    said = chosen(HOCKET_MODEL=str(tmp_path / "none")).stderr
    assert "cannot be read" in said and "'default'" in said


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["--set", "mesage=1"], "did you mean 'message'"),
        (["--set", "byte=fast"], "byte=fast"),
        (["--repeat", "0"], "--repeat 0"),
        (["--in-job", "--dry-run"], "the job has 1 process"),
        ([], "HOCKET_MODEL is 'default'"),
    ],
)
def test_command_lines_that_cannot_be_followed(words, named, capsys):
    assert main(["calibrate", *words]) == 2
    assert named in capsys.readouterr().err
