# SPDX-License-Identifier: BSD-3-Clause
"""`hosts=`: lists and host files, and runs on hosts that a script pretends: in place of ssh, it
runs each command here. `tests/cluster` has real hosts."""

from __future__ import annotations

import json
import math
import os
import platform
import selectors
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from hocket.cli.main import main

import hocket as hk
from hocket import host_lists, hosts, launch, mpiexec, processes, rank_monitor, slurm
from hocket.pipes import Readers

AGENT = """\
#!/bin/sh
while [ "${1#-}" != "$1" ]; do shift; done
host=$1
shift
[ "$host" = silent ] && { echo "ssh: connect to host silent: No route to host" >&2; exit 255; }
[ "$host" = slow ] && { echo $$ > slow.pid; exec sleep 1000; }
PRETENDED_HOST=$host exec sh -c "$*"
"""


@pytest.fixture
def agent(tmp_path, monkeypatch):
    """The hosts a, b, … are this one; `silent` does not answer."""
    path = tmp_path / "agent"
    path.write_text(AGENT)
    path.chmod(0o755)
    for name in ("PRTE_MCA_plm_ssh_agent", "OMPI_MCA_plm_rsh_agent", "HYDRA_LAUNCHER_EXEC"):
        monkeypatch.setenv(name, str(path))
    monkeypatch.setenv("HYDRA_LAUNCHER", "ssh")
    monkeypatch.setenv("HOCKET_SHARED", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    assert list(tmp_path.glob("hocket-*")) == []


@pytest.mark.parametrize(
    "given", ["a:2,b", ["a:2", "b"], " a:2 , b ", ["a:1", "b", "a:1"], Path("list"), "./list"]
)
def test_a_list_and_a_file_name_the_same_hosts(given, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("list").write_text("# the hosts\na slots=2  # two\n\nb\n")
    assert hosts.parse("hosts", given) == [("a", 2), ("b", 0)]


def test_a_repeated_host_has_a_place_for_each_mention():
    """As in the files that PBS makes."""
    assert hosts.parse("hosts", "a,a,b") == [("a", 2), ("b", 1)]
    assert hosts.parse("hosts", ["a", "b:2", "a", "c"]) == [("a", 2), ("b", 2), ("c", 1)]


def test_a_hundred_hosts_are_no_file_name():
    names = [f"node{number:04}" for number in range(100)]
    assert hosts.parse("hosts", ",".join(names)) == [(name, 0) for name in names]


def test_a_file_with_the_name_of_a_host_wins(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("n1").write_text("a\nb\n")
    assert hosts.parse("hosts", "n1") == [("a", 0), ("b", 0)]
    assert hosts.parse("hosts", "n1:2") == hosts.parse("hosts", ["n1:2"]) == [("n1", 2)]
    assert hosts.parse("hosts", ["n1"]) == [("n1", 0)]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("a:0", "'a:0', which is no host; write n1:2,n2:2"),
        ("a:x", "'a:x', which is no host"),
        ("a,,b", "'', which is no host"),
        ("-x,b", "'-x', which is no host"),
        ("a,a:2", "'a' both with a number of places and without; write each host once, as a:3"),
        ([], "has no host"),
        ("./none", "names the host file './none', which cannot be read: No such file"),
        ("./bytes", "cannot be read: it is no text"),
    ],
)
def test_no_host(given, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("bytes").write_bytes(b"\xff\xfe")
    with pytest.raises(hk.Error, match="hosts ") as problem:
        hk.run(print, ranks=2, hosts=given)
    assert said in str(problem.value)


@pytest.mark.parametrize(
    ("places", "processes", "shares"),
    [
        ([("a", 2), ("b", 2)], 4, [2, 2]),
        ([("a", 2), ("b", 2)], 3, [2, 1]),
        ([("a", 2), ("b", 2)], 1, [1, 0]),
        ([("a", 0), ("b", 0)], 5, [3, 2]),
        ([("a", 0), ("b", 3), ("c", 0)], 4, [1, 3, 0]),
        ([("a", 0)], 7, [7]),
    ],
)
def test_ranks_fill_the_hosts_in_order(places, processes, shares):
    assert [count for _, count in host_lists._shares(places, processes)] == shares


def test_too_few_places():
    with pytest.raises(hk.Error, match="the hosts a:2, b:1 have 3 places, and the run 4 processes"):
        hk.run(print, ranks=4, hosts="a:2,b:1")


def test_an_unknown_launcher_is_named(tmp_path, monkeypatch):
    launcher = tmp_path / "mpiexec"
    launcher.write_text("#!/bin/sh\necho another launcher\n")
    launcher.chmod(0o755)
    monkeypatch.setenv("HOCKET_MPIEXEC", str(launcher))
    monkeypatch.chdir(tmp_path)
    with pytest.raises(hk.Error, match=f"does not know how {launcher} places processes on hosts"):
        hk.run(print, ranks=2, hosts="a:1,b:1")


def where(comm):
    return comm.rank, os.environ.get("PRETENDED_HOST"), os.environ["MARK"], str(Path.cwd())


def test_a_function_runs_on_the_hosts(agent, monkeypatch):
    monkeypatch.setenv("MARK", "carried")
    here = str(agent)
    expected = [(0, "a", "carried", here), (1, "b", "carried", here)]
    assert hk.run(where, ranks=2, timeout=60, hosts="a:1,b:2") == expected
    monkeypatch.setenv("HOCKET_HOSTS", "a,b")
    assert hk.run(where, ranks=2, timeout=60) == expected


def test_a_host_without_the_folder_of_tmpdir_has_its_own(tmp_path):
    listed = tmp_path / "programs"
    for folder, expected in (("/none", "None"), ("/usr", "/usr")):
        program = "import os; print(os.environ.get('TMPDIR'))"
        run = {"programs": [[sys.executable, "-c", program]], "environment": {"TMPDIR": folder}}
        listed.write_text(json.dumps({**run, "rank": ["RANK_HERE"], "folder": "/"}))
        line = [sys.executable, "-c", hosts._CHOOSE, str(listed)]
        done = subprocess.run(
            line, env={**os.environ, "RANK_HERE": "0"}, capture_output=True, text=True
        )
        assert done.stdout == f"{expected}\n", done


def test_each_task_prints_with_its_prefix(agent, capfd):
    Path("program.py").write_text("import hocket as hk\nw = hk.tasks()\nprint(w.comm.rank)\n")
    # Open MPI miscounts the processes of two pretended hosts that are one, unless each has one.
    line = "run --timeout 60 --hosts a:3 rows=1:program.py cols=2:program.py"
    assert main(line.split()) == 0
    printed = sorted(capfd.readouterr().out.splitlines())
    assert printed == ["cols[0] | 0", "cols[1] | 1", "rows[0] | 0"]


def test_a_line_that_is_only_printed(capfd):
    words = f"run --dry-run --hosts a:1,b:1 rows=1:{sys.executable} cols=1:{sys.executable}"
    assert main(words.split()) == 0
    printed = capfd.readouterr().out
    assert "a:1,b:1" in printed and printed.count(sys.executable) >= 2


def fail(comm, how):
    if comm.rank == 1:
        if how == "kill":
            os.kill(os.getpid(), 9)
        raise ValueError(how)
    time.sleep(60)  # in MPI, this process could notice the end first


@pytest.mark.parametrize(
    ("how", "error", "said"),
    [("here", hk.Error, "rank 1 raised ValueError: here"), ("kill", hk.PeerLostError, "rank 1 en")],
)
def test_a_process_that_fails_is_named(agent, how, error, said):
    with pytest.raises(error, match=said):
        hk.run(fail, ranks=2, args=(how,), timeout=60, hosts="a:1,b:1")


def test_a_host_that_does_not_answer_is_named(agent):
    with pytest.raises(hk.Error) as problem:
        hk.run(print, ranks=2, hosts="a:1,silent:1")
    said = str(problem.value)
    assert "silent: no answer (ssh: connect to host silent: No route to host)" in said
    assert "a:" not in said.partition("silent")[0] and "ssh must reach each without" in said


def test_a_host_that_answers_too_late_is_named(agent, monkeypatch):
    monkeypatch.setattr(hosts, "ANSWER", 0.01)
    with pytest.raises(hk.Error, match=r"a: no answer within 0.01 s; b: no answer within 0.01 s"):
        hk.run(print, ranks=2, hosts="a:1,b:1")


def test_a_time_limit_holds_while_hosts_are_asked(agent, capfd):
    began = time.monotonic()
    with pytest.raises(hk.DeadlineError, match=r"limit of the run .*slow: no answer in time; give"):
        hk.run(print, ranks=1, hosts="slow:1", timeout=2)
    Path("program.py").write_text("")
    assert main(["run", "--timeout", "2", "--hosts", "slow:1,b:1", "2:program.py"]) == 124
    assert "slow: no answer in time" in capfd.readouterr().err
    assert time.monotonic() - began < 20 and ended("slow.pid")


def test_ctrl_c_ends_the_question_to_hosts(agent):
    # Jobs in the background of a script ignore the signal.
    program = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
    program += "import hocket as hk; hk.run(print, ranks=2, hosts='slow:1,b:1')"
    with subprocess.Popen([sys.executable, "-c", program], stderr=subprocess.PIPE) as asking:
        limit = time.monotonic() + 20
        while not Path("slow.pid").exists() and time.monotonic() < limit:
            time.sleep(0.05)
        time.sleep(0.3)
        asking.send_signal(signal.SIGINT)
        _, said = asking.communicate(timeout=10)
    assert b"KeyboardInterrupt" in said and ended("slow.pid"), said


def ended(name):
    """Whether the process whose number is in that file ends within seconds."""
    limit = time.monotonic() + 5
    while (there := Path(f"/proc/{Path(name).read_text().strip()}").exists()) and (
        time.monotonic() < limit
    ):
        time.sleep(0.05)
    return not there


@pytest.mark.parametrize(
    "why",
    [
        "ssh: connect to host b port 22: Connection refused",
        "me@b: Permission denied (publickey,password).",
        "Host key verification failed.",
        "kex_exchange_identification: read: Connection reset by peer",
        "Connection closed by 10.0.0.2 port 22",
        "bash: line 1: /opt/bin/prted: No such file or directory",
        "zsh:1: no such file or directory: /opt/bin/prted",
        "/usr/bin/env: 'prted': No such file or directory",
    ],
)
def test_the_reason_of_a_host_that_does_not_answer(why):
    before = ["-" * 60, "Warning: Permanently added 'b' (ED25519) to the list of known hosts."]
    after = ["PRTE has lost communication with a remote daemon.", "  HNP daemon   : [x@0,0] on a"]
    assert host_lists._brief([*before, "", why, *after]) == why


def test_a_launcher_may_name_a_host_with_its_domain(tmp_path):
    (tmp_path / "1.far").write_text("77 b.cluster")
    (tmp_path / "0.far").write_text("77 a.cluster")
    for name in ("b", "b.cluster", "b.other"):
        said = f"=  PID 77 RUNNING AT {name}\n=  EXIT CODE: 9\n"
        outcome = processes.Outcome(9, [], said)
        assert "rank 1 ended" in launch.lost(outcome, tmp_path, [], [(None, 0), (None, 1)])


def test_reports_that_a_shared_file_system_shows_late(agent, monkeypatch, capfd):
    Path("program.py").write_text("")
    seen, there = [], rank_monitor.has_reported

    def late(folder, number):
        seen.append(number)
        return len(seen) > 10 and there(folder, number)

    monkeypatch.setattr(rank_monitor, "has_reported", late)
    assert main(["run", "--timeout", "60", "--hosts", "a:1,b:1", "2:program.py"]) == 0
    assert len(seen) > 10, capfd.readouterr()


def test_a_failure_that_a_shared_file_system_shows_late(tmp_path):
    outcome = processes.Outcome(1, [], "")
    text = '{"rank": 1, "brief": "raised", "text": "", "code": 3, "time": 0}'
    write = threading.Timer(0.5, (tmp_path / "1.failure").write_text, (text,))
    write.start()
    processes._await_reports(outcome, tmp_path, 2)
    assert [each.code for each in outcome.failures] == [3]


class Answers:
    """Hosts that give these answers."""

    count = 2

    def __init__(self, *answers: str) -> None:
        self.answers = answers

    def ask(self, script: str, seconds: float, until: float) -> list[str]:
        return list(self.answers)


def test_what_a_host_lacks_is_named(tmp_path):
    with pytest.raises(hk.Error) as problem:
        hosts.check(Answers("a: hocket 1 with Open MPI v5", "b: no /some/python"), tmp_path)
    assert "not every host of the run has what it needs: b: no /some/python; put" in str(
        problem.value
    )


@pytest.mark.parametrize(
    "other",
    ["hocket 2 with Open MPI v5", "hocket 1 with Open MPI v4", "hocket 1 with Open MPI v5, big"],
)
def test_different_versions_are_both_named(tmp_path, other):
    one = "a: hocket 1 with Open MPI v5"
    with pytest.raises(hk.Error) as problem:
        hosts.check(Answers(one, f"b: {other}"), tmp_path)
    said = str(problem.value)
    assert f"different versions or processors: {one}; b: {other}; install the same" in said


def test_the_answer_of_a_host_has_its_byte_order():
    done = subprocess.run([sys.executable, "-c", hosts._VERSIONS], capture_output=True, text=True)
    assert done.stdout.startswith(f"hocket {hk.__version__} with "), done
    assert done.stdout.endswith(f"{platform.machine()} {sys.byteorder} endian\n"), done


@pytest.mark.parametrize(
    ("lacking", "said"),
    [("python", "n: no /none"), ("folder", "n: no /none"), ("cwd", "n: no /none"), ("", "n: hock")],
)
def test_the_script_that_a_host_runs(tmp_path, lacking, said):
    names = {"python": sys.executable, "folder": str(tmp_path), "cwd": "/", "versions": "pass"}
    names["versions"] = "'print(\"hocket 1\")'"
    names[lacking] = "/none"
    script = hosts._ASK.format(**names)
    done = subprocess.run(["sh", "-c", script, "sh", "n"], capture_output=True, text=True)
    assert done.stdout.startswith(said), done


def test_messages_of_python_are_no_answer_but_a_reason(tmp_path):
    names = {"python": sys.executable, "folder": str(tmp_path), "cwd": "/"}
    program = "import sys; print('warning: a', file=sys.stderr); print('hocket 1')"
    for versions, expected in (
        (program, "n: hocket 1\n"),
        ("import none_of_these", f"n: no hocket in {sys.executable} (ModuleNotFoundError: No mod"),
    ):
        script = hosts._ASK.format(**names, versions=f'"{versions}"')
        done = subprocess.run(["sh", "-c", script, "sh", "n"], capture_output=True, text=True)
        assert done.stdout.startswith(expected), done


@pytest.fixture
def allocation(tmp_path, monkeypatch):
    """Makes an allocation of n1 and n2, whose `srun` is this script."""

    def make(script):
        for name, text in (("srun", script), ("scontrol", "echo n1; echo n2")):
            path = tmp_path / name
            path.write_text(f"#!/bin/sh\n{text}\n")
            path.chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
        monkeypatch.setenv("SLURM_JOB_ID", "1")
        monkeypatch.setenv("SLURM_JOB_NUM_NODES", "2")
        monkeypatch.chdir(tmp_path)
        return slurm.Allocation()

    return make


def test_lines_of_a_prolog_are_no_answer_of_slurm(allocation, tmp_path):
    made = allocation("echo prolog; echo 'note: a'; echo; echo 'n1: hocket 1'; echo 'n2: hocket 1'")
    assert made.ask("", 9, math.inf) == ["n1: hocket 1", "n2: hocket 1"]
    hosts.check(made, tmp_path)


def test_a_node_of_slurm_that_does_not_answer_is_named(allocation, tmp_path, monkeypatch):
    made = allocation("echo $$ > slow.pid; echo 'n1: hocket 1'; exec sleep 1000")
    monkeypatch.setattr(hosts, "ANSWER", 1.0)
    with pytest.raises(hk.Error, match="n2: no answer within 1 s; start them"):
        hosts.check(made, tmp_path)
    assert ended("slow.pid")
    with pytest.raises(hk.DeadlineError, match=r"n2: no answer within 0\.5 s"):
        hosts.check(made, tmp_path, time.monotonic() + 0.5)


def test_slurm_marks_lines_with_ranks():
    labelled = slurm.Allocation().labelled
    assert labelled(" 3: text: more") == [(3, "text: more")]
    assert labelled("srun: error: n2")[0][0] is None


def test_slurm_names_the_first_to_go_or_the_one_that_noticed():
    killed, noticed = "srun: error: n2: task 3: Killed", "srun: error: n1: task 1: Exited with "
    both, other = "srun: error: n2: tasks 2-3: Killed", "srun: error: n1: task 0: Killed"
    here = "srun: error: n1: tasks 0,2-4: Killed"
    for said, ranks, how in (
        (killed, [3], "Killed, on host n2"),
        (f"{noticed}exit code 14\n{killed}", [3], "Killed, on host n2"),
        (f"{both}\n{other}\n{noticed}exit code 14", [2, 3], "Killed, on host n2"),
        (f"{here}\n{noticed}exit code 14", [0, 2, 3, 4], "Killed, on host n1"),
        (f"{noticed}exit code 14", [1], ""),
        (f"{noticed}exit code 7\n{killed}", [1], "with status 7, on host n1"),
        (f"{killed}\nsrun: error: n2: task 2: Aborted", [2], "Aborted, on host n2"),
    ):
        gone = slurm.first_to_go(said)
        assert (gone.candidates or [gone.rank], gone.how) == (ranks, how), said
        assert gone.noticed == (not how)


def test_a_process_that_noticed_an_end_is_not_said_to_have_ended(tmp_path):
    said = 'prterun has exited due to process rank 1 with PID 0 on node h1 calling "abort".'
    outcome = processes.Outcome(14, [], said, noticed={1})
    text = launch.lost(outcome, tmp_path, [], [(None, 0), (None, 1)])
    assert text.startswith("a process ended without a word; rank 1 was the first to notice")
    text = "raised hocket.errors.PeerLostError: rank {} (task 'a', process 0) has ended, and"
    reports = [processes.Failure(0, text.format(n), "", 1, 0) for n in (1, 2)]
    outcome = processes.Outcome(14, reports, "", noticed={1})
    processes._forget_noticers(outcome)
    assert outcome.failures == reports[1:]  # rank 2 has ended indeed
    outcome.failures = []
    text = launch.lost(outcome, tmp_path, [], [(None, 0), (None, 1)])
    assert "rank 1 was the first to notice" in text
    outcome.hosts = "b: no answer (ssh: gone)"
    text = launch.lost(outcome, tmp_path, [], [(None, 0), (None, 1)])
    assert "it does not answer: b: no answer (ssh: gone); start it again" in text
    outcome.hosts, outcome.said = "", "srun: error: n2: tasks 0-1: Killed"
    text = launch.lost(outcome, tmp_path, [], [(None, 0), (None, 1)])
    assert text.startswith("rank 0 or rank 1 ended without a word (Killed, on host n2)")


def test_launchers_mark_lines_with_ranks():
    assert mpiexec.labelled("[1,2]<stdout>: text") == [(2, "text")]
    assert mpiexec.labelled("[1,12]<stderr>:text") == [(12, "text")]
    assert mpiexec.labelled("\x1e2\x1e[1] text") == [(2, "[1] text")]
    assert mpiexec.labelled("\x1e0\x1ea\x1e11\x1e") == [(0, "a"), (11, "")]
    assert mpiexec.labelled("ssh: no host") == [(None, "ssh: no host")]
    assert mpiexec.labelled("") == [(None, "")]


def test_lines_that_arrive_in_pieces_are_joined_by_rank(tmp_path):
    lines = []
    with selectors.DefaultSelector() as selector:
        read, write = os.pipe()
        readers = Readers(selector, tmp_path, 2, lambda *each: lines.append(each), mpiexec.labelled)
        readers.add(os.fdopen(read, "rb"), "out")
        os.write(write, b"\x1e0\x1eab\x1e1\x1ec\x1e0\x1ed\n\x1e1\x1e\n\x1e1\x1eend\x1e0\x1eend")
        os.close(write)
        while readers.read(1):
            pass
    assert lines == [(0, "out", "abd"), (1, "out", "c"), (0, "out", "end"), (1, "out", "end")]


@pytest.mark.parametrize(
    ("device", "netmod"),
    [
        ("'--with-device=ch4:ucx,ofi'", ["env", "MPIR_CVAR_CH4_NETMOD=ofi"]),
        ("'--with-device=ch4:ucx'", []),
        ("'--with-device=ch4:ofi'", []),
    ],
)
def test_an_mpich_with_both_uses_libfabric_under_slurm(tmp_path, monkeypatch, device, netmod):
    """Slurm's PMI-2 reads at most 1024 bytes of a request; UCX has longer addresses."""
    launcher = tmp_path / "mpiexec"
    launcher.write_text(f'#!/bin/sh\necho HYDRA build details: "{device}"\n')
    launcher.chmod(0o755)
    monkeypatch.setenv("HOCKET_MPIEXEC", str(launcher))
    monkeypatch.delenv("SLURM_MPI_TYPE", raising=False)
    line = slurm.Allocation().command(2, ["program"])
    assert line[line.index("--mpi=pmi2") + 1 :] == [*netmod, "program"]
