! SPDX-License-Identifier: BSD-3-Clause
! The ping-pong of Foster, Kohr, Krishnaiyer, Choudhary, "Double Standards: Bringing Task Parallelism
! to HPF via the Message Passing Interface", Figure 6: an array travels to and fro between two tasks.
! The sender has blocks of rows, the receiver blocks of columns.
!
! Run me: mpiexec -n 4 figure_6
program figure_6
  use hocket
  implicit none
  integer, parameter :: n = 64
  character(*), parameter :: nl = new_line('a')
  character(*), parameter :: directives = &
    '!HPF$ processors pr(P)'//nl//'  real From(N,N), To(N,N)'//nl// &
    '!HPF$ distribute From(BLOCK,*), To(*,BLOCK)'
  type(hocket_tasks) :: tasks
  type(hocket_layout) :: rows, columns
  type(hocket_array) :: from_array, to_array
  type(hocket_status) :: status
  real, pointer :: from(:, :), to(:, :)
  integer(selected_int_kind(18)), allocatable :: mine(:)
  integer :: world, comm, rank, ranks, myid, i, j

  call hocket_mpi_init()
  call hocket_comm_world(world)
  call hocket_comm_size(world, ranks)
  call hocket_tasks_make([character(4) :: 'ping', 'pong'], [ranks/2, ranks - ranks/2], world, tasks)
  call hocket_tasks_rank(tasks, myid)
  call hocket_tasks_comm(tasks, comm)
  call hocket_comm_rank(comm, rank)
  call hocket_comm_size(comm, ranks)
  call hocket_layout_from_hpf(directives, 'From', rows, &
                              [hocket_value('P', ranks), hocket_value('N', n)])
  call hocket_layout_from_hpf(directives, 'To', columns, &
                              [hocket_value('P', ranks), hocket_value('N', n)])
  call hocket_array_empty(rows, 'float32', comm, from_array)
  call hocket_array_empty(columns, 'float32', comm, to_array)
  call hocket_array_data(from_array, from)
  call hocket_array_data(to_array, to)
  call hocket_layout_global_indices(rows, rank, 1, mine)

  do i = 1, 100
    do j = 1, n
      from(:, j) = 1000*myid + i + real(mine)*n + j
    end do
    if (myid == 0) then
      call hocket_tasks_send(tasks, from_array, 1, tag=99)
      call hocket_tasks_recv(tasks, to_array, 1, tag=99, status=status)
    else
      call hocket_tasks_recv(tasks, to_array, 0, tag=99, status=status)
      call hocket_tasks_send(tasks, from_array, 0, tag=99)
    end if
    call hocket_status_free(status)
    call expect_of_the_other()
  end do
  if (myid == 0 .and. rank == 0) print '(a)', 'figure 6: 100 times to and fro'
  call hocket_mpi_finalize()

contains

  subroutine expect_of_the_other()
    integer(selected_int_kind(18)), allocatable :: held(:)
    integer :: row, k
    call hocket_layout_global_indices(columns, rank, 2, held)
    do k = 1, size(held)
      do row = 1, n
        if (to(row, k) /= 1000*(1 - myid) + i + real(row)*n + held(k)) error stop 'not what was sent'
      end do
    end do
  end subroutine
end program
