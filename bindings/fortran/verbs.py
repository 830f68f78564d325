# SPDX-License-Identifier: BSD-3-Clause
"""Generates verbs whose C functions take a list of arrays and a struct of options. Fortran takes
one array or several, an array or a layout, and optional arguments."""

from __future__ import annotations

from collections.abc import Sequence

import manners
from c_headers import Headers, Parameter
from procedure import SCALARS, Procedure


def subjects(parameters: Sequence[Parameter]) -> tuple[str, ...]:
    """Messages: one array or a list. Persistent requests: an array or a layout."""
    types = {p.type for p in parameters}
    if types & {"hocket_message_options", "hocket_sendrecv_options"}:
        return ("one", "list")
    return ("array", "layout") if "hocket_init_options" in types else ("",)


def list_of_one(one: Procedure, values: Parameter) -> None:
    """One handle for C's list."""
    name = values.name.removesuffix("s")
    one.required.append(name)
    one.declared.append(f"type({values.type}), intent(in) :: {name}")
    one.declared.append(f"type(c_ptr), target :: {name}_")
    one.before.append(f"{name}_ = {name}%handle")
    one.passed += ["1_c_int64_t", f"c_loc({name}_)"]


def layout_alone(one: Procedure) -> None:
    """A layout in place of an array: a field of the options."""
    one.passed.append("c_null_ptr")
    one.required.append("layout")
    one.declared.append("type(hocket_layout), intent(in) :: layout")


def options(one: Procedure, p: Parameter, verb: str, subject: str, headers: Headers) -> None:
    """A struct of C's, whose fields are optional arguments."""
    one.declared.append(f"type({p.type}), target :: {p.name}_")
    one.passed.append(f"c_loc({p.name}_)")
    for field in headers.structs[p.type]:
        name, place = field.name, f"{p.name}_%{field.name}"
        if field.type in headers.handles:
            if subject == name:
                one.before.append(f"{place} = {name}%handle")
            continue
        if field.stars < 0 or (name == "later" and verb in manners.BLOCKING):
            continue  # reserved, or for another verb
        default = manners.DEFAULTS.get((verb, name))
        if default:
            one.before.append(f"{place} = {default}")
        one.optional.append(name)
        if field.type == "char":
            one.declared.append(f"character(*), intent(in), optional :: {name}")
            one.declared.append(f"character(kind=c_char), allocatable, target :: {name}_(:)")
            lines = [f"{name}_ = c_chars({name})", f"{place} = c_loc({name}_)"]
            one.before += [f"if (present({name})) then", *(f"  {line}" for line in lines), "end if"]
            continue
        given, convert = ("logical", "logical") if field.type == "bool" else ("integer", "int")
        one.declared.append(f"{given}, intent(in), optional :: {name}")
        value = f"{convert}({name}, {SCALARS[field.type][1]})"
        one.before.append(f"if (present({name})) {place} = {value}")
