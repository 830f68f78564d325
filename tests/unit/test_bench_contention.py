# SPDX-License-Identifier: BSD-3-Clause
"""The benchmark of senders that contend for one receiver."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from test_bench import bench, needs_mpi

from hocket_bench.command import main


@pytest.mark.parametrize(
    ("words", "said"),
    [(["--ranks", "2"], "give 3 or more"), (["--message", "4"], "8 bytes or more")],
)
def test_bad_arguments(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["contention", *words]) == 2
    assert said in capsys.readouterr().err


def test_both_tables_have_both_forms(tmp_path: Path) -> None:
    needs_mpi()
    kept = tmp_path / "contention.json"
    words = ["--ranks", "3", "--message", str(2 << 20), "--json", str(kept)]
    done = bench("contention", "--seconds", "0", "--min-runs", "3", *words)
    assert done.returncode == 0, done.stdout + done.stderr
    tables = json.loads(kept.read_text(encoding="utf-8"))["tables"]
    assert [t["parameters"]["until"] for t in tables] == ["all are done", "a sender is free, mean"]
    for table in tables:
        assert [f["name"] for f in table["figures"]] == ["all at once", "by turns"]
        assert all(f["median"] > 0 and f["runs"] >= 3 for f in table["figures"])
