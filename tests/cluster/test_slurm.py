# SPDX-License-Identifier: BSD-3-Clause
"""hocket under a real Slurm: a controller and two nodes on this machine."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from hocket import mpiexec

sys.path.insert(0, str(Path(__file__).parent))
import slurm_cluster

pytestmark = pytest.mark.soak
HOCKET = str(Path(sys.executable).with_name("hocket"))
ALLOCATE = ("salloc", "-Q", "-N2", "-n4", "--overcommit")
#: `srun` of a program of this Python's MPI, as the guide says for each
MPI = ("--mpi=pmi2",) if mpiexec.flavour(mpiexec.find()) == "mpich" else ()
SRUN = (*(["env", "MPIR_CVAR_CH4_NETMOD=ofi"] if MPI else []), "srun", *MPI)
STEP = (*SRUN, "-N2", "-n4", "--overcommit")

PROGRAM = """
import socket, sys
import numpy as np
import hocket as hk
from mpi4py import MPI

world = MPI.COMM_WORLD
source = hk.Layout((100, 90), "(BLOCK, *)", world.size)
target = hk.Layout((100, 90), "(*, CYCLIC(3))", world.size)
b = hk.redistribute(hk.from_function(lambda i, j: 90.0 * i + j, source), target)
i, j = np.ix_(*target.global_indices(world.rank))
assert (b.local == 90.0 * i + j).all()
assert hk.Team().reduce_add(np.int64(world.rank)) == world.size * (world.size - 1) // 2
w = hk.tasks() if len(sys.argv) < 2 else hk.tasks({"rows": 2, "cols": 2})
part = hk.full(hk.Layout((8, 8), "(BLOCK, *)", w.comm.size), float(w.rank), comm=w.comm)
w.send(part, "cols") if w.name == "rows" else w.recv(part, "rows")
assert (part.local == 0).all()
print(w.name, w.comm.rank, socket.gethostname(), flush=True)
"""
HOSTS = [("rows", 0, "n1"), ("rows", 1, "n1"), ("cols", 0, "n2"), ("cols", 1, "n2")]


@pytest.fixture(scope="module")
def slurm() -> Iterator[dict[str, str]]:
    if lacking := slurm_cluster.missing():
        pytest.skip(f"needs {', '.join(lacking)}: Debian's slurm-wlm and munge, as root")
    with slurm_cluster.cluster() as environment:
        yield environment


@pytest.fixture
def run(slurm, tmp_path):
    """Runs a command in a folder that has the programs; (status, output)."""

    def start(*words: str, **more: str) -> tuple[int, str]:
        done = subprocess.run(
            words,
            cwd=tmp_path,
            env={**slurm, **more},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=180,
        )
        return done.returncode, done.stdout

    def written(text: str, name: str = "program.py") -> str:
        (tmp_path / name).write_text(textwrap.dedent(text))
        return name

    start.written = written
    start.folder = tmp_path
    return start


def places(out: str) -> set[tuple[str, int, str]]:
    """(task, process, host) of the lines that PROGRAM prints, with or without a prefix."""
    words = [line.split("|")[-1].split() for line in out.splitlines()]
    return {(w[0], int(w[1]), w[2]) for w in words if len(w) == 3 and w[0] in ("rows", "cols")}


def test_srun_of_one_program(run):
    code, out = run(*STEP, sys.executable, run.written(PROGRAM), "tasks")
    assert code == 0 and places(out) == set(HOSTS), out


def test_srun_of_several_programs(run):
    program = run.written(PROGRAM)
    run.written(f"0-1 {sys.executable} {program}\n2-3 {sys.executable} {program}\n", "list")
    code, out = run(*STEP, "--multi-prog", "list", HOCKET_TASKS="rows=2,cols=2")
    assert code == 0 and places(out) == set(HOSTS), out


def test_a_heterogeneous_job_is_one_program(run):
    code, out = run(
        "salloc", "-Q", "-w", "n1", "-n2", "--overcommit", ":", "-w", "n2", "-n2", "--overcommit",
        *SRUN, "--het-group=0,1", sys.executable, run.written(PROGRAM), "tasks",
    )  # fmt: skip
    assert code == 0 and places(out) == set(HOSTS), out


def test_a_batch_script(run):
    program = run.written(PROGRAM)
    script = run.written(
        f"""\
        #!/bin/sh
        #SBATCH --nodes=2 --ntasks=4 --overcommit --time=00:02:00
        {" ".join(SRUN)} --overcommit {sys.executable} {program} tasks
        """,
        "job.sh",
    )
    code, out = run("sbatch", "--wait", "-o", "job.out", script)
    printed = (run.folder / "job.out").read_text()
    assert code == 0 and places(printed) == set(HOSTS), out + printed


def test_hocket_run_spreads_tasks_over_the_hosts(run):
    program = run.written(PROGRAM)
    code, out = run(*ALLOCATE, HOCKET, "run", f"rows=2:{program}", f"cols=2:{program}")
    assert code == 0 and places(out) == set(HOSTS), out
    assert "cols[1] | cols 1 n2" in out


def test_hk_run_spreads_a_function_over_the_hosts(run):
    program = run.written(
        """
        import hocket as hk

        def host(comm):
            import socket
            return comm.rank, socket.gethostname()

        if __name__ == "__main__":
            print(hk.run(host, ranks=4))
        """
    )
    code, out = run(*ALLOCATE, sys.executable, program)
    assert code == 0 and "[(0, 'n1'), (1, 'n1'), (2, 'n2'), (3, 'n2')]" in out, out
    assert not list(run.folder.glob("hocket-*"))


def test_an_allocation_that_is_smaller_than_the_run(run):
    """Processes share cores, and the log says so."""
    text = "import logging\nimport hocket as hk\nlogging.basicConfig()\n"
    program = run.written(text + "print(hk.run(lambda comm: comm.size, ranks=6))\n")
    code, out = run(*ALLOCATE, sys.executable, program)
    assert code == 0 and str([6] * 6) in out, out
    assert "the Slurm allocation has 4 tasks, and the run 6 processes" in out, out


def test_settings_that_differ_are_named(run):
    """Separate programs of one job; the second host's have another setting."""
    text = """
        import sys
        import hocket as hk
        try:
            hk.Team()
        except hk.MismatchError as error:
            sys.stdout.write(f"refused: {error}\\n")
        """
    program, python = run.written(text), sys.executable
    listed = f"0-1 {python} {program}\n2-3 env HOCKET_MAX_BUFFER=4M {python} {program}\n"
    run.written(listed, "list")
    code, out = run(*STEP, "--multi-prog", "list")
    said = (
        "HOCKET_MAX_BUFFER is 268435456 on process 0 of 4 (host n1), but 4194304 on process 2 of 4 "
    )
    assert code == 0 and out.count(f"refused: the processes of one job differ: {said}") == 4, out
    assert out.count("(host n2)") == 4


