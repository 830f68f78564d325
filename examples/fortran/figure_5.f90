! SPDX-License-Identifier: BSD-3-Clause
! Figure 3 with persistent requests: the two tasks prepare a transfer once. Foster,
! Kohr, Krishnaiyer, Choudhary, "Double Standards: Bringing Task Parallelism to HPF via the Message
! Passing Interface", Figure 5, and the receiving side that belongs to it:
!
!     call MPI_Send_init(A,8*8,MPI_COMPLEX,1,99,MPI_COMM_WORLD,request,ierr)
!     do i = 1, 100
!       call read(A);  call rowfft(8, A);  call MPI_Start(request,ierr)
!     end do
!
! Run me: mpiexec -n 8 figure_5
program figure_5
  use hocket
  use fourier
  implicit none
  integer, parameter :: n = 8
  type(hocket_tasks) :: tasks
  type(hocket_layout) :: layout
  type(hocket_array) :: array
  type(hocket_request) :: request
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

  if (myid == 0) then
    call hocket_tasks_send_init(tasks, array, 1, request, tag=99, count=100)
    do i = 1, 100
      do j = 1, n
        A(:, j) = pixel(i, int(rows), j)
      end do
      call rowfft(A)
      call hocket_request_start(request)
      call hocket_request_wait(request)  ! A is read into again
    end do
  else
    call hocket_tasks_recv_init(tasks, array, 0, request, tag=99, count=100)
    do i = 1, 100
      call hocket_request_start(request)
      call hocket_request_wait(request)
      call colfft(A)
      call hocket_gather(array, whole)
      if (rank == 0) then
        if (any(abs(whole - spectrum_of(i, n)) > 1e-2)) error stop 'not the serial FFT'
      end if
    end do
  end if
  call hocket_request_free(request)
  if (myid == 1 .and. rank == 0) print '(a)', 'figure 5: 100 spectra, each that of a serial FFT'
  call hocket_mpi_finalize()
end program
