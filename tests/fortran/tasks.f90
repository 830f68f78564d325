! SPDX-License-Identifier: BSD-3-Clause
! Tasks: messages between two data-parallel programs, in every way that C offers. C calls these
! procedures, which are not internal: gfortran 12 does not take the address of an internal one.
module thing
  use, intrinsic :: iso_c_binding
  implicit none
  integer(c_int), target :: polls = 0
contains

  ! Done at the third poll of the number at `context`. (Without name='' it would be C's poll.)
  function poll(context, ready) bind(C, name='') result(code)
    type(c_ptr), value :: context
    logical(c_bool), intent(out) :: ready
    integer(c_int) :: code
    integer(c_int), pointer :: counted
    call c_f_pointer(context, counted)
    counted = counted + 1
    ready = counted >= 3
    code = 0
  end function
end module

program tasks
  use, intrinsic :: iso_fortran_env, only: real64
  use, intrinsic :: ieee_arithmetic, only: ieee_value, ieee_quiet_nan
  use checks
  implicit none
  call begin()
  call test_alone()
  if (ranks > 1) call test_two()
  call test_operations()
  call finish('tasks')

contains

  ! One task of all processes, which sends to itself.
  subroutine test_alone()
    type(hocket_tasks) :: tasks, view
    type(hocket_layout) :: layout
    type(hocket_array) :: a, b
    type(hocket_request) :: requests(2)
    type(hocket_status), allocatable :: statuses(:)
    character(:), allocatable :: name
    real(real64), target, allocatable :: x(:), y(:)
    integer :: n, i, ierr, index
    call hocket_tasks_make([character(4) :: 'only'], [ranks], world, tasks)
    call hocket_tasks_name(tasks, name)
    call check(name == 'only', name)
    call hocket_tasks_size(tasks, n)
    call check(n == 1, 'one task')
    call hocket_tasks_task(tasks, 'only', view)
    call hocket_tasks_rank(view, n)
    call check(n == 0, 'the first')
    call hocket_tasks_free(view)
    call hocket_layout_make([5], '(BLOCK)', [ranks], layout)
    x = real(numbers_of(layout, rank), real64)
    allocate (y(size(x)))
    y = 0
    call hocket_array_wrap(x, layout, world, a)
    call hocket_array_wrap(y, layout, world, b)
    call hocket_tasks_isend(tasks, a, 0, requests(1), tag=3)
    call hocket_tasks_irecv(tasks, b, HOCKET_ANY_SOURCE, requests(2))
    call hocket_request_wait_all(requests, timeout=60d0, statuses=statuses)
    call check(all(x == y), 'arrived')
    call hocket_status_tag(statuses(2), n)
    call check(n == 3, 'tag')
    call hocket_tasks_isend(tasks, a, 'only', requests(1))
    call hocket_tasks_irecv(tasks, b, 'only', requests(2), tag=0)
    do i = 1, 2
      call hocket_request_wait_any(requests, index, timeout=60d0)
      call hocket_request_wait(requests(index))
    end do
    call hocket_tasks_send(tasks, a, 'nobody', ierr=ierr)
    call fails(HOCKET_ERR_ERROR, ierr, 'nobody')
    call test_misuse(tasks, a, b)
    call hocket_tasks_make([character(4) :: 'a', 'b'], [ranks + 1, 1], world, tasks, ierr=ierr)
    call check(ierr == HOCKET_ERR_ERROR, 'too many processes')
    call hocket_tasks_make([character(4) :: 'a', 'b'], [ranks], world, tasks, ierr=ierr)
    call fails(HOCKET_ERR_ARGUMENT, ierr, 'as many names')
    call hocket_tasks_make([character(4) :: 'a', 'b'], [1, ranks], world, tasks, &
                           ranks=[0, (i, i=0, ranks - 1)])
    call hocket_tasks_size(tasks, n)
    call check(n == 2, 'overlapping tasks')
    call hocket_tasks_free(tasks)
  end subroutine

  ! Every call ends, and says what was wrong.
  subroutine test_misuse(tasks, a, b)
    type(hocket_tasks), intent(in) :: tasks
    type(hocket_array), intent(in) :: a, b
    type(hocket_request) :: requests(1), out, in
    integer :: ierr, index
    call hocket_tasks_irecv(tasks, b, 0, requests(1), tag=77)
    call hocket_request_wait(requests(1), timeout=0d0, ierr=ierr)
    call fails(HOCKET_ERR_DEADLINE, ierr, '77')
    call hocket_request_wait(requests(1), timeout=ieee_value(0d0, ieee_quiet_nan), ierr=ierr)
    call fails(HOCKET_ERR_ARGUMENT, ierr, 'not a number')
    call hocket_request_wait_any(requests, index, timeout=0d0, ierr=ierr)
    call fails(HOCKET_ERR_DEADLINE, ierr, 'any of 1 requests')
    call hocket_request_start(requests(1), ierr=ierr)
    call fails(HOCKET_ERR_ERROR, ierr, 'not persistent')
    call hocket_tasks_send(tasks, a, 0, ierr=ierr)
    call fails(HOCKET_ERR_ERROR, ierr, 'isend')
    call hocket_tasks_isend(tasks, a, 0, out, tag=77)
    call hocket_request_wait(requests(1), timeout=60d0)
    call hocket_request_wait(out, timeout=60d0)
    call hocket_tasks_send_init(tasks, a, 0, out)
    call hocket_tasks_recv_init(tasks, b, 0, in)
    call hocket_request_wait(in, ierr=ierr)
    call fails(HOCKET_ERR_ERROR, ierr, 'never started')
    call hocket_request_start(out)
    call hocket_request_start(in)
    call hocket_request_wait(out, timeout=60d0)
    call hocket_request_wait(in, timeout=60d0)
    call hocket_request_free(out)
    call hocket_request_free(in)
    call hocket_request_start(in, ierr=ierr)
    call check(ierr == HOCKET_ERR_ARGUMENT, 'a freed request')
  end subroutine

  subroutine test_two()
    type(hocket_tasks) :: tasks
    type(hocket_layout) :: layout, theirs
    type(hocket_array) :: a, b, narrow
    type(hocket_request) :: persistent
    type(hocket_status) :: status
    type(hocket_channel) :: channel
    type(hocket_profile) :: profile
    character(:), allocatable :: text
    real(real64), pointer :: x(:, :)
    real(real64), allocatable :: wanted(:, :)
    integer(int64), allocatable :: mine(:)
    integer :: comm, me, members, index, ierr, n, i, item
    logical :: left, flag
    left = rank < ranks/2
    call hocket_tasks_make([character(5) :: 'left', 'right'], [ranks/2, ranks - ranks/2], world, tasks)
    call hocket_tasks_rank(tasks, index)
    call check(index == merge(0, 1, left), 'my task')
    call hocket_tasks_name_of(tasks, 1, text)
    call check(text == 'right', text)
    call hocket_tasks_comm(tasks, comm)
    call hocket_comm_rank(comm, me)
    call hocket_comm_size(comm, members)
    if (left) then
      call hocket_layout_make([6, 10], '(BLOCK, *)', [members], layout)
    else
      call hocket_layout_make([6, 10], '(*, CYCLIC(2))', [members], layout)
    end if
    call hocket_array_empty(layout, 'float64', comm, a)
    call hocket_array_empty(layout, 'float32', comm, narrow)
    call hocket_array_data(a, x)
    wanted = reshape(real(numbers_of(layout, me), real64), shape(x))
    x = 0
    if (left) x = wanted
    ! By name, by index, with a status.
    if (left) then
      call hocket_tasks_send(tasks, a, 'right', tag=99)
    else
      call hocket_tasks_probe(tasks, 'left', status, tag=99, timeout=60d0)
      call hocket_status_free(status)
      call hocket_tasks_recv(tasks, a, 0, tag=99, status=status)
      call hocket_status_source(status, n)
      call check(n == 0, 'source')
      call hocket_status_source_name(status, text)
      call check(text == 'left', text)
      call hocket_status_layout(status, theirs)
      call hocket_layout_dist(theirs, text)
      call check(text == '(BLOCK, *)', text)
      call hocket_status_dtype(status, text, item)
      call check(text == 'float64' .and. item == 8, text)
      call hocket_status_count(status, n)
      call check(n == 1, 'one array')
      call hocket_status_free(status)
      call check(all(x == wanted), 'arrived')
    end if
    ! A mismatch is an error on both sides.
    if (left) then
      call hocket_tasks_send(tasks, a, 1, ierr=ierr)
    else
      call hocket_tasks_recv(tasks, narrow, 0, ierr=ierr)
    end if
    call fails(HOCKET_ERR_MISMATCH, ierr, 'float32')
    ! Persistent requests.
    if (left) then
      call hocket_tasks_send_init(tasks, a, 'right', persistent, tag=5, count=3)
    else
      call hocket_tasks_recv_init(tasks, a, 'left', persistent, tag=5)
    end if
    call hocket_request_persistent(persistent, flag)
    call check(flag, 'persistent')
    do i = 1, 3
      if (left) x = i*wanted
      call hocket_request_start(persistent)
      call hocket_request_wait(persistent, timeout=60d0)
      call check(all(x == i*wanted), 'again')
    end do
    call hocket_request_free(persistent)
    ! A stream with an end.
    call hocket_tasks_channel(tasks, 'stream', 1 - index, channel)
    call hocket_channel_name(channel, text)
    call check(text == 'stream', text)
    if (left) then
      do i = 1, 4
        x = i*wanted
        call hocket_channel_send(channel, a, timeout=60d0)
      end do
      call hocket_channel_close(channel)
    else
      do i = 1, 5
        call hocket_channel_recv(channel, a, timeout=60d0, ierr=ierr)
        if (ierr == HOCKET_ERR_END_OF_STREAM) exit
        call check(ierr == 0 .and. all(x == i*wanted), 'streamed')
      end do
      call check(i == 5, 'four arrays')
    end if
    call hocket_channel_free(channel)
    ! Numbered frames, of which the receiver has the first already.
    call hocket_tasks_channel(tasks, 'kept', 1 - index, channel, keep=2, resume=.not. left, last=1)
    if (left) then
      do i = 1, 3
        x = i*wanted
        call hocket_channel_send(channel, a, timeout=60d0)
      end do
      call hocket_channel_sent(channel, n)
      call hocket_channel_close(channel)
    else
      do i = 2, 3
        call hocket_channel_recv(channel, a, timeout=60d0)
        call check(all(x == i*wanted), 'kept')
      end do
      call hocket_channel_received(channel, n)
    end if
    call check(n == 3, 'three frames')
    call hocket_channel_free(channel)
    ! A receiver that comes late gets the last array.
    call hocket_tasks_channel(tasks, 'latest', 1 - index, channel, backpressure='latest')
    if (left) then
      do i = 1, 3
        x = i*wanted
        call hocket_channel_send(channel, a, timeout=60d0)
      end do
      call hocket_tasks_send(tasks, a, 1 - index, timeout=60d0)
      call hocket_channel_close(channel)
    else
      call hocket_tasks_recv(tasks, a, 1 - index, timeout=60d0)
      x = 0
      call hocket_channel_recv(channel, a, timeout=60d0)
      call check(all(x == 3*wanted), 'latest')
      call hocket_channel_recv(channel, a, timeout=60d0, ierr=ierr)
      call check(ierr == HOCKET_ERR_END_OF_STREAM, 'end of latest')
    end if
    call hocket_channel_free(channel)
    ! Several arrays as one message.
    call hocket_layout_global_indices(layout, me, 1, mine)
    call hocket_array_empty(layout, 'float64', comm, b)
    if (left) then
      call hocket_tasks_send(tasks, [a, b], 'right')
    else
      call hocket_tasks_recv(tasks, [a, b], 'left', timeout=60d0, status=status)
      call hocket_status_count(status, n)
      call check(n == 2, 'two arrays')
      call hocket_status_free(status)
    end if
    call hocket_tasks_sendrecv(tasks, a, 1 - index, b, 1 - index, timeout=60d0)
    if (.not. left) then
      call hocket_tasks_recv(tasks, a, HOCKET_ANY_SOURCE, timeout=0.05d0, ierr=ierr)
      call check(ierr == HOCKET_ERR_DEADLINE, 'nobody sends')
      call hocket_tasks_iprobe(tasks, 0, flag)
      call check(.not. flag, 'nothing there')
    end if
    call hocket_tasks_profile(tasks, profile)
    call check(profile%descriptor > 0, 'descriptors took time')
    call hocket_tasks_free(tasks)
  end subroutine

  subroutine test_operations()
    use thing
    type(hocket_operation) :: operation
    type(hocket_memory_usage) :: usage
    type(hocket_cache_counts) :: plans
    character(:), allocatable :: text
    type(hocket_layout) :: local
    type(c_funptr) :: polled
    type(c_ptr) :: memory
    integer :: ierr, owner, last(2)
    logical :: ready
    polled = c_funloc(poll)
    call hocket_operation_make(polled, 'a thing', c_loc(polls), operation)
    call hocket_operation_text(operation, text)
    call check(text == 'a thing', text)
    call hocket_operation_poll(operation, ready)
    call check(.not. ready, 'not yet')
    call hocket_operation_wait(operation, timeout=60d0)
    call hocket_operation_free(operation)
    call hocket_operation_free(operation, ierr)
    call fails(HOCKET_ERR_ARGUMENT, ierr, 'NULL')
    memory = c_null_ptr
    call hocket_memory_allocate(1000_int64, memory)
    call check(c_associated(memory), 'memory')
    call hocket_memory_usage_get(usage)
    call check(usage%in_use >= 1000, 'in use')
    call hocket_memory_free(memory)
    call check(.not. c_associated(memory), 'freed')
    call hocket_plan_cache_counts(plans)
    call check(plans%made >= 0, 'plans')
    call hocket_mpi_library(text)
    call check(len(text) > 4, text)
    last = [rank + 1, 3]
    call hocket_layout_from_local_box(world, [rank + 1, 1], last(:merge(1, 2, rank == 0)), local, &
                                      timeout=60d0, ierr=ierr)
    call fails(HOCKET_ERR_ARGUMENT, ierr, "'first' and 'last' need one entry")
    call hocket_layout_from_local_box(world, [rank + 1, 1], last, local, timeout=60d0, ierr=ierr, &
                                      shape=last(:merge(1, 2, rank == 0)))
    call fails(HOCKET_ERR_ARGUMENT, ierr, "and so does 'shape'")
    call hocket_layout_from_local_box(world, [rank + 1, 1], last, local, timeout=60d0)
    call hocket_layout_owner(local, [rank + 1, 2], owner)
    call check(owner == rank, 'owner of my box')
    call hocket_layout_free(local)
    call hocket_layout_from_local_elements(world, [rank + 1], local, extent=100)
    call hocket_layout_owner(local, [rank + 1], owner)
    call check(owner == rank, 'owner of my element')
    call hocket_layout_free(local)
    call hocket_tell(world, text, root=0, text='the word')
    call check(text == 'the word', text)
    call hocket_refuse(world, HOCKET_ERR_ERROR, 'not today', ierr=ierr)
    call fails(HOCKET_ERR_ERROR, ierr, 'not today')
  end subroutine
end program
