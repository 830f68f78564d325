# SPDX-License-Identifier: BSD-3-Clause
"""The C functions of teams are those that their table makes."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))


def test_the_files_are_as_written() -> None:
    """`python3 tools/team_functions.py` would change nothing."""
    written = importlib.import_module("team_functions").written()
    assert len(written) == 12
    stale = [path.name for path, text in written.items() if path.read_text("utf-8") != text]
    assert not stale, f"run python3 tools/team_functions.py: {stale}"
