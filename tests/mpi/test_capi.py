# SPDX-License-Identifier: BSD-3-Clause
"""The C program of tests/capi, which uses hocket.h alone, on several processes."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import built


@pytest.mark.parametrize("ranks", [1, 2, 3, 4, 6])
def test_c_program(ranks: int, tmp_path: Path) -> None:
    printed = built.start(built.folder() / "tests" / "test_capi", ranks, tmp_path)
    said = re.search(rf"^capi: (\d+) checks on {ranks} processes$", printed, re.MULTILINE)
    assert said is not None, printed
    assert int(said[1]) > 1000 * ranks


def test_papers_fragment(tmp_path: Path) -> None:
    """examples/c/papers.c: aggregate operations made of others."""
    printed = built.start(built.folder() / "tests" / "example_papers", 4, tmp_path)
    assert "papers: 4 processes, 0 wrong" in printed
