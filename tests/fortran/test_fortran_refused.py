# SPDX-License-Identifier: BSD-3-Clause
"""What does not compile, and what ends a program."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import built

PROGRAM = """
subroutine user({arguments})
  use hocket
  implicit none
  type(hocket_layout) :: layout
  type(hocket_array) :: array
  real, target :: y(9)
  {declared}
  {call}
end subroutine
"""
# Arguments without memory, or without shape.
WRONG = {
    "an array without a shape": ("x", "real, target :: x(*)", "wrap(x, layout, 0, array)"),
    "an expression": ("", "", "wrap(2*y, layout, 0, array)"),
    "an expression to read": ("", "", "wrap_const(2*y, layout, 0, array)"),
    "a list of subscripts": ("", "", "wrap(y([1, 5, 2]), layout, 0, array)"),
    "what may not change": ("x", "real, intent(in) :: x(:)", "wrap(x, layout, 0, array)"),
    "no target": ("x", "real, intent(in) :: x(:)", "wrap_const(x, layout, 0, array)"),
    "a character": ("", "character :: c(3)", "wrap(c, layout, 0, array)"),
    "a handle of another kind": ("", "", "wrap(y, array, 0, array)"),
}


def modules() -> Path:
    folder = built.folder() / "bindings/fortran/hocket_fortran_modules"
    if not (folder / "hocket.mod").is_file() or shutil.which("gfortran") is None:
        pytest.skip("there is no Fortran compiler")
    return folder


@pytest.mark.parametrize("what", ["right", *WRONG])
def test_what_does_not_compile(what: str, tmp_path: Path) -> None:
    right = ("x", "real, target, intent(in) :: x(:)", "wrap_const(x(::2), layout, 0, array)")
    arguments, declared, given = WRONG.get(what, right)
    source = tmp_path / "user.f90"
    call = f"call hocket_array_{given}"
    source.write_text(
        PROGRAM.format(arguments=arguments, declared=declared, call=call), encoding="utf-8"
    )
    command = ["gfortran", "-fsyntax-only", f"-I{modules()}", str(source)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert (done.returncode == 0) == (what == "right"), done.stderr
    assert what == "right" or "Error:" in done.stderr


def test_an_error_that_nobody_asks_for_ends_the_program(tmp_path: Path) -> None:
    source = tmp_path / "user.f90"
    source.write_text(
        "program user\n  use hocket\n  type(hocket_layout) :: layout\n"
        "  call hocket_layout_make([8], '(BLOK)', [2], layout)\n  print *, 'on it goes'\n"
        "end program\n",
        encoding="utf-8",
    )
    build = built.folder()
    command = ["gfortran", f"-I{modules()}", str(source), "-o", str(tmp_path / "user")]
    command += [str(build / "bindings/fortran/libhocket_fortran.a"), f"-L{build / 'src'}"]
    command += ["-lhocket", "-lhocket_core", f"-Wl,-rpath,{build / 'src'}"]
    built.run(command, tmp_path)
    done = subprocess.run([str(tmp_path / "user")], capture_output=True, text=True, timeout=60)
    assert done.returncode != 0 and "on it goes" not in done.stdout
    assert "hocket: LayoutError: " in done.stderr and "BLOCK" in done.stderr
