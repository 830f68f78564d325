# SPDX-License-Identifier: BSD-3-Clause
"""`hocket completion`: what bash, zsh and fish then offer, asked of these shells."""

from __future__ import annotations

import shlex
import shutil
import subprocess

import pytest
from hocket.cli import completion
from hocket.cli.main import COMMANDS, main

#: what was typed, with the cursor behind it, and some of what is offered
OFFERED = [
    ("hocket ", set(COMMANDS)),
    ("hocket pl", {"plan"}),
    ("hocket app ", {"fft2d", "linpack"}),
    ("hocket app lin", {"linpack"}),
    ("hocket app fft2d --ch", {"--check"}),
    ("hocket bench redi", {"redistribute"}),
    ("hocket bench redistribute --min", {"--min-runs"}),
    ("hocket run --dry", {"--dry-run"}),
    ("hocket completion z", {"zsh"}),
    ("hocket bench strategies --platform eth", {"ethernet"}),
]
NEVER = ("--no-such", "redistributed")


@pytest.fixture(scope="module")
def scripts() -> dict[str, str]:
    found = completion.places()
    return {shell: write(found) for shell, write in completion.SHELLS.items()}


def run(shell: str, script: str) -> set[str]:
    """The words that it prints; skips where there is no such shell."""
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"there is no {shell}")
    plain = {"bash": ["--norc"], "zsh": ["-f"], "fish": ["--no-config"]}[shell]
    done = subprocess.run(
        [program, *plain, "-c", script], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0 and done.stderr == "", done.stderr
    return {line.split("\t")[0] for line in done.stdout.splitlines()}


def asked(shell: str, script: str, typed: str) -> set[str]:
    words = typed.split(" ")
    listed = " ".join(map(shlex.quote, words))
    if shell == "bash":
        ask = f"COMP_WORDS=({listed}) COMP_CWORD={len(words) - 1}\n_hocket\n"
        return run(shell, f'{script}{ask}printf "%s\\n" "${{COMPREPLY[@]}}"')
    if shell == "zsh":
        # Stands for zsh's own functions, which omit words that do not fit.
        ask = f"words=({listed}) CURRENT={len(words)}\ncompadd() {{ shift; print -l -- $@ }}\n"
        offered = run(shell, f"{ask}_files() {{ }}\n{script}")
        return {word for word in offered if word.startswith(words[-1])}
    return run(shell, f"{script}complete -C {shlex.quote(typed)}")


@pytest.mark.parametrize("shell", sorted(completion.SHELLS))
def test_each_shell_completes(shell, scripts):
    for typed, wanted in OFFERED:
        found = asked(shell, scripts[shell], typed)
        assert wanted <= found, (typed, found)
        assert all(word.startswith(typed.split(" ")[-1]) for word in found), (typed, found)
        assert not found & set(NEVER)
    assert "--check" not in asked(shell, scripts[shell], "hocket info --")


def test_every_command_is_completed(scripts):
    for name in COMMANDS:
        for script in scripts.values():
            assert f" {name} " in script or f"'{name}" in script


def test_the_command_prints_it(capsys, scripts):
    assert main(["completion", "zsh"]) == 0
    assert capsys.readouterr().out == scripts["zsh"]
    assert main(["completion", "csh"]) == 2
    assert "bash" in capsys.readouterr().err
