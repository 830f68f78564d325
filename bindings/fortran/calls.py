# SPDX-License-Identifier: BSD-3-Clause
"""Generates the Fortran procedures of C functions, from their parameters, by the rules of
manners.py.

A procedure takes C's arguments, then optional ones, then ``ierr``. C's NULL is an absent argument;
C's list and its length are one array; C's handle is a derived type.
"""

from __future__ import annotations

from itertools import product

import manners
import teams
import verbs
from c_headers import Function, Headers, Parameter
from lines import wrapped
from procedure import SCALARS, Procedure, declaration, plus

#: a task's argument in Fortran, and its conversion
TASKS = {
    "name": "character(*), intent(in)",
    "index": "integer, intent(in)",
}


class Writer:
    """Writes one function in all its specific forms."""

    def __init__(self, function: Function, headers: Headers, typed: bool = False) -> None:
        self.c_name = function.name
        self.name = function.name.removesuffix("_fortran")
        # Values of a team have C's kinds only.
        self.typed = typed
        self.parameters = function.parameters
        self.headers = headers

    def forms(self) -> list[str]:
        """The specific procedures, and the generic interface if there are several."""
        tasks = [p.name for p in self.parameters if p.type == "hocket_task_id"]
        wide = any(
            p.name in manners.EITHER_KIND and p.type == "int64_t" and p.const and p.stars
            for p in self.parameters
        )
        made = []
        axes = (
            TASKS if tasks else [""],
            ["i4", "i8"] if wide else [""],
            verbs.subjects(self.parameters),
        )
        for how, kind, subject in product(*axes):
            suffix = "".join(f"_{word}" for word in (how, kind, subject) if word)
            text = self.specific(self.name + suffix, how, kind, subject)
            made.append((f"{self.name}{suffix}", text))
        if len(made) == 1:
            return [f"public :: {self.name}", made[0][1]]
        names = ", ".join(name for name, _ in made)
        generic = f"interface {self.name}\n  module procedure {names}\nend interface"
        generic = "\n".join(wrapped(line) for line in generic.split("\n"))
        return [f"public :: {self.name}\n{generic}", *(text for _, text in made)]

    def specific(self, name: str, task: str, kind: str, subject: str = "") -> str:
        one, rest = Procedure(name), list(self.parameters)
        while rest:
            if [p.name for p in rest[:2]] == ["places", "values"]:
                teams.filled(one, declaration(rest[1].type, self.headers), rest[1])
                del rest[:2]
            elif [p.name for p in rest[:3]][0::2] == ["capacity", "count"]:
                self.results(one, rest[1])
                del rest[:3]
            elif self.is_list(rest):
                if subject == "one":
                    verbs.list_of_one(one, rest[1])
                else:
                    self.list_in(one, rest[1], kind, counted=True)
                del rest[:2]
            elif rest[0].type in manners.OPTIONS:
                verbs.options(one, rest.pop(0), self.name, subject, self.headers)
            elif subject == "layout" and rest[0].name == "array":
                verbs.layout_alone(one)
                del rest[:1]
            else:
                self.single(one, rest.pop(0), task, kind)
        return one.text(self.c_name)

    @staticmethod
    def is_list(rest: list[Parameter]) -> bool:
        """A length and a list."""
        if len(rest) < 2:
            return False
        length, values = rest[0], rest[1]
        return (
            (length.type, length.stars) == ("int64_t", 0)
            and values.const
            and values.stars >= 1
            and values.type not in ("char", "void")
            and not (values.type.startswith("hocket_") and values.stars == 1)
            and values.name not in manners.LENGTH_OF
        ) or (values.stars == 2 and values.name in ("sent", "received", "arrays", "requests"))

    def results(self, one: Procedure, values: Parameter) -> None:
        kind = declaration(values.type, self.headers)
        one.required.append(values.name)
        one.declared.append(f"{kind}, allocatable, target, intent(out) :: {values.name}(:)")
        one.declared.append("integer(c_int64_t), target :: count_")
        if self.parameters[0].type == "hocket_team":
            # A second call for the length would be a second barrier; the team gives the length of a
            # mask.
            one.before += [f"count_ = words_of({self.parameters[0].name})"]
            one.before += [f"allocate ({values.name}(count_))", f"{values.name} = 0"]
            one.passed += ["count_", f"c_loc({values.name})", "c_loc(count_)"]
            return
        one.results = (values.name, values.type)
        one.passed += ["<capacity>", "<values>", "c_loc(count_)"]
        if self.name in manners.FROM_ONE_OUT:
            one.after.append(f"{values.name} = {values.name} + 1")
        if values.type == "hocket_cycle":
            one.after.append(f"{values.name}%start = {values.name}%start + 1")

    def list_in(self, one: Procedure, values: Parameter, kind: str, counted: bool) -> None:
        """A list, with its length (`counted`) or one that another argument gives."""
        name = manners.RENAMED.get(values.name, values.name)
        held = f"{values.name}_"
        optional = values.name in manners.OPTIONAL_LISTS
        (one.optional if optional else one.required).append(name)
        shift = -1 if values.name in manners.FROM_ONE_IN else 0
        extra = ", optional" if optional else ""
        if values.type in self.headers.handles:
            one.declared.append(f"type({values.type}), intent(in) :: {name}(:)")
            one.declared.append(f"type(c_ptr), allocatable, target :: {held}(:)")
            one.before += [f"allocate ({held}(max(size({name}), 1)))", f"{held} = c_null_ptr"]
            one.before.append(f"{held}(:size({name})) = {name}%handle")
        else:
            given = declaration(values.type, self.headers)
            if values.type == "int64_t":
                wide = values.name in manners.EITHER_KIND and kind == "i8"
                given = "integer(int64)" if wide else "integer"
            held_as = declaration(values.type, self.headers)
            one.declared.append(f"{given}, intent(in){extra} :: {name}(:)")
            one.declared.append(f"{held_as}, allocatable, target :: {held}(:)")
            mirrored = self.name in manners.MIRRORED
            turned = f"{name}(size({name}):1:-1)" if mirrored else name
            value = f"int({turned}, c_int64_t){plus(shift)}" if values.type == "int64_t" else name
            if values.name == "axes":
                first = f"size({name}) - {turned}" if mirrored else f"{name} - 1"
                value = f"int({first}, c_int64_t)"
            fill = f"{held} = {value}"
            if optional:
                one.before += [f"allocate ({held}(0))", f"if (present({name})) {fill}"]
            else:
                one.before.append(fill)
            # c_loc of an empty array is invalid.
            one.before.append(f"if (size({held}) == 0) {held} = [{held}, {self.nothing(values)}]")
        if counted:
            length = f"size({name}, kind=c_int64_t)"
            if optional:
                one.declared.append(f"integer(c_int64_t) :: {values.name}_n")
                one.before.append(f"{values.name}_n = 0")
                one.before.append(f"if (present({name})) {values.name}_n = {length}")
                length = f"{values.name}_n"
            one.passed.append(length)
        one.passed.append(f"c_loc({held})")

    def nothing(self, values: Parameter) -> str:
        if values.type in SCALARS:
            return f"0_{SCALARS[values.type][1]}"
        fields = len(self.headers.structs[values.type])
        return f"{values.type}({', '.join(['0_c_int64_t'] * fields)})"

    def single(self, one: Procedure, p: Parameter, task: str, kind: str) -> None:
        name = manners.RENAMED.get(p.name, p.name)
        name = manners.RENAMED_IN.get((self.name, p.name), name)
        if p.name in manners.LENGTH_OF and p.stars == 1 and p.const:
            self.list_in(one, p, kind, counted=False)
            self.check_length(one, p, name)
        elif p.type == "hocket_task_id":
            self.task_id(one, p, task)
        elif p.type in self.headers.handles:
            self.handle(one, p, name)
        elif p.type == "char":
            self.characters(one, p, name)
        elif (self.name, p.name) in manners.OPTIONAL_FUNCTIONS:
            verbs.optional_function(one, name)
        elif p.type == "function":
            one.required.append(name)
            # By value: a reference to a constant in memory causes linker errors.
            one.declared.append(f"type(c_funptr), value :: {name}")
            one.passed.append(name)
        elif p.type == "constant":
            teams.constant(one, self.c_name, name)
        elif p.name == "value" and p.const and p.type in SCALARS:
            teams.value_in_memory(one, p, self.given(p))
        elif p.type == "void":
            self.address(one, p, name)
        elif p.stars == 0:
            self.value(one, p, name)
        elif p.const and (self.name, p.name) in manners.OPTIONAL_STRUCTS:
            one.optional.append(name)
            one.declared.append(f"type({p.type}), intent(in), optional, target :: {name}")
            one.declared.append(f"type(c_ptr) :: {name}_")
            one.before.append(f"{name}_ = c_null_ptr")
            one.before.append(f"if (present({name})) {name}_ = c_loc({name})")
            one.passed.append(f"{name}_")
        elif p.const and p.type not in self.headers.structs:
            raise ValueError(
                f"{self.c_name}: what is {p.name} in Fortran? Say so in bindings/fortran/manners.py"
            )
        elif p.const:
            one.required.append(name)
            one.declared.append(f"type({p.type}), intent(in), target :: {name}")
            one.passed.append(f"c_loc({name})")
        else:
            self.scalar_out(one, p, name)

    def check_length(self, one: Procedure, p: Parameter, name: str) -> None:
        """C reads one entry for each dimension."""
        first = self.parameters[0]
        if manners.LENGTH_OF[p.name] == "processes":
            known = f"processes_of({first.name})"
        elif first.name == "dimensions":
            known = f"size({self.parameters[1].name})"
        elif first.type in ("hocket_layout", "hocket_array"):
            known = f"dimensions_of({first.name})"
        else:
            raise ValueError(f"{self.c_name}: how long is {p.name}?")
        refusal = f"call wrong_length('{self.name}', '{name}', size({name}), {known}, ierr)"
        one.before += [f"if (size({name}) /= {known}) then", f"  {refusal}", "  return", "end if"]
        if p.name == "axes":
            one.before.append(f"if (wrong_entry({name}, '{self.name}', ierr)) return")

    def task_id(self, one: Procedure, p: Parameter, how: str) -> None:
        one.required.append(p.name)
        one.declared.append(f"{TASKS[how]} :: {p.name}")
        if how == "name":
            one.declared.append(f"character(kind=c_char), allocatable, target :: {p.name}_(:)")
            one.before.append(f"{p.name}_ = c_chars({p.name})")
            one.passed.append(f"hocket_task_id(c_loc({p.name}_), 0_c_int)")
        else:
            one.passed.append(f"hocket_task_id(c_null_ptr, int({p.name}, c_int))")

    def handle(self, one: Procedure, p: Parameter, name: str) -> None:
        if (self.name, p.name) in manners.OPTIONAL_HANDLES:
            one.optional.append(name)
            one.declared.append(f"type({p.type}), intent(in), optional :: {name}")
            one.declared.append(f"type(c_ptr) :: {name}_")
            one.before.append(f"{name}_ = c_null_ptr")
            one.before.append(f"if (present({name})) {name}_ = {name}%handle")
            one.passed.append(f"{name}_")
            return
        if p.stars == 1:
            one.required.append(name)
            one.declared.append(f"type({p.type}), intent(in) :: {name}")
            one.passed.append(f"{name}%handle")
            return
        asked_for = self.name.startswith("hocket_status") or self.name in manners.ALL_FOR_STATUS
        if p.type == "hocket_status" and not asked_for:
            one.optional.append(name)
            one.declared.append(f"type({p.type}), intent(out), optional :: {name}")
            one.declared.append(f"type(c_ptr), target :: {name}_")
            one.before.append(f"{name}_ = c_null_ptr")
            one.passed.append(f"wanted({name}_, present({name}))")
            one.after.append(f"if (present({name})) {name}%handle = {name}_")
            return
        intent = "inout" if self.name.endswith(("_free", "_disconnect")) else "out"
        one.required.append(name)
        one.declared.append(f"type({p.type}), intent({intent}), target :: {name}")
        one.passed.append(f"c_loc({name}%handle)")

    def characters(self, one: Procedure, p: Parameter, name: str) -> None:
        if p.of_const:
            verbs.texts_of_list(one, name, manners.LENGTH_OF[p.name])
            return
        if p.stars == 2:
            one.required.append(name)
            one.declared.append(f"character(:), allocatable, intent(out) :: {name}")
            one.declared.append(f"type(c_ptr), target :: {name}_")
            one.before += [f"{name}_ = c_null_ptr", f"{name} = ''"]  # after an error, too
            one.passed.append(f"c_loc({name}_)")
            one.after.append(f"{name} = text_at({name}_)")
            return
        optional = p.name in manners.OPTIONAL_TEXTS
        optional = optional or (self.name, p.name) in manners.OPTIONAL_TEXTS_OF
        (one.optional if optional else one.required).append(name)
        extra = ", optional" if optional else ""
        one.declared.append(f"character(*), intent(in){extra} :: {name}")
        one.declared.append(f"character(kind=c_char), allocatable, target :: {name}_(:)")
        if optional:
            one.before.append(f"allocate ({name}_(1))")
            one.before.append(f"if (present({name})) {name}_ = c_chars({name})")
            one.passed.append(f"wanted_text({name}_, present({name}))")
        else:
            one.before.append(f"{name}_ = c_chars({name})")
            one.passed.append(f"c_loc({name}_)")

    def address(self, one: Procedure, p: Parameter, name: str) -> None:
        one.required.append(name)
        if p.stars == 2:
            one.declared.append(f"type(c_ptr), intent(inout), target :: {name}")
            one.passed.append(f"c_loc({name})")
        else:
            # By value, so that the compiler assumes that the memory behind it may change.
            one.declared.append(f"type(c_ptr), value :: {name}")
            one.passed.append(name)

    def value(self, one: Procedure, p: Parameter, name: str) -> None:
        _, kind = SCALARS[p.type]
        default = manners.OPTIONAL.get(p.name)
        if p.name == "itemsize" and all(each.name != "dtype" for each in self.parameters):
            default = None
        if p.name == "tag":
            default = ("-1" if self.name in manners.PROBES else "0") + f"_{kind}"
        given = self.given(p)
        convert = {"bool": "logical", "double": "real", "float": "real"}.get(p.type, "int")
        shift = plus(-1 if p.name in manners.FROM_ONE_IN or p.name == "start" else 0)
        if p.name == "index" and (self.name, p.name) in manners.FROM_ZERO:
            shift = ""
        if default is None:
            one.required.append(name)
            one.declared.append(f"{given}, intent(in) :: {name}")
            one.passed.append(f"{convert}({name}, {kind}){shift}")
            return
        one.optional.append(name)
        one.declared.append(f"{given}, intent(in), optional :: {name}")
        one.declared.append(f"{SCALARS[p.type][0]} :: {name}_")
        one.before.append(f"{name}_ = {default}")
        one.before.append(f"if (present({name})) {name}_ = {convert}({name}, {kind})")
        one.passed.append(f"{name}_")

    def given(self, p: Parameter) -> str:
        """The Fortran type of a number or a logical."""
        if p.type in ("bool", "double", "float"):
            return {"bool": "logical", "double": "real(real64)", "float": "real(real32)"}[p.type]
        if self.typed or p.type == "uint64_t" or p.name in manners.WIDE:
            return SCALARS[p.type][0] if p.type != "int" else "integer"
        return "integer"

    def scalar_out(self, one: Procedure, p: Parameter, name: str) -> None:
        one.required.append(name)
        if p.type in self.headers.structs:
            one.declared.append(f"type({p.type}), intent(out), target :: {name}")
            one.passed.append(f"c_loc({name})")
            return
        given = self.given(p)
        # A number that the call reads and changes, as an MPI request.
        intent = "inout" if p.name == "request" else "out"
        one.declared.append(f"{given}, intent({intent}) :: {name}")
        one.declared.append(f"{SCALARS[p.type][0]}, target :: {name}_")
        if intent == "inout":
            one.before.append(f"{name}_ = {name}")
        one.passed.append(f"c_loc({name}_)")
        whole = "int({0}, kind({1}))"
        convert = {"bool": "logical({0})", "double": "{0}", "float": "{0}"}.get(p.type, whole)
        one.after.append(f"{name} = {convert.format(name + '_', name)}")
