# SPDX-License-Identifier: BSD-3-Clause
"""Ten thousand random programs as flows, with steps that wait in their middle."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import built


@pytest.mark.soak
def test_ten_thousand_programs() -> None:
    program = built.folder() / "tests" / "unit_flow"
    if not program.is_file():
        pytest.skip("the C++ tests are not built; they need GoogleTest")
    command = [str(program), "--gtest_filter=FlowPrograms.many*"]
    assert "10000 programs" in built.run(command, limit=1200, HOCKET_PROGRAMS="10000")
