! SPDX-License-Identifier: BSD-3-Clause
! Two tasks and a channel between them. Avalani, Choudhary, Foster, Krishnaiyer, "A Data Transfer
! Library for Communicating Data-Parallel Tasks", Figure 3, where 16 processes send to 8:
!
!     PROCESS sender(po)                          PROCESS receiver(pi)
!       do i = 1,10                                 do i = 1,10
!         call produce(a);  SEND(po) a                RECEIVE(pi,end=10) b;  call use(b)
!       enddo                                       enddo
!       ENDCHANNEL(po)                            10 continue
!
! Run me: mpiexec -n 24 producer_consumer
program producer_consumer
  use hocket
  implicit none
  integer, parameter :: n = 128
  type(hocket_tasks) :: tasks
  integer :: world, comm, rank, ranks, myid

  call hocket_mpi_init()
  call hocket_comm_world(world)
  call hocket_comm_size(world, ranks)
  call hocket_tasks_make([character(8) :: 'producer', 'consumer'], &
                         [ranks - ranks/3, ranks/3], world, tasks)
  call hocket_tasks_rank(tasks, myid)
  call hocket_tasks_comm(tasks, comm)
  call hocket_comm_rank(comm, rank)
  call hocket_comm_size(comm, ranks)
  if (myid == 0) call sender()
  if (myid == 1) call receiver()
  call hocket_mpi_finalize()

contains

  subroutine sender()
    type(hocket_layout) :: layout
    type(hocket_array) :: array
    type(hocket_channel) :: channel
    real, pointer :: a(:, :)
    integer :: i
    call hocket_layout_make([n, n], '(BLOCK, *)', [ranks], layout)
    call hocket_array_empty(layout, 'float32', comm, array)
    call hocket_array_data(array, a)
    call hocket_tasks_channel(tasks, 'arrays', 'consumer', channel)
    do i = 1, 10
      a = i
      call hocket_channel_send(channel, array)
    end do
    call hocket_channel_close(channel)
  end subroutine

  subroutine receiver()
    type(hocket_layout) :: layout
    type(hocket_array) :: array
    type(hocket_channel) :: channel
    real, pointer :: b(:, :)
    integer :: i, ierr
    call hocket_layout_make([n, n], '(*, BLOCK)', [ranks], layout)
    call hocket_array_empty(layout, 'float32', comm, array)
    call hocket_array_data(array, b)
    call hocket_tasks_channel(tasks, 'arrays', 'producer', channel)
    i = 0
    do
      call hocket_channel_recv(channel, array, ierr=ierr)
      if (ierr == HOCKET_ERR_END_OF_STREAM) exit
      if (ierr /= HOCKET_SUCCESS) error stop 'the channel broke'
      i = i + 1
      if (any(b /= i)) error stop 'not what was sent'
    end do
    if (rank == 0) print '(a, i0, a)', 'the consumer has used ', i, ' arrays'
  end subroutine
end program
