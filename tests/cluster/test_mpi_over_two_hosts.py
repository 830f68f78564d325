# SPDX-License-Identifier: BSD-3-Clause
"""Tests of `tests/mpi` once more, with the processes of each job on two hosts."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import two_hosts

pytestmark = pytest.mark.soak
ROOT = Path(__file__).resolve().parents[2]
#: what depends on hosts most; any other file runs so, too: `python tests/cluster/two_hosts.py env
#: HOCKET_HOSTS=h1,h2 python -m pytest tests/mpi/FILE`
FILES = (
    "test_over_hosts", "test_kill", "test_kill_waits", "test_arguments", "test_alltoallw",
    "test_channel", "test_tasks", "test_team", "test_flow", "test_flow_comm", "test_collectives",
    "test_redistribute", "test_weak_progress", "test_ports", "test_ports_flows",
    "test_ports_hostile", "test_ports_kept", "test_ports_meeting", "test_ports_order",
    "test_ports_programs", "test_ports_tasks", "test_ports_two_mpis", "test_steering",
)  # fmt: skip


@pytest.fixture(scope="module")
def both() -> Iterator[two_hosts.TwoHosts]:
    if lacking := two_hosts.missing():
        pytest.skip(f"needs {', '.join(lacking)}: Debian's openssh-server and iproute2, as root")
    with two_hosts.two_hosts() as made:
        yield made


@pytest.mark.parametrize("name", FILES)
def test_a_file_over_two_hosts(both: two_hosts.TwoHosts, name: str) -> None:
    words = ["-m", "pytest", "-q", "-p", "no:cacheprovider", f"tests/mpi/{name}.py"]
    shared = {"HOCKET_HOSTS": "h1,h2", "HOCKET_SHARED": str(both.folder)}
    status, printed = both.run("h1", [sys.executable, *words], ROOT, 1200, **shared)
    assert status == 0 and " passed" in printed, printed
