# SPDX-License-Identifier: BSD-3-Clause
"""hocket on two hosts with addresses, process numbers and temporary files of their own."""

from __future__ import annotations

import contextlib
import importlib.metadata
import importlib.util
import json
import platform
import re
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "mpi"))
import lockstep.mpiexec
import two_hosts
from test_slurm import BAD, PROGRAM, places

pytestmark = pytest.mark.soak
HOCKET = str(Path(sys.executable).with_name("hocket"))
HOSTS = {("rows", 0, "h1"), ("rows", 1, "h1"), ("cols", 0, "h2"), ("cols", 1, "h2")}


@pytest.fixture(scope="module")
def both() -> Iterator[two_hosts.TwoHosts]:
    if lacking := two_hosts.missing():
        pytest.skip(f"needs {', '.join(lacking)}: Debian's openssh-server and iproute2, as root")
    with two_hosts.two_hosts() as made:
        yield made


@pytest.fixture
def run(both, request):
    """Runs a command of the first host in a folder that both hosts share; (status, output)."""
    folder = both.folder / re.sub(r"\W", "_", request.node.name)
    folder.mkdir()

    def start(*words: str, **more: str) -> tuple[int, str]:
        return both.run("h1", words, folder, 180, **more)

    def written(text: str, name: str = "program.py") -> str:
        (folder / name).write_text(textwrap.dedent(text))
        return name

    start.written = written
    start.folder = folder
    yield start
    assert not list(folder.glob("hocket-*"))


def tasks(program: str, *arguments: str, hosts: str = "h1:2,h2:2") -> list[str]:
    line = [HOCKET, "run", "--timeout", "100", "--hosts", hosts]
    return [*line, f"rows=2:{program}", f"cols=2:{program}", *arguments]


def test_tasks_on_two_hosts(run):
    code, out = run(*tasks(run.written(PROGRAM)))
    assert code == 0 and places(out) == HOSTS, out


def test_a_host_file(run):
    name = run.written("h1 slots=2\nh2 slots=2\n", "list")
    code, out = run(*tasks(run.written(PROGRAM), hosts=name))
    assert code == 0 and places(out) == HOSTS, out


def test_the_demo_on_two_hosts(run):
    """Its pipeline, its flow and its transposition, all over the link between the hosts."""
    root, mpi = Path(__file__).resolve().parents[2], Path(sys.prefix).name
    own = f"--frames 6 --size 128 --procs 4 --out '{run.folder}/pictures'"
    line = ("make", "-s", "-C", str(root), "demo", f"MPI={mpi}", f"ARGS={own}")
    code, out = run(*line, HOCKET_HOSTS="h1:2,h2:2", HOCKET_SHARED=str(run.folder))
    assert code == 0 and "flow" in out and list((run.folder / "pictures").iterdir()), out


def test_a_flow_on_two_hosts(run):
    """Arrays go to the other task and come back while each computes."""
    program = run.written(
        """
        import functools, socket
        import hocket as hk

        w = hk.tasks()
        lay = hk.Layout((64, 48), "(BLOCK, *)", w.comm.size)
        other = "cols" if w.name == "rows" else "rows"
        a = [hk.full(lay, float(k), comm=w.comm) for k in range(5)]
        b = [hk.zeros(lay, comm=w.comm) for k in range(5)]

        def more(x):
            x.local[...] += 1

        with hk.Flow() as f:
            for x, y in zip(a, b):
                if w.name == "rows":
                    f.task(functools.partial(more, x), inouts=[x])
                    f.send(w, x, other)
                    f.recv(w, y, other)
                else:
                    f.recv(w, y, other)
                    f.task(functools.partial(more, y), inouts=[y])
                    f.send(w, y, other)
            f.wait()
        assert all((y.local == k + 2.0).all() for k, y in enumerate(b))
        print(w.name, w.comm.rank, socket.gethostname(), flush=True)
        """
    )
    code, out = run(*tasks(program))
    assert code == 0 and places(out) == HOSTS, out


