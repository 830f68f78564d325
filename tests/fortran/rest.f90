! SPDX-License-Identifier: BSD-3-Clause
! Every procedure that the other programs do not call.
module watch
  use, intrinsic :: iso_c_binding
  implicit none
  integer, target :: times_let_go = 0, times_taken_back = 0, times_heard = 0
contains

  ! Ends every wait.
  function interrupt() bind(C, name='') result(code)
    integer(c_int) :: code
    code = 1
  end function

  ! The lock of an interpreter that this thread holds.
  function let_go() bind(C, name='') result(held)
    type(c_ptr) :: held
    times_let_go = times_let_go + 1
    held = c_loc(times_let_go)
  end function

  subroutine take_back(held) bind(C, name='')
    type(c_ptr), value :: held
    if (c_associated(held, c_loc(times_let_go))) times_taken_back = times_taken_back + 1
  end subroutine

  ! Gets the log's messages.
  subroutine hear(level, text) bind(C, name='')
    integer(c_int), value :: level
    type(c_ptr), value :: text
    if (level == 10 .and. c_associated(text)) times_heard = times_heard + 1
  end subroutine
end module

program rest
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: real64
  use checks
  use watch
  implicit none
  call begin()
  call test_plans()
  call test_copies()
  call test_waits()
  call test_tasks()
  call finish('rest')

