! SPDX-License-Identifier: BSD-3-Clause
! Flows: steps that compute, communicate and reduce, and their errors. Flows call these procedures
! on any thread; gfortran 12 does not take the address of internal ones.
module steps
  use checks
  use, intrinsic :: iso_c_binding
  implicit none

  type :: message
    type(hocket_request) :: send, receive
  end type
  type(message), target, save :: under_way

contains

  ! A whole matrix, by its context: each element becomes twice itself plus one.
  recursive function twice(context, parts) bind(C, name='') result(code)
    type(c_ptr), value :: context, parts
    integer(c_int) :: code
    real, pointer :: x(:, :)
    call c_f_pointer(context, x, [4, 3])
    x = 2*x + 1
    code = merge(0, 1, c_associated(context))
    if (.false.) print *, c_associated(parts)
  end function

  recursive function broken(context, parts) bind(C, name='') result(code)
    type(c_ptr), value :: context, parts
    integer(c_int) :: code
    code = 7
    if (.false.) print *, c_associated(context), c_associated(parts)
  end function

  ! Adds the number at the context to the step's own part.
  recursive function add_one(context, parts) bind(C, name='') result(code)
    type(c_ptr), value :: context, parts
    integer(c_int) :: code
    type(c_ptr), pointer :: own(:)
    integer, pointer :: total(:), number
    call c_f_pointer(parts, own, [1])
    call c_f_pointer(own(1), total, [2])
    call c_f_pointer(context, number)
    total = total + [1, number]
    code = 0
  end function

  recursive subroutine zero(context, part, bytes) bind(C, name='')
    type(c_ptr), value :: context, part
    integer(c_int64_t), value :: bytes
    integer, pointer :: total(:)
    call c_f_pointer(part, total, [bytes/4])
    total = 0
    if (.false.) print *, c_associated(context)
  end subroutine

  recursive subroutine add(context, into, part, bytes) bind(C, name='')
    type(c_ptr), value :: context, into, part
    integer(c_int64_t), value :: bytes
    integer, pointer :: total(:), more(:)
    call c_f_pointer(into, total, [bytes/4])
    call c_f_pointer(part, more, [bytes/4])
    total = total + more
    if (.false.) print *, c_associated(context)
  end subroutine

  recursive function pass_on(context, started) bind(C, name='') result(code)
    type(c_ptr), value :: context, started
    integer(c_int) :: code
    type(message), pointer :: passed
    type(hocket_operation) :: operation
    call c_f_pointer(context, passed)
    call hocket_request_start(passed%receive)
    call hocket_request_operation(passed%receive, operation)
    call hocket_started_add(started, operation)
    call hocket_request_start(passed%send)
    call hocket_request_operation(passed%send, operation)
    call hocket_started_add(started, operation)
    code = merge(1, 0, c_associated(operation%handle))
  end function

  ! Annotated: the second number grows by the first.
  recursive function add_to(arguments) bind(C, name='') result(code)
    type(c_ptr), value :: arguments
    integer(c_int) :: code
    type(c_ptr), pointer :: each(:)
    integer, pointer :: from(:), to(:)
    call c_f_pointer(arguments, each, [2])
    call c_f_pointer(each(1), from, [1])
    call c_f_pointer(each(2), to, [1])
    to = to + from
    code = 0
  end function
  ! Annotated, and communicating.
  recursive function pass_again(arguments, started) bind(C, name='') result(code)
    type(c_ptr), value :: arguments, started
    integer(c_int) :: code
    code = pass_on(c_loc(under_way), started)
    if (.false.) print *, c_associated(arguments)
  end function
end module

program flows
  use, intrinsic :: iso_fortran_env, only: real64
  use steps
  implicit none
  integer :: agent
  call begin()
  do agent = HOCKET_AGENT_BETWEEN_STEPS, HOCKET_AGENT_THREAD
    call test_computing(agent)
    call test_communicating(agent)
  end do
  call test_wrong_calls()
  call finish('flows')