def test_a_trace_of_two_hosts():
    """Its processes are apart, and what one sends is before what the other gets of it, although
    the hosts' clocks since their start, and maybe process numbers, are no common ones."""
    program = """
        import hocket as hk

        w = hk.tasks()
        a = hk.zeros(hk.Layout((64, 48), "(BLOCK, *)", w.comm.size), comm=w.comm)
        for _ in range(3):
            w.send(a, "cols") if w.name == "rows" else w.recv(a, "rows")
            w.barrier()
        """
    if lacking := two_hosts.missing():
        pytest.skip(f"needs {', '.join(lacking)}: Debian's openssh-server and iproute2, as root")
    with two_hosts.two_hosts(earlier=10**6) as apart:
        (apart.folder / "program.py").write_text(textwrap.dedent(program))
        line = tasks("program.py")
        line[2:2] = ["--trace", "run.json"]
        code, out = apart.run("h1", line, apart.folder, 180)
        assert code == 0, out
        events = json.loads((apart.folder / "run.json").read_text())
    named = [each for each in events if each["name"] == "process_name"]
    assert {each["args"]["name"].split(" (")[0] for each in named} == {
        f"rank {rank}" for rank in range(4)
    }
    assert len({each["pid"] for each in events}) == 4
    left, came = (
        {each["id"]: each for each in events if each["ph"] == end and each.get("cat") == "arrow"}
        for end in "sf"
    )
    assert left and left.keys() == came.keys()
    # The hosts are one machine, whose time of day they share.
    assert all(-0.1e6 < came[one]["ts"] - left[one]["ts"] < 100e6 for one in left)


def test_a_function_on_two_hosts(run):
    program = run.written(
        """
        import hocket as hk

        def host(comm):
            import socket
            return comm.rank, socket.gethostname()

        if __name__ == "__main__":
            print(hk.run(host, ranks=3, hosts="h1,h2"))
        """
    )
    code, out = run(sys.executable, program)
    assert code == 0 and "[(0, 'h1'), (1, 'h1'), (2, 'h2')]" in out, out


#: Open MPI's launcher, or hocket, may first see a process that notices the end of rank 3
NOTICED = (
    r"a process ended without a word; rank [012] .* was the first to notice|"
    r"raised hocket\.errors\.PeerLostError: rank 3 \(task 'cols', process 1\)"
)


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("raise ValueError('only here')", "raised ValueError: only here"),
        ("sys.exit(7)", "raised SystemExit: 7"),
        # MPICH gives a status, Open MPI a signal.
        ("os.abort()", r"ended without a word \((by SIGABRT|with.* \d+), on host h2\)"),
    ],
)
def test_a_process_that_fails_on_the_other_host_is_named(run, statement, said):
    code, out = run(*tasks(run.written(BAD), statement))
    assert code != 0
    noticed = f"|{NOTICED}" if "abort" in statement else ""
    assert re.search(rf"rank 3 \(task 'cols', process 1\) {said}{noticed}", out), out
    assert not re.search(r"rank [012] \([^)]*\) ended", out), out


def test_a_process_that_is_killed_on_the_other_host_is_named(run):
    """Or one that notices its end; then no other process is said to have ended. Usually one of the
    first kills is named, but on a machine with much to do possibly none."""
    killed = r"rank 3 \(task 'cols', process 1\) ended without a word "
    killed += r"\((by SIGKILL|with.* 9), on host h2\)"
    for _ in range(5):
        code, out = run(*tasks(run.written(BAD), "os.kill(os.getpid(), 9)"))
        assert code != 0
        if re.search(killed, out):
            return
        assert re.search(NOTICED, out), out
        assert not re.search(r"rank [012] \([^)]*\) ended", out), out


def test_a_time_limit_says_where_every_process_stood(run):
    line = tasks(run.written(BAD), "time.sleep(1000)")
    line[line.index("100")] = "15"
    code, out = run(*line)
    assert code == 124 and out.count("stood here:") == 4, out


