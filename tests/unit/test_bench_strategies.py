# SPDX-License-Identifier: BSD-3-Clause
"""The benchmark of strategies: what it refuses, and the prediction beside the measurement."""

from __future__ import annotations

import json

import pytest
from hocket.bench.command import main
from hocket.bench.strategy_figures import finish
from hocket.bench.strategy_runs import STRATEGIES

QUICK = ["--seconds", "0", "--warmup", "1", "--min-runs", "2", "--timeout", "60"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--place", "cloud"], "--place cloud: there are shared, nodes"),
        (["--ranks", "7"], "the sides say how many"),
        (["--sides", "4"], "senders x receivers"),
        (["--sides", "0x2"], "senders x receivers"),
        (["--size", "8,x"], "--size x"),
        (["--pair", "(BLOCK,*)"], "with -> between them"),
        (["--pair", "(BLOCK) -> (BLOCK)"], "(BLOCK)"),
        (["--place", "link", "--sides", "3x1"], "as many processes on both ends"),
        (["--place", "simulated", "--program", "/nowhere"], "there is no such file"),
        (["--overhead", "-1"], "not below 0"),
        (["--platform", "cluster"], "with --place simulated only"),
        (["--place", "simulated", "--platform", "sp", "--sides", "128x1"], "sp has 128 processors"),
        (["--plot", "/nowhere/at.png"], "there is no such folder"),
    ],
)
def test_wrong_words_are_refused_before_anything_starts(capsys, words, said):
    assert main(["strategies", *words]) == 2
    assert said in capsys.readouterr().err


def measured(tmp_path, *words):
    target = tmp_path / "out.json"
    assert main(["strategies", *words, *QUICK, "--json", str(target)]) == 0
    tables = json.loads(target.read_text())["tables"]
    for table in tables:
        assert [figure["name"] for figure in table["figures"]] == list(STRATEGIES)
    return tables


def test_all_five_are_measured_beside_the_prediction(tmp_path, capfd):
    words = ["--sides", "2x1", "--size", "24", "--pair", "(BLOCK,*) -> (*,BLOCK)"]
    near, far = measured(tmp_path, *words)
    assert near["parameters"]["place"] == "shared" and far["parameters"]["place"] == "nodes"
    assert "message" in near["parameters"]["model"]
    assert not any("far" in name for name in near["parameters"]["model"])
    assert "far_byte" in far["parameters"]["model"]
    for table in (near, far):
        assert {table["chosen"], table["fastest"]} <= set(STRATEGIES)
        assert table["cost of the choice"] >= 1
    said = capfd.readouterr().out
    assert "nodes, 2 -> 1, (BLOCK,*) -> (*,BLOCK), 24x24" in said
    assert "measured / predicted" in said and "* " in said


def test_the_summary_names_the_choice_and_what_it_cost(capsys, tmp_path):
    pytest.importorskip("matplotlib")
    picture = tmp_path / "strategies.svg"
    figures = [
        {
            "name": name,
            "median": median,
            "extras": {"predicted": {"seconds": predicted}, "auto": "direct"},
        }
        for name, median, predicted in (("direct", 3e-3, 1e-3), ("staged", 2e-3, 4e-3))
    ]
    figures += [
        {"name": "hybrid", "error": "wrong", "extras": {}},
    ]
    parameters = {"place": "link", "senders": 4, "receivers": 2, "from": "a", "to": "b"}
    table = {"parameters": {**parameters, "shape": [8, 8], "model": {}}, "figures": figures}
    finish({"tables": [table, {"figures": []}]}, str(picture))
    drawn = picture.read_text(encoding="utf-8")
    assert "<!-- 4 to 2, N 8 -->" in drawn and "<!-- chosen -->" in drawn and "hybrid" not in drawn
    assert (table["chosen"], table["fastest"]) == ("direct", "staged")
    assert table["cost of the choice"] == pytest.approx(1.5)
    lines = capsys.readouterr().out.splitlines()
    assert lines[2].split() == ["*", "direct", "1.00", "ms", "3.00", "ms", "3.00"]
    assert lines[3].split() == ["staged", "4.00", "ms", "2.00", "ms", "0.50"]
    assert lines[-3].endswith("chosen / fastest: 1.50")
