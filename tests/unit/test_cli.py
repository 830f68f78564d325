# SPDX-License-Identifier: BSD-3-Clause
"""The command line: what it starts, prints, refuses, and its exit status."""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import os
import platform
import re
import shlex
import shutil
import stat
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest
from hocket.bench.options import parse as parse_bench
from hocket.cli import run as run_command
from hocket.cli.main import COMMANDS, UsageError, main

import hocket as hk
from hocket import plotting
from json_keys import require_keys


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def program(name: str, text: str, executable: bool = False) -> Path:
    path = Path(name)
    path.write_text(textwrap.dedent(text))
    if executable:
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def refused(capsys, *words: str) -> str:
    """The complaint about a wrong command line."""
    assert main(list(words)) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("hocket: ") and said.err.count("\n") <= 6
    return said.err


# main


def test_usage_names_every_command(capsys, monkeypatch):
    assert main(["--help"]) == 0
    text = capsys.readouterr().out
    with monkeypatch.context() as changed:  # a terminal without the usage's ellipsis
        changed.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), "ascii"))
        assert main(["--help"]) == 0
    assert all(f"hocket {name}" in text for name in ("demo", "run", "plan", "info", "bench"))
    assert main([]) == 2


@pytest.mark.parametrize("command", ["bench", "app"])
def test_a_command_without_the_name_that_it_needs(capsys, command):
    assert main([command]) == 2
    assert main([command, "--help"]) == 0
    capsys.readouterr()


def test_an_unknown_command_suggests_the_near_one(capsys):
    assert "did you mean 'demo'" in refused(capsys, "demmo")


def examples(capsys, *words: str) -> list[list[str]]:
    """The command lines that a help text shows, as words; comments behind them left out."""
    with contextlib.suppress(SystemExit):
        main([*words, "--help"])
    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    shown = [line.split("   ")[0] for line in lines if line.startswith("hocket ")]
    return [shlex.split(re.sub(r"  +.*", "", line))[1:] for line in shown if "…" not in line]


#: said again at the end of an example, where the last counts: what computes for long, in small
SMALLER = {
    "pingpong": ["--n", "16", "--per-task", "1"],
    "fft2d": ["--frames", "3"],
    "convolution": ["--frames", "3"],
    "multiblock": ["--steps", "5"],
    "linpack": ["--n", "600"],
}


def save_one(comm):
    """The files that the examples of stores read."""
    hk.save("in.zarr", {"t": hk.zeros(hk.Layout((20, 30), "(*, *)"), comm=comm)})


OBSERVED = """
import time
import hocket as hk
port = hk.open_port("simulation")
port.publish("temperature", hk.ones(hk.Layout((20, 30), "(*, *)")))
viscosity = port.parameter("viscosity", 0.1)
print("open", flush=True)
while True:
    port.poll()
    time.sleep(0.002)
"""


@pytest.fixture
def observed(tmp_path, monkeypatch):
    """The program that the examples of ports look at."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    command = [sys.executable, "-c", OBSERVED]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "open\n"
        yield
        process.kill()


@pytest.mark.parametrize("every", ["-1", "nan", "inf"])
def test_a_time_between_pictures_is_no_negative_one(capsys, every):
    """Before anybody is looked at: no port is named 'none'."""
    assert main(["observe", "none", "temperature", "--every", every]) == 2
    assert "give seconds, 0 or more" in capsys.readouterr().err


@pytest.mark.parametrize("apps", [False, pytest.param(True, marks=pytest.mark.soak)])
def test_every_example_of_the_help_texts_works(capsys, observed, apps):
    """Without those of applications, of which tests/test_docs.py runs the guide's."""
    hk.run(save_one, ranks=1)
    for name in ("rows.py", "cols.py", "program.py"):
        program(name, "")
    program("cols", "#!/bin/sh\n", executable=True)
    found = [line for name in ("", *COMMANDS) for line in examples(capsys, *filter(None, [name]))]
    assert {line[0] for line in found} == set(COMMANDS)
    for command, *words in found:
        if command == "run":
            assert main(["run", "--dry-run", *words]) == 0, words
        elif command == "bench":
            parse_bench(words)  # measuring takes its time elsewhere
        elif "--passes" in words:
            continue  # half a minute; in test_calibrate.py
        elif command == "calibrate":
            assert main(["calibrate", "--dry-run", "--repeat", "2", *words]) == 0, words
        elif command == "papers":
            assert main(["papers", "--list", *words]) == 0, words  # these words, too
        elif {"--every", "--key"} & set(words) or (command == "app" and not apps):
            continue  # without an end; on another host; in soak
        elif command == "demo":
            assert main(["demo", *words, "--size", "8", "--frames", "2"]) == 0, words
        else:
            small = SMALLER.get(words[0], []) if command == "app" else []
            assert main([command, *words, *small]) == 0, words
    assert Path("plan.png").stat().st_size > 1000


