# SPDX-License-Identifier: BSD-3-Clause
"""Generates Fortran sources of the module from the C headers.

python3 generate.py HEADERS FOLDER      HEADERS: include/hocket; FOLDER: for the sources
"""

from __future__ import annotations

import sys
from pathlib import Path

import accesses
import arrays
import manners
import teams
from c_headers import Function, Headers, Parameter, read
from calls import Writer
from lines import wrapped
from procedure import SCALARS

HEAD = "! SPDX-License-Identifier: BSD-3-Clause\n! Written by generate.py from the C headers.\n"
INTRINSIC = "  use, intrinsic :: iso_c_binding\n"


def said(headers: Headers) -> list[Function]:
    """The functions of the module: of two variants, the one for Fortran."""
    names = {function.name for function in headers.functions}
    return [
        function
        for function in headers.functions
        if f"{function.name}_fortran" not in names
        and function.name.removesuffix("_fortran") not in manners.NOT_IN_FORTRAN
    ]


def interface(function: Function) -> str:
    """The C function's interface for Fortran: pointers are addresses."""
    names = [p.name for p in function.parameters]
    lines = [f"function c_{function.name}({', '.join(names)}) bind(C, name='{function.name}')"]
    lines += ["  import", *(f"  {dummy(p)}, value :: {p.name}" for p in function.parameters)]
    lines += [f"  integer(c_int) :: c_{function.name}", "end function"]
    return "\n".join("    " + wrapped(line, 96).replace("\n", "\n    ") for line in lines)


def dummy(p: Parameter) -> str:
    if p.stars:
        return "type(c_ptr)"
    if p.type == "function":
        return "type(c_funptr)"
    return f"type({p.type})" if p.type.startswith("hocket_") else SCALARS[p.type][0]


def struct(name: str, fields: list[Parameter]) -> str:
    lines = [f"  type, bind(C) :: {name}"]
    for p in fields:
        if p.stars > 0:
            lines.append(f"    type(c_ptr) :: {p.name} = c_null_ptr")
        elif p.stars < 0:
            of_texts = p.type == "char"
            kind = "character(kind=c_char)" if of_texts else SCALARS[p.type][0]
            lines.append(f"    {kind} :: {p.name}({-p.stars}){'' if of_texts else ' = 0'}")
        else:
            nothing = ".false._c_bool" if p.type == "bool" else f"0_{SCALARS[p.type][1]}"
            lines.append(f"    {SCALARS[p.type][0]} :: {p.name} = {nothing}")
    return "\n".join([*lines, "  end type"])


def types_module(headers: Headers) -> str:
    """Types and constants."""
    used = "c_ptr, c_null_ptr, c_int, c_int64_t, c_double, c_bool, c_char"
    text = [HEAD + "module hocket_types", f"  use, intrinsic :: iso_c_binding, only: {used}"]
    text += ["  implicit none", "  public", f"  private :: {used}"]
    text += [f"  integer, parameter :: {name} = {value}" for name, value in constants(headers)]
    for name in headers.handles:
        text.append(f"  type :: {name}\n    type(c_ptr) :: handle = c_null_ptr\n  end type")
    text += [struct(name, fields) for name, fields in headers.structs.items()]
    return "\n".join([*text, "end module\n"])


def c_module(headers: Headers) -> str:
    """Interfaces, and the types that they need."""
    text = [
        HEAD + "module hocket_c_interfaces",
        "  use hocket_types",
        INTRINSIC + "  implicit none",
    ]
    text += ["  public", "  interface", *(interface(function) for function in said(headers))]
    return "\n".join([*text, "  end interface", "end module\n"])


def constants(headers: Headers) -> list[tuple[str, int]]:
    """Constants that have no type's name, because Fortran ignores case."""
    types = {name.lower() for name in [*headers.handles, *headers.structs]}
    return [(n, v) for n, v in headers.constants.items() if n.lower() not in types]


def calls_module(headers: Headers) -> str:
    """The procedures."""
    heads: list[str] = []
    bodies: list[str] = []
    for function in said(headers):
        name = function.name.removesuffix("_fortran")
        if name in manners.BY_HAND or name in manners.OF_ARRAYS:
            continue
        if teams.is_typed(function):
            generics: dict[str, list[str]] = {}
            for generic, specific, variant in teams.variants(function):
                generics.setdefault(generic, []).append(specific)
                bodies.append(Writer(variant, headers, typed=True).specific(specific, "", ""))
            for generic, names in generics.items():
                listed = "\n".join(f"  module procedure {each}" for each in names)
                heads.append(f"public :: {generic}\ninterface {generic}\n{listed}\nend interface")
            continue
        head, *procedures = Writer(function, headers).forms()
        heads.append(head)
        bodies += procedures
    use = "  use, intrinsic :: iso_fortran_env, only: int64, real32, real64\n"
    text = [
        HEAD + "module hocket_generated_calls",
        "  use hocket_base\n  use hocket_c_interfaces\n  use hocket_arguments",
    ]
    text += [INTRINSIC + use + "  implicit none\n  private", *map(indented, heads), "contains\n"]
    return "\n".join([*text, "\n\n".join(map(indented, bodies)), "end module\n"])


def indented(text: str) -> str:
    return "\n".join(f"  {line}" if line else line for line in text.split("\n"))


def main() -> None:
    headers = read(Path(sys.argv[1]))
    folder = Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    sources = {
        "hocket_types.F90": types_module(headers),
        "hocket_c_interfaces.F90": c_module(headers),
    }
    sources["hocket_generated_calls.F90"] = calls_module(headers)
    sources["hocket_accesses.F90"] = HEAD + accesses.module()
    sources |= {name: HEAD + text for name, text in arrays.modules().items()}
    for name, text in sources.items():
        path = folder / name
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