BAD = """
import os, sys, time
import hocket as hk
w = hk.tasks()
a = hk.zeros(hk.Layout((8,), "(BLOCK)", 4))
hk.redistribute(a, hk.Layout((8,), "(CYCLIC)", 4))
if w.name == "cols" and w.comm.rank == 1:
    exec(sys.argv[1])
hk.Team().wait()
"""


@pytest.mark.parametrize(
    ("statement", "said", "status"),
    [
        ("raise ValueError('only here')", "raised ValueError: only here", 1),
        ("sys.exit(7)", "raised SystemExit: 7", 7),
        ("os.abort()", "ended without a word (Aborted", None),
    ],
)
def test_a_process_that_fails_on_another_host_is_named(run, statement, said, status):
    program = run.written(BAD)
    tasks = (f"rows=2:{program}", f"cols=2:{program}")
    code, out = run(*ALLOCATE, HOCKET, "run", *tasks, statement)
    assert f"rank 3 (task 'cols', process 1) {said}" in out, out
    assert code == status if status is not None else code != 0


def test_a_process_that_is_killed_on_another_host_is_named(run):
    """Sometimes Open MPI's end of a process that notices the kill comes first. Then no other
    process is said to have ended, and another of five kills is named."""
    program = run.written(BAD)
    tasks = (f"rows=2:{program}", f"cols=2:{program}")
    for _ in range(5):
        code, out = run(*ALLOCATE, HOCKET, "run", *tasks, "os.kill(os.getpid(), 9)")
        assert code != 0
        first, _, killed = out.partition(" ended without a word (Killed, on host n2)")
        if killed and first.endswith("rank 3 (task 'cols', process 1)"):
            assert "rank 0" not in first and "rank 1" not in first
            return
        noticed = "a process ended without a word; rank" in out
        assert noticed or "PeerLostError: rank 3 (task 'cols', process 1)" in out, out
    raise AssertionError(f"none of five kills is named: {out}")


