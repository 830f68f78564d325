# SPDX-License-Identifier: BSD-3-Clause
"""For all Python tests. What is marked `soak` runs with `-m soak` only."""

from __future__ import annotations

import os

import pytest

# What somebody has calibrated on this machine decides nothing here.
os.environ["HOCKET_MODEL"] = "default"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves the long versions out, however pytest was started."""
    if "soak" in str(config.getoption("-m")):
        return
    soak = [item for item in items if item.get_closest_marker("soak")]
    if soak:
        config.hook.pytest_deselected(items=soak)
        items[:] = [item for item in items if item not in soak]
