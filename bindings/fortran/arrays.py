# SPDX-License-Identifier: BSD-3-Clause
"""Generates procedures that are generic over kinds and ranks of Fortran arrays, from a table of
kinds."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

RANKS = range(1, 8)


@dataclass(frozen=True)
class Kind:
    """A kind of a type; `guard`: the macro of compilers that have it, "" if all have."""

    name: str
    type: str
    dtype: str
    guard: str = ""


# NumPy's names. .true. is 1 in gfortran, so other languages see a logical as an integer, or as a
# bool if it has one byte. real(10) is x86's long double, which NumPy calls float128.
KINDS = {
    "integer": [
        *(Kind(f"i{n}", f"integer({n})", f"int{8 * n}") for n in (1, 2, 4, 8)),
        Kind("i16", "integer(16)", "int128", "__GFC_INT_16__"),
    ],
    "logical": [
        Kind("l1", "logical(1)", "bool"),
        *(Kind(f"l{n}", f"logical({n})", f"int{8 * n}") for n in (2, 4, 8)),
    ],
    "real": [
        Kind("r4", "real(4)", "float32"),
        Kind("r8", "real(8)", "float64"),
        Kind("r10", "real(10)", "float128", "__GFC_REAL_10__"),
        Kind("r16", "real(16)", "binary128", "__GFC_REAL_16__"),
    ],
    "complex": [
        Kind("c4", "complex(4)", "complex64"),
        Kind("c8", "complex(8)", "complex128"),
        Kind("c10", "complex(10)", "complex256", "__GFC_REAL_10__"),
        Kind("c16", "complex(16)", "complex_binary128", "__GFC_REAL_16__"),
    ],
}
# Generic over all ranks by the bodies below, and over matrices.
GENERICS = (
    "hocket_view",
    "hocket_array_wrap",
    "hocket_array_wrap_const",
    "hocket_array_data",
    "hocket_halo_data",
    "hocket_scatter",
    "hocket_gather",
    "hocket_permute",
    "hocket_permute_inplace",
)
GENERICS_OF_MATRICES = ("hocket_take_rows", "hocket_put_rows", "hocket_swap_rows")


def modules() -> dict[str, str]:
    """One module for each type, by file name."""
    return {f"hocket_arrays_{kind}.F90": module(kind) for kind in KINDS}


def module(type_name: str) -> str:
    lines = [f"module hocket_arrays_{type_name}", "  use hocket_views"]
    lines += ["  use hocket_c_interfaces, only: hocket_array, hocket_halo, hocket_layout"]
    lines += ["  use, intrinsic :: iso_c_binding"]
    lines += ["  use, intrinsic :: iso_fortran_env, only: real64", "  implicit none", "  private"]
    for generic in (*GENERICS, *GENERICS_OF_MATRICES):
        lines += [f"  public :: {generic}", f"  interface {generic}"]
        ranks = RANKS if generic in GENERICS else [2]
        for kind, rank in product(KINDS[type_name], ranks):
            lines += guarded(kind, [f"    module procedure {specific(generic, kind, rank)}"])
        lines.append("  end interface")
    lines.append("contains")
    for kind, rank in product(KINDS[type_name], RANKS):
        wanted = (*BODIES, *BODIES_OF_MATRICES) if rank == 2 else BODIES
        bodies = "\n\n".join(body.format(**words(kind, rank)) for body in wanted)
        lines += guarded(kind, bodies.split("\n"))
    return "\n".join([*lines, "end module\n"])


def guarded(kind: Kind, lines: list[str]) -> list[str]:
    return [f"#ifdef {kind.guard}", *lines, "#endif"] if kind.guard else lines


def specific(generic: str, kind: Kind, rank: int) -> str:
    return f"{generic.removeprefix('hocket_')}_{kind.name}_{rank}"


def words(kind: Kind, rank: int) -> dict[str, object]:
    """The substitutions for each specific procedure."""
    firsts = [f"lbound(x, {d})" for d in range(1, rank + 1)]
    steps = []
    for d in range(rank):
        place = ", ".join(f"{f} + 1" if at == d else f for at, f in enumerate(firsts))
        steps.append(
            f"    if (view%extents({d + 1}) > 1) view%strides({d + 1}) = &\n"
            f"      distance(c_loc(x({wrap(place)})), view%address)"
        )
    return {
        "suffix": f"{kind.name}_{rank}",
        "type": kind.type,
        "dtype": kind.dtype,
        "rank": rank,
        "colons": ", ".join([":"] * rank),
        "lowest": ", ".join(f"lowest({d}):" for d in range(1, rank + 1)),
        "firsts": wrap(", ".join(firsts)),
        "steps": "\n".join(steps),
    }


def wrap(place: str) -> str:
    """Indices of an element, on several lines if they are too long for one."""
    parts = place.split("), ")
    if len(place) < 70:
        return place
    middle = len(parts) // 2
    return "), ".join(parts[:middle]) + "), &\n        " + "), ".join(parts[middle:])


# Strides are differences of addresses of neighbours, which are correct for any section.
BODIES = (
    """\
  function view_{suffix}(x) result(view)
    {type}, intent(in), target :: x({colons})
    type(memory_view) :: view
    view = empty_view('{dtype}', storage_size(x) / 8, shape(x, c_int64_t))
    if (size(x) == 0) return
    view%address = c_loc(x({firsts}))
{steps}
  end function""",
    """\
  subroutine array_wrap_{suffix}(local, layout, comm, array, ierr)
    {type}, intent(inout), target :: local({colons})
    type(hocket_layout), intent(in) :: layout
    integer, intent(in) :: comm
    type(hocket_array), intent(out) :: array
    integer, intent(out), optional :: ierr
    call wrap_view(view_{suffix}(local), layout, comm, array, ierr)
  end subroutine""",
    # A pointer, because the compiler then accepts only arguments with the attribute target: no
    # expressions, whose memory would be freed.
    """\
  subroutine array_wrap_const_{suffix}(local, layout, comm, array, ierr)
    {type}, pointer, intent(in) :: local({colons})
    type(hocket_layout), intent(in) :: layout
    integer, intent(in) :: comm
    type(hocket_array), intent(out) :: array
    integer, intent(out), optional :: ierr
    call wrap_view(view_{suffix}(local), layout, comm, array, ierr, read_only=.true.)
  end subroutine""",
    """\
  subroutine array_data_{suffix}(array, local, ierr)
    type(hocket_array), intent(in) :: array
    {type}, pointer, intent(out) :: local({colons})
    integer, intent(out), optional :: ierr
    type(c_ptr) :: address
    integer(c_int64_t) :: extents({rank})
    nullify (local)
    call find_data(array, '{dtype}', extents, address, ierr)
    if (c_associated(address)) call c_f_pointer(address, local, extents)
  end subroutine""",
    # The elements within the border have the indices of the array; the border's are below 1, or
    # above.
    """\
  subroutine halo_data_{suffix}(halo, local, ierr)
    type(hocket_halo), intent(in) :: halo
    {type}, pointer, intent(out) :: local({colons})
    integer, intent(out), optional :: ierr
    {type}, pointer :: dense({colons})
    type(c_ptr) :: address
    integer(c_int64_t) :: extents({rank}), lowest({rank})
    nullify (local)
    call find_halo_data(halo, '{dtype}', extents, lowest, address, ierr)
    if (.not. c_associated(address)) return
    call c_f_pointer(address, dense, extents)
    local({lowest}) => dense
  end subroutine""",
    """\
  subroutine scatter_{suffix}(whole, array, root, timeout, ierr)
    {type}, intent(in), target :: whole({colons})
    type(hocket_array), intent(in) :: array
    integer, intent(in), optional :: root
    real(real64), intent(in), optional :: timeout
    integer, intent(out), optional :: ierr
    call scatter_view(view_{suffix}(whole), array, root, timeout, ierr)
  end subroutine""",
    """\
  subroutine gather_{suffix}(array, whole, root, timeout, ierr)
    type(hocket_array), intent(in) :: array
    {type}, intent(inout), target :: whole({colons})
    integer, intent(in), optional :: root
    real(real64), intent(in), optional :: timeout
    integer, intent(out), optional :: ierr
    call gather_view(array, view_{suffix}(whole), root, timeout, ierr)
  end subroutine""",
    """\
  subroutine permute_{suffix}(source, order, destination, threads, schedule, ierr)
    {type}, intent(in), target :: source({colons})
    integer, intent(in) :: order(:)
    {type}, intent(inout), target :: destination({colons})
    integer, intent(in), optional :: threads
    character(*), intent(in), optional :: schedule
    integer, intent(out), optional :: ierr
    call permute_view(view_{suffix}(source), order, view_{suffix}(destination), &
                      threads, schedule, ierr)
  end subroutine""",
    """\
  subroutine permute_inplace_{suffix}(array, order, permuted, threads, schedule, method, ierr)
    {type}, intent(inout), target :: array({colons})
    integer, intent(in) :: order(:)
    {type}, pointer, intent(out) :: permuted({colons})
    integer, intent(in), optional :: threads
    character(*), intent(in), optional :: schedule, method
    integer, intent(out), optional :: ierr
    type(memory_view) :: view
    integer(c_int64_t) :: extents({rank})
    nullify (permuted)
    view = view_{suffix}(array)
    call permute_view_inplace(view, order, extents, threads, schedule, method, ierr)
    if (c_associated(view%address)) call c_f_pointer(view%address, permuted, extents)
  end subroutine""",
)
BODIES_OF_MATRICES = (
    """\
  subroutine take_rows_{suffix}(source, rows, destination, ierr)
    {type}, intent(in), target :: source({colons})
    integer, intent(in) :: rows(:)
    {type}, intent(inout), target :: destination({colons})
    integer, intent(out), optional :: ierr
    call take_rows_of_view(view_{suffix}(source), rows, view_{suffix}(destination), ierr)
  end subroutine""",
    """\
  subroutine put_rows_{suffix}(source, rows, destination, ierr)
    {type}, intent(in), target :: source({colons})
    integer, intent(in) :: rows(:)
    {type}, intent(inout), target :: destination({colons})
    integer, intent(out), optional :: ierr
    call put_rows_of_view(view_{suffix}(source), rows, view_{suffix}(destination), ierr)
  end subroutine""",
    """\
  subroutine swap_rows_{suffix}(matrix, first, second, ierr)
    {type}, intent(inout), target :: matrix({colons})
    integer, intent(in) :: first(:), second(:)
    integer, intent(out), optional :: ierr
    call swap_rows_of_view(view_{suffix}(matrix), first, second, ierr)
  end subroutine""",
)