def test_a_time_limit_says_where_every_process_stood(run):
    program = run.written(BAD)
    tasks = (f"rows=2:{program}", f"cols=2:{program}")
    words = ("run", "--timeout", "15", *tasks, "time.sleep(1000)")
    code, out = run(*ALLOCATE, HOCKET, *words)
    assert code == 124 and out.count("stood here:") == 4, out
    assert "rank 3 (task 'cols', process 1) stood here:" in out


def test_a_killed_node_is_reported(run, slurm):
    """The daemon and the processes of one node end at once, as if it had lost its power."""
    program = run.written(BAD)
    job = subprocess.Popen(
        [*ALLOCATE, HOCKET, "run", f"rows=2:{program}", f"cols=2:{program}", "time.sleep(1000)"],
        cwd=run.folder,
        env=slurm,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    with job:
        limit = time.monotonic() + 60
        ranks = f"HOCKET_RUN={run.folder}"  # and no process that answers for the node before
        while len(of_node("n2", ranks)) < 2 and time.monotonic() < limit:
            time.sleep(0.2)
        time.sleep(2)
        for pid in of_node("n2", str(run.folder)):
            os.kill(pid, 9)
        out, _ = job.communicate(timeout=120)
    assert job.returncode != 0
    assert "(task 'cols', process" in out and "on host n2" in out, out


def of_node(node: str, mark: str) -> list[int]:
    """Processes of a job's step on that node."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            text = (entry / "environ").read_bytes()
        except OSError:
            continue
        if f"SLURMD_NODENAME={node}\0".encode() in text and mark.encode() in text:
            found.append(int(entry.name))
    return found


def test_a_host_that_lacks_the_folder_is_named(run, slurm):
    program = run.written("import hocket as hk\nhk.run(print, ranks=2)\n")
    code, out = run(*ALLOCATE, sys.executable, program, HOCKET_SHARED=slurm["FOLDER"] + "/tmp")
    assert code != 0
    assert "not every host of the run has what it needs: n1: no " in out, out
    assert "n2: no " in out and "on a file system that all hosts share" in out


def test_a_shared_folder_that_is_none(run):
    program = run.written("import hocket as hk\nhk.run(print, ranks=2)\n")
    code, out = run(*ALLOCATE, sys.executable, program, HOCKET_SHARED="/no/such")
    assert code != 0 and "HOCKET_SHARED names '/no/such', which is no folder" in out, out


def signalled(run, partition, ask):
    """The recipe of the guide to stores: Slurm sends a signal, the program saves and ends. A batch
    job in that partition; `ask` makes Slurm send the signal."""
    program = run.written(
        """
        import signal, sys, time
        import hocket as hk
        from mpi4py import MPI

        asked = []
        signal.signal(signal.SIGTERM, lambda *_: asked.append(True))
        team, a = hk.Team(), hk.ones(hk.Layout((64,), "(BLOCK)", MPI.COMM_WORLD.size), "f8")
        print("ready", flush=True)
        while not team.any(bool(asked)):
            time.sleep(0.05)
        hk.save("run.zarr", {"a": a})
        if MPI.COMM_WORLD.rank == 0:
            print("saved", flush=True)
        """
    )
    script = run.written(
        f"""\
        #!/bin/sh
        #SBATCH --nodes=2 --ntasks=4 --time=00:05:00 --partition={partition}
        {" ".join(SRUN)} --overcommit {sys.executable} {program}
        """,
        "job.sh",
    )
    code, out = run("sbatch", "--parsable", "-o", "job.out", script)
    assert code == 0, out
    limit, number = time.monotonic() + 90, out.strip()
    printed = run.folder / "job.out"
    while time.monotonic() < limit and not (
        printed.exists() and printed.read_text().count("ready") == 4
    ):
        time.sleep(0.3)
    ask(number)
    while time.monotonic() < limit and number in run("squeue", "-h", "-o", "%i")[1]:
        time.sleep(0.3)
    assert "saved" in printed.read_text(), printed.read_text()
    import hocket as hk

    with hk.open_store(str(run.folder / "run.zarr")) as store:
        assert float(store["a"][:].sum()) == 64.0


def test_a_signal_before_the_end_makes_a_checkpoint(run):
    signalled(run, "all", lambda number: run("scancel", "--signal=TERM", number))


def test_a_preempted_job_makes_a_checkpoint(run):
    """A job of a partition with a higher priority needs the nodes: Slurm signals the first one,
    which has a minute to end."""

    def ask(number):
        code, out = run("srun", "-Q", "-p", "urgent", "-N2", "--exclusive", "hostname")
        assert code == 0 and set(out.split()) == {"n1", "n2"}, out

    signalled(run, "spare", ask)
