! SPDX-License-Identifier: BSD-3-Clause
! Heat spreads over a plate whose edges stay cold, as HPF writes it:
!
!     around = cshift(u, -1, 1) + cshift(u, 1, 1) + cshift(u, -1, 2) + cshift(u, 1, 2)
!     forall (i = 2:n-1, j = 2:n-1) u(i, j) = u(i, j) + 0.2*(around(i, j) - 4*u(i, j))
!
! Run me: mpiexec -n 3 heat
program heat
  use hocket
  use, intrinsic :: iso_fortran_env, only: int64, real64
  implicit none
  integer, parameter :: n = 48, steps = 30
  type(hocket_layout) :: layout
  type(hocket_array) :: plate, moved(4), found
  real(real64), pointer :: u(:, :), near(:, :)
  real(real64), allocatable :: around(:, :)
  real(real64) :: total, hottest
  integer(int64), allocatable :: row(:), column(:)
  integer :: world, rank, ranks, step, i, j, k

  call hocket_mpi_init()
  call hocket_comm_world(world)
  call hocket_comm_rank(world, rank)
  call hocket_comm_size(world, ranks)
  call hocket_layout_make([n, n], '(BLOCK, *)', [ranks], layout)
  call hocket_array_empty(layout, 'float64', world, plate)
  call hocket_array_data(plate, u)
  call hocket_array_global_indices(plate, 1, row)
  call hocket_array_global_indices(plate, 2, column)
  do concurrent(j=1:size(u, 2), i=1:size(u, 1))
    u(i, j) = merge(100, 0, abs(2*row(i) - 49) < 8 .and. abs(2*column(j) - 41) < 20)
  end do
  do step = 1, steps
    around = 0*u
    do k = 1, 4
      call hocket_cshift(plate, 2*mod(k, 2) - 1, moved(k), dim=(k + 1)/2)
      call hocket_array_data(moved(k), near)
      around = around + near
      call hocket_array_free(moved(k))
    end do
    do concurrent(j=1:size(u, 2), i=1:size(u, 1), mod(row(i), n) > 1 .and. mod(column(j), n) > 1)
      u(i, j) = u(i, j) + 0.2_real64*(around(i, j) - 4*u(i, j))
    end do
  end do
  call hocket_reduce(plate, HOCKET_SUM, found)
  call hocket_array_item(found, total)
  call hocket_reduce(plate, HOCKET_MAXVAL, found)
  call hocket_array_item(found, hottest)
  if (rank == 0) print '(a, f0.6, a, f0.4)', 'total ', total, ', hottest ', hottest
  call hocket_mpi_finalize()
end program
