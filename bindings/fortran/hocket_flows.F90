! SPDX-License-Identifier: BSD-3-Clause
! Flows: what a step touches, said of Fortran's arrays, and the calls that are told of it.
module hocket_flows
  use hocket_base
  use hocket_c
  use hocket_lists
  use hocket_views
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: real64
  implicit none
  private
  public :: hocket_touch, hocket_reads, hocket_writes, hocket_updates, hocket_commutes
  public :: hocket_reduces, hocket_passes
  public :: hocket_flow_task, hocket_flow_comm, hocket_flow_wait_on, hocket_started_add
  public :: hocket_annotated_call

  integer, parameter :: longest_key = 127

  ! Views and touches are dummies with the attribute target: without it gfortran takes it that what
  ! their addresses lead to is left as it is, for a c_ptr is no pointer to it.
  !
  ! What a step touches, and how; made by hocket_reads(...), hocket_writes(...), ....
  type :: hocket_touch
    private
    integer :: kind = HOCKET_ACCESS_READS
    logical :: is_key = .false.
    character(longest_key + 1) :: key = ''
    type(c_ptr) :: address = c_null_ptr, reduction = c_null_ptr
    integer(c_int64_t) :: bytes = 0  ! of all where `rank` is 0; else of an element
    integer :: rank = 0
    integer(c_int64_t) :: extents(7) = 1, strides(7) = 0
  end type

  ! Of hocket_view(x), x being any array or section of one; of a hocket_array; or of a key, a text
  ! that stands for anything else.
  interface hocket_reads
    module procedure reads_view, reads_array, reads_key
  end interface
  interface hocket_writes
    module procedure writes_view, writes_array, writes_key
  end interface
  interface hocket_updates
    module procedure updates_view, updates_array, updates_key
  end interface
  ! Updates, in any order with others that commute, one at a time.
  interface hocket_commutes
    module procedure commutes_view, commutes_array, commutes_key
  end interface

  ! The same as C has it, as long as this lives.
  type :: c_accesses
    type(hocket_access), allocatable :: all(:)
    character(kind=c_char), allocatable :: keys(:, :)
    integer(c_int64_t), allocatable :: extents(:, :), strides(:, :)
  end type

  interface
    ! The address alone: Fortran's twin wants to know the type.
    function c_array_address(array, data) bind(C, name='hocket_array_data') result(code)
      import :: c_ptr, c_int
      type(c_ptr), value :: array, data
      integer(c_int) :: code
    end function
  end interface

