# SPDX-License-Identifier: BSD-3-Clause
"""The text of one Fortran procedure, and Fortran's types for C's types."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Optional

from c_headers import Headers
from lines import wrapped

SCALARS = {
    **{f"int{n}_t": (f"integer(c_int{n}_t)", f"c_int{n}_t") for n in (8, 16, 32, 64)},
    "uint64_t": ("integer(c_int64_t)", "c_int64_t"),
    "int": ("integer(c_int)", "c_int"),
    "bool": ("logical(c_bool)", "c_bool"),
    "double": ("real(c_double)", "c_double"),
    "float": ("real(c_float)", "c_float"),
}


@dataclass
class Procedure:
    """One specific procedure under construction."""

    name: str
    required: list[str] = field(default_factory=list)
    optional: list[str] = field(default_factory=list)
    last: list[str] = field(default_factory=list)  # optional, behind the others
    declared: list[str] = field(default_factory=list)
    before: list[str] = field(default_factory=list)
    passed: list[str] = field(default_factory=list)
    after: list[str] = field(default_factory=list)
    # For a list of results: its name and its C type.
    results: Optional[tuple[str, str]] = None

    def text(self, c_name: str) -> str:
        """The whole subroutine."""
        arguments = [*self.required, *self.optional, *self.last, "ierr"]
        declared = [*self.declared, "integer, intent(out), optional :: ierr"]
        lines = [f"subroutine {self.name}({', '.join(arguments)})"]
        lines += [f"  {line}" for line in declared]
        lines += ["  integer(c_int) :: code_", *(f"  {line}" for line in self.before)]
        lines.append("  call count_from_one()")
        call = f"code_ = c_{c_name}({', '.join(self.passed)})"
        if self.results is None:
            lines.append(f"  {call}")
        else:
            name, kind = self.results
            lines += self.twice(call, name, kind)
        if self.after:
            lines += ["  if (code_ == 0) then", *(f"    {line}" for line in self.after), "  end if"]
        lines += ["  call finish(code_, ierr)", "end subroutine"]
        return "\n".join(wrapped(line) for line in lines)

    def twice(self, call: str, name: str, kind: str) -> list[str]:
        """A list of results: the first call gets the length, the second one the entries."""
        count = call.replace("<capacity>", "0_c_int64_t").replace("<values>", "c_null_ptr")
        values = call.replace("<capacity>", "count_").replace("<values>", f"c_loc({name})")
        return [
            "  count_ = 0",
            f"  {count}",
            "  if (code_ /= 0) count_ = 0",
            f"  allocate ({name}(count_))",
            f"  if (count_ > 0) {values}",
        ]


def declaration(base: str, headers: Headers) -> str:
    """The interoperable Fortran type for a C type."""
    if base in headers.structs:
        return f"type({base})"
    return SCALARS[base][0]


def plus(amount: int) -> str:
    return "" if amount == 0 else f" {'+' if amount > 0 else '-'} {abs(amount)}"
