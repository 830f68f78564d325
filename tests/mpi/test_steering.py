# SPDX-License-Identifier: BSD-3-Clause
"""A flow that runs on, and those who look at it and steer it: people at terminals, which are
pseudo-terminals here, and a program."""

from __future__ import annotations

import os
import pty
import re
import select
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from hocket.cli.apps import screen, steering, viewer
from hocket.cli.main import main
from test_ports import runtime  # noqa: F401

import hocket as hk

ROWS, COLS = 16, 40
#: seconds after which a wait has failed, on a machine with much else to do
LONG = 180.0
WORDS = [sys.executable, "-m", "hocket", "app", "steering"]


class Solver:
    """The simulation, as a person starts it."""

    def __init__(self, processes: int, rate: int) -> None:
        size = f"{ROWS}x{COLS}"
        words = ["--port", "duct", "--procs", processes, "--size", size, "--rate", rate]
        line = [*WORDS, *map(str, words)]
        self.process = subprocess.Popen(line, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        assert self.process.stdout.readline().endswith("--view duct\n")

    def __enter__(self) -> Solver:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if self.process.poll() is None:
            self.process.terminate()
        self.process.wait(LONG)

    def stop(self) -> str:
        """By Ctrl-C; the rest that it has printed."""
        self.process.send_signal(signal.SIGINT)
        printed = self.process.communicate(timeout=LONG)[0]
        assert self.process.returncode == 0, printed
        return printed


class Person:
    """A viewer in a terminal of 20 lines and 60 columns, without colours."""

    def __init__(self) -> None:
        pid, self.terminal = pty.fork()
        if pid == 0:
            env = {**os.environ, "NO_COLOR": "1", "LINES": "20", "COLUMNS": "60", "TERM": "xterm"}
            os.execve(sys.executable, [*WORDS, "--view", "duct"], env)
        self.pid = pid
        self.text = ""

    def __enter__(self) -> Person:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        os.close(self.terminal)  # which ends the viewer

    def press(self, keys: str) -> None:
        os.write(self.terminal, keys.encode())

    def sees(self, pattern: str) -> str:
        """The first whole picture from now on that has the pattern."""
        until = time.monotonic() + LONG
        self.text = ""
        while time.monotonic() < until:
            if select.select([self.terminal], [], [], 0.2)[0]:
                self.text += os.read(self.terminal, 65536).decode()
            for picture in self.text.split("\x1b[H")[1:]:
                if picture.endswith("\x1b[J") and re.search(pattern, picture, re.DOTALL):
                    return re.sub(r"\x1b\[[0-9;?]*\w", "", picture)
        raise AssertionError(f"no {pattern!r} in {self.text[-3000:]}")

    def ends(self) -> int:
        """Its exit status, once it has ended."""
        until = time.monotonic() + LONG
        while time.monotonic() < until:
            if select.select([self.terminal], [], [], 0.05)[0]:
                try:
                    os.read(self.terminal, 65536)
                except OSError:
                    break
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def serial(changes: list[tuple[int, float, tuple[int, int]]], steps: int):
    """Velocities and smoke after so many steps on one grid. `changes`: from step to step, the
    viscosity and the source."""
    row, col = np.indices((ROWS, COLS))
    solid = (row - ROWS / 3) ** 2 + (col - COLS / 4) ** 2 < (ROWS / 8) ** 2
    along = 3 * 0.1 * steering.BY_COL
    entering = steering.WEIGHT * (1 + along + 0.5 * along**2 - 1.5 * 0.1**2)
    f = np.tile(entering, (ROWS, COLS, 1))
    c = np.zeros((ROWS, COLS))
    for step in range(steps):
        _, viscosity, source = [one for one in changes if one[0] <= step][-1]
        f = steering.streamed(steering.collided(f, solid, 0.5 + 3 * viscosity, 0.0))
        f[:, 0] = entering
        f[:, -1] = f[:, -2]
        velocity = np.stack([f @ steering.BY_ROW, f @ steering.BY_COL], -1) / f.sum(-1)[..., None]
        wide = np.pad(np.pad(c, ((1, 1), (0, 0)), "wrap"), ((0, 0), (1, 1)))
        north, south = wide[:-2, 1:-1], wide[2:, 1:-1]
        west, east = wide[1:-1, :-2], wide[1:-1, 2:]
        u, v = velocity[..., 0], velocity[..., 1]
        change = 0.002 * (north + south + west + east - 4 * c)
        change -= np.where(u > 0, u * (c - north), u * (south - c))
        change -= np.where(v > 0, v * (c - west), v * (east - c))
        c = c + change
        c[(row - source[0]) ** 2 + (col - source[1]) ** 2 <= 1.5**2] = 1
        c[solid] = 0
    return velocity, c


@pytest.mark.parametrize("processes", [3, pytest.param(1, marks=pytest.mark.soak)])
def test_the_flow_equals_a_serial_one_that_is_steered_at_the_same_steps(processes, runtime):  # noqa: F811
    with Solver(processes, 150) as solver, hk.observe("duct", timeout=LONG) as o:
        changes = [(0, 0.02, (-9, -9))]
        for viscosity, source in [(0.02, (5, 2)), (0.05, (5, 2)), (0.05, (12, 8))]:
            if o["sources"] != "{},{}".format(*source):
                o["sources"] = "{},{}".format(*source)
            if o["viscosity"] != viscosity:
                o["viscosity"] = viscosity
            changes.append((o.step, viscosity, source))
            smoke, step = o["smoke"][...], o.step
            np.testing.assert_allclose(smoke, serial(changes, step)[1], atol=1e-10)
            velocity, step = o["velocity"][...], o.step
            np.testing.assert_allclose(velocity, serial(changes, step)[0], atol=1e-10)
        assert smoke.max() == 1 and velocity.max() > 0.1
        # Values that a simulation cannot use harm nobody.
        o["viscosity"], o["sources"], o["rate"] = float("nan"), "1,2,3 x 7 1e999,", -5.0
        o["viscosity"] = -1.0
        assert np.isfinite(o["velocity"][...]).all() and o.step > step
        assert int(re.findall(r"stopped after (\d+) steps", solver.stop())[0]) >= o.step


def test_people_come_and_go_and_steer(runtime):  # noqa: F811
    with Person() as early, Person() as late:
        early.sees("waiting for duct: there is no such port")
        with Solver(2, 300) as solver:
            shown = early.sees(r"duct: smoke, step \d+, viscosity 0.02, cursor 8,20")
            assert "X" in shown and "@" not in shown
            late.sees("cursor 8,20")
            with hk.observe("duct", timeout=LONG) as o:
                early.press("\x1b[A" + "\x1bOD" * 12 + " \x1b[C")
                lines = early.sees("cursor 6,9.*@").split("\r\n")  # @: smoke of the new source
                assert lines[1 + 6 * 12 // 16][8 * 60 // 40] == "o"
                late.press("+")
                late.sees("viscosity 0.025")
                assert (o["smoke"][6, 8], o["sources"], o["viscosity"]) == (1.0, "6,8", 0.025)
                late.press("v")
                late.sees("duct: velocity")
                os.kill(late.pid, signal.SIGKILL)  # nobody notices
                late.ends()
                before = o.step
                early.press("c")
                until = time.monotonic() + LONG
                while o["sources"]:  # a picture may be older than the key
                    assert time.monotonic() < until
                o["smoke"][0, 0]
                assert o.step > before
            solver.stop()
        early.sees("waiting for duct")
        early.press("q")
        assert early.ends() == 0


def test_a_picture_has_square_points_and_marks():
    assert viewer.fitted(48, 96, 20, 80, colours=False) == (20, 80)
    assert viewer.fitted(48, 96, 20, 80, colours=True) == (40, 80)
    assert viewer.fitted(1000, 10, 20, 80, colours=True) == (40, 1)
    values = np.array([[0, 0.5, 1], [1, np.nan, 0]])
    assert screen.painted(values, {(1, 2): "o"}, colours=False) == [" =@", "@Xo"]
    [line] = screen.painted(values, {(1, 2): "o"}, colours=True)
    assert line.count("▀") == 2 and "o\x1b[0m" in line and "48;5;94m" in line
    assert viewer.points_of("1,2 7.9,3 x 4,5") == [(1, 2), (7, 3)]


def test_a_viewer_needs_a_terminal(capsys):
    assert main(["app", "steering", "--view", "duct"]) == 2
    assert "needs a terminal" in capsys.readouterr().err
    assert main(["app", "steering", "--view", "a", "--port", "b"]) == 2
    assert "terminal of its own" in capsys.readouterr().err
    assert main(["app", "steering", "--port", "b", "--rate", "nan"]) == 2
    assert "--rate nan" in capsys.readouterr().err
