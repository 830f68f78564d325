! SPDX-License-Identifier: BSD-3-Clause
! A user's program in Fortran: rows become columns.
program user
  use hocket
  implicit none
  type(hocket_layout) :: rows, columns
  type(hocket_array) :: a, b
  real, target, allocatable :: x(:, :), y(:, :)
  integer(selected_int_kind(18)), allocatable :: e(:), mine(:)
  character(:), allocatable :: library
  integer :: world, rank, ranks, i
  call hocket_mpi_init()
  call hocket_comm_world(world)
  call hocket_comm_rank(world, rank)
  call hocket_comm_size(world, ranks)
  call hocket_layout_make([5, 6], '(BLOCK, *)', [ranks], rows)
  call hocket_layout_make([5, 6], '(*, BLOCK)', [ranks], columns)
  call hocket_layout_local_shape(rows, rank, e)
  allocate (x(e(1), e(2)))
  call hocket_layout_local_shape(columns, rank, e)
  allocate (y(e(1), e(2)))
  call hocket_layout_global_indices(rows, rank, 1, mine)
  do i = 1, 6
    x(:, i) = 10*mine + i
  end do
  call hocket_array_wrap(x, rows, world, a)
  call hocket_array_wrap(y, columns, world, b)
  call hocket_redistribute(a, b)
  call hocket_layout_global_indices(columns, rank, 2, mine)
  do i = 1, 5
    if (any(y(i, :) /= 10*i + mine)) error stop 'an element is not where it belongs'
  end do
  call hocket_mpi_library(library)
  if (rank == 0) print '(3a, 2(i0, a), i0)', 'Fortran on ', library, ', hocket ', &
    HOCKET_VERSION_MAJOR, '.', HOCKET_VERSION_MINOR, '.', HOCKET_VERSION_PATCH
  call hocket_mpi_finalize()
end program
