# SPDX-License-Identifier: BSD-3-Clause
"""Two MPIs in one table of a benchmark."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from hocket.bench import native
from hocket.bench.beside import TURNS, joined, pooled, resolve
from hocket.bench.command import main
from hocket.bench.harness import Figure, UnavailableError
from hocket.bench.record import Question, answer

pytestmark = pytest.mark.soak


def tables(mpi: float, ours: float, operation: str = "wait"):
    question = Question({"operation": operation}, baseline=["MPI"], limit=["flags"])
    figures = [Figure("MPI", [mpi] * 3), Figure("hocket", [ours] * 3), Figure("flags", [ours / 2])]
    return [(question, figures)]


def test_turns_are_pooled_and_mpis_joined():
    one = pooled([tables(2e-6, 1e-6), tables(4e-6, 1e-6)])
    assert one[0][1][0].samples == [2e-6] * 3 + [4e-6] * 3
    ((question, figures),) = joined([("a", one), ("b", tables(3e-7, 2e-7))])
    found = answer(question, figures)
    assert [line.name for line in found.lines][:2] == ["MPI, a", "hocket, a"]
    assert len(found.lines) == 6
    # The better MPI is the one to beat, by whichever of ours.
    assert found.baseline == "MPI, b" and found.limit == "flags, b"
    assert {line.name: line.speedup for line in found.lines}["hocket, a"] == pytest.approx(0.3)


def test_programs_that_print_different_questions_are_refused():
    with pytest.raises(ValueError, match="another question"):
        joined([("a", tables(1, 1)), ("b", tables(1, 1, "any"))])
    with pytest.raises(ValueError, match="in one turn"):
        pooled([tables(1, 1), tables(1, 1, "any")])


def test_an_error_in_one_turn_stays():
    bad = tables(1, 1)
    bad[0][1][1].error = "found 3, not 4"
    assert pooled([tables(1, 1), bad])[0][1][1].error == "found 3, not 4"


def test_what_is_not_there_is_named(tmp_path, capsys):
    with pytest.raises(ValueError, match=r"no .*/\.env/lam/bin/mpiexec; make the environment"):
        resolve("lam")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "mpiexec").touch()
    with pytest.raises(ValueError, match="or name the build"):
        resolve(f"{tmp_path}:{tmp_path}")
    assert main(["team", "--beside", "lam"]) == 2
    assert "no " in capsys.readouterr().err


def test_a_build_beside_itself(tmp_path):
    """As good as another MPI, and always there."""
    try:
        program = native.program("hocket_bench_team")
    except UnavailableError as reason:
        pytest.skip(str(reason))
    if not (Path(sys.prefix) / "bin" / "mpiexec").is_file():
        pytest.skip("this environment has no mpiexec of its own")
    words = ["--type", "int32", "--seconds", "0", "--min-runs", "2", "--sample-seconds", "0"]
    beside = f"{sys.prefix}:{program.parents[1]}"
    report = tmp_path / "report.json"
    words += ["--timeout", "120"]
    assert main(["team", *words, "--beside", beside, "--json", str(report)]) == 0
    here = Path(sys.prefix).name
    found = [t for t in json.loads(report.read_text())["tables"] if t.get("language") == "C++"]
    for table in found:
        if table["baseline"] is None:  # no communication, so nothing of MPI's
            continue
        names = {figure["name"] for figure in table["figures"]}
        assert {f"MPI, {here}", f"hocket, {here}", f"MPI, {here} 2", f"hocket, {here} 2"} <= names
        assert all(figure["runs"] >= 2 * TURNS for figure in table["figures"])
