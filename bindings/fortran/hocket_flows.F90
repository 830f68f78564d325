! SPDX-License-Identifier: BSD-3-Clause
! Flows: inserts steps with lists of accesses (hocket_reads, ...).
module hocket_flows
  use hocket_base
  use hocket_c_interfaces
  use hocket_arguments
  use hocket_accesses
  use hocket_access_types
  use hocket_views
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: real64
  implicit none
  private
  public :: hocket_flow_access, hocket_reads, hocket_writes, hocket_updates, hocket_commutes
  public :: hocket_reduces, hocket_passes
  public :: hocket_flow_task, hocket_flow_blocking_task, hocket_flow_comm, hocket_flow_wait_on, hocket_started_add
  public :: hocket_annotated_call

  enum, bind(c)
    enumerator :: COMPUTES, BLOCKS, COMMUNICATES
  end enum

contains

  ! Reduces into a private buffer, which the step's function gets.
  function hocket_reduces(view, reduction) result(access)
    type(memory_view), intent(in), target :: view
    type(hocket_reduction), intent(in) :: reduction
    type(hocket_flow_access) :: access
    access = of_part(view, reduction)
  end function

  ! An argument of an annotated procedure; the annotation has its access.
  function hocket_passes(view) result(access)
    type(memory_view), intent(in), target :: view
    type(hocket_flow_access) :: access
    access = of_view(HOCKET_ACCESS_VALUE, view)
  end function

  ! `step`: c_funloc of a function(context, parts) bind(C) with two type(c_ptr), value, and an
  ! integer(c_int) result: 0, or another value to fail. `parts`: an address for each reduction.
  subroutine hocket_flow_task(flow, step, context, accesses, priority, name, ierr)
    type(hocket_flow), intent(in) :: flow
    type(c_funptr), value :: step
    type(c_ptr), value :: context
    type(hocket_flow_access), intent(in), target :: accesses(:)
    integer, intent(in), optional :: priority
    character(*), intent(in), optional :: name
    integer, intent(out), optional :: ierr
    call insert(flow, step, context, accesses, COMPUTES, priority, name, ierr)
  end subroutine

  ! `step`: c_funloc of a function(context) bind(C) with a type(c_ptr), value, and an integer(c_int)
  ! result. It calls procedures that block; see hocket_flow_blocking_task of hocket/c/flow.h.
  subroutine hocket_flow_blocking_task(flow, step, context, accesses, priority, name, ierr)
    type(hocket_flow), intent(in) :: flow
    type(c_funptr), value :: step
    type(c_ptr), value :: context
    type(hocket_flow_access), intent(in), target :: accesses(:)
    integer, intent(in), optional :: priority
    character(*), intent(in), optional :: name
    integer, intent(out), optional :: ierr
    call insert(flow, step, context, accesses, BLOCKS, priority, name, ierr)
  end subroutine

  ! `step`: c_funloc of a function(context, started) bind(C) with the same types. It passes the
  ! operations that it starts to hocket_started_add, and must not block.
  subroutine hocket_flow_comm(flow, step, context, accesses, priority, name, ierr)
    type(hocket_flow), intent(in) :: flow
    type(c_funptr), value :: step
    type(c_ptr), value :: context
    type(hocket_flow_access), intent(in), target :: accesses(:)
    integer, intent(in), optional :: priority
    character(*), intent(in), optional :: name
    integer, intent(out), optional :: ierr
    call insert(flow, step, context, accesses, COMMUNICATES, priority, name, ierr)
  end subroutine

  ! The flow takes over the operation.
  subroutine hocket_started_add(started, operation, ierr)
    type(c_ptr), value :: started
    type(hocket_operation), intent(inout), target :: operation
    integer, intent(out), optional :: ierr
    call count_from_one()
    call finish(c_hocket_started_add(started, c_loc(operation%handle)), ierr)
  end subroutine

  ! Waits until all steps so far that conflict with this access have ended.
  subroutine hocket_flow_wait_on(flow, access, timeout, ierr)
    type(hocket_flow), intent(in) :: flow
    type(hocket_flow_access), intent(in), target :: access
    real(real64), intent(in), optional :: timeout
    integer, intent(out), optional :: ierr
    type(c_accesses), target :: held
    if (refused([access], 'hocket_flow_wait_on', ierr)) return
    call hold([access], held)
    call count_from_one()
    call finish(c_hocket_flow_wait_on(flow%handle, c_loc(held%all), seconds(timeout)), ierr)
  end subroutine

  subroutine hocket_annotated_call(annotated, arguments, ierr)
    type(hocket_annotated), intent(in) :: annotated
    type(hocket_flow_access), intent(in), target :: arguments(:)
    integer, intent(out), optional :: ierr
    type(c_accesses), target :: held
    if (refused(arguments, 'hocket_annotated_call', ierr)) return
    call hold(arguments, held)
    call count_from_one()
    call finish(c_hocket_annotated_call(annotated%handle, size(arguments, kind=c_int64_t), &
                                        c_loc(held%all)), ierr)
  end subroutine

  subroutine insert(flow, step, context, accesses, kind, priority, name, ierr)
    type(hocket_flow), intent(in) :: flow
    type(c_funptr), value :: step
    type(c_ptr), value :: context
    type(hocket_flow_access), intent(in), target :: accesses(:)
    integer(c_int), intent(in) :: kind
    integer, intent(in), optional :: priority
    character(*), intent(in), optional :: name
    integer, intent(out), optional :: ierr
    type(c_accesses), target :: held
    character(kind=c_char), allocatable, target :: called(:)
    integer(c_int) :: first, code
    integer(c_int64_t) :: count
    type(c_ptr) :: text
    if (refused(accesses, 'a step of a flow', ierr)) return
    first = 0
    if (present(priority)) first = int(priority, c_int)
    allocate (called(1))
    if (present(name)) called = c_chars(name)
    call hold(accesses, held)
    count = size(accesses, kind=c_int64_t)
    text = wanted_text(called, present(name))
    call count_from_one()
    select case (kind)
    case (COMPUTES)
      code = c_hocket_flow_task(flow%handle, step, context, count, c_loc(held%all), first, text)
    case (BLOCKS)
      code = c_hocket_flow_blocking_task(flow%handle, step, context, count, c_loc(held%all), &
                                         first, text)
    case default
      code = c_hocket_flow_comm(flow%handle, step, context, count, c_loc(held%all), first, text)
    end select
    call finish(code, ierr)
  end subroutine
end module
