! SPDX-License-Identifier: BSD-3-Clause
! ScaLAPACK's array descriptors. A layout has the dimensions and the memory order of the matrix.
module hocket_blacs
  use hocket_base
  use hocket_c_interfaces
  use hocket_arguments
  use, intrinsic :: iso_c_binding
  implicit none
  private
  public :: hocket_layout_from_blacs, hocket_layout_to_blacs, hocket_layout_blacs_grid

contains

  ! The process at row p and column q of the BLACS grid, from 0, is grid(p + 1, q + 1), as in
  ! BLACS_GRIDMAP. `rank` is the process of the descriptor; without it hocket does not check LLD_.
  subroutine hocket_layout_from_blacs(desc, grid, layout, rank, transposed, ierr)
    integer, intent(in) :: desc(:), grid(:, :)
    type(hocket_layout), intent(out), target :: layout
    integer, intent(in), optional :: rank
    logical, intent(in), optional :: transposed
    integer, intent(out), optional :: ierr
    integer(c_int), allocatable, target :: descriptor(:)
    integer(c_int64_t), allocatable, target :: processes(:)
    integer(c_int64_t) :: whose
    if (size(desc) < 9) then
      call fail(HOCKET_ERR_ARGUMENT, "hocket_layout_from_blacs: 'desc' needs 9 integers", ierr)
      return
    end if
    descriptor = int(desc(:9), c_int)
    processes = [reshape(int(transpose(grid), c_int64_t), [size(grid)]), 0_c_int64_t]
    whose = -1
    if (present(rank)) whose = rank
    call count_from_one()
    call finish(c_hocket_layout_from_blacs(c_loc(descriptor), size(grid, 1, c_int64_t), &
                                           size(grid, 2, c_int64_t), c_loc(processes), whose, &
                                           flag(transposed), c_loc(layout%handle)), ierr)
  end subroutine

  ! The descriptor on process `rank`, for a grid with BLACS's handle `context`.
  subroutine hocket_layout_to_blacs(layout, rank, context, desc, transposed, ierr)
    type(hocket_layout), intent(in) :: layout
    integer, intent(in) :: rank, context
    integer, intent(out) :: desc(9)
    logical, intent(in), optional :: transposed
    integer, intent(out), optional :: ierr
    integer(c_int), target :: descriptor(9)
    descriptor = 0
    call count_from_one()
    call finish(c_hocket_layout_to_blacs(layout%handle, int(rank, c_int64_t), &
                                         int(context, c_int), flag(transposed), &
                                         c_loc(descriptor)), ierr)
    desc = descriptor
  end subroutine

  ! The grid of the descriptor, for BLACS_GRIDMAP.
  subroutine hocket_layout_blacs_grid(layout, grid, transposed, ierr)
    type(hocket_layout), intent(in) :: layout
    integer, allocatable, intent(out) :: grid(:, :)
    logical, intent(in), optional :: transposed
    integer, intent(out), optional :: ierr
    integer(c_int64_t), target :: rows, columns, count
    integer(c_int64_t), allocatable, target :: values(:)
    integer(c_int) :: code
    rows = 0
    columns = 0
    allocate (values(max(1, processes_of(layout))))
    call count_from_one()
    code = c_hocket_layout_blacs_grid(layout%handle, flag(transposed), c_loc(rows), &
                                      c_loc(columns), size(values, kind=c_int64_t), &
                                      c_loc(values), c_loc(count))
    if (code /= 0) then
      rows = 0
      columns = 0
    end if
    grid = transpose(reshape(int(values(:rows*columns)), [int(columns), int(rows)]))
    call finish(code, ierr)
  end subroutine

  function flag(given) result(value)
    logical, intent(in), optional :: given
    logical(c_bool) :: value
    value = .false.
    if (present(given)) value = given
  end function
end module
