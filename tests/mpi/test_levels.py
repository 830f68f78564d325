# SPDX-License-Identifier: BSD-3-Clause
"""C++ programs that start MPI themselves: flows with each of its thread levels, and what starts of
persistent requests cost."""

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


ONE_HOST = pytest.mark.one_host("channels without messages lie in memory of both processes")


@pytest.mark.parametrize("way", [pytest.param("channels", marks=ONE_HOST), "messages"])
def test_starts_cost_no_allocation_and_channels_no_message(way: str, tmp_path: Path) -> None:
    program = built.folder() / "tests" / "test_starts"
    nodes = {"HOCKET_NODES": "0,0" if way == "channels" else "0,1"}
    printed = built.start(program, 2, tmp_path, way, **nodes)
    for rank in range(2):
        assert f"rank {rank}, 0 wrong" in printed
