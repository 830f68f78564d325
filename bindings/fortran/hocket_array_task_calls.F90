! SPDX-License-Identifier: BSD-3-Clause
! Calls whose arguments differ from C's: names with their counts, lists of handles and their
! results, lists of logicals, and optional arguments.
module hocket_array_task_calls
  use hocket_base
  use hocket_c_interfaces
  use hocket_arguments
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int64, real64
  implicit none
  private
  public :: hocket_array_section, hocket_halo_make, hocket_redistribute, hocket_remap_inplace
  public :: hocket_iredistribute, hocket_transfer_make
  public :: hocket_tasks_make, hocket_request_wait_all, hocket_request_wait_any
  public :: hocket_operation_wait_any

  ! As a source: any task.
  integer, parameter, public :: HOCKET_ANY_SOURCE = -1

contains

  ! The elements of an array that the slices select, in the same memory.
  subroutine hocket_array_section(array, slices, section, ierr)
    type(hocket_array), intent(in) :: array
    type(hocket_slice), intent(in) :: slices(:)
    type(hocket_array), intent(out), target :: section
    integer, intent(out), optional :: ierr
    type(hocket_slice), allocatable, target :: held(:)
    integer :: dimensions
    dimensions = dimensions_of(array)
    if (size(slices) /= dimensions) then
      call wrong_length('hocket_array_section', 'slices', size(slices), dimensions, ierr)
      return
    end if
    allocate (held(size(slices) + 1))
    held(:size(slices)) = slices
    call count_from_one()
    call finish(c_hocket_array_section(array%handle, c_loc(held), c_loc(section%handle)), ierr)
  end subroutine

  ! Copies the array into new memory with width(d) further elements on both sides of dimension d;
  ! see hocket_halo_data. `periodic`: whether dimensions wrap around.
  subroutine hocket_halo_make(array, width, halo, periodic, ierr)
    type(hocket_array), intent(in) :: array
    integer, intent(in) :: width(:)
    type(hocket_halo), intent(out), target :: halo
    logical, intent(in), optional :: periodic(:)
    integer, intent(out), optional :: ierr
    integer(c_int64_t), allocatable, target :: widths(:)
    logical(c_bool), allocatable, target :: flags(:)
    type(c_ptr) :: turning
    integer :: dimensions
    dimensions = dimensions_of(array)
    if (size(width) /= dimensions) then
      call wrong_length('hocket_halo_make', 'width', size(width), dimensions, ierr)
      return
    end if
    widths = [int(width, c_int64_t), 0_c_int64_t]
    turning = c_null_ptr
    allocate (flags(dimensions + 1))
    if (present(periodic)) then
      if (size(periodic) /= dimensions) then
        call wrong_length('hocket_halo_make', 'periodic', size(periodic), dimensions, ierr)
        return
      end if
      flags(:dimensions) = logical(periodic, c_bool)
      turning = c_loc(flags)
    end if
    call count_from_one()
    call finish(c_hocket_halo_make_fortran(array%handle, c_loc(widths), turning, &
                                           c_loc(halo%handle)), ierr)
  end subroutine

  subroutine hocket_redistribute(source, destination, order, strategy, profile, timeout, &
                                 max_buffer, convert, ierr)
    type(hocket_array), intent(in) :: source, destination
    integer, intent(in), optional :: order(:)
    character(*), intent(in), optional :: strategy
    type(hocket_profile), intent(inout), optional, target :: profile
    real(real64), intent(in), optional :: timeout
    integer(int64), intent(in), optional :: max_buffer  ! bytes beside the arrays
    logical, intent(in), optional :: convert  ! numbers, if the arrays have different types
    integer, intent(out), optional :: ierr
    type(hocket_transfer_options), target :: options
    integer(c_int64_t), allocatable, target :: axes(:)
    character(kind=c_char), allocatable, target :: name(:)
    if (present(order)) then
      if (size(order) /= dimensions_of(source)) then
        call refuse(source, "hocket_redistribute: 'order' needs one entry a dimension", &
                    seconds(timeout), ierr)
        return
      end if
      if (fault_of_order(order) /= '') then
        call refuse(source, 'hocket_redistribute'//fault_of_order(order), seconds(timeout), ierr)
        return
      end if
    end if
    call set_options(options, axes, name, order, strategy, max_buffer, convert)
    if (present(profile)) options%profile = c_loc(profile)
    call count_from_one()
    call finish(c_hocket_redistribute(source%handle, destination%handle, c_loc(options), &
                                      seconds(timeout)), ierr)
  end subroutine

  subroutine hocket_iredistribute(source, destination, operation, order, strategy, max_buffer, &
                                  convert, ierr)
    type(hocket_array), intent(in) :: source, destination
    type(hocket_operation), intent(out), target :: operation
    integer, intent(in), optional :: order(:)
    character(*), intent(in), optional :: strategy
    integer(int64), intent(in), optional :: max_buffer  ! bytes beside the arrays
    logical, intent(in), optional :: convert  ! numbers, if the arrays have different types
    integer, intent(out), optional :: ierr
    type(hocket_transfer_options), target :: options
    integer(c_int64_t), allocatable, target :: axes(:)
    character(kind=c_char), allocatable, target :: name(:)
    if (present(order)) then
      if (size(order) /= dimensions_of(source)) then
        call refuse(source, "hocket_iredistribute: 'order' needs one entry a dimension", &
                    -1.0_c_double, ierr)
        return
      end if
      if (fault_of_order(order) /= '') then
        call refuse(source, 'hocket_iredistribute'//fault_of_order(order), -1.0_c_double, ierr)
        return
      end if
    end if
    call set_options(options, axes, name, order, strategy, max_buffer, convert)
    call count_from_one()
    call finish(c_hocket_iredistribute(source%handle, destination%handle, c_loc(options), &
                                       c_loc(operation%handle)), ierr)
  end subroutine

  ! Without a `dtype`, the arrays of the first start set it.
  subroutine hocket_transfer_make(source, destination, comm, transfer, dtype, itemsize, order, &
                                  strategy, timeout, max_buffer, ierr)
    type(hocket_layout), intent(in) :: source, destination
    integer, intent(in) :: comm
    type(hocket_transfer), intent(out), target :: transfer
    character(*), intent(in), optional :: dtype, strategy
    integer(int64), intent(in), optional :: itemsize, max_buffer
    integer, intent(in), optional :: order(:)
    real(real64), intent(in), optional :: timeout
    integer, intent(out), optional :: ierr
    type(hocket_transfer_options), target :: options
    integer(c_int64_t), allocatable, target :: axes(:)
    integer(c_int64_t), target :: dimensions
    integer(c_int64_t) :: bytes
    character(kind=c_char), allocatable, target :: name(:), kind(:), wrong(:)
    type(c_ptr) :: type_name
    integer(c_int) :: code
    if (present(order)) then
      code = c_hocket_layout_shape(source%handle, 0_c_int64_t, c_null_ptr, c_loc(dimensions))
      if (code == 0 .and. size(order) /= dimensions) then
        wrong = c_chars("hocket_transfer_make: 'order' needs one entry a dimension")
      else if (fault_of_order(order) /= '') then
        wrong = c_chars('hocket_transfer_make'//fault_of_order(order))
      end if
      if (allocated(wrong)) then
        call finish(c_hocket_refuse_fortran(int(comm, c_int), int(HOCKET_ERR_ARGUMENT, c_int), &
                                            c_loc(wrong), seconds(timeout)), ierr)
        return
      end if
    end if
    call set_options(options, axes, name, order, strategy, max_buffer)
    type_name = c_null_ptr
    if (present(dtype)) then
      kind = c_chars(dtype)
      type_name = c_loc(kind)
    end if
    bytes = 0
    if (present(itemsize)) bytes = itemsize
    call count_from_one()
    call finish(c_hocket_transfer_make_fortran(source%handle, destination%handle, type_name, &
                                               bytes, int(comm, c_int), c_loc(options), &
                                               seconds(timeout), c_loc(transfer%handle)), ierr)
  end subroutine

  ! The options of a transfer; `axes` and `name` are the memory behind their pointers.
  subroutine set_options(options, axes, name, order, strategy, max_buffer, convert)
    type(hocket_transfer_options), intent(inout) :: options
    integer(c_int64_t), allocatable, target, intent(inout) :: axes(:)
    character(kind=c_char), allocatable, target, intent(inout) :: name(:)
    integer, intent(in), optional :: order(:)
    character(*), intent(in), optional :: strategy
    integer(int64), intent(in), optional :: max_buffer
    logical, intent(in), optional :: convert
    if (present(order)) then
      axes = [order - 1_c_int64_t, 0_c_int64_t]
      options%axes = c_loc(axes)
    end if
    if (present(strategy)) then
      name = c_chars(strategy)
      options%strategy = c_loc(name)
    end if
    if (present(max_buffer)) options%max_buffer = max_buffer
    if (present(convert)) options%convert = logical(convert, c_bool)
  end subroutine

  ! Permutes a distributed array within its own memory; the handle then names the permuted array.
  subroutine hocket_remap_inplace(array, order, threads, timeout, ierr)
    type(hocket_array), intent(in) :: array
    integer, intent(in) :: order(:)
    integer, intent(in), optional :: threads
    real(real64), intent(in), optional :: timeout
    integer, intent(out), optional :: ierr
    integer(c_int64_t), allocatable, target :: axes(:)
    integer(c_int) :: many
    if (fault_of_order(order) /= '') then
      call refuse(array, 'hocket_remap_inplace'//fault_of_order(order), seconds(timeout), ierr)
      return
    end if
    axes = [order - 1_c_int64_t, 0_c_int64_t]
    many = 0
    if (present(threads)) many = int(threads, c_int)
    call count_from_one()
    call finish(c_hocket_remap_inplace_fortran(array%handle, size(order, kind=c_int64_t), &
                                               c_loc(axes), many, seconds(timeout)), ierr)
  end subroutine

  ! Task k has the name names(k), and the next counts(k) processes of `comm`, or the next counts(k)
  ! of `ranks`.
  subroutine hocket_tasks_make(names, counts, comm, tasks, ranks, ierr)
    character(*), intent(in) :: names(:)
    integer, intent(in) :: counts(:), comm
    type(hocket_tasks), intent(out), target :: tasks
    integer, intent(in), optional :: ranks(:)
    integer, intent(out), optional :: ierr
    type(hocket_task_request), allocatable, target :: requests(:)
    character(kind=c_char), allocatable, target :: words(:)
    integer(c_int), allocatable, target :: members(:)
    character(kind=c_char), allocatable, target :: wrong(:)
    integer :: k, at, long
    if (size(names) /= size(counts)) then
      wrong = c_chars('hocket_tasks_make: there are not as many names as counts')
    else if (present(ranks)) then
      if (size(ranks) /= sum(counts)) &
        wrong = c_chars("hocket_tasks_make: 'ranks' has not as many entries as 'counts' sums to")
    end if
    if (allocated(wrong)) then
      call finish(c_hocket_refuse_fortran(int(comm, c_int), int(HOCKET_ERR_ARGUMENT, c_int), &
                                          c_loc(wrong), -1.0_c_double), ierr)
      return
    end if
    long = len(names) + 1
    allocate (requests(size(names) + 1), words(long*size(names) + 1))
    members = [0_c_int]
    if (present(ranks)) members = [int(ranks, c_int), 0_c_int]
    at = 1
    do k = 1, size(names)
      words(long*(k - 1) + 1:long*(k - 1) + 1 + len_trim(names(k))) = c_chars(names(k))
      requests(k)%name = c_loc(words(long*(k - 1) + 1))
      requests(k)%count = counts(k)
      if (present(ranks)) requests(k)%ranks = c_loc(members(min(at, size(members))))
      at = at + max(counts(k), 0)
    end do
    call count_from_one()
    call finish(c_hocket_tasks_make_fortran(size(names, kind=c_int64_t), c_loc(requests), &
                                            int(comm, c_int), c_loc(tasks%handle)), ierr)
  end subroutine

  subroutine hocket_request_wait_all(requests, timeout, statuses, ierr)
    type(hocket_request), intent(in) :: requests(:)
    real(real64), intent(in), optional :: timeout
    type(hocket_status), allocatable, intent(out), optional :: statuses(:)
    integer, intent(out), optional :: ierr
    type(c_ptr), allocatable, target :: handles(:), found(:)
    type(c_ptr) :: where_found
    integer(c_int) :: code
    allocate (found(size(requests) + 1))
    handles = [requests%handle, c_null_ptr]
    found = c_null_ptr
    where_found = c_null_ptr
    if (present(statuses)) where_found = c_loc(found)
    call count_from_one()
    code = c_hocket_request_wait_all(size(requests, kind=c_int64_t), c_loc(handles), &
                                     seconds(timeout), where_found)
    if (present(statuses)) then
      allocate (statuses(size(requests)))
      statuses%handle = found(:size(requests))
    end if
    call finish(code, ierr)
  end subroutine

  ! `index`: of a complete request, counted from 1.
  subroutine hocket_request_wait_any(requests, index, timeout, ierr)
    type(hocket_request), intent(in) :: requests(:)
    integer, intent(out) :: index
    real(real64), intent(in), optional :: timeout
    integer, intent(out), optional :: ierr
    call wait_any(c_hocket_request_wait_any, size(requests), [requests%handle, c_null_ptr], &
                  index, timeout, ierr)
  end subroutine

  ! Waits for the first of these operations. `index`: its number, counted from 1. It may have failed:
  ! the wait for it returns its error.
  subroutine hocket_operation_wait_any(operations, index, timeout, ierr)
    type(hocket_operation), intent(in) :: operations(:)
    integer, intent(out) :: index
    real(real64), intent(in), optional :: timeout
    integer, intent(out), optional :: ierr
    call wait_any(c_hocket_operation_wait_any, size(operations), &
                  [operations%handle, c_null_ptr], index, timeout, ierr)
  end subroutine

  ! `wait`: the function of C, for either kind of `handles`.
  subroutine wait_any(wait, count, handles, index, timeout, ierr)
    procedure(c_hocket_request_wait_any) :: wait
    integer, intent(in) :: count
    type(c_ptr), intent(in), target :: handles(*)
    integer, intent(out) :: index
    real(real64), intent(in), optional :: timeout
    integer, intent(out), optional :: ierr
    integer(c_int64_t), target :: found
    integer(c_int) :: code
    found = -1
    call count_from_one()
    code = wait(int(count, c_int64_t), c_loc(handles), seconds(timeout), c_loc(found))
    index = int(found) + 1
    call finish(code, ierr)
  end subroutine

  ! Joins a collective call that this process cannot make, so that no process waits for this one.
  subroutine refuse(array, message, timeout, ierr)
    type(hocket_array), intent(in) :: array
    character(*), intent(in) :: message
    real(c_double), intent(in) :: timeout
    integer, intent(out), optional :: ierr
    character(kind=c_char), allocatable, target :: words(:)
    integer(c_int), target :: comm
    integer(c_int) :: code
    words = c_chars(message)
    code = c_hocket_array_comm_fortran(array%handle, c_loc(comm))
    if (code == 0) then
      call finish(c_hocket_refuse_fortran(comm, int(HOCKET_ERR_ARGUMENT, c_int), c_loc(words), &
                                          timeout), ierr)
    else
      call wrong_handle(message(:index(message, ':') - 1), ierr)
    end if
  end subroutine
end module
