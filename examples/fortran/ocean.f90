! SPDX-License-Identifier: BSD-3-Clause
! Warm water drifts east and spreads in a sea without shores; the temperature of each day goes to an
! analysis in Python, which is another job with an MPI of its own.
!
! Run us: mpiexec.mpich -n 2 ./ocean sea &   mpiexec -n 3 python 24_analysis.py sea
program ocean
  use hocket
  use, intrinsic :: iso_fortran_env, only: int64, real64
  implicit none
  integer, parameter :: n = 48, m = 32, days = 4, steps = 10
  type(hocket_layout) :: layout
  type(hocket_array) :: water, moved(4)
  type(hocket_port) :: port
  type(hocket_tasks) :: tasks
  type(hocket_channel) :: channel
  real(real64), pointer :: t(:, :), west(:, :), east(:, :), south(:, :), north(:, :)
  integer(int64), allocatable :: row(:), column(:)
  character(64) :: name
  integer :: world, ranks, day, step, i, j, k

  call get_command_argument(1, name)
  call hocket_mpi_init()
  call hocket_comm_world(world)
  call hocket_comm_size(world, ranks)
  call hocket_layout_make([n, m], '(*, BLOCK)', [ranks], layout)
  call hocket_array_empty(layout, 'float64', world, water)
  call hocket_array_data(water, t)
  call hocket_array_global_indices(water, 1, row)
  call hocket_array_global_indices(water, 2, column)
  do concurrent(j=1:size(t, 2), i=1:size(t, 1))
    t(i, j) = merge(30, 10, (row(i) - 20)**2 + (column(j) - 12)**2 < 36)
  end do
  call hocket_port_open(trim(name), world, port)
  call hocket_port_accept(port, tasks, timeout=60.0_real64)
  call hocket_tasks_channel(tasks, 'temperature', 'analysis', channel)
  do day = 1, days
    call hocket_channel_send(channel, water)
    do step = 1, steps
      do k = 1, 4
        call hocket_cshift(water, 2*mod(k, 2) - 1, moved(k), dim=(k + 1)/2)
      end do
      call hocket_array_data(moved(1), south)
      call hocket_array_data(moved(2), north)
      call hocket_array_data(moved(3), east)
      call hocket_array_data(moved(4), west)
      t = t + 0.1_real64*(north + south + east + west - 4*t) + 0.3_real64*(west - t)
      do k = 1, 4
        call hocket_array_free(moved(k))
      end do
    end do
  end do
  call hocket_channel_close(channel)
  call hocket_disconnect(tasks)
  call hocket_port_close(port)
  call hocket_mpi_finalize()
end program