contains

  subroutine test_plans()
    type(hocket_layout) :: rows, columns, same
    type(hocket_plan) :: plan
    type(hocket_prediction), allocatable :: seconds(:)
    type(hocket_traffic), allocatable :: common(:)
    type(hocket_message_counts) :: counts
    type(hocket_array) :: a
    character(:), allocatable :: text
    integer(int64) :: hash_a, hash_b, room
    integer :: n
    logical :: equal
    call hocket_layout_parse_with_shape('(BLOCK, *) @ (2)', [4, 6], rows)
    call hocket_layout_make([4, 6], '(*, BLOCK)', [3], columns)
    call hocket_plan_make(rows, columns, plan, strategy='direct', overlap=[0, 1, -1])
    call hocket_plan_source(plan, same)
    call hocket_layout_equal(rows, same, equal)
    call check(equal, 'source')
    call hocket_layout_hash(rows, hash_a)
    call hocket_layout_hash(same, hash_b)
    call check(hash_a == hash_b, 'hash')
    call hocket_plan_destination(plan, same)
    call hocket_layout_equal(columns, same, equal)
    call check(equal, 'destination')
    call hocket_plan_strategy(plan, text)
    call check(text == 'direct', text)
    call hocket_plan_text(plan, text)
    call check(index(text, 'BLOCK') > 0, text)
    call hocket_plan_rounds(plan, n)
    call check(n >= 2, 'rounds')
    call hocket_plan_common(plan, HOCKET_DESTINATION, 2, common)
    call check(all(common%elements == 4) .and. size(common) == 2, 'common')
    call hocket_plan_same_process(plan, 2, n)
    call check(n == -1, 'process 2 is new')
    call hocket_plan_predict(plan, seconds)
    call check(any(seconds%seconds > 0), 'seconds')
    call hocket_plan_predict(plan, seconds, model=hocket_model(message=1d0))
    call check(any(seconds%seconds >= 1), 'a second a message')
    call hocket_descriptor_counts(counts)
    call check(counts%sent >= 0, 'counts')
    call hocket_layout_make([4, 6], '(BLOCK, *)', [ranks], columns)
    call hocket_array_empty(columns, 'int16', world, a)
    call hocket_array_room(a, room)
    call check(room >= 4*6*2/ranks - 12, 'room')
  end subroutine

  subroutine test_copies()
    type(hocket_copy) :: copy
    integer(c_int), target :: from(3, 4), to(4, 3)
    integer(int64) :: bytes
    integer :: i, ierr
    logical :: contiguous
    from = reshape([(i, i=1, 12)], [3, 4])
    call hocket_copy_make([4, 3], 4, [12, 4], [4, 16], copy)
    call hocket_copy_run(copy, c_loc(from), c_loc(to), threads=1, stores=HOCKET_STORES_CACHED)
    call check(all(to == transpose(from)), 'transposed')
    call hocket_copy_bytes(copy, bytes)
    call check(bytes == 48, 'bytes')
    call hocket_copy_source_contiguous(copy, contiguous)
    call check(contiguous, 'source')
    call hocket_copy_destination_contiguous(copy, contiguous)
    call check(.not. contiguous, 'destination')
    call hocket_copy_free(copy)
    call hocket_copy_make([4, 3], 4, [12], [4, 16], copy, ierr)
    call fails(HOCKET_ERR_ARGUMENT, ierr, 'source_strides')
  end subroutine

  subroutine test_waits()
    type(hocket_tasks) :: tasks
    type(hocket_layout) :: layout
    type(hocket_array) :: a, b
    type(hocket_request) :: request
    type(hocket_status) :: status
    type(hocket_operation) :: operation
    type(c_funptr) :: check_function
    character(:), allocatable :: text
    integer :: ierr, null_request
    logical :: ready
    call hocket_tasks_make(['t'], [ranks], world, tasks)
    call hocket_layout_make([4], '(BLOCK)', [ranks], layout)
    call hocket_array_empty(layout, 'int8', world, a)
    call hocket_array_empty(layout, 'int8', world, b)
    call hocket_tasks_irecv(tasks, a, 0, request, tag=8)
    call hocket_request_test(request, ready)
    call check(.not. ready, 'nothing sent')
    check_function = c_funloc(interrupt)
    call hocket_interrupt_check_set(check_function)
    call hocket_request_wait(request, ierr=ierr)
    call check(ierr == HOCKET_ERR_INTERRUPTED, 'interrupted')
    call hocket_interrupt_check_set(c_null_funptr)
    call hocket_interpreter_lock_set(c_funloc(let_go), c_funloc(take_back))
    call hocket_request_wait(request, timeout=0.01d0, ierr=ierr)
    call check(ierr == HOCKET_ERR_DEADLINE, 'not sent yet')
    call check(times_let_go > 0 .and. times_taken_back == times_let_go, 'lock let go, taken back')
    call hocket_interpreter_lock_set(c_null_funptr, c_null_funptr)
    call hocket_request_operation(request, operation)
    call hocket_log_set(c_funloc(hear), HOCKET_LOG_DEBUG)
    call hocket_tasks_isend(tasks, b, 0, request, tag=8)
    call hocket_operation_wait(operation, timeout=60d0)
    call check(times_heard > 0, 'what was chosen')
    call hocket_log_set(c_null_funptr, HOCKET_LOG_INFO)
    call hocket_request_wait(request)
    call hocket_request_status(request, status, ierr)
    call check(ierr == 0 .or. ierr == HOCKET_ERR_ERROR, 'a send has no status, or an empty one')
    call hocket_pending_waits(text)
    call check(index(text, 'nothing') > 0, text)
    ! A request that is done already: each MPI has a number for it.
    call hocket_mpi_library(text)
    null_request = 0
    if (index(text, 'MPICH') > 0) null_request = 738197504
    call hocket_operation_from_request(null_request, operation)
    call hocket_operation_wait(operation, timeout=60d0)
    call hocket_tasks_free(tasks)
    call hocket_tasks_from_launcher(world, tasks, ierr)
    call check(ierr == HOCKET_ERR_ERROR, 'no launcher has named tasks')
  end subroutine

  subroutine test_tasks()
    type(hocket_tasks) :: tasks
    type(hocket_layout) :: layout
    type(hocket_array) :: a, b
    type(hocket_request) :: requests(2)
    type(hocket_status) :: status
    type(hocket_channel) :: channel
    type(hocket_profile) :: profile
    character(:), allocatable :: text
    integer :: ierr, itemsize, i
    logical :: same
    type(hocket_layout) :: theirs
    real(real64), pointer :: x(:), y(:)
    call hocket_tasks_make(['t'], [ranks], world, tasks)
    call hocket_layout_make([9], '(CYCLIC)', [ranks], layout)
    call hocket_array_empty(layout, 'float64', world, a)
    call hocket_array_empty(layout, 'float64', world, b)
    call hocket_array_data(a, x)
    call hocket_array_data(b, y)
    x = numbers_of(layout, rank)
    y = 0
    call hocket_tasks_isend(tasks, [a], 't', requests(1))
    call hocket_tasks_irecv(tasks, [b], 't', requests(2))
    call hocket_request_wait(requests(1))
    call hocket_request_wait(requests(2), status=status)
    call check(all(x == y), 'arrived')
    call hocket_status_layout_at(status, 1, theirs)
    call hocket_layout_equal(layout, theirs, same)
    call check(same, 'its layout')
    call hocket_status_dtype_at(status, 1, text, itemsize)
    call check(text == 'float64', text)
    call hocket_status_dtype_at(status, 2, text, itemsize, ierr)
    call check(ierr == HOCKET_ERR_ARGUMENT, 'there is one array')
    y = 0
    call hocket_tasks_sendrecv(tasks, [a], 0, [b], 0, send_tag=2, timeout=60d0)
    call check(all(x == y), 'exchanged')
    call together(tasks, a, b, x, y)
    call hocket_tasks_send_init(tasks, layout, 0, requests(1), strategy='auto')
    call hocket_tasks_recv_init(tasks, layout, 0, requests(2))
    do i = 1, 2
      y = 0
      call hocket_request_start(requests(1), array=a)
      call hocket_request_start(requests(2), array=b)
      call hocket_request_wait_all(requests, timeout=60d0)
      call check(all(x == y), 'any array of a layout')
    end do
    call hocket_request_free(requests(1))
    call hocket_request_free(requests(2))
    call hocket_tasks_add_to_profile(tasks, hocket_profile(0, 2, 0, 0, 0, 0))
    call hocket_tasks_profile(tasks, profile)
    call check(profile%call >= 2, 'two seconds more')
    call hocket_tasks_refuse(tasks, 'send', HOCKET_ERR_ERROR, 'no more', ierr=ierr)
    call fails(HOCKET_ERR_ERROR, ierr, 'no more')
    if (ranks > 1) then
      call hocket_tasks_free(tasks)
      call hocket_tasks_make(['l', 'r'], [1, ranks - 1], world, tasks)
      call hocket_tasks_channel(tasks, 'c', merge('r', 'l', rank == 0), channel)
      call hocket_channel_refuse(channel, .true., HOCKET_ERR_ERROR, 'not this', ierr=ierr)
      call fails(HOCKET_ERR_ERROR, ierr, 'not this')
      call hocket_channel_free(channel)
    end if
    call hocket_tasks_free(tasks)
  end subroutine

  ! Collective calls of one task with itself, and an array in one piece.
  subroutine together(tasks, a, b, x, y)
    type(hocket_tasks), intent(in) :: tasks
    type(hocket_array), intent(in) :: a, b
    real(real64), intent(in) :: x(:)
    real(real64), intent(inout) :: y(:)
    type(hocket_request) :: requests(2)
    type(hocket_message_counts) :: before, after
    integer :: pieces, dimension, first, last
    call hocket_tasks_barrier(tasks, timeout=60d0)
    call hocket_tasks_bcast(tasks, a, 't')
    y = 0
    call hocket_tasks_allreduce(tasks, a, b, 'max')
    call check(all(x == y), 'reduced everywhere')
    y = 0
    call hocket_tasks_reduce(tasks, a, b, 'add', 't')
    call check(all(x == y), 'reduced')
    y = 0
    call hocket_transfer_counts(before)
    call hocket_tasks_isend(tasks, [a], 't', requests(1))
    call hocket_tasks_irecv(tasks, [b], 't', requests(2))
    call hocket_request_pieces(requests(2), pieces)
    call check(pieces == 1, 'one piece')
    call hocket_request_wait_piece(requests(2), 0, dimension, first, last)
    call check(first == 0 .and. last == 9, 'of all elements')
    call check(all(x == y), 'arrived in one piece')
    call hocket_request_wait(requests(1))
    call hocket_request_wait(requests(2))
    call hocket_transfer_counts(after)
    call check(after%sent > before%sent, 'counted')
  end subroutine
end program
