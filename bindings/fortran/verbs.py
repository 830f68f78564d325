# SPDX-License-Identifier: BSD-3-Clause
"""Generates verbs whose C functions take a list of arrays and a struct of options. Fortran takes
one array or several, an array or a layout, and optional arguments."""

from __future__ import annotations

from collections.abc import Sequence

import manners
from c_headers import Headers, Parameter
from procedure import SCALARS, Procedure, plus


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
    if p.type == "hocket_compute_options":
        compute_options(one, p, verb)
        return
    one.declared.append(f"type({p.type}), target :: {p.name}_")
    one.passed.append(f"c_loc({p.name}_)")
    fields = headers.structs[p.type]
    lengths = {values.name: length for length, values in zip(fields, fields[1:]) if is_list(values)}
    for field in fields:
        name, place = field.name, f"{p.name}_%{field.name}"
        if field in lengths.values():
            continue
        if name in lengths:
            list_of_options(one, field, place, f"{p.name}_%{lengths[name].name}")
            continue
        if field.type in headers.handles:
            if subject == name:
                one.before.append(f"{place} = {name}%handle")
            continue
        if field.stars < 0 or (name in manners.OF_STARTED and verb in manners.BLOCKING):
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
        if name in manners.WIDE:
            given = "integer(int64)"
        one.declared.append(f"{given}, intent(in), optional :: {name}")
        value = f"{convert}({name}, {SCALARS[field.type][1]})"
        one.before.append(f"if (present({name})) {place} = {value}")


def is_list(field: Parameter) -> bool:
    """A field whose length the field before it gives."""
    return field.const and (field.of_const or (field.type == "int64_t" and field.stars == 1))


def list_of_options(one: Procedure, field: Parameter, place: str, length: str) -> None:
    """A list in a struct of options, and its length."""
    name = field.name
    one.optional.append(name)
    if field.of_const:
        texts(one, name, ", optional")
        lines = [f"call c_texts({name}, {name}_, {name}_at)", f"{place} = c_loc({name}_at)"]
    else:
        shift = plus(-1 if name in manners.FROM_ONE_IN else 0)
        one.declared.append(f"integer, intent(in), optional :: {name}(:)")
        one.declared.append(f"integer(c_int64_t), allocatable, target :: {name}_(:)")
        # c_loc of an empty array is invalid.
        lines = [f"{name}_ = [int({name}, c_int64_t){shift}, 0_c_int64_t]"]
        lines.append(f"{place} = c_loc({name}_)")
    lines.append(f"{length} = size({name}, kind=c_int64_t)")
    one.before += [f"if (present({name})) then", *(f"  {line}" for line in lines), "end if"]


def texts_of_list(one: Procedure, name: str, other: str) -> None:
    """A text for each entry of another list. Of another length it is NULL, which C refuses on all
    processes of the call."""
    one.required.append(name)
    texts(one, name, "")
    one.declared.append(f"type(c_ptr) :: {name}_list")
    one.before.append(f"call c_texts({name}, {name}_, {name}_at)")
    one.before.append(f"{name}_list = c_null_ptr")
    one.before.append(f"if (size({name}) == size({other})) {name}_list = c_loc({name}_at)")
    one.passed.append(f"{name}_list")


def texts(one: Procedure, name: str, extra: str) -> None:
    """A list of texts: the argument, its characters for C, and their addresses."""
    one.declared.append(f"character(*), intent(in){extra} :: {name}(:)")
    one.declared.append(f"character(kind=c_char), allocatable, target :: {name}_(:, :)")
    one.declared.append(f"type(c_ptr), allocatable, target :: {name}_at(:)")


def compute_options(one: Procedure, p: Parameter, verb: str) -> None:
    """Of operations on whole arrays: what the verb reads; Fortran's order, and indices from 1."""
    place = f"{p.name}_"
    one.declared.append(f"type({p.type}), target :: {place}")
    one.before += [f"{place}%column_major = .true.", f"{place}%first_index = 1"]
    one.passed.append(f"c_loc({place})")
    for name in manners.COMPUTED_WITH.get(verb, ()):
        one.optional.append(name)
        if name == "dim":
            one.declared.append("integer, intent(in), optional :: dim")
            one.declared.append("integer(c_int64_t), target :: dim_")
            lines = ["dim_ = dim", f"{place}%dim = c_loc(dim_)"]
        elif name in ("mask", "segment", "shifts"):
            one.declared.append(f"type(hocket_array), intent(in), optional :: {name}")
            lines = [f"{place}%{name} = {name}%handle"]
        else:
            one.declared.append(f"logical, intent(in), optional :: {name}")
            lines = [f"{place}%{name} = logical({name}, c_bool)"]
        one.before += [f"if (present({name})) then", *(f"  {line}" for line in lines), "end if"]


def optional_function(one: Procedure, name: str) -> None:
    """A function that may be left out."""
    one.optional.append(name)
    one.declared.append(f"type(c_funptr), intent(in), optional :: {name}")
    one.declared.append(f"type(c_funptr) :: {name}_")
    one.before.append(f"{name}_ = c_null_funptr")
    one.before.append(f"if (present({name})) {name}_ = {name}")
    one.passed.append(f"{name}_")