def test_the_version_is_printed(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("hocket ")


# run


def test_tasks_are_parsed_with_common_and_own_arguments():
    program("rows.py", "")
    program("cols", "#!/bin/sh\n", executable=True)
    specs = run_command.parse(["rows=2:rows.py --fast", "cols=3:./cols", "--flag", "a=b:c"])
    assert [(one.name, one.count) for one in specs] == [("rows", 2), ("cols", 3)]
    assert specs[0].argv == ["rows.py", "--fast", "--flag", "a=b:c"]
    assert specs[1].argv == ["./cols", "--flag", "a=b:c"]
    (spec,) = run_command.parse(["4:rows.py", "--", "x=2:y"])
    assert (spec.name, spec.count, spec.argv) == (None, 4, ["rows.py", "x=2:y"])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "there is no task"),
        (["rows.py"], "hocket run 4:rows.py"),
        (["2:"], "hocket run 2:program.py"),
        (
            ["-n", "2", "rows.py", "3"],
            "hocket run 2:rows.py`",
        ),
        (["rows=0:rows.py"], "'0' is no number of processes"),
        (["rows=x:rows.py"], "'x' is no number of processes"),
        (["rows=-1:rows.py"], "'-1' is no number"),
        (["=2:rows.py"], "no name for a task"),
        (["a b=2:rows.py"], "no name for a task"),
        (["2:row.py"], "did you mean 'rows.py'"),
        (["2:nowhere/rows.py"], "no directory 'nowhere'"),
        (["2:plain"], "chmod +x plain"),
        (["2:folder"], "is a directory"),
        (["2:folder.py"], "is a directory"),
        (["2:runs"], "write ./runs"),
        (["2:no-such-program"], "here or on PATH"),
        (["2:'rows.py"], "close the quotes"),
        (["a=1:rows.py", "a=1:rows.py"], "given twice"),
        (["1:rows.py", "a=1:rows.py"], "needs a task's name"),
        (["--timeout"], "expected one argument"),
        (["--timeout", "-1", "1:rows.py"], "timeout is -1"),
        (["--timeout", "nan", "1:rows.py"], "timeout is nan"),
        (["999999999:rows.py"], "999999999 processes are asked for"),
        (["a=9999999:rows.py", "b=9999999:rows.py"], "19999998 processes are asked for"),
    ],
)
def test_wrong_tasks_are_refused_before_anything_starts(capsys, words, message):
    program("rows.py", "")
    program("plain", "")
    program("runs", "#!/bin/sh\n", executable=True)
    Path("folder").mkdir()
    Path("folder.py").mkdir()
    assert message in refused(capsys, "run", *words)


def test_a_program_that_may_not_be_read_is_refused():
    path = program("secret.py", "")
    path.chmod(0)
    if os.access(path, os.R_OK):
        pytest.skip("root reads everything")
    with pytest.raises(UsageError, match="cannot be read"):
        run_command.parse(["1:secret.py"])


def hocket(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "hocket", *words], capture_output=True, text=True, timeout=400
    )


def test_two_programs_run_as_tasks_with_prefixes():
    program("rows.py", "import sys, hocket as hk; print(hk.tasks().name, sys.argv, __name__)")
    program(
        "cols.py",
        """
        import sys, hocket as hk
        world = hk.tasks()
        print(world.name, world.comm.rank, file=sys.stderr)
        """,
    )
    done = hocket("run", "rows=2:rows.py --own", "cols=1:cols.py", "--flag")
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.splitlines()) == [
        f"rows[{process}] | rows ['rows.py', '--own', '--flag'] __main__" for process in (0, 1)
    ]
    assert done.stderr == "cols[0] | cols 0\n"


