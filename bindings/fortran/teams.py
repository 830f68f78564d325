# SPDX-License-Identifier: BSD-3-Clause
"""Generates operations of teams on typed values. C has an argument for the type; Fortran's
procedures are generic over the kinds of values, and the operation of a reduction is part of
their names."""

from __future__ import annotations

from collections.abc import Iterator

from c_headers import Function, Parameter
from procedure import SCALARS, Procedure

#: C's type of values -> its constant. Fortran's integers are signed.
TYPES = {
    "bool": "HOCKET_TEAM_BOOL",
    **{f"int{n}_t": f"HOCKET_TEAM_INT{n}" for n in (8, 16, 32, 64)},
    "float": "HOCKET_TEAM_FLOAT32",
    "double": "HOCKET_TEAM_FLOAT64",
}
OPERATIONS = ("add", "mul", "min", "max", "and", "or")
COMBINING = ("hocket_team_reduce", "hocket_team_scan")
#: those that can do without a barrier
WITHOUT_BARRIER = ("hocket_team_scan", "hocket_team_putget")
#: the arguments with this type
VALUES = ("value", "result", "values")


def is_typed(function: Function) -> bool:
    """Whether a type is one of its arguments, and the values are pointers."""
    words = {(p.name, p.type) for p in function.parameters}
    return ("type", "int") in words and bool(words & {(name, "void") for name in VALUES})


def names_of(name: str) -> list[str]:
    """Fortran's names of a C function."""
    return [f"{name}_{each}" for each in OPERATIONS] if name in COMBINING else [name]


def variants(function: Function) -> Iterator[tuple[str, str, Function]]:
    """(generic name, specific name, the function with values of this type)."""
    for generic in names_of(function.name):
        operation = generic.removeprefix(f"{function.name}_")
        for kind, constant in TYPES.items():
            if kind in ("float", "double") and operation in ("and", "or"):
                continue
            fixed = {"type": constant, "op": f"HOCKET_{operation.upper()}"}
            parameters = tuple(
                Parameter("constant", 0, False, fixed[p.name])
                if p.name in fixed
                else Parameter(kind, p.stars, p.const, p.name)
                if p.type == "void" and p.name in VALUES
                else p
                for p in function.parameters
            )
            specific = f"{generic}_{constant.removeprefix('HOCKET_TEAM_').lower()}"
            yield generic, specific, Function(function.name, parameters)


def constant(one: Procedure, c_name: str, name: str) -> None:
    """An operation or a type; with the type, operations that have it get the option `barrier`."""
    if c_name not in WITHOUT_BARRIER or name not in TYPES.values():
        one.passed.append(f"int({name}, c_int)")
        return
    one.last.append("barrier")
    one.declared += ["logical, intent(in), optional :: barrier", "integer(c_int) :: type_"]
    one.before.append(f"type_ = {name}")
    without = f"{name} + HOCKET_TEAM_NO_BARRIER"
    one.before.append(f"if (present(barrier)) type_ = merge({name}, {without}, barrier)")
    one.passed.append("type_")


def value_in_memory(one: Procedure, p: Parameter, given: str) -> None:
    """A value that C takes by address."""
    one.required.append(p.name)
    one.declared.append(f"{given}, intent(in) :: {p.name}")
    one.declared.append(f"{SCALARS[p.type][0]}, target :: {p.name}_")
    one.before.append(f"{p.name}_ = {p.name}")
    one.passed.append(f"c_loc({p.name}_)")


def filled(one: Procedure, kind: str, values: Parameter) -> None:
    """A list of the caller's, of which C changes some entries."""
    name, given = values.name, "logical" if values.type == "bool" else kind
    one.required.append(name)
    one.declared.append(f"{given}, intent(inout) :: {name}(:)")
    one.declared.append(f"{kind}, allocatable, target :: {name}_(:)")
    one.before.append(f"allocate ({name}_(size({name}) + 1))")
    one.before.append(f"{name}_(:size({name})) = {name}")
    one.passed += [f"size({name}, kind=c_int64_t)", f"c_loc({name}_)"]
    one.after.append(f"{name} = {name}_(:size({name}))")
