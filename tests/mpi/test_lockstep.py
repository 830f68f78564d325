# SPDX-License-Identifier: BSD-3-Clause
"""The runner itself: what it says of tests that pass, fail, hang, leave and crash."""

import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest
from lockstep import mpiexec, ranks

HERE = Path(__file__).resolve().parent
SOON = {"LOCKSTEP_GRACE": "2"}  # for those who wait in vain


@ranks(1, 2, 3, 4, 6)
@pytest.mark.parametrize("offset", [0, 5])
def test_every_rank_is_called(comm, offset):
    values = np.empty(comm.size, dtype=np.int64)
    comm.Allgather(np.array([comm.rank + offset]), values)
    assert values.tolist() == [offset + rank for rank in range(comm.size)]


@ranks({"rows": 2, "cols": 3})
def test_groups_are_named(comm, groups):
    assert groups == {"rows": 2, "cols": 3}
    assert comm.size == 5


@ranks(4, nodes="0,1")
def test_pretended_nodes_are_spread_over_the_ranks(comm):
    assert os.environ["HOCKET_NODES"] == "0,0,1,1"


@pytest.mark.parametrize(
    ("nodes", "size", "expected"),
    [
        ("0,0,1,1", 4, "0,0,1,1"),
        ("0,1,0,1", 4, "0,1,0,1"),
        ("0,0,1,1", 2, "0,1"),
        ("0,0,1,1", 6, "0,0,0,1,1,1"),
        ("0,0,1,1", 1, "0"),
        ("0", 3, "0,0,0"),
    ],
)
def test_spread(nodes, size, expected):
    assert mpiexec.spread(nodes, size) == expected


def run_pytest(folder: Path, source: str, **more: str) -> tuple[int, str]:
    """The exit code and output of pytest on a file with this source, through our plugin."""
    (folder / "test_inner.py").write_text("from lockstep import ranks\n" + textwrap.dedent(source))
    (folder / "conftest.py").write_text((HERE / "conftest.py").read_text())
    environment = {**os.environ, "PYTHONPATH": str(HERE), **more}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-rA", str(folder)],
        env=environment,
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
    )
    return done.returncode, done.stdout


def leftovers(mark: str) -> list[str]:
    """Processes that still have `mark` in their environment."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                if f"LOCKSTEP_MARK={mark}".encode() in (entry / "environ").read_bytes():
                    found.append((entry / "cmdline").read_bytes().replace(b"\0", b" ").decode())
            except OSError:
                continue
    return found


@pytest.fixture
def mark(tmp_path, monkeypatch):
    """Marks the environment of what the test starts; nothing so marked may outlive it."""
    monkeypatch.setenv("LOCKSTEP_MARK", str(tmp_path))
    yield str(tmp_path)
    assert leftovers(str(tmp_path)) == []


@pytest.mark.soak
def test_one_rank_that_raises_is_named_and_the_next_test_runs(tmp_path, mark):
    code, out = run_pytest(
        tmp_path,
        """
        @ranks(3)
        def test_raises(comm):
            answer = 41
            if comm.rank == 1:
                raise ValueError("only here")

        @ranks(3)
        def test_next(comm):
            assert comm.allreduce(1) == 3
        """,
    )
    assert code == 1, out
    assert "rank 1 failed:" in out and "ValueError: only here" in out
    assert "answer = 41" in out
    assert "passed on rank 0, 2" in out
    assert "PASSED" in out and "1 failed, 1 passed" in out


@pytest.mark.soak
def test_one_rank_that_raises_while_the_others_wait(tmp_path, mark):
    code, out = run_pytest(
        tmp_path,
        """
        @ranks(2)
        def test_raises(comm):
            if comm.rank == 0:
                raise ValueError("gone")
            stand_here(comm)

        def stand_here(comm):
            comm.recv(source=0)

        @ranks(2)
        def test_next(comm):
            assert comm.allreduce(1) == 2
        """,
        **SOON,
    )
    assert code == 1, out
    assert "rank 0 failed:" in out and "ValueError: gone" in out
    assert "rank 1 was still in the test" in out and "another rank failed" in out
    assert "in stand_here" in out
    assert "1 failed, 1 passed" in out


def test_a_hang_is_ended_at_its_limit_and_every_rank_says_where_it_stood(tmp_path, mark):
    code, out = run_pytest(
        tmp_path,
        """
        import time

        @ranks(3)
        def test_begins(comm):
            comm.barrier()

        @ranks(3, seconds=3)
        def test_hangs(comm):
            if comm.rank == 0:
                sleep_here()
            if comm.rank == 1:
                receive_here(comm)

        def sleep_here():
            time.sleep(1000)

        def receive_here(comm):
            comm.recv(source=2)

        @ranks(3)
        def test_next(comm):
            assert comm.allreduce(1) == 3
        """,
    )
    assert code == 1, out
    assert re.search(r"rank 0 was still in the test after [\d.]+ s \(limit 3 s\)", out)
    assert "in sleep_here" in out and "in receive_here" in out
    assert "passed on rank 2" in out
    assert "1 failed, 2 passed" in out


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        pytest.param("sys.exit(3)", "SystemExit: 3", marks=pytest.mark.soak),
        ("os._exit(3)", "rank 1 ended during the test (first to end"),
        pytest.param("ctypes.string_at(0)", "Segmentation fault", marks=pytest.mark.soak),
    ],
    ids=["exit", "_exit", "segfault"],
)
def test_a_rank_that_leaves_or_crashes_is_named(tmp_path, mark, statement, said):
    code, out = run_pytest(
        tmp_path,
        f"""
        import ctypes, os, sys

        @ranks(2)
        def test_leaves(comm):
            print("printed before", flush=True)
            if comm.rank == 1:
                {statement}
            comm.recv(source=1)

        @ranks(2)
        def test_next(comm):
            assert comm.allreduce(1) == 2
        """,
        **SOON,
    )
    assert code == 1, out
    assert said in out
    assert "rank 1" in out
    assert "printed before" in out
    assert "1 failed, 1 passed" in out


def test_skips_and_forgotten_ranks(tmp_path, mark):
    code, out = run_pytest(
        tmp_path,
        """
        import pytest

        @ranks(2)
        def test_skips(comm):
            pytest.skip("not today")

        def test_forgot(comm):
            pass

        @pytest.mark.soak
        @ranks(2)
        def test_long(comm):
            raise ValueError("must not run")
        """,
    )
    assert code == 1, out
    assert "not today" in out
    assert "has no @ranks" in out
    assert "1 failed, 1 skipped, 1 deselected" in out


def test_a_job_that_cannot_start_says_what_mpiexec_said(tmp_path, mark):
    (tmp_path / "sitecustomize.py").write_text(
        "import os\nif 'HOCKET_TEST_SOCKET' in os.environ: raise SystemExit('no ranks today')\n"
    )
    code, out = run_pytest(
        tmp_path,
        f"""
        import os
        os.environ["PYTHONPATH"] = {str(tmp_path)!r}

        @ranks(2)
        def test_never(comm):
            pass
        """,
    )
    assert code == 1, out
    assert "cannot start 2 ranks" in out and "no ranks today" in out
