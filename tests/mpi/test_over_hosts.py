# SPDX-License-Identifier: BSD-3-Clause
"""Where HOCKET_HOSTS names hosts, the ranks of these tests run on all of them."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest
from lockstep import over_hosts, ranks
from lockstep.job import HOSTS


@ranks(2, 5)
def test_the_ranks_fill_the_hosts_in_order(comm: Any) -> None:
    if not HOSTS:
        pytest.skip("runs over the hosts of HOCKET_HOSTS (tests/cluster)")
    names = [name.partition(":")[0] for name in HOSTS.split(",")]
    here = comm.allgather(os.uname().nodename)
    assert here == sorted(here, key=names.index) and set(here) == set(names)


def test_a_plain_line_is_spread_and_others_stay(tmp_path: Path) -> None:
    real = Path(sys.executable).with_name("mpiexec")
    environment = {"TMPDIR": str(tmp_path), "HOCKET_HOSTS": "h1,h2", "MARK": "1"}
    line = over_hosts.line_of(["-n", "1", "a", ":", "-n", "2", "b", "c"], real, environment)
    assert "h1:2,h2:1" in line and line[line.index("-n") + 1] == "3"
    (listed,) = tmp_path.glob("line-*/programs")
    assert '[["a"], ["b", "c"], ["b", "c"]]' in listed.read_text()
    assert '"MARK": "1"' in listed.read_text() and "--output" not in line
    assert over_hosts.line_of(["--version"], real, environment) == [str(real), "--version"]
