# SPDX-License-Identifier: BSD-3-Clause
"""Flows of jobs that met by a port, several jobs that connect at once, and where no secret is."""

import contextlib
import hmac
import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from lockstep import mpiexec
from test_ports import key_file, runtime  # noqa: F401
from test_ports_tasks import start

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import built

# Receives frames and sends their doubles, each in steps of its own. Both jobs receive first, which
# would deadlock if steps had to run in order.
FLOW = """
import sys
import numpy as np
import hocket as hk
from mpi4py import MPI
comm, name, side, frames = MPI.COMM_WORLD, sys.argv[1], sys.argv[2], int(sys.argv[3])
layout = hk.Layout(1000, "(BLOCK)", comm.size)
(mine,) = layout.global_indices(comm.rank)
x, y = ([hk.zeros(layout, "int64") for _ in range(frames + 1)] for _ in range(2))
if side == "sim":
    port = hk.open_port(name)
    if comm.rank == 0:
        print(port.address, flush=True)
    w, other = port.accept(timeout=60), "flow"
    with hk.Flow(2) as f:
        for k in range(frames):
            f.recv(w, x[k], other, k)
            f.task(lambda k=k: np.multiply(x[k].local, 2, out=y[k].local), [x[k]], [y[k]])
            f.send(w, y[k], other, k)
    for k in range(frames):
        assert (x[k].local == np.array(mine) + 1000 * k).all(), k
    y[-1].local[...] = mine
    w.send(y[-1], other, tag=frames)
    w.recv(x[-1], other, tag=frames, timeout=60)
    assert (x[-1].local == mine).all()
    w.disconnect()
    port.close()
else:
    w, other = hk.connect(name, task="flow", timeout=60), name
    with hk.Flow(2) as f:
        for k in range(frames):
            f.recv(w, y[k], other, k)
            f.task(lambda k=k: x[k].local.__setitem__(..., np.array(mine) + 1000 * k), [], [x[k]])
            f.send(w, x[k], other, k)
        async def last():
            await w.irecv(y[-1], other, tag=frames)
            await w.isend(y[-1], other, tag=frames)
        f.comm(last, [], [y[-1]])
    for k in range(frames):
        assert (y[k].local == 2 * x[k].local).all(), k
    w.disconnect()
"""


@pytest.mark.parametrize("language", ["Python", "C++"])
def test_steps_of_flows_by_a_port(language, tmp_path, runtime):  # noqa: F811
    sim = start(tmp_path, FLOW, "sim.py", 2, "sim", "sim", "4")
    other = None
    try:
        assert sim.stdout is not None
        where = sim.stdout.readline().strip()
        if language == "Python":
            other = start(tmp_path, FLOW, "flow.py", 3, "sim", "flow", "4")
        else:
            program = built.folder() / "tests" / "port_flow"
            env = mpiexec.environment(os.environ, str(tmp_path), 3, None)
            words = [where, "4", *filter(None, [os.environ.get("LOCKSTEP_KEY")])]
            line = [mpiexec.find(), "-n", "3", str(program), *words]
            other = subprocess.Popen(line, stdout=subprocess.PIPE, env=env, text=True)
        printed, _ = other.communicate(timeout=90)
        assert (other.returncode, sim.wait(60)) == (0, 0)
        assert language == "Python" or printed == "passed\n"
    finally:
        for job in filter(None, (sim, other)):
            job.kill()
            job.communicate()


