# SPDX-License-Identifier: BSD-3-Clause
"""Where the system forbids to share memory, or to copy it across processes, everything travels all
the same, and `hocket info` says why it takes more than one copy."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from lockstep import mpiexec

PROGRAM = """
import numpy as np
import hocket as hk

def program(w):
    from mpi4py import MPI
    from hocket import _mpi
    n = w.comm.size
    for shape in [(6, 5), (700, 300)]:
        layout = hk.Layout(shape, "(BLOCK, *)" if w.name == "a" else "(*, CYCLIC(3))", n)
        b = hk.from_function(lambda i, j: 1000.0 * i + j, layout, comm=w.comm)
        if w.name == "a":
            w.send(b, "b")
            w.isend([b, b], "b").wait()
        else:
            expected = b.local.copy()
            c = hk.zeros(layout, comm=w.comm)
            for take in (lambda: w.recv(b), lambda: w.recv([b, c])):
                b.local[...] = -1
                take()
                np.testing.assert_array_equal(b.local, expected)
            np.testing.assert_array_equal(c.local, expected)
        world = MPI.COMM_WORLD
        a = hk.from_function(lambda i, j: i - 7.0 * j, hk.Layout(shape, "(CYCLIC, *)", world.size))
        turned = hk.redistribute(a, hk.Layout(shape, "(*, BLOCK)", world.size))
        i, j = np.ix_(*turned.layout.global_indices(world.rank))
        np.testing.assert_array_equal(turned.local, i - 7.0 * j)
        own = hk.wrap(a.local.copy(), a.layout)
        back = hk.wrap(np.empty(turned.local.shape), turned.layout)
        hk.redistribute(own, turned.layout, out=back)
        np.testing.assert_array_equal(back.local, turned.local)
    return _mpi.memory_usage()["shareable"]

if __name__ == "__main__":
    print(hk.run(program, tasks={"a": 2, "b": 1}))
"""


def run(command, forbid, crossing=""):
    env = {**os.environ, "HOCKET_FORBID": forbid, "HOCKET_CROSSING": crossing}
    return subprocess.run(command, capture_output=True, text=True, timeout=300, env=env)


@pytest.mark.parametrize(
    ("forbid", "crossing"),
    [
        pytest.param("", "always", marks=pytest.mark.soak),
        ("", "packed"),
        pytest.param("process_vm", "", marks=pytest.mark.soak),
        ("proc", ""),
        pytest.param("proc,socket", "", marks=pytest.mark.soak),
        pytest.param("memfd", "", marks=pytest.mark.soak),
        ("memfd,proc", "always"),
    ],
)
def test_everything_travels_all_the_same(tmp_path, forbid, crossing):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    done = run([sys.executable, str(program)], forbid, crossing)
    assert done.returncode == 0, done.stdout + done.stderr
    shareable = "memfd" not in forbid
    assert done.stdout.strip() == str({"a": [shareable] * 2, "b": [shareable]})
    assert done.stderr == ""


def test_a_wrong_word_is_named(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    done = run([sys.executable, str(program)], "everything")
    assert done.returncode != 0
    assert "'everything'" in done.stderr and "memfd,proc" in done.stderr
    done = run([sys.executable, str(program)], "", "sometimes")
    assert done.returncode != 0
    assert "HOCKET_CROSSING is 'sometimes'" in done.stderr and "always" in done.stderr


@pytest.mark.parametrize(
    "forbid",
    [
        "",
        "proc",
        *(pytest.param(each, marks=pytest.mark.soak) for each in ("proc,socket", "process_vm")),
    ],
)
def test_info_says_whether_memory_is_shared_and_why_not(forbid):
    done = run([str(Path(sys.executable).with_name("hocket")), "info", "--json"], forbid)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)["mpi"]
    barred = f"no: HOCKET_FORBID is {forbid}"
    copies = {
        "proc": "yes, by descriptors that processes hand each other: HOCKET_FORBID is proc",
        "proc,socket": barred,
    }
    assert said["one copy within a node"] == copies.get(forbid, "yes")
    crossing = said["wrapped arrays, one copy"]
    # A system may let nobody but an ancestor look into a process.
    assert crossing == barred if forbid == "process_vm" else crossing.startswith(("yes", "no: Op"))


def test_info_gives_the_systems_own_reason(tmp_path):
    """The child asks; here its access is blocked for ever, as another user's would be."""
    from hocket.cli import info

    done = subprocess.run(
        [sys.executable, "-c", info._ASK_MEMORY, str(os.getpid()), "987654"],
        capture_output=True,
        text=True,
    )
    assert done.stdout.startswith("no: No such file or directory (/proc/")
    done = subprocess.run(
        [sys.executable, "-c", info._ASK_CROSSING, str(os.getpid()), "8"],
        capture_output=True,
        text=True,
    )
    assert done.stdout.startswith("no: ") and "(process_vm_readv)" in done.stdout


ONE_IS_WRONG = """
import os, sys
from mpi4py import MPI
import numpy as np
import hocket as hk
comm = MPI.COMM_WORLD
if comm.rank == 1:
    os.environ[sys.argv[1]] = "nonsense"
a = hk.zeros(hk.Layout((8,), "(BLOCK)", comm.size))
try:
    if sys.argv[1] == "HOCKET_TASKS":
        hk.tasks()
    hk.redistribute(a, hk.Layout((8,), "(CYCLIC)", comm.size), timeout=100)
except hk.DeadlineError:
    raise
except hk.Error as error:
    sys.stdout.write(f"refused: {error}\\n")  # at once: three write to the same pipe
"""


