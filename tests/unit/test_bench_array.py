# SPDX-License-Identifier: BSD-3-Clause
"""The benchmark of operations on whole arrays."""

from __future__ import annotations

import json

import pytest
from hocket.bench.command import main
from hocket.bench.whole_arrays import OPERATIONS

QUICK = ["--seconds", "0", "--warmup", "1", "--min-runs", "2", "--sample-seconds", "0"]


def test_every_operation_has_its_right_result(tmp_path, capsys):
    target = tmp_path / "array.json"
    words = ["array", "--side", "9", *QUICK, "--json", str(target), "--timeout", "120"]
    assert main(words) == 0, capsys.readouterr().out
    tables = json.loads(target.read_text("utf-8"))["tables"]
    assert [table["parameters"]["operation"] for table in tables] == [o.name for o in OPERATIONS]


@pytest.mark.parametrize("words", [["--only", "nothing"], ["--side", "1"]])
def test_bad_options_say_how_to_mend_them(words, capsys):
    assert main(["array", *words]) == 2
    assert words[0] in capsys.readouterr().err
