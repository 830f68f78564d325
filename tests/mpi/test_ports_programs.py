# SPDX-License-Identifier: BSD-3-Clause
"""Every verb of tasks, channels, and random programs, between two jobs that met by a port."""

import itertools
from pathlib import Path

import pytest
from test_ports import key_file, runtime  # noqa: F401
from test_ports_tasks import start

HERE = Path(__file__).resolve().parent
PROGRAM = (
    f"""
import sys
sys.path[:0] = [{str(HERE)!r}, {str(HERE.parent)!r}]
"""
    + """
import hocket as hk
import programs
import test_channel
import test_programs
from mpi4py import MPI
side, where, sizes, options, turns, count, seed = sys.argv[1], sys.argv[2], *map(eval, sys.argv[3:])
comm = MPI.COMM_WORLD
if side == "a":
    port = hk.open_port(where, task="a", **options)
    if comm.rank == 0:
        print(port.address or where, flush=True)
    w = port.accept(timeout=60)
else:
    options.pop("address", None)
    w = hk.connect(where, task="b", timeout=60, **options)
assert MPI.Comm.Compare(w.comm, comm) == MPI.IDENT
groups = dict(zip("ab", sizes))
for turn in range(turns):
    for number, verb in enumerate(test_programs.VERBS):
        verbs = test_programs.Verbs(w, groups, seed + 100 * turn + number)
        verbs.salt = number
        verb(verbs, 10 * number)
for stream in test_channel.OF_TASKS:
    stream(w)
for number in range(count):
    full = (seed, number)
    program = programs.Program(list(sizes), *full)
    try:
        programs.Run(program, w, full).run()
    except BaseException as error:
        raise AssertionError(f"{error} in the program of seed {full}\\n{program}") from error
    w.barrier()  # a message of the next program must not meet a wildcard of this one
assert set(w.profile()) == {"inquiry", "call", "descriptor", "schedule", "pack", "move"}
assert w.profile()["descriptor"] > 0
w.disconnect()
if side == "a":
    port.close()
"""
)


def run(folder: Path, sizes: tuple[int, int], way: str, *numbers: int) -> None:
    """`numbers`: turns of every verb, random programs, seed."""
    options: dict[str, object] = {}
    if way != "host":
        key = key_file(folder / "run.key")
        options = {
            "address": "127.0.0.1:0",
            **({"key": key} if way == "tls" else {"secure": False}),
        }
    words = [repr(sizes), repr(options), *map(str, numbers)]
    first = start(folder, PROGRAM, "a.py", sizes[0], "a", "programs", *words)
    assert first.stdout is not None
    second = start(folder, PROGRAM, "b.py", sizes[1], "b", first.stdout.readline().strip(), *words)
    try:
        assert (second.wait(600), first.wait(60)) == (0, 0)
    finally:
        for job in (first, second):
            job.kill()
            job.communicate()


@pytest.mark.parametrize(
    ("sizes", "way", "numbers"),
    [((2, 3), "host", (1, 4)), ((1, 2), "tls", (1, 4)), ((2, 1), "tcp", (0, 0))],
)
def test_tasks_of_two_jobs_do_all_that_tasks_do(
    sizes,
    way,
    numbers,
    tmp_path,
    runtime,  # noqa: F811
):
    run(tmp_path, sizes, way, *numbers, 25)


@pytest.mark.soak
@pytest.mark.parametrize("way", ["host", "tcp", "tls"])
@pytest.mark.parametrize("sizes", list(itertools.product((1, 2, 4), (1, 3, 4))))
def test_random_programs_of_two_jobs(sizes, way, tmp_path, runtime, soak_seed):  # noqa: F811
    run(tmp_path, sizes, way, 4, 25, soak_seed)
