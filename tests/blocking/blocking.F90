! SPDX-License-Identifier: BSD-3-Clause
! Steps in Fortran that call blocking procedures of MPI, on two processes or more. HOCKET_MODULE:
! mpi or mpi_f08.
module steps
  use HOCKET_MODULE
  use, intrinsic :: iso_c_binding
  implicit none
  integer :: me, size_of_all, below, above, chain = 0, received = -1, chain_then = -1, wrong = 0
contains

  subroutine expect(holds, what)
    logical, intent(in) :: holds
    character(*), intent(in) :: what
    if (holds) return
    wrong = wrong + 1
    print '(a, i0, 2a)', 'process ', me, ': not so: ', what
  end subroutine

  ! The messages come while the chain goes on and after it has ended, which needs the only worker.
  function receive_from_self(context) bind(C) result(code)
    type(c_ptr), value :: context
    integer(c_int) :: code
    integer :: ierr
#ifdef HOCKET_F08
    type(MPI_Request) :: request
    type(MPI_Status) :: status, of_probe, of_wait
#else
    integer :: request, status(MPI_STATUS_SIZE), of_probe(MPI_STATUS_SIZE), of_wait(MPI_STATUS_SIZE)
#endif
    call MPI_Irecv(received, 1, MPI_INTEGER, me, 1, MPI_COMM_WORLD, request, ierr)
    call MPI_Wait(request, of_wait, ierr)
    call MPI_Probe(me, MPI_ANY_TAG, MPI_COMM_WORLD, of_probe, ierr)
    call MPI_Recv(received, 1, MPI_INTEGER, me, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    call MPI_Recv(received, 1, MPI_INTEGER, me, 3, MPI_COMM_WORLD, status, ierr)
#ifdef HOCKET_F08
    call expect(of_wait%MPI_TAG == 1 .and. of_probe%MPI_TAG == 2 .and. status%MPI_TAG == 3, 'the tags')
    call expect(status%MPI_SOURCE == me .and. of_wait%MPI_SOURCE == me, 'the source')
#else
    call expect(of_wait(MPI_TAG) == 1 .and. of_probe(MPI_TAG) == 2 .and. status(MPI_TAG) == 3, 'the tags')
    call expect(status(MPI_SOURCE) == me .and. of_wait(MPI_SOURCE) == me, 'the source')
#endif
    call expect(ierr == MPI_SUCCESS .and. .not. c_associated(context), 'a receive')
    chain_then = chain
    code = 0
  end function

  function update_chain(context, parts) bind(C) result(code)
    type(c_ptr), value :: context, parts
    integer(c_int) :: code
    if (.not. (c_associated(context) .or. c_associated(parts))) chain = chain + 1
    code = 0
  end function

  function send_to_self(context) bind(C) result(code)
    type(c_ptr), value :: context
    integer(c_int) :: code
    integer :: ierr
    call expect(.not. c_associated(context), 'no context')
    call MPI_Send(me, 1, MPI_INTEGER, me, chain/20, MPI_COMM_WORLD, ierr)
    code = 0
  end function

  function exchange_often(context) bind(C) result(code)
    type(c_ptr), value :: context
    integer(c_int) :: code
    integer :: i, ierr, in, out, total, index, values(2)
#ifdef HOCKET_F08
    type(MPI_Request) :: requests(2)
#else
    integer :: requests(2)
#endif
    call expect(.not. c_associated(context), 'no context')
    do i = 1, 32
      out = 1000*me + i
      call MPI_Sendrecv(out, 1, MPI_INTEGER, above, i, in, 1, MPI_INTEGER, below, i, &
                        MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
      call expect(in == 1000*below + i, 'sendrecv')
      call MPI_Irecv(in, 1, MPI_INTEGER, below, i, MPI_COMM_WORLD, requests(1), ierr)
      call MPI_Isend(out, 1, MPI_INTEGER, above, i, MPI_COMM_WORLD, requests(2), ierr)
      select case (mod(i, 3))
      case (0)
        call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierr)
      case (1)
        call MPI_Wait(requests(1), MPI_STATUS_IGNORE, ierr)
        call MPI_Wait(requests(2), MPI_STATUS_IGNORE, ierr)
      case default
        call MPI_Waitany(2, requests, index, MPI_STATUS_IGNORE, ierr)
        call expect(index >= 1 .and. index <= 2, 'the index of waitany')
        call MPI_Waitany(2, requests, index, MPI_STATUS_IGNORE, ierr)
      end select
      call expect(requests(1) == MPI_REQUEST_NULL .and. in == 1000*below + i, 'requests')
      total = i
      call MPI_Allreduce(MPI_IN_PLACE, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
      call expect(total == i*size_of_all, 'allreduce in place')
      values = [me, i]
      call MPI_Bcast(values, 2, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
      call expect(all(values == [0, i]), 'bcast')
      call MPI_Barrier(MPI_COMM_WORLD, ierr)
    end do
    code = 0
  end function
end module

program blocking
  use steps
  use hocket
  use, intrinsic :: iso_fortran_env, only: real64
  implicit none
  type(hocket_flow) :: flow
  type(hocket_flow_options) :: options
  integer :: i, ierr, level, all_wrong
  call MPI_Init_thread(MPI_THREAD_MULTIPLE, level, ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, me, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, size_of_all, ierr)
  below = modulo(me - 1, size_of_all)
  above = modulo(me + 1, size_of_all)
  call hocket_flow_options_default(options)
  options%workers = 1
  options%agent = HOCKET_AGENT_BETWEEN_STEPS
  call hocket_flow_make(flow, options)
  call hocket_flow_blocking_task(flow, c_funloc(receive_from_self), c_null_ptr, [hocket_writes('message')], &
                                 priority=1, name='receive')
  do i = 1, 60
    call hocket_flow_task(flow, c_funloc(update_chain), c_null_ptr, [hocket_updates('chain')])
    if (mod(i, 20) == 0) call hocket_flow_blocking_task(flow, c_funloc(send_to_self), c_null_ptr, &
                                                        [hocket_updates('chain')])
  end do
  call hocket_flow_blocking_task(flow, c_funloc(exchange_often), c_null_ptr, [hocket_updates('pivot')])
  call hocket_flow_wait(flow, 60.0_real64)
  call hocket_flow_free(flow)
  call expect(chain_then == 60 .and. received == me, 'the chain ran while the receive waited')
  call MPI_Reduce(wrong, all_wrong, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, ierr)
  if (me == 0) print '(a, i0, a)', 'blocking: ', all_wrong, ' wrong'
  call MPI_Finalize(ierr)
end program