contains

  function reads_view(view) result(touch)
    type(memory_view), intent(in), target :: view
    type(hocket_touch) :: touch
    touch = of_view(HOCKET_ACCESS_READS, view)
  end function
  function reads_array(array) result(touch)
    type(hocket_array), intent(in) :: array
    type(hocket_touch) :: touch
    touch = of_array(HOCKET_ACCESS_READS, array)
  end function
  function reads_key(key) result(touch)
    character(*), intent(in) :: key
    type(hocket_touch) :: touch
    touch = hocket_touch(kind=HOCKET_ACCESS_READS, is_key=.true., key=key)
  end function

  function writes_view(view) result(touch)
    type(memory_view), intent(in), target :: view
    type(hocket_touch) :: touch
    touch = of_view(HOCKET_ACCESS_WRITES, view)
  end function
  function writes_array(array) result(touch)
    type(hocket_array), intent(in) :: array
    type(hocket_touch) :: touch
    touch = of_array(HOCKET_ACCESS_WRITES, array)
  end function
  function writes_key(key) result(touch)
    character(*), intent(in) :: key
    type(hocket_touch) :: touch
    touch = hocket_touch(kind=HOCKET_ACCESS_WRITES, is_key=.true., key=key)
  end function

  function updates_view(view) result(touch)
    type(memory_view), intent(in), target :: view
    type(hocket_touch) :: touch
    touch = of_view(HOCKET_ACCESS_UPDATES, view)
  end function
  function updates_array(array) result(touch)
    type(hocket_array), intent(in) :: array
    type(hocket_touch) :: touch
    touch = of_array(HOCKET_ACCESS_UPDATES, array)
  end function
  function updates_key(key) result(touch)
    character(*), intent(in) :: key
    type(hocket_touch) :: touch
    touch = hocket_touch(kind=HOCKET_ACCESS_UPDATES, is_key=.true., key=key)
  end function

  function commutes_view(view) result(touch)
    type(memory_view), intent(in), target :: view
    type(hocket_touch) :: touch
    touch = of_view(HOCKET_ACCESS_COMMUTES, view)
  end function
  function commutes_array(array) result(touch)
    type(hocket_array), intent(in) :: array
    type(hocket_touch) :: touch
    touch = of_array(HOCKET_ACCESS_COMMUTES, array)
  end function
  function commutes_key(key) result(touch)
    character(*), intent(in) :: key
    type(hocket_touch) :: touch
    touch = hocket_touch(kind=HOCKET_ACCESS_COMMUTES, is_key=.true., key=key)
  end function

  ! Into a part of the step's own, which its function gets.
  function hocket_reduces(view, reduction) result(touch)
    type(memory_view), intent(in), target :: view
    type(hocket_reduction), intent(in) :: reduction
    type(hocket_touch) :: touch
    touch = of_view(HOCKET_ACCESS_REDUCES, view)
    touch%reduction = reduction%handle
  end function

  ! An argument of an annotated procedure: how it is used the annotation says.
  function hocket_passes(view) result(touch)
    type(memory_view), intent(in), target :: view
    type(hocket_touch) :: touch
    touch = of_view(HOCKET_ACCESS_VALUE, view)
  end function

  ! `step`: c_funloc of a function(context, parts) bind(C) with two type(c_ptr), value, which gives
  ! an integer(c_int): 0, or anything else to fail. `parts`: an address for each reduction.
  subroutine hocket_flow_task(flow, step, context, touches, priority, name, ierr)
    type(hocket_flow), intent(in) :: flow
    type(c_funptr), value :: step
    type(c_ptr), value :: context
    type(hocket_touch), intent(in), target :: touches(:)
    integer, intent(in), optional :: priority
    character(*), intent(in), optional :: name
    integer, intent(out), optional :: ierr
    call insert(flow, step, context, touches, .false., priority, name, ierr)
  end subroutine

  ! `step`: likewise a function(context, started), which gives the operations that it starts to
  ! hocket_started_add, and may not block.
  subroutine hocket_flow_comm(flow, step, context, touches, priority, name, ierr)
    type(hocket_flow), intent(in) :: flow
    type(c_funptr), value :: step
    type(c_ptr), value :: context
    type(hocket_touch), intent(in), target :: touches(:)
    integer, intent(in), optional :: priority
    character(*), intent(in), optional :: name
    integer, intent(out), optional :: ierr
    call insert(flow, step, context, touches, .true., priority, name, ierr)
  end subroutine

  ! The flow takes the operation over.
  subroutine hocket_started_add(started, operation, ierr)
    type(c_ptr), value :: started
    type(hocket_operation), intent(inout), target :: operation
    integer, intent(out), optional :: ierr
    call finish(c_hocket_started_add(started, c_loc(operation%handle)), ierr)
  end subroutine

  ! Until all steps so far that touch the same have ended.
  subroutine hocket_flow_wait_on(flow, touch, timeout, ierr)
    type(hocket_flow), intent(in) :: flow
    type(hocket_touch), intent(in), target :: touch
    real(real64), intent(in), optional :: timeout
    integer, intent(out), optional :: ierr
    type(c_accesses), target :: held
    real(c_double) :: seconds
    seconds = -1
    if (present(timeout)) seconds = timeout
    if (refused([touch], 'hocket_flow_wait_on', ierr)) return
    call hold([touch], held)
    call finish(c_hocket_flow_wait_on(flow%handle, c_loc(held%all), seconds), ierr)
  end subroutine

  subroutine hocket_annotated_call(annotated, arguments, ierr)
    type(hocket_annotated), intent(in) :: annotated
    type(hocket_touch), intent(in), target :: arguments(:)
    integer, intent(out), optional :: ierr
    type(c_accesses), target :: held
    if (refused(arguments, 'hocket_annotated_call', ierr)) return
    call hold(arguments, held)
    call finish(c_hocket_annotated_call(annotated%handle, size(arguments, kind=c_int64_t), &
                                        c_loc(held%all)), ierr)
  end subroutine

  subroutine insert(flow, step, context, touches, communicates, priority, name, ierr)
    type(hocket_flow), intent(in) :: flow
    type(c_funptr), value :: step
    type(c_ptr), value :: context
    type(hocket_touch), intent(in), target :: touches(:)
    logical, intent(in) :: communicates
    integer, intent(in), optional :: priority
    character(*), intent(in), optional :: name
    integer, intent(out), optional :: ierr
    type(c_accesses), target :: held
    character(kind=c_char), allocatable, target :: called(:)
    integer(c_int) :: first, code
    if (refused(touches, 'a step of a flow', ierr)) return
    first = 0
    if (present(priority)) first = int(priority, c_int)
    allocate (called(1))
    if (present(name)) called = c_chars(name)
    call hold(touches, held)
    if (communicates) then
      code = c_hocket_flow_comm(flow%handle, step, context, size(touches, kind=c_int64_t), &
                                c_loc(held%all), first, wanted_text(called, present(name)))
    else
      code = c_hocket_flow_task(flow%handle, step, context, size(touches, kind=c_int64_t), &
                                c_loc(held%all), first, wanted_text(called, present(name)))
    end if
    call finish(code, ierr)
  end subroutine

  function of_view(kind, view) result(touch)
    integer, intent(in) :: kind
    type(memory_view), intent(in), target :: view
    type(hocket_touch) :: touch
    touch%kind = kind
    touch%address = view%address
    touch%bytes = view%itemsize
    touch%rank = view%rank
    touch%extents = view%extents
    touch%strides = view%strides
    call make_run(touch)
  end function

  ! A handle that is not live touches nothing here; the call that it is for says so.
  function of_array(kind, array) result(touch)
    integer, intent(in) :: kind
    type(hocket_array), intent(in) :: array
    type(hocket_touch) :: touch
    type(c_ptr), target :: address, dtype
    integer(c_int64_t), target :: count, itemsize, extents(7), strides(7)
    touch%kind = kind
    address = c_null_ptr
    if (c_array_address(array%handle, c_loc(address)) /= 0) return
    if (c_hocket_array_dtype(array%handle, c_loc(dtype), c_loc(itemsize)) /= 0) return
    extents = 1
    strides = 0
    if (c_hocket_array_local_shape(array%handle, 7_c_int64_t, c_loc(extents), c_loc(count)) /= 0) &
      return
    if (c_hocket_array_strides(array%handle, 7_c_int64_t, c_loc(strides), c_loc(count)) /= 0) return
    touch%address = address
    touch%bytes = itemsize
    touch%rank = int(count)
    touch%extents = extents
    touch%strides = strides
    call make_run(touch)
  end function

  ! What lies in one run is one: a reduction's part must, and C takes it for that.
  subroutine make_run(touch)
    type(hocket_touch), intent(inout) :: touch
    integer(c_int64_t) :: whole
    integer :: d
    whole = touch%bytes
    do d = 1, touch%rank
      if (touch%extents(d) > 1 .and. touch%strides(d) /= whole) return
      whole = whole*touch%extents(d)
    end do
    touch%bytes = whole
    touch%rank = 0
  end subroutine

  function refused(touches, what, ierr) result(wrong)
    type(hocket_touch), intent(in), target :: touches(:)
    character(*), intent(in) :: what
    integer, intent(out), optional :: ierr
    logical :: wrong
    wrong = any(touches%is_key .and. len_trim(touches%key) > longest_key)
    if (wrong) call fail(HOCKET_ERR_ARGUMENT, what//': a key has more than 127 characters; '// &
                         'give a shorter one', ierr)
  end function

  subroutine hold(touches, held)
    type(hocket_touch), intent(in), target :: touches(:)
    type(c_accesses), intent(inout), target :: held
    integer :: i, n
    n = size(touches)
    ! One more: c_loc of nothing is nothing one may take.
    allocate (held%all(n + 1), held%keys(longest_key + 1, n + 1))
    allocate (held%extents(7, n + 1), held%strides(7, n + 1))
    do i = 1, n
      held%all(i)%kind = int(touches(i)%kind, c_int)
      held%all(i)%data = touches(i)%address
      held%all(i)%bytes = touches(i)%bytes
      held%all(i)%reduction = touches(i)%reduction
      if (touches(i)%is_key) then
        held%keys(:len_trim(touches(i)%key) + 1, i) = c_chars(touches(i)%key)
        held%all(i)%key = c_loc(held%keys(1, i))
      else if (touches(i)%rank > 0) then
        held%extents(:, i) = touches(i)%extents
        held%strides(:, i) = touches(i)%strides
        held%all(i)%dimensions = touches(i)%rank
        held%all(i)%extents = c_loc(held%extents(1, i))
        held%all(i)%strides = c_loc(held%strides(1, i))
      end if
    end do
  end subroutine
end module
