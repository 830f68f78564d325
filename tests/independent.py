# SPDX-License-Identifier: BSD-3-Clause
"""Test files that know no MPI, so that one run of them will do where several MPIs are tested:
with HOCKET_TEST_AGAIN set, as `.ci/run` does for the second MPI, they are left out."""

from __future__ import annotations

FILES = (
    "tests/parity/test_team_functions.py",
    "tests/unit/layout/test_algebra.py",
    "tests/unit/test_bench_formats.py",
    "tests/unit/test_docstrings.py",
    "tests/unit/test_documented_commands.py",
    "tests/unit/test_header_pages.py",
    "tests/unit/test_holdings.py",
    "tests/unit/test_layout.py",
    "tests/unit/test_oracle.py",
    "tests/unit/test_packaging.py",
    "tests/unit/test_plan.py",
    "tests/unit/test_plotting.py",
    "tests/unit/test_rows.py",
    "tests/unit/test_strategies.py",
)