def test_a_host_that_does_not_answer(run):
    code, out = run(*tasks(run.written(BAD), hosts="h1:2,h3:2"))
    assert code != 0 and "needs: h3: no answer (ssh: Could not resolve hostname h3" in out, out


def test_a_folder_that_is_not_shared(run):
    """Each host has its own /tmp."""
    code, out = run(*tasks(run.written(BAD)), HOCKET_SHARED="/tmp")
    assert code != 0 and re.search(r"needs: h2: no /tmp/hocket-\w+; put Python's", out), out


@contextlib.contextmanager
def replaced(both: two_hosts.TwoHosts, run, path: Path, content: bytes) -> Iterator[None]:
    """The second host sees a file with another content there."""
    other = run.folder / path.name
    other.write_bytes(content)
    other.chmod(path.stat().st_mode)
    subprocess.run(both.command("h2", ["mount", "--bind", str(other), str(path)]), check=True)
    try:
        yield
    finally:
        subprocess.run(both.command("h2", ["umount", str(path)]), check=True)


def test_another_version_of_hocket(run, both):
    """In the installed package's description."""
    found = importlib.metadata.distribution("hocket")
    described = Path(str(found.locate_file(f"hocket-{found.version}.dist-info/METADATA")))
    other = described.read_text().replace(f"Version: {found.version}", "Version: 99.0")
    with replaced(both, run, described, other.encode()):
        code, out = run(*tasks(run.written(PROGRAM)))
    assert (
        code != 0 and f"different versions or processors: h1: hocket {found.version} with" in out
    ), out
    assert "; h2: hocket 99.0 with" in out


def test_another_version_of_the_mpi(run, both):
    """In the library itself: MPICH has the text, Open MPI puts numbers into one."""
    say = """
        from mpi4py import MPI
        print(next(line.split()[-1] for line in open("/proc/self/maps") if "/libmpi.so" in line))
        print(MPI.Get_library_version())
        """
    code, out = run(sys.executable, run.written(say))
    assert code == 0, out
    library, said = out.splitlines()[:2]
    version = re.search(r"\d+\.\d+\.\d+", said)[0]
    content = Path(library).read_bytes().replace(version.encode(), b"9" + version[1:].encode())
    content = content.replace(b"Open MPI v%d.%d.%d", b"OpenMPI v9%d.%d.%d")
    with replaced(both, run, Path(library), content):
        code, out = run(*tasks(run.written(PROGRAM)))
    wanted = r"h1: hocket \S+ with \D+{}, \S+ little endian; h2: hocket \S+ with \D+9{}?{}, "
    first, rest = re.escape(version[0]), re.escape(version[1:])
    assert code != 0 and re.search(wanted.format(first + rest, first, rest), out), out


def test_another_processor(run, both):
    """With another byte order."""
    found = Path(importlib.util.find_spec("mpi4py").origin)
    more = "import platform, sys\nplatform.machine = lambda: 's390x'\nsys.byteorder = 'big'\n"
    with replaced(both, run, found, found.read_bytes() + more.encode()):
        code, out = run(*tasks(run.written(PROGRAM)))
    wanted = rf"h1: hocket .*, {platform.machine()} little endian; h2: hocket .*, s390x big endian"
    assert code != 0 and re.search(wanted, out), out


@pytest.mark.parametrize(
    ("name", "first", "second"),
    [("HOCKET_MAX_BUFFER", "4194304", "8388608"), ("HOCKET_BYTE_ORDER", "little", "big")],
)
def test_a_setting_that_differs(run, name, first, second):
    run.written(
        """
        import hocket as hk
        a = hk.zeros(hk.Layout(9, "(BLOCK)", 2))
        try:
            hk.redistribute(a, hk.Layout(9, "(CYCLIC)", 2))
        except hk.MismatchError as error:
            print(error, flush=True)
        """
    )
    start = f"""\
        #!/bin/sh
        [ "$(hostname)" = h1 ] && export {name}={first} || export {name}={second}
        exec '{sys.executable}' program.py
        """
    (run.folder / run.written(start, "start")).chmod(0o700)
    line = [HOCKET, "run", "--timeout", "100", "--hosts", "h1:1,h2:1"]
    _, out = run(*line, "rows=1:./start", "cols=1:./start")
    wanted = rf"{name} is {first} on process 0 of 2 \(host h1\), but {second} on process 1 "
    assert len(re.findall(wanted + r"of 2 \(host h2\)", out)) == 2, out