# All may connect before the first is accepted, and get their arrays in another order.
MANY = """
import sys
import hocket as hk
from mpi4py import MPI
comm, number = MPI.COMM_WORLD, int(sys.argv[1])
mine, other = (hk.Layout(5000, of, comm.size) for of in ("(BLOCK)", "(CYCLIC)"))
def numbered(layout, first):
    return hk.from_function(lambda i: first + i, layout, "int64")
if number == 0:
    count = int(sys.argv[2])
    with hk.open_port("many", task="sim") as port:
        worlds = [port.accept(timeout=90) for _ in range(count)]
        worlds.sort(key=lambda w: w.names[1])
        assert [w.names[1] for w in worlds] == [f"job{k + 1}" for k in range(count)]
        into = [hk.zeros(other, "int64") for _ in worlds]
        waits = [w.irecv(b, 1) for w, b in zip(worlds, into)]
        waits += [w.isend(numbered(mine, 10 * k), 1) for k, w in reversed([*enumerate(worlds)])]
        for wait in waits:
            wait.wait(timeout=90)
        for k, b in enumerate(into):
            assert (b.local == numbered(other, 1000 * (k + 1)).local).all(), k
        for w in worlds:
            w.disconnect()
else:
    w = hk.connect("many", task=f"job{number}", timeout=90)
    b = hk.zeros(other, "int64")
    w.send(numbered(mine, 1000 * number), "sim")
    w.recv(b, "sim", timeout=90)
    assert (b.local == numbered(other, 10 * (number - 1)).local).all()
    w.disconnect()
"""


def test_several_jobs_connect_at_once(tmp_path, runtime):  # noqa: F811
    jobs = [start(tmp_path, MANY, f"job{k}.py", k % 2 + 1, str(k)) for k in (1, 2, 3)]
    jobs.append(start(tmp_path, MANY, "sim.py", 2, "0", "3"))
    try:
        assert [job.wait(120) for job in jobs] == [0] * 4
    finally:
        for job in jobs:
            job.kill()
            job.communicate()


SECRET = """
import logging, sys
logging.basicConfig(level=logging.DEBUG)
import hocket as hk
port = hk.open_port("secret", task="sim", address="127.0.0.1:0", key=sys.argv[1])
print(port.address, flush=True)
w = port.accept(timeout=60)
a = hk.zeros(hk.Layout(1000, "(*)"))
with hk.Flow(1) as f:
    f.recv(w, a, "viewer")
w.recv(a, "viewer", tag=1)
print("there", flush=True)
sys.stdin.readline()
w.disconnect()
port.close()
"""
SHARES_IT = """
import logging, sys
logging.basicConfig(level=logging.DEBUG)
import hocket as hk
w = hk.connect(sys.argv[1], task="viewer", key=sys.argv[2], timeout=60)
a = hk.ones(hk.Layout(1000, "(*)"))
with hk.Flow(1) as f:
    f.send(w, a, "sim")
w.send(a, "sim", tag=1)
print("there", flush=True)
sys.stdin.readline()
w.disconnect()
"""


def test_no_secret_is_in_an_environment_a_log_or_a_trace(tmp_path, runtime):  # noqa: F811
    """Neither the key's bytes nor their hexadecimal digits, nor those of a key derived from it."""
    key = key_file(tmp_path / "run.key")
    jobs = []
    for name, code in (("sim", SECRET), ("viewer", SHARES_IT)):
        program = tmp_path / f"{name}.py"
        program.write_text(code, encoding="utf-8")
        words = [jobs[0].stdout.readline().strip()] if jobs else []
        with (tmp_path / f"{name}.log").open("wb") as log:
            jobs.append(
                subprocess.Popen(
                    [sys.executable, program, *words, key],
                    env={**os.environ, "HOCKET_TRACE": str(tmp_path / name)},
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=log,
                    text=True,
                )
            )
    try:
        written = []
        for job in jobs:
            assert job.stdout is not None and job.stdout.readline() == "there\n"
            for what in ("environ", "cmdline"):
                written.append(Path(f"/proc/{job.pid}/{what}").read_bytes())
        for job in jobs:
            job.communicate("\n", timeout=60)
            assert job.returncode == 0
    finally:
        for job in jobs:
            job.kill()
    written += [path.read_bytes() for path in tmp_path.glob("*.log")]
    written += [path.read_bytes() for path in tmp_path.glob("*.json*")]
    written += [path.read_bytes() for path in Path(runtime).rglob("*") if path.is_file()]
    assert len(written) >= 8 and all(written[4:6])
    shown = [*secrets(Path(key).read_bytes(), tmp_path)]
    assert len(shown) == 4
    for secret in shown:
        for text in (secret, secret.hex().encode(), secret.hex().upper().encode()):
            assert not any(text[-16:] in one for one in written)


