# SPDX-License-Identifier: BSD-3-Clause
"""For all Python tests. Tests marked `soak` run with `-m soak` only."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Generator

import pytest

# A calibration of this machine must not affect the tests.
os.environ["HOCKET_MODEL"] = "default"

# With it, print writes a text and the end of its line apart, and what two processes of MPICH print
# runs into each other.
os.environ.pop("PYTHONUNBUFFERED", None)

# Open MPI chooses these on one machine anyhow. Its search for networks takes a quarter of the CPU
# time of a start, and tests start a thousand processes.
os.environ.setdefault("OMPI_MCA_pml", "ob1")
os.environ.setdefault("OMPI_MCA_btl", "^ofi,uct")

# The same examples each time, so that what fails is this change; `make soak` draws others.
with contextlib.suppress(ImportError):
    from hypothesis import settings

    settings.register_profile("repeatable", derandomize=True)
    settings.load_profile("repeatable")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves the long versions out, however pytest was started."""
    if "soak" in str(config.getoption("-m")):
        return
    left = [item for item in items if item.get_closest_marker("soak")]
    if left:
        config.hook.pytest_deselected(items=left)
        items[:] = [item for item in items if item not in set(left)]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """With HOCKET_TEST_ALL, as in CI, a test of Fortran, C or the installed tree that did not run
    has failed."""
    report = yield
    if report.skipped and must_run(item) and not hasattr(report, "wasxfail"):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
        report.outcome = "failed"
        report.longrepr = f"HOCKET_TEST_ALL asks that nothing is left out: {reason}"
    return report


def must_run(item: pytest.Item) -> bool:
    """Whether a skip of the test is a failure."""
    asked = os.environ.get("HOCKET_TEST_ALL", "")
    return bool(asked) and any(
        item.nodeid.startswith(f"tests/{place}")
        for place in ("fortran/", "install/", "mpi/test_capi.py")
    )
