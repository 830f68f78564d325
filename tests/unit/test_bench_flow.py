# SPDX-License-Identifier: BSD-3-Clause
"""The benchmarks of flows: peers that are not here, the idle agent, overlap and its limit."""

from __future__ import annotations

import json
import subprocess

import pytest
from hocket.bench import native
from hocket.bench.command import main
from hocket.bench.harness import Figure, UnavailableError
from hocket.bench.record import Question, answer
from test_bench import bench, needs_mpi
from test_bench_linpack import can_make_links

pytestmark = pytest.mark.soak

QUICK = ["--seconds", "0", "--min-runs", "3"]


def test_what_goes_on_together_takes_as_long_as_the_slowest() -> None:
    figures = [Figure("compute", [2.0]), Figure("move", [3.0]), Figure("both", [4.0])]
    for together, limit, share in ((False, "compute", 0.5), (True, "move", 0.75)):
        question = Question({}, limit=("compute", "move", "absent"), together=together)
        result = answer(question, figures)
        assert (result.limit, result.lines[2].of_limit) == (limit, share)


@pytest.mark.parametrize(
    "words",
    [["--point", "2", "2"], ["--point", "0", "1"], ["--grain", "300", "2"], ["--idle", "2"]],
)
def test_native_flow(words: list[str]) -> None:
    try:
        program = native.program("hocket_bench_flow")
    except UnavailableError as reason:
        pytest.skip(str(reason))
    printed = subprocess.run(
        [program, *QUICK, *words], capture_output=True, text=True, check=True, timeout=120
    ).stdout
    _, [(question, figures)] = native.read(printed)
    for line in answer(question, figures).lines:
        assert line.error is None
        if line.absent is None:
            assert line.runs >= 3
        else:
            assert "install" in line.absent or "compiler" in line.absent
    names = {figure.name for figure in figures}
    if words[0] == "--idle":
        assert "one, polled by an agent thread" in names
        assert all(float(figure.extras["processors"]) > 0 for figure in figures)
    else:
        assert {"hocket::Flow", "OpenMP tasks", "StarPU tasks"} < names
        assert ("hocket::Flow, 1 worker" in names) == ("a loop" in names) == (words[0] == "--grain")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["overlap", "--ranks", "3"], "leave it at 2"),
        (["overlap", "--message", "4"], "8 bytes or more"),
        (["flow", "--dependences", "3"], "give 0, 1 or 2"),
        (["flow", "--workers", "0"], "1 or more"),
        (["flow", "--additions", "0"], "give 1 to"),
    ],
)
def test_bad_arguments(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    assert said in capsys.readouterr().err


@pytest.mark.skipif(not can_make_links(), reason="network namespaces need root")
def test_overlap_on_a_shaped_link(tmp_path) -> None:
    needs_mpi()
    kept = tmp_path / "overlap.json"
    words = ["--link", "1gbit", "--message", "65536", "--json", str(kept), "--timeout", "120"]
    done = bench("overlap", *QUICK, *words)
    if "is not Open MPI's" in done.stderr:
        return
    assert done.returncode == 0, done.stdout + done.stderr
    (table,) = json.loads(kept.read_text())["tables"]
    assert table["parameters"]["link"] == "1gbit"
    alone = [f["median"] for f in table["figures"] if f["name"].endswith(" alone")]
    limit = next(f for f in table["figures"] if f["name"] == table["limit"])
    assert limit["median"] == max(alone) and len(table["figures"]) == 5
    assert all(f["runs"] >= 3 for f in table["figures"])