# Each is read in another place; `make soak` runs the others.
SETTINGS = ["HOCKET_TASKS"]
OTHERS = ["HOCKET_FORBID", "HOCKET_CROSSING", "HOCKET_NODES", "HOCKET_POOL_BYTES"]
SETTINGS += [pytest.param(each, marks=pytest.mark.soak) for each in OTHERS]


@pytest.mark.parametrize("setting", SETTINGS)
def test_a_setting_that_one_process_cannot_read_is_an_error_on_all(tmp_path, setting):
    program = tmp_path / "program.py"
    program.write_text(ONE_IS_WRONG)
    env = mpiexec.environment(os.environ, str(tmp_path), 3, None)
    env["HOCKET_TASKS"] = "a=1,b=2"
    command = [mpiexec.find(), "-n", "3", sys.executable, str(program), setting]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=env)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("refused: ") == done.stdout.count(f"{setting}") == 3


ONE_DIFFERS = """
import os, sys
from mpi4py import MPI
import numpy as np
import hocket as hk
comm = MPI.COMM_WORLD
if comm.rank == 1:
    os.environ.update(each.split("=", 1) for each in sys.argv[1:])
source, target = (hk.Layout((64, 48), text, comm.size) for text in ("(BLOCK, *)", "(*, CYCLIC)"))
try:
    b = hk.redistribute(hk.from_function(lambda i, j: 48.0 * i + j, source), target, timeout=100)
    own = hk.wrap(b.local.copy(), target)
    back = hk.redistribute(own, source)
    i, j = np.ix_(*source.global_indices(comm.rank))
    assert (back.local == 48.0 * i + j).all()
    i, j = np.ix_(*target.global_indices(comm.rank))
    assert (b.local == 48.0 * i + j).all()
    assert hk.Team().reduce_add(np.int64(1)) == comm.size
    sys.stdout.write("agreed\\n")
except hk.MismatchError as error:
    sys.stdout.write(f"refused: {error}\\n")  # at once: three write to the same pipe
"""


def one_differs(tmp_path, words, before=()):
    """Three processes, of which the second has other settings; their output. `before`: programs
    that start the second."""
    program = tmp_path / "program.py"
    program.write_text(ONE_DIFFERS)
    env = mpiexec.environment(os.environ, str(tmp_path), 3, None)
    start = [sys.executable, str(program), *words]
    command = [mpiexec.find(), "-n", "1", *start, ":", "-n", "1", *before, *start]
    command += [":", "-n", "1", *start]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=env)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize(
    ("setting", "usual", "other"),
    [
        ("HOCKET_MAX_BUFFER=4M", "268435456", "4194304"),
        pytest.param("HOCKET_CHECK=1", "unset", "1", marks=pytest.mark.soak),
        pytest.param("HOCKET_NODES=0,1,1", "unset", "0,1,1", marks=pytest.mark.soak),
        pytest.param("HOCKET_BYTE_ORDER=big", "little", "big", marks=pytest.mark.soak),
    ],
)
def test_a_setting_that_differs_is_named_on_all(tmp_path, monkeypatch, setting, usual, other):
    name = setting.partition("=")[0]
    monkeypatch.delenv(name, raising=False)
    said = one_differs(tmp_path, [setting])
    host = os.uname().nodename
    refusal = f"{name} is {usual} on process 0 of 3 (host {host}), but {other} on process 1 of 3 "
    assert said.count(f"refused: the processes of one job differ: {refusal}") == 3, said


def test_settings_that_differ_for_good_reasons(tmp_path):
    """A process may have other cores and caches, and other rights."""
    words = [
        "HOCKET_THREADS=1",
        "HOCKET_PLAN_CACHE=0",
        "HOCKET_POOL_BYTES=0",
        "HOCKET_CPU=portable",
    ]
    words += ["HOCKET_CACHE_BYTES=64K", "HOCKET_CROSSING=packed", "HOCKET_FORBID=process_vm"]
    assert one_differs(tmp_path, words) == "agreed\n" * 3


def test_an_mpi_that_differs_is_named_on_all(tmp_path):
    """A library loaded before MPI's own gives one process another version."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("needs a C compiler")
    source, library = tmp_path / "version.c", tmp_path / "version.so"
    source.write_text(ANOTHER_VERSION)
    ask = "import mpi4py; mpi4py.rc.initialize = False; from mpi4py.MPI import get_vendor as v; "
    asked = [sys.executable, "-c", ask + "print(v()[0])"]
    vendor = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
    if vendor not in VERSIONS:
        pytest.skip(f"knows no text of {vendor}")
    text = f'-DTEXT="{VERSIONS[vendor]}"'
    subprocess.run([compiler, text, "-shared", "-fPIC", "-o", library, source], check=True)
    said = one_differs(tmp_path, [], ["env", f"LD_PRELOAD={library}"])
    assert said.count(f"refused: the processes of one job differ: MPI is {vendor} ") == 3, said
    assert said.count(f"), but {vendor} 99.1 on process 1 of 3 (host ") == 3, said
    assert said.count("; install the same version for all of them") == 3


VERSIONS = {"Open MPI": "Open MPI v99.1, package: a test", "MPICH": "MPICH Version: 99.1"}
ANOTHER_VERSION = """
#include <string.h>
int MPI_Get_library_version(char* text, int* length) {
    strcpy(text, TEXT);
    *length = (int)strlen(text);
    return 0;
}
"""