def test_one_program_runs_without_tasks():
    program("four.py", "from mpi4py import MPI; print(MPI.COMM_WORLD.size, flush=True)")
    done = hocket("run", "--no-prefix", "3:four.py")
    assert (done.returncode, done.stdout) == (0, "3\n" * 3), done.stderr


def test_an_exception_ends_all_and_names_rank_task_and_traceback():
    program("rows.py", "import time, hocket as hk; hk.tasks(); time.sleep(1000)")
    program(
        "cols.py",
        """
        import hocket as hk
        world = hk.tasks()
        def deep(): raise RuntimeError("kaputt")
        if world.comm.rank == 1: deep()
        import time; time.sleep(1000)
        """,
    )
    done = hocket("run", "rows=1:rows.py", "cols=2:cols.py")
    assert done.returncode == 1
    assert "rank 2 (task 'cols', process 1) raised RuntimeError: kaputt" in done.stderr
    assert done.stderr.count("Traceback") == 1
    assert "in deep" in done.stderr
    assert "hocket.cli" not in done.stderr and "runpy" not in done.stderr


def test_the_status_of_the_one_that_fails_is_the_status():
    program("leave.py", "import sys; sys.exit('had enough')")
    done = hocket("run", "1:leave.py")
    assert done.returncode == 1 and "had enough" in done.stderr
    program("seven.sh", "#!/bin/sh\nexit 7\n", executable=True)
    program("wait.py", "import time; time.sleep(1000)")
    done = hocket("run", "a=1:./seven.sh", "b=1:wait.py")
    assert done.returncode == 7
    assert "rank 0 (task 'a', process 0) ended with status 7" in done.stderr


def test_a_program_that_ends_by_a_signal_is_reported():
    program("die.sh", "#!/bin/sh\nkill -9 $$\n", executable=True)
    done = hocket("run", "1:./die.sh")
    assert done.returncode == 128 + 9
    assert "rank 0 was ended by SIGKILL" in done.stderr


def test_a_timeout_ends_all():
    program("hang.py", "import time\ntime.sleep(1000)")
    done = hocket("run", "--timeout", "3", "2:hang.py")
    assert done.returncode == 124
    assert "not ended after 3 s; all are ended now" in done.stderr


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
def test_a_program_that_is_not_python_speaks_mpi():
    mpicc = Path(sys.executable).parent / "mpicc"
    if not mpicc.exists():
        pytest.skip("no mpicc beside this Python")
    program(
        "hello.c",
        """
        #include <mpi.h>
        #include <stdio.h>
        int main(int argc, char** argv) {
            int rank, size;
            MPI_Init(&argc, &argv);
            MPI_Comm_rank(MPI_COMM_WORLD, &rank);
            MPI_Comm_size(MPI_COMM_WORLD, &size);
            printf("C %d of %d\\n", rank, size);
            MPI_Finalize();
        }
        """,
    )
    subprocess.run([str(mpicc), "hello.c", "-o", "hello"], check=True)
    program("hello.py", "from mpi4py import MPI; print('Python', MPI.COMM_WORLD.rank)")
    done = hocket("run", "c=2:./hello", "python=1:hello.py")
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.splitlines()) == [
        "c[0]      | C 0 of 3",
        "c[1]      | C 1 of 3",
        "python[0] | Python 2",
    ]


def test_programs_without_mpi_run_beside_those_with_it():
    program("with.py", "from mpi4py import MPI\nprint(MPI.COMM_WORLD.size, 'in all')\n")
    program("without.py", "print('none')\n")
    done = hocket("run", "--timeout", "300", "a=1:with.py", "b=2:without.py")
    assert (done.returncode, done.stderr) == (0, "")
    assert sorted(done.stdout.splitlines()) == ["a[0] | 3 in all", "b[0] | none", "b[1] | none"]