def core_of(job: subprocess.Popen, folder: Path) -> bytes:
    """The dump of its memory that the system writes; elsewhere, the bytes that it would write."""
    found = []
    pattern = Path("/proc/sys/kernel/core_pattern").read_text(encoding="ascii")
    unlimited = resource.getrlimit(resource.RLIMIT_CORE)[0] == resource.RLIM_INFINITY
    if unlimited and pattern.startswith("core") and not set("|/") & set(pattern):
        for number in (signal.SIGABRT, signal.SIGCONT):
            os.kill(job.pid, number)
        job.wait(60)
        found = [path for path in folder.glob("core*") if path.is_file()]
    if found:
        core = found[0].read_bytes()
        found[0].unlink()
        return core
    assert job.poll() is None, "the system writes no core"
    dump, bounds = [], (0, 0)
    process = Path(f"/proc/{job.pid}")
    lines = (process / "smaps").read_text(encoding="utf-8").splitlines()
    with (process / "mem").open("rb", buffering=0) as memory:
        for line in lines:
            first = line.split()[0]
            if not first.endswith(":"):
                low, _, high = first.partition("-")
                bounds = (int(low, 16), int(high, 16))
            elif first == "VmFlags:" and "rd" in line.split() and "dd" not in line.split():
                with contextlib.suppress(OSError, ValueError, OverflowError):  # special pages
                    memory.seek(bounds[0])
                    dump.append(memory.read(bounds[1] - bounds[0]))
    return b"".join(dump)


def test_no_secret_is_in_a_core(tmp_path, runtime):  # noqa: F811
    """Neither the key nor a key derived from it, nor the secret that TLS derives from that: it
    would let its finder in. Open connections' own keys are left to OpenSSL."""
    key = key_file(tmp_path / "run.key")
    jobs = []
    soft, hard = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))
    try:
        for name, code in (("sim", SECRET), ("viewer", SHARES_IT)):
            folder = tmp_path / f"folder of {name}"
            folder.mkdir()
            (folder / "program.py").write_text(code, encoding="utf-8")
            words = [jobs[0].stdout.readline().strip()] if jobs else []
            jobs.append(
                subprocess.Popen(
                    [sys.executable, "program.py", *words, key],
                    cwd=folder,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    text=True,
                )
            )
        for job in jobs:
            assert job.stdout is not None and job.stdout.readline() == "there\n"
        derived = list(secrets(Path(key).read_bytes(), tmp_path))
        early = [hmac.digest(bytes(48), one[-48:], "sha384") for one in derived[1:]]
        # Both at once, as an end of one changes the other's memory.
        for job in jobs:
            os.kill(job.pid, signal.SIGSTOP)
        for job, name in zip(jobs, ("sim", "viewer")):
            core = core_of(job, tmp_path / f"folder of {name}")
            assert b"hocket.ports" in core  # a text that every Python program of hocket has
            leaked = [k for k, secret in enumerate(derived + early) if secret[-32:] in core]
            assert not leaked, f"{name} has these: {leaked}"
    finally:
        resource.setrlimit(resource.RLIMIT_CORE, (soft, hard))
        for job in jobs:
            job.kill()
            job.communicate()


def secrets(key: bytes, folder: Path):
    """The key, and those of each right, as a given key holds them."""
    from hocket import _pure

    yield key
    for right in ("read", "steer", "join"):
        given = folder / right
        _pure.give_key(str(folder / "run.key"), right, str(given))
        yield given.read_bytes()
