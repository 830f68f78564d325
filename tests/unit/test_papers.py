# SPDX-License-Identifier: BSD-3-Clause
"""`hocket papers`: the list of claims, and those that need no measuring."""

import dataclasses
import json
from pathlib import Path

import pytest
from hocket.cli.main import main
from hocket.papers import judge, model

pytestmark = pytest.mark.soak

TITLES, CLAIMS = model.load()
COUNTED = [
    *(f"double-standards.{name}" for name in ("messages-pipeline", "messages-data", "amortized")),
    *(f"data-transfer-library.{name}" for name in ("all-to-all", "all-to-all-volume", "staged")),
    *(f"data-transfer-library.{name}" for name in ("centralized", "centralized-volume")),
    *(f"data-transfer-library.{name}" for name in ("staged-crossing", "staged-volume")),
    *(f"data-transfer-library.{name}" for name in ("hybrid", "hybrid-direct", "hybrid-volume")),
    "data-transfer-library.message-count",
    *(f"vacancy-tracking.{name}" for name in ("cycle", "moves", "shift-first", "shift-second")),
    *(f"vacancy-tracking.{name}" for name in ("counts", "lengths-others", "memory")),
    "mpi-smpss.deadlock",
]


def test_what_is_counted_holds(tmp_path, capsys):
    target = tmp_path / "verdicts.json"
    assert main(["papers", *COUNTED, "--json", str(target)]) == 0
    said = capsys.readouterr().out
    claims = json.loads(target.read_text(encoding="utf-8"))["claims"]
    assert len(claims) == len(COUNTED)
    for each in claims:
        assert each["verdict"] == judge.HOLDS and each["findings"], each
    assert "P = 8: 16 and 16" in said and "64 × 512 × 128: 4114" in said


def test_a_wrong_count_is_contradicted():
    (claim,) = (one for one in CLAIMS if one.name == "counts")
    numbers = {**claim.numbers, "counts": [4113, 29140, 132, 42]}
    wrong = dataclasses.replace(claim, numbers=numbers)
    assert model.try_claim(wrong, model.Bench()).word == judge.CONTRADICTED


def test_twelve_moves_of_two_arrays_are_no_trial():
    (claim,) = (one for one in CLAIMS if one.name == "two-array-moves")
    verdict = model.try_claim(claim, model.Bench())
    assert verdict.word == judge.NOT_SHOWN and verdict.why.startswith("no trial")


def test_the_figures_and_reports_of_what_is_measured_are_kept(tmp_path, monkeypatch, capsys):
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    assert main(["papers", "vacancy-tracking.two-array-schedules", "--quick"]) == 0
    kept = {path.suffix: path for path in (tmp_path / "papers-output").iterdir()}
    assert sorted(kept) == [".json", ".png"] and kept[".png"].stat().st_size > 5000
    report = json.loads(kept[".json"].read_text(encoding="utf-8"))
    assert report["benchmark"] == "permute" and report["tables"]
    assert "figures and reports: papers-output" in capsys.readouterr().out


def test_the_page_shows_the_stored_reports(tmp_path, monkeypatch, capsys):
    """docs/papers/verdicts.md has the tables of `hocket papers --stored`."""
    root = Path(__file__).resolve().parents[2]
    monkeypatch.chdir(tmp_path)
    assert main(["papers", "--stored", "--json", "v.json", "--table", "v.md"]) == 0
    page = (root / "docs" / "papers" / "verdicts.md").read_text(encoding="utf-8")
    table = Path("v.md").read_text(encoding="utf-8")
    assert "hocket papers --stored" in page
    assert table in page, "replace the page's tables by those of this command"
    claims = {each["claim"]: each for each in json.loads(Path("v.json").read_text())["claims"]}
    assert len(claims) == len(CLAIMS)
    # the result on 512 processors is in the row that it decides
    gain = claims["gain"]
    assert "65536 on 512 processors" in gain["ours"] and gain["verdict"] == judge.NOT_SHOWN
    # a gain of 6 % does not stand for one of 4.44
    assert claims["hybrid-in-place"]["verdict"] == judge.NOT_SHOWN
    assert "not measured yet" in claims["system-calls"]["why"]
    assert "stored without samples" in claims["steady"]["why"]
    # each figure has its machine and its date
    for each in claims.values():
        assert all(one["source"] for one in each["findings"]), each
    assert "papers-output" not in capsys.readouterr().out


def test_what_is_counted_writes_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["papers", "vacancy-tracking.cycle"]) == 0
    assert not list(tmp_path.iterdir())


def test_the_list_tries_nothing(capsys):
    assert main(["papers", "--list"]) == 0
    said = capsys.readouterr().out
    assert "→" not in said and said.count(" · ") == len(TITLES)


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["vacancy-trackin"], "did you mean 'vacancy-tracking'"),
        (["vacancy-tracking.cycles"], "did you mean 'vacancy-tracking.cycle'"),
        (["--json", "nowhere/at/all.json"], "there is no folder"),
        (["--keep", __file__], "that is a file"),
        (["--kernels", "nowhere.json"], "there is no such file"),
    ],
)
def test_what_is_not_there_is_named(words, hint, capsys):
    assert main(["papers", *words]) == 2
    assert hint in capsys.readouterr().err
