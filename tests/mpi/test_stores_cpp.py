# SPDX-License-Identifier: BSD-3-Clause
"""Stores by C++'s interface: tests/mpi/stores.cpp."""

from pathlib import Path

import pytest

import built


@pytest.mark.parametrize("processes", [1, 3])
def test_stores_in_cpp(tmp_path: Path, processes: int) -> None:
    """The program counts what is wrong, and its exit status says so, too."""
    program = built.folder() / "tests" / "stores"
    assert "stores: 0 wrong" in built.start(program, processes, tmp_path)
