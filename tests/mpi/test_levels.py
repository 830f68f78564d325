# SPDX-License-Identifier: BSD-3-Clause
"""Flows in a C++ program that starts MPI with each thread level."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import built


@pytest.mark.parametrize("level", ["funneled", "serialized", "multiple"])
def test_flows_by_thread_level(level: str, tmp_path: Path) -> None:
    program = built.folder() / "tests" / "test_levels"
    printed = built.start(program, 2, tmp_path, level)
    for rank in range(2):
        assert f"rank {rank}, 0 wrong" in printed
    asked, provided = printed.split("levels: ", 1)[1].split(":")[0].split()
    assert int(provided) >= int(asked)
    if level == "funneled":
        assert asked == provided, "MPI gave more than was asked for: the rest was not tried"
