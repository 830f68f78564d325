! SPDX-License-Identifier: BSD-3-Clause
! The FFT of Figure 1 as a pipeline of two tasks. Foster, Kohr, Krishnaiyer, Choudhary, "Double
! Standards: Bringing Task Parallelism to HPF via the Message Passing Interface", Figure 3: task 0
! transforms rows and sends, task 1 receives into an array distributed by columns and transforms
! those. 99 is a tag.
!
! Run me: mpiexec -n 8 figure_3
program figure_3
  use hocket
  use fourier
  implicit none
  integer, parameter :: n = 8
  type(hocket_tasks) :: tasks
  type(hocket_layout) :: layout
  type(hocket_array) :: array
  complex, pointer :: A(:, :)
  complex :: whole(n, n)
  integer(selected_int_kind(18)), allocatable :: rows(:)
  integer :: world, comm, rank, ranks, myid, i, j

  call hocket_mpi_init()
  call hocket_comm_world(world)
  call hocket_comm_size(world, ranks)
  call hocket_tasks_make([character(4) :: 'rows', 'cols'], [ranks/2, ranks - ranks/2], world, tasks)
  call hocket_tasks_rank(tasks, myid)
  call hocket_tasks_comm(tasks, comm)
  call hocket_comm_rank(comm, rank)
  call hocket_comm_size(comm, ranks)
  if (myid == 0) then
    call hocket_layout_make([n, n], '(BLOCK, *)', [ranks], layout)
  else
    call hocket_layout_make([n, n], '(*, BLOCK)', [ranks], layout)
  end if
  call hocket_array_empty(layout, 'complex64', comm, array)
  call hocket_array_data(array, A)
  call hocket_layout_global_indices(layout, rank, 1, rows)

  do i = 1, 100
    if (myid == 0) then
      do j = 1, n
        A(:, j) = pixel(i, int(rows), j)
      end do
      call rowfft(A)
      call hocket_tasks_send(tasks, array, 1, tag=99)
    else
      call hocket_tasks_recv(tasks, array, 0, tag=99)
      call colfft(A)
      call hocket_gather(array, whole)
      if (rank == 0) then
        if (any(abs(whole - spectrum_of(i, n)) > 1e-2)) error stop 'not the serial FFT'
      end if
    end if
  end do
  if (myid == 1 .and. rank == 0) print '(a)', 'figure 3: 100 spectra, each that of a serial FFT'
  call hocket_mpi_finalize()
end program