@pytest.mark.parametrize("text", ["", "#!/no/such/interpreter\n", "\x7fELF"])
def test_a_program_that_the_system_cannot_start_is_named(text):
    program("wrong", text, executable=True)
    program("waits.py", "import hocket as hk\nhk.tasks()\n")
    done = hocket("run", "--timeout", "300", "a=1:waits.py", "b=1:./wrong")
    assert done.returncode == 126
    assert "rank 1 (task 'b', process 0) could not start './wrong'" in done.stderr
    assert "#!/bin/sh" in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize("text", ["", "import hocket as hk\n", "from mpi4py import MPI\n"])
def test_a_task_that_ends_before_it_takes_part_is_an_error_of_those_who_wait_for_it(text):
    program("waits.py", "import hocket as hk\nhk.tasks()\n")
    program("ends.py", text)
    done = hocket("run", "--timeout", "300", "a=2:waits.py", "b=1:ends.py")
    assert done.returncode == 1
    assert "rank 2 (task 'b', process 0) has ended without a call of hocket" in done.stderr
    assert "PeerLostError" in done.stderr


@pytest.mark.parametrize("text", ["#!/bin/sh\n", "#!/bin/sh\nsleep 1\ntrue\n"])
def test_so_is_a_program_that_uses_no_mpi(text):
    program("waits.py", "import hocket as hk\nhk.tasks()\n")
    program("ends", text, executable=True)
    done = hocket("run", "--timeout", "300", "a=1:waits.py", "b=1:./ends")
    assert done.returncode == 1
    assert "rank 1 (task 'b', process 0) has ended without a call of hocket" in done.stderr


def test_a_program_that_uses_mpi_below_another_ends_with_the_others():
    program("with.py", "from mpi4py import MPI\nprint(MPI.COMM_WORLD.size)\n")
    program("outer", f"#!/bin/sh\n{sys.executable} with.py\nsleep 0.2\n", executable=True)
    done = hocket("run", "--timeout", "300", "a=1:with.py", "b=1:./outer")
    assert (done.returncode, done.stderr) == (0, "")
    assert sorted(done.stdout.splitlines()) == ["a[0] | 2", "b[0] | 2"]


def test_a_process_that_leaves_without_a_word_ends_the_run_and_is_named():
    program("waits.py", "from mpi4py import MPI\nMPI.COMM_WORLD.barrier()\n")
    program("leaves.py", "import os, time\ntime.sleep(0.5)\nos._exit(3)\n")
    done = hocket("run", "--timeout", "300", "a=1:waits.py", "b=1:leaves.py")
    assert done.returncode not in (0, 124)
    lines = done.stderr.splitlines()
    assert len(lines) == 1, lines
    assert lines[0].startswith("hocket run: rank 1 (task 'b', process 0) ended without a word (")


# plan


def test_a_plan_is_explained(capsys):
    words = ["plan", "(BLOCK,*)@4", "(*,CYCLIC(2))@3", "--shape", "12,12", "--axes", "1,0"]
    assert main(words) == 0
    text = capsys.readouterr().out
    assert "(12, 12) (BLOCK, *) @ (4)" in text and "(12, 12) (*, CYCLIC(2)) @ (3)" in text
    plan = hk.plan(
        hk.Layout((12, 12), "(BLOCK,*)", 4), hk.Layout((12, 12), "(*,CYCLIC(2))", 3), axes=(1, 0)
    )
    assert f"messages     {plan.message_count}" in text
    rows = [line.split("|")[1].split() for line in text.splitlines() if "|" in line][1:]
    found = [[0 if cell == "·" else int(cell) for cell in row] for row in rows]
    assert found == plotting.traffic_matrix(plan).tolist()


def test_a_plan_as_json_and_drawn(capsys):
    words = ["plan", "(BLOCK,BLOCK)@2x2", "(*,BLOCK)@4", "--shape", "8,8"]
    assert main([*words, "--json", "-", "--rank", "1", "--plot", "plan.png"]) == 0
    facts = json.loads(capsys.readouterr().out)
    require_keys("plan", facts)
    assert facts["elements_moved"] == 64 and facts["bytes_moved"] == 512
    assert sum(elements for _, elements in facts["sends"]["1"]) == 16
    assert Path("plan.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    "side",
    [
        "(GEN_BLOCK(3, 0, 5))@3",
        "(BALANCED)@3",
        "(INDIRECT(1, 2*0, 2, 2*1, 2*0))@3",
        "BOXES [0:4 | 3:8]",
        "ELEMENTS [7, 0+3 | 3+4]",
    ],
)
def test_a_plan_from_and_to_every_ownership(capsys, side):
    for words in ([side, "(CYCLIC)@2"], ["(CYCLIC)@2", side]):
        command = ["plan", *words, "--shape", "8", "--json", "-", "--plot", "plan.png"]
        assert main(command) == 0
        facts = json.loads(capsys.readouterr().out)
        copies = side.startswith("BOXES") and words[1] == side
        assert facts["elements_moved"] == 8 + copies
        Path("plan.png").unlink()  # it was drawn
        assert main(["plan", *words, "--shape", "8"]) == 0
        assert side.partition("@")[0] in capsys.readouterr().out


