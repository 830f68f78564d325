# SPDX-License-Identifier: BSD-3-Clause
"""The pytest side: functions marked by `ranks` are sent to a job instead of being called here."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from hocket import hosts
from lockstep import mpiexec, over_hosts
from lockstep.job import HOSTS, Job, JobError
from lockstep.wire import Call

RANKS = "lockstep_ranks"
SEED = int(os.environ.get("HOCKET_SEED") or time.time_ns() % 2**32)  # of the soak tests
MOST_JOBS = 14  # kept alive; idle ranks sleep, but hold memory

_jobs: dict[tuple[int, str | None], Job] = {}  # least recently used first


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", "ranks(*counts, soak, seconds, nodes): called on so many ranks"
    )
    config.addinivalue_line("markers", "soak: long; runs only with -m soak")
    config.addinivalue_line("markers", "one_host(reason): not over the hosts of HOCKET_HOSTS")
    if HOSTS and over_hosts.REAL not in os.environ:
        folder = Path(tempfile.mkdtemp(prefix="over-", dir=hosts.shared_folder()))
        over_hosts.prepare(os.environ, folder)
        config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items if HOSTS else []:
        mark = item.get_closest_marker("one_host")
        if mark is not None:
            item.add_marker(pytest.mark.skip(reason=f"needs one host: {mark.args[0]}"))
    if "soak" in str(config.getoption("-m")):
        return
    soak = [item for item in items if item.get_closest_marker("soak")]
    if soak:
        config.hook.pytest_deselected(items=soak)
        items[:] = [item for item in items if item not in soak]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    mark = metafunc.definition.get_closest_marker("ranks")
    if mark is None:
        return
    if metafunc.cls is not None:
        raise pytest.UsageError(f"{metafunc.definition.nodeid}: ranks() is for functions")
    metafunc.fixturenames.append(RANKS)
    long = [pytest.param(count, marks=pytest.mark.soak) for count in mark.kwargs["soak"]]
    labels = [_label(count) for count in (*mark.args, *mark.kwargs["soak"])]
    metafunc.parametrize(RANKS, [*mark.args, *long], ids=labels)


def _label(count: int | Mapping[str, int]) -> str:
    if isinstance(count, int):
        return f"ranks={count}"
    return "-".join(f"{name}={size}" for name, size in count.items())


@pytest.fixture
def comm() -> None:
    """COMM_WORLD, on the ranks; only functions marked by `ranks` may ask for it."""


@pytest.fixture
def groups() -> None:
    """The named groups that the test declared, {name: number of ranks}; {} without names."""


@pytest.fixture
def soak_seed() -> int:
    """Another one in every run; HOCKET_SEED repeats one."""
    return SEED


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    if "soak" in str(config.getoption("-m")):
        terminalreporter.write_line(f"soak seed {SEED}; repeat it with HOCKET_SEED={SEED}")


def _job(size: int, nodes: str | None) -> Job:
    # Marks that mean the same nodes share a job.
    key = (size, nodes if nodes is None else mpiexec.spread(nodes, size))
    job = _jobs.pop(key, None)
    if job is not None and not job.usable:
        job.close()
        job = None
    if job is None:
        while len(_jobs) >= MOST_JOBS:
            _jobs.pop(next(iter(_jobs))).close()
        job = Job(*key)
    _jobs[key] = job
    return job


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    mark = pyfuncitem.get_closest_marker("ranks")
    names: tuple[str, ...] = pyfuncitem._fixtureinfo.argnames  # no public name for these
    if mark is None:
        if "comm" in names:
            pytest.fail("takes `comm` but has no @ranks(…)", pytrace=False)
        return None
    count: Any = pyfuncitem.callspec.params[RANKS]  # as ranks() was given it
    given: dict[str, Any] = {
        name: pyfuncitem.funcargs[name] for name in names if name not in ("comm", "groups", RANKS)
    }
    call = Call(
        path=str(pyfuncitem.path),
        function=pyfuncitem.originalname,
        arguments=given,
        groups={} if isinstance(count, int) else dict(count),
        wants=frozenset(names) & {"comm", "groups"},
        search_path=tuple(sys.path),
    )
    size = count if isinstance(count, int) else sum(count.values())
    try:
        job = _job(size, mark.kwargs.get("nodes"))
    except (JobError, OSError) as error:
        pytest.fail(f"cannot start {size} ranks: {error}", pytrace=False)
    report = job.run(call, float(mark.kwargs["seconds"]))
    if report.startswith("skipped: "):
        pytest.skip(report[len("skipped: ") :])
    if report:
        pytest.fail(report, pytrace=False)
    return True


def pytest_unconfigure() -> None:
    while _jobs:
        _jobs.popitem()[1].close()
