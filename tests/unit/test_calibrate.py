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
