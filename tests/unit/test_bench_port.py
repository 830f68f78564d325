# SPDX-License-Identifier: BSD-3-Clause
"""The benchmark of ports."""

from __future__ import annotations

import json

import pytest
from hocket.bench.command import main

QUICK = ["--seconds", "0", "--warmup", "1", "--min-runs", "2", "--sample-seconds", "0"]


def test_every_way_has_a_figure(tmp_path, capsys):
    target = tmp_path / "port.json"
    words = ["port", "--mebibytes", "0.1", *QUICK, "--json", str(target), "--timeout", "120"]
    assert main(words) == 0, capsys.readouterr().out
    tables = json.loads(target.read_text("utf-8"))["tables"]
    ways = [table["parameters"]["way"] for table in tables]
    assert ways == ["host", "tcp", "tls", "connect", "resize", "observe"]
    for table in tables:
        ours = ("hocket", "looked at", "nobody")
        own = [each for each in table["figures"] if each["name"].startswith(ours)]
        assert all(each.get("median", 0) > 0 for each in own), own


def test_bad_options_say_how_to_mend_them(capsys):
    assert main(["port", "--mebibytes", "0"]) == 2
    assert "more than 0" in capsys.readouterr().err


@pytest.mark.parametrize("ranks", ["1", "3"])
def test_the_number_of_processes_is_even(ranks, capsys):
    assert main(["port", "--ranks", ranks, *QUICK]) == 2
    assert "even" in "".join(capsys.readouterr())