contains

  function flow_with(agent) result(flow)
    integer, intent(in) :: agent
    type(hocket_flow) :: flow
    type(hocket_flow_options) :: options
    call hocket_flow_options_default(options)
    options%workers = 2
    options%record = .true.
    options%agent = int(agent, c_int)
    call hocket_flow_make(flow, options)
  end function

  subroutine test_computing(agent)
    integer, intent(in) :: agent
    type(hocket_flow) :: flow
    type(hocket_reduction) :: sum_up
    type(hocket_annotated) :: annotated
    real, target :: x(4, 3), y(4, 3)
    integer, target :: total(4), numbers(5), one(1), two(1)
    integer :: n, i, ierr
    logical :: yes
    character(:), allocatable :: text
    flow = flow_with(agent)
    call hocket_flow_workers(flow, n)
    call check(n == 2, 'two workers')
    call hocket_flow_agent_thread(flow, yes)
    call check(yes .eqv. agent == HOCKET_AGENT_THREAD, 'the agent')
    x = 0
    y = 0
    do i = 1, 10
      call hocket_flow_task(flow, c_funloc(twice), c_loc(x), [hocket_updates(hocket_view(x))])
    end do
    call hocket_flow_wait_on(flow, hocket_reads(hocket_view(x(2:, :))))
    call check(all(x == 1023), 'ten times')
    ! Steps on the same columns wait for each other; steps on others do not; keys are their own.
    call hocket_flow_task(flow, c_funloc(twice), c_loc(x), [hocket_writes(hocket_view(x(:, 1:2)))], &
                          name='first')
    call hocket_flow_task(flow, c_funloc(twice), c_loc(y), [hocket_reads(hocket_view(x(:, 3)))])
    call hocket_flow_task(flow, c_funloc(twice), c_loc(y), &
                          [hocket_reads(hocket_view(x(4, :))), hocket_updates('y')], priority=2)
    call hocket_flow_task(flow, c_funloc(twice), c_loc(y), [hocket_updates('y')])
    call hocket_flow_wait(flow, 60.0_real64)
    call hocket_flow_steps(flow, n)
    call check(n == 14, 'steps')
    call hocket_flow_dot(flow, text)
    call check(index(text, 's10 -> s12;') > 0 .and. index(text, 's12 -> s13;') > 0, text)
    call check(index(text, 's10 -> s11;') == 0, 'a column of its own: '//text)
    call hocket_flow_svg(flow, text)
    call check(index(text, 'first') > 0, 'the picture')

    call hocket_reduction_make('sum', c_funloc(zero), c_funloc(add), c_null_ptr, sum_up)
    total = [5, -1, 100, -1]
    do i = 1, 5
      numbers(i) = i
      call hocket_flow_task(flow, c_funloc(add_one), c_loc(numbers(i)), &
                            [hocket_reads(hocket_view(numbers(i:i))), &
                             hocket_reduces(hocket_view(total(::2)), sum_up)])
    end do
    call hocket_reduction_free(sum_up)
    call hocket_flow_wait(flow)
    call check(all(total == [10, -1, 115, -1]), 'the sum')

    one = 1
    two = 2
    call hocket_annotated_make('add_to', c_funloc(add_to), [HOCKET_ACCESS_READS, &
                                                            HOCKET_ACCESS_UPDATES], annotated)
    call hocket_annotated_step_threads(annotated, 2)
    call hocket_annotated_step_threads(annotated, -1, ierr)
    call fails(HOCKET_ERR_ARGUMENT, ierr, "'threads' is -1")
    call hocket_flow_inside(yes)
    call check(.not. yes, 'outside')
    call hocket_annotated_call(annotated, [hocket_passes(hocket_view(one)), &
                                           hocket_passes(hocket_view(two))])
    call check(two(1) == 3, 'a call')
    call hocket_flow_enter(flow)
    call hocket_flow_inside(yes)
    call check(yes, 'inside')
    call hocket_flow_free(flow, ierr)
    call fails(HOCKET_ERR_ERROR, ierr, 'this thread is inside the flow')
    call hocket_annotated_call(annotated, [hocket_passes(hocket_view(one)), &
                                           hocket_passes(hocket_view(two))])
    call hocket_flow_leave(flow)
    call hocket_flow_wait(flow)
    call check(two(1) == 4, 'a step')
    call hocket_annotated_free(annotated)

    call hocket_flow_task(flow, c_funloc(broken), c_null_ptr, &
                          [hocket_commutes(hocket_view(y)), hocket_writes('z')], name='broken')
    call hocket_flow_task(flow, c_funloc(twice), c_loc(x), [hocket_reads('z')])
    call hocket_flow_wait(flow, ierr=ierr)
    call fails(HOCKET_ERR_ERROR, ierr, "step 'broken' failed: its function returned 7")
    call hocket_flow_give_way(flow)
    call hocket_flow_cancel(flow)
    call hocket_flow_wait(flow)
    call hocket_flow_free(flow)
    call check(.not. c_associated(flow%handle), 'freed')
  end subroutine

  subroutine test_communicating(agent)
    integer, intent(in) :: agent
    type(hocket_tasks) :: tasks
    type(hocket_layout) :: layout
    type(hocket_array) :: a, b, c
    type(hocket_flow) :: flow
    type(message), target :: passed
    type(hocket_annotated) :: pass
    integer :: time, ierr
    integer, allocatable, target :: x(:), y(:), z(:), w(:)
    type(hocket_array) :: d
    call hocket_tasks_make([character(4) :: 'only'], [ranks], world, tasks)
    call hocket_layout_make([24], '(BLOCK)', [ranks], layout)
    x = numbers_of(layout, rank)
    allocate (y(size(x)), z(size(x)), w(size(x)))
    y = 0
    z = 0
    w = 0
    call hocket_array_wrap(x, layout, world, a)
    call hocket_array_wrap(y, layout, world, b)
    call hocket_array_wrap(z, layout, world, c)
    call hocket_array_wrap(w, layout, world, d)
    flow = flow_with(agent)
    call hocket_flow_recv(flow, tasks, b, 'only')
    call hocket_flow_send(flow, tasks, a, 0)
    call hocket_flow_send(flow, tasks, b, 'only', tag=2, priority=1)
    call hocket_flow_recv(flow, tasks, c, 0, tag=2)
    call hocket_tasks_isend(tasks, [c], 0, passed%send, tag=3, later=.true.)
    call hocket_tasks_irecv(tasks, [d], 0, passed%receive, tag=3, later=.true.)
    call hocket_flow_comm(flow, c_funloc(pass_on), c_loc(passed), &
                          [hocket_reads(c), hocket_writes(d)], name='pass on')
    call hocket_flow_wait(flow, 60.0_real64)
    call check(all(x == y), 'the first')
    call check(all(x == z), 'the second')
    call check(all(x == w), 'the third')
    call hocket_annotated_make_comm('pass', c_funloc(pass_again), [HOCKET_ACCESS_COMMUTES], pass, &
                                    ierr=ierr)
    call fails(HOCKET_ERR_ARGUMENT, ierr, 'that communicates cannot have arguments of kind 3')
    call hocket_annotated_make_comm('pass', c_funloc(pass_again), [HOCKET_ACCESS_READS, &
                                                                   HOCKET_ACCESS_WRITES], pass)
    do time = 1, 2  ! a call that waits, and a step
      w = 0
      call hocket_tasks_isend(tasks, [c], 0, under_way%send, tag=4, later=.true.)
      call hocket_tasks_irecv(tasks, [d], 0, under_way%receive, tag=4, later=.true.)
      if (time == 2) call hocket_flow_enter(flow)
      call hocket_annotated_call(pass, [hocket_reads(c), hocket_writes(d)])
      if (time == 2) then
        call hocket_flow_leave(flow)
        call hocket_flow_wait(flow, 60.0_real64)
      end if
      call check(all(x == w), 'annotated')
      call hocket_request_free(under_way%send)
      call hocket_request_free(under_way%receive)
    end do
    call hocket_annotated_free(pass)
    call hocket_request_free(passed%send)
    call hocket_request_free(passed%receive)
    call hocket_flow_free(flow)
    call hocket_array_free(a)
    call hocket_array_free(b)
    call hocket_array_free(c)
    call hocket_array_free(d)
    call hocket_layout_free(layout)
    call hocket_tasks_free(tasks)
  end subroutine

  subroutine test_wrong_calls()
    type(hocket_flow) :: flow
    type(hocket_flow_options) :: options
    type(hocket_flow_access) :: none(0)
    integer :: ierr
    call hocket_flow_make(flow, options)  ! zeros are defaults
    call hocket_flow_free(flow)
    options%workers = -2
    call hocket_flow_make(flow, options, ierr)
    call fails(HOCKET_ERR_ERROR, ierr, '-2 workers')
    call hocket_flow_wait(flow, ierr=ierr)
    call check(ierr == HOCKET_ERR_ARGUMENT, 'no flow')
    call hocket_flow_make(flow)
    call hocket_flow_step_threads(flow, -1, ierr)
    call fails(HOCKET_ERR_ARGUMENT, ierr, "'threads' is -1")
    call hocket_flow_step_threads(flow, 2)
    call hocket_flow_task(flow, c_null_funptr, c_null_ptr, none, ierr=ierr)
    call fails(HOCKET_ERR_ARGUMENT, ierr, "'function' is NULL")
    call hocket_flow_task(flow, c_funloc(twice), c_null_ptr, [hocket_reads(repeat('k', 128))], &
                          ierr=ierr)
    call fails(HOCKET_ERR_ARGUMENT, ierr, 'more than 127 characters')
    call hocket_flow_leave(flow, ierr)
    call check(ierr == HOCKET_ERR_ERROR, 'it was not entered')
    call hocket_flow_free(flow)
  end subroutine
end program