def test_too_few_places(run):
    code, out = run(*tasks(run.written(BAD), hosts="h1:2,h2:1"))
    assert code != 0 and "the hosts h1:2, h2:1 have 3 places, and the run 4 processes" in out, out


#: two jobs that met by a port wait for each other until the line between their hosts is down
LINE = """
import sys, time
import hocket as hk
from mpi4py import MPI

comm, (side, key) = MPI.COMM_WORLD, sys.argv[1:]
if side == "sim":
    port = hk.open_port("line", task="sim", address="h1:4711", key=key)
    print("open", flush=True)
    w, peer = port.accept(timeout=60), "viewer"
else:
    w, peer = hk.connect("h1:4711", task="viewer", key=key, timeout=60), "sim"
a = hk.arange(hk.Layout(30000, "(BLOCK)", comm.size), "float64")
b = hk.zeros(hk.Layout(30000, "(CYCLIC)", comm.size))
for verb in ("send", "recv") if side == "sim" else ("recv", "send"):
    w.send(a, peer) if verb == "send" else w.recv(b, peer)
assert b.sum() == 29999 * 15000
comm.barrier()
print("waits", flush=True)
try:
    w.recv(b, peer, timeout=100)
except hk.PeerLostError as error:
    assert peer in str(error), error
    print("lost", time.time(), flush=True)
"""


@pytest.mark.parametrize("processes", [1, 2])
def test_the_line_between_two_jobs_goes_down(both, run, processes):
    """The wait of each of their processes ends within seconds; two, on a quiet machine."""
    key = run.folder / "run.key"
    key.touch(mode=0o600)
    key.write_bytes(b"k" * 40)
    run.written(LINE, "line.py")
    mpiexec = str(Path(sys.executable).with_name("mpiexec"))
    jobs = {}
    link = ["ip", "link", "set", two_hosts.LINKS[0]]
    with contextlib.ExitStack() as stack:
        for side, host in (("sim", "h1"), ("viewer", "h2")):
            words = [mpiexec, "-n", str(processes), sys.executable, "line.py", side, str(key)]
            jobs[side] = stack.enter_context(
                subprocess.Popen(
                    both.command(host, words),
                    cwd=run.folder,
                    env={**both.environment, **lockstep.mpiexec.SETTINGS},
                    stdout=subprocess.PIPE,
                    text=True,
                )
            )
            stack.callback(jobs[side].kill)
            wanted = "open" if side == "sim" else "waits"
            while (said := jobs[side].stdout.readline().strip()) != wanted:
                assert said in ("open", "waits"), said
        stack.callback(subprocess.run, both.command("h1", [*link, "up"]), check=True)
        subprocess.run(both.command("h1", [*link, "down"]), check=True)
        down = time.time()
        for job in jobs.values():
            printed = job.communicate(timeout=100)[0]
            lost = [float(text) for text in re.findall(r"lost (\S+)", printed)]
            assert len(lost) == processes and job.returncode == 0, printed
            assert all(when - down < 20 for when in lost), (lost, down)


def test_a_host_that_is_lost_ends_the_run(run, both):
    """Last: the second host ends with all its processes, as if it had lost its power."""
    line = both.command("h1", tasks(run.written(BAD), "print('stands'); time.sleep(1000)"))
    pipe = subprocess.PIPE
    with subprocess.Popen(
        line, cwd=run.folder, env=both.environment, stdout=pipe, stderr=subprocess.STDOUT, text=True
    ) as job:
        said = ""
        while "stands" not in said and (read := job.stdout.readline()):
            said += read
        time.sleep(1)
        both.kill("h2")
        said += job.communicate(timeout=60)[0]
    assert job.returncode != 0 and "ended without a word" in said and "h2" in said, said
