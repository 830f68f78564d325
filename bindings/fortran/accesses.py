# SPDX-License-Identifier: BSD-3-Clause
"""Generates the accesses of steps from a table of kinds and a table of types."""

from __future__ import annotations

# Fortran's name -> the constant.
KINDS = {
    "reads": "HOCKET_ACCESS_READS",
    "writes": "HOCKET_ACCESS_WRITES",
    "updates": "HOCKET_ACCESS_UPDATES",
    # Updates, one step at a time, in any order with others that commute.
    "commutes": "HOCKET_ACCESS_COMMUTES",
}
# hocket_view(x), where x is any array or section; a hocket_array; or a key, a text that stands for
# anything else.
THINGS = {
    "view": "type(memory_view), intent(in), target",
    "array": "type(hocket_array), intent(in)",
    "key": "character(*), intent(in)",
}


def module() -> str:
    """One generic function for each kind, over all types."""
    lines = ["module hocket_accesses", "  use hocket_c_interfaces", "  use hocket_access_types"]
    lines += ["  use hocket_views", "  implicit none", "  private"]
    for kind in KINDS:
        names = ", ".join(f"{kind}_{thing}" for thing in THINGS)
        lines += [f"  public :: hocket_{kind}", f"  interface hocket_{kind}"]
        lines += [f"    module procedure {names}", "  end interface"]
    lines.append("contains")
    for kind, constant in KINDS.items():
        for thing, declared in THINGS.items():
            lines += [
                f"  function {kind}_{thing}({thing}) result(access)",
                f"    {declared} :: {thing}",
                "    type(hocket_flow_access) :: access",
                f"    access = of_{thing}({constant}, {thing})",
                "  end function",
            ]
    return "\n".join([*lines, "end module\n"])