def test_a_plan_relabeled_tells_what_it_saves(capsys):
    words = ["plan", "(BLOCK)@4", "(BLOCK)@4 AS (1, 2, 3, 0)", "--shape", "8", "--relabel"]
    assert main(words) == 0
    text = capsys.readouterr().out
    assert "parts go to processes [3, 0, 1, 2]; else 8 elements move" in text
    assert "moved        0 elements" in text
    assert main([*words, "--json", "-"]) == 0
    assert json.loads(capsys.readouterr().out)["relabel"]["elements_moved_without"] == 8
    assert "leave one out" in refused(capsys, *words, "--same")


def test_a_plan_between_the_same_processes_keeps_what_stays(capsys):
    words = ["plan", "(BLOCK,*)@4", "(BLOCK,*)@4", "--shape", "8,8", "--same"]
    assert main(words) == 0
    text = capsys.readouterr().out
    assert "messages     0" in text and "[16]" in text


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (["(BLOK,*)@4", "(*,*)", "--shape", "8,8"], 1, "did you mean 'BLOCK'"),
        (["(BLOCK,*)@4", "(*,*)", "--shape", "8,8,8"], 1, "8, 8, 8"),
        (["(BLOCK,*)@4", "(*,*)"], 2, "--shape"),
        (["(BLOCK,*)@4", "(*,*)", "--shape", "8,y"], 2, "whole numbers"),
        (["(BLOCK,*)@4", "(*,*)", "--shape", "x"], 2, "whole numbers"),
        (["(BLOCK,*)", "(*,*)", "--shape", "8,8"], 2, "write (BLOCK,*)@4"),
        (["(BLOCK,*)@4", "(*,*)", "--shape", "8,8", "--axes", "0,0"], 2, "no order"),
        (["(BLOCK,*)@4", "(*,*)", "--shape", "8,8", "--strategy", "directt"], 1, "direct"),
        (["(*,*)", "(BLOCK,*)@4", "--shape", "8,8", "--same"], 2, "--same"),
        (["(BLOCK,*)@4", "(*,*)", "--shape", "8,8", "--plot", "x.nosuch"], 1, ".png"),
        (["(BLOCK,*)@4", "(*,*)", "--shape", "8,8", "--json", "no/x.json"], 2, "no/x.json"),
    ],
)
def test_wrong_plans_are_refused(capsys, words, status, message):
    assert main(["plan", *words]) == status
    assert message in capsys.readouterr().err


# info


def test_info_tells_versions_mpi_and_machine():
    done = hocket("info", "--json")
    assert done.returncode == 0, done.stderr
    facts = json.loads(done.stdout)
    require_keys("info", facts)
    assert facts["hocket"]["numpy"] == np.__version__
    assert facts["mpi"]["thread_level"] in ("single", "funneled", "serialized", "multiple")
    assert Path(facts["launcher"]["mpiexec"]).exists()
    assert facts["machine"]["cores_usable"] >= 1


def test_info_tells_the_instructions_of_copies(monkeypatch):
    info = importlib.import_module("hocket.cli.info")
    if platform.machine() == "x86_64":
        monkeypatch.setenv("HOCKET_CPU", "portable")
        done = hocket("info", "--json")
        assert json.loads(done.stdout)["machine"]["copies"] == "with sse2, by HOCKET_CPU"
    monkeypatch.setattr(info._pure, "vector_instructions", lambda: "none")
    monkeypatch.setattr(info.platform, "machine", lambda: "aarch64")
    assert info._copies() == "portable C++: hocket has no vector instructions for aarch64"
