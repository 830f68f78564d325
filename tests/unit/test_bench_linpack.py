# SPDX-License-Identifier: BSD-3-Clause
"""The benchmark of LINPACK: what it refuses, how it reads HPL, and that links are taken down."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hocket.bench import linear_solvers, shaped_link, traces
from hocket.bench.command import main
from hocket.bench.linear_solvers import Setting, System
from hocket.cli.apps import common

from hocket import Error

pytestmark = pytest.mark.soak

SYSTEM = System(1000, 64, 2, 1, 256, 1, None, None)

# As HPL 2.3 prints one run.
OF_HPL = """
T/V                N    NB     P     Q               Time                 Gflops
--------------------------------------------------------------------------------
WR10R2R4        1000    64     2     1               0.25             2.6838e+00
HPL_pdgesv() start time Sat Nov 21 01:00:00 2026
--------------------------------------------------------------------------------
||Ax-b||_oo/(eps*(||A||_oo*||x||_oo+||b||_oo)*N)=   3.58282523e-03 ...... PASSED
"""


def test_what_hpl_prints_is_read():
    # By the rate: of the time, 0.25, two digits are too few.
    assert linear_solvers.result_of_hpl(OF_HPL) == (pytest.approx(0.248963), 3.58282523e-03)
    failed = OF_HPL.replace("3.58282523e-03 ...... PASSED", "2.1e+05 ...... FAILED")
    assert linear_solvers.result_of_hpl(failed)[1] == 2.1e5
    first = OF_HPL.replace("2.6838e+00", "1.0000e+00").replace("3.58", "9.99")
    assert linear_solvers.result_of_hpl(first + OF_HPL) == linear_solvers.result_of_hpl(OF_HPL)
    with pytest.raises(ValueError, match="not what HPL prints: Segmentation"):
        linear_solvers.result_of_hpl("Segmentation fault")


def test_hpls_input_has_its_31_lines_in_order():
    lines = linear_solvers.input_of_hpl(SYSTEM, Setting(64, 1, 0)).splitlines()
    assert (
        len(lines) == 36
        and lines[31:] == ["", "0", "", "0", ""]
        and lines[5] == "1000"
        and lines[7] == "64"
    )
    twice = linear_solvers.input_of_hpl(replace(SYSTEM, solutions=2), Setting(64, 1, 0))
    assert twice.splitlines()[4:6] == ["2", "1000 1000"] and lines[4] == "1"
    assert lines[10:13] == ["2", "1", "16.0"]
    assert lines[22] == "0" and lines[24] == "1"  # ring, depth


def test_hpl_within_hpc_challenge(monkeypatch):
    """It reads and writes files of other names."""

    def start(command, *_, folder, **__):
        assert command == ["/opt/hpcc"] and (folder / "hpccinf.txt").is_file()
        (folder / "hpccoutf.txt").write_text(OF_HPL)
        return 0, "no word of HPL"

    monkeypatch.setattr(linear_solvers, "start", start)
    step = linear_solvers.hpl(SYSTEM, "/opt/hpcc", Setting(64, 1, 0)).prepare()
    step.run()
    step.check()
    assert step.took() == pytest.approx(0.248963)


def test_a_traced_run_is_one_solution(monkeypatch):
    """A trace has all messages of its process."""
    runs = []

    def start(command, *_, more, **__):
        given = dict(word.split("=", 1) for word in command[1:])
        assert given["width"] == "256"  # workers have parts to share, also of a small system
        runs.append((given["runs"], "HOCKET_TRACE" in more))
        return 0, json.dumps({"modes": {"flow": {"seconds": [1.0], "residual": 0.1}}})

    monkeypatch.setattr(linear_solvers, "start", start)
    monkeypatch.setattr(common, "program", lambda name: name)
    twice = replace(SYSTEM, solutions=2, width=None, workers=2)
    step = linear_solvers.mode(twice, "flow").prepare()
    step.run()
    step.extras()
    assert runs == [("2", False), ("1", True)]


def trace_of(path, waits, moves, steps=()):
    """A process's trace, of spans in seconds."""
    named = [("wait", waits), ("step 'update'", steps)]
    events = [
        {"name": name, "ph": "X", "ts": begin * 1e6, "dur": (end - begin) * 1e6}
        for name, spans in named
        for begin, end in spans
    ]
    for number, span in enumerate(moves):
        of = {"name": "move", "id2": {"local": str(number)}}
        events += [{**of, "ph": ph, "ts": at * 1e6} for ph, at in zip("be", span)]
    path.write_text(json.dumps([*events, {}]))
    return traces.hiding(path)


def test_what_a_trace_tells_of_hiding(tmp_path):
    path = tmp_path / "trace.1.json"
    # Waits within waits count once, and so do messages at the same time.
    told = trace_of(path, [(0, 5), (1, 2), (4, 6)], [(3, 8), (4, 7)])
    assert told == pytest.approx({"moving": 5, "waiting": 6, "hidden": 2 / 5})
    # A flow has nothing to do between its steps, and waits within one.
    told = trace_of(path, [(1, 2)], [(1, 11)], steps=[(0, 4), (6, 8), (10, 12)])
    assert told == pytest.approx({"moving": 10, "waiting": 5, "hidden": 1 / 2})
    assert trace_of(path, [(0, 1)], [])["hidden"] == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--ranks", "2"], "the grid says how many"),
        (["--n", "5,x"], "--n 5,x"),
        (["--nb", "0"], "--nb 0"),
        (["--grid", "2"], "give rows x columns"),
        (["--grid", "3x1", "--link", "1gbit"], "an even number"),
        (["--modes", "fast"], "there are plain"),
        (["--workers", "0"], "1 or more"),
        (["--hpl-nb", "0"], "--hpl-nb 0"),
        (["--tuning", "0"], "--tuning 0"),
        (["--hpl", "128:1"], "--hpl 128:1: give NB:DEPTH:RING"),
        (["--hpl", "128:1:0,0:1:7"], "--hpl 0:1:7: blocks are of 1 or more"),
        (["--xhpl", "/nowhere/xhpl"], "no program that can be run"),
        (["--plot", "/nowhere/x.png"], "no such folder"),
    ],
)
def test_wrong_words_are_refused_before_anything_starts(capsys, words, said):
    assert main(["linpack", *words]) == 2
    assert said in capsys.readouterr().err


def test_a_link_without_root_says_so(monkeypatch, capsys):
    monkeypatch.setattr(shaped_link.shutil, "which", lambda name: name)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert main(["linpack", "--link", "1gbit"]) == 2
    assert "needs root" in capsys.readouterr().err
    monkeypatch.setattr(shaped_link.shutil, "which", lambda name: None)
    with pytest.raises(Error, match="needs ip, tc, unshare; install"):
        shaped_link.ShapedLink("1gbit")


def can_make_links() -> bool:
    """Whether this user, on this system, may."""
    if os.geteuid() != 0 or not all(shutil.which(name) for name in ("ip", "tc", "unshare")):
        return False
    name = f"hocket-try-{os.getpid()}"
    made = subprocess.run(["ip", "netns", "add", name], capture_output=True).returncode == 0
    return (
        subprocess.run(["ip", "netns", "del", name], capture_output=True).returncode == 0 and made
    )


def nodes() -> str:
    """The namespaces that are there."""
    return subprocess.run(["ip", "netns", "list"], capture_output=True, text=True).stdout


@pytest.mark.skipif(not can_make_links(), reason="network namespaces need root")
def test_a_link_is_taken_down_after_success_failure_and_death():
    with shaped_link.ShapedLink("1gbit") as link:
        assert all(node in nodes() for node in link.nodes)
        sent = ["ip", "netns", "exec", link.nodes[0], "ping", "-c1", "10.77.0.2"]
        if shutil.which("ping"):
            assert subprocess.run(sent, capture_output=True).returncode == 0
    assert not any(node in nodes() for node in link.nodes)
    with pytest.raises(RuntimeError), shaped_link.ShapedLink("1gbit") as link:
        raise RuntimeError
    assert not any(node in nodes() for node in link.nodes)
    wrong = shaped_link.ShapedLink("much")
    with pytest.raises(Error, match='illegal value for "rate"'), wrong:
        pass
    assert not any(node in nodes() for node in wrong.nodes)
    # One that is killed leaves its own behind, which the next takes down.
    program = (
        "import os, sys; from hocket.bench.shaped_link import ShapedLink\n"
        "link = ShapedLink('1gbit').__enter__(); print(link.nodes[0]); sys.stdout.flush()\n"
        "os.kill(os.getpid(), 9)"
    )
    killed = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    left = killed.stdout.strip()
    assert left in nodes()
    with shaped_link.ShapedLink("1gbit"):
        assert left not in nodes()
    assert not (Path("/etc/netns") / left).exists()


def test_each_mode_is_measured_beside_a_program_that_speaks_as_hpl(capfd, tmp_path):
    try:
        common.program("linpack")
    except Error as error:
        pytest.skip(str(error))
    peer = tmp_path / "xhpl"
    # Slower by what its input says, but for blocks of 8 that look ahead; 4 it fails with.
    peer.write_text(
        "#!/bin/sh\nnb=$(sed -n 8p HPL.dat); depth=$(sed -n 25p HPL.dat)\n"
        "test $nb != 4 || exit 1\ntest $nb$depth = 81 && nb=0\n"
        f"sed s/2.6838e+00/1e-$nb/ <<'X'\n{OF_HPL}X\n"
    )
    peer.chmod(0o700)
    quick = ["--warmup", "1", "--min-runs", "1", "--max-runs", "1", "--seconds", "0"]
    words = ["--n", "60", "--nb", "8", "--grid", "1x1", "--modes", "plain", "--xhpl", str(peer)]
    picture = tmp_path / "figure1.png"
    assert main(["linpack", *words, *quick, "--hpl-nb", "4,8,16", "--plot", str(picture)]) == 0
    assert picture.read_bytes().startswith(b"\x89PNG")
    said = capfd.readouterr().out
    tuned = [line.split()[3] for line in said.splitlines() if line.startswith("  tuning:")]
    assert tuned[:2] == ["8:1:0", "8:0:0"] and set(tuned[2:]) == {"16:0:0", "16:1:0"}
    assert "HPL, NB 8, depth 0, ring" in said and "hocket, plain: residual" in said
    assert "communication: moving" in said and "hidden 100%" in said  # as there was none
    assert "baseline: HPL, NB 8, depth 1, ring" in said
    assert "1x1 HPL, its best: GFLOP/s at N 60" in said
    # A tuned setting can be given.
    assert main(["linpack", *words, *quick, "--hpl", "16:1:0"]) == 0
    said = capfd.readouterr().out
    assert "tuning" not in said and "baseline: HPL, NB 16, depth 1, ring" in said
