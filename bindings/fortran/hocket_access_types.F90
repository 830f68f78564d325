! SPDX-License-Identifier: BSD-3-Clause
! What a step of a flow accesses: memory as Fortran knows it, or a key; and the same as C has it.
module hocket_access_types
  use hocket_base
  use hocket_c_interfaces
  use hocket_arguments
  use hocket_views
  use, intrinsic :: iso_c_binding
  implicit none
  private
  public :: hocket_flow_access, of_view, of_array, of_key, of_part
  public :: c_accesses, refused, hold

  integer, parameter :: longest_key = 127

  ! Views and accesses are dummies with the attribute target: without it gfortran takes it that what
  ! their addresses lead to is left as it is, for a c_ptr is no pointer to it.
  !
  ! What a step accesses, and how; made by hocket_reads(...), hocket_writes(...), ....
  type :: hocket_flow_access
    private
    integer :: kind = HOCKET_ACCESS_READS
    logical :: is_key = .false.
    character(longest_key + 1) :: key = ''
    type(c_ptr) :: address = c_null_ptr, reduction = c_null_ptr
    integer(c_int64_t) :: bytes = 0  ! of all where `rank` is 0; else of an element
    integer :: rank = 0
    integer(c_int64_t) :: extents(7) = 1, strides(7) = 0
  end type

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

  function of_view(kind, view) result(access)
    integer, intent(in) :: kind
    type(memory_view), intent(in), target :: view
    type(hocket_flow_access) :: access
    access%kind = kind
    access%address = view%address
    access%bytes = view%itemsize
    access%rank = view%rank
    access%extents = view%extents
    access%strides = view%strides
  end function

  ! A handle that is not live accesses nothing here; the call that it is for says so.
  function of_array(kind, array) result(access)
    integer, intent(in) :: kind
    type(hocket_array), intent(in) :: array
    type(hocket_flow_access) :: access
    type(c_ptr), target :: address, dtype
    integer(c_int64_t), target :: count, itemsize, extents(7), strides(7)
    access%kind = kind
    address = c_null_ptr
    if (c_array_address(array%handle, c_loc(address)) /= 0) return
    if (c_hocket_array_dtype(array%handle, c_loc(dtype), c_loc(itemsize)) /= 0) return
    extents = 1
    strides = 0
    if (c_hocket_array_local_shape(array%handle, 7_c_int64_t, c_loc(extents), c_loc(count)) /= 0) &
      return
    if (c_hocket_array_strides(array%handle, 7_c_int64_t, c_loc(strides), c_loc(count)) /= 0) return
    access%address = address
    access%bytes = itemsize
    access%rank = int(count)
    access%extents = extents
    access%strides = strides
  end function

  function of_key(kind, key) result(access)
    integer, intent(in) :: kind
    character(*), intent(in) :: key
    type(hocket_flow_access) :: access
    access = hocket_flow_access(kind=kind, is_key=.true., key=key)
  end function

  ! Memory into which a step reduces.
  function of_part(view, reduction) result(access)
    type(memory_view), intent(in), target :: view
    type(hocket_reduction), intent(in) :: reduction
    type(hocket_flow_access) :: access
    access = of_view(HOCKET_ACCESS_REDUCES, view)
    access%reduction = reduction%handle
  end function

  function refused(accesses, what, ierr) result(wrong)
    type(hocket_flow_access), intent(in), target :: accesses(:)
    character(*), intent(in) :: what
    integer, intent(out), optional :: ierr
    logical :: wrong
    wrong = any(accesses%is_key .and. len_trim(accesses%key) > longest_key)
    if (wrong) call fail(HOCKET_ERR_ARGUMENT, what//': a key has more than 127 characters; '// &
                         'give a shorter one', ierr)
  end function

  subroutine hold(accesses, held)
    type(hocket_flow_access), intent(in), target :: accesses(:)
    type(c_accesses), intent(inout), target :: held
    integer :: i, n
    n = size(accesses)
    ! One more: c_loc of nothing is nothing one may take.
    allocate (held%all(n + 1), held%keys(longest_key + 1, n + 1))
    allocate (held%extents(7, n + 1), held%strides(7, n + 1))
    do i = 1, n
      held%all(i)%kind = int(accesses(i)%kind, c_int)
      held%all(i)%data = accesses(i)%address
      held%all(i)%bytes = accesses(i)%bytes
      held%all(i)%reduction = accesses(i)%reduction
      if (accesses(i)%is_key) then
        held%keys(:len_trim(accesses(i)%key) + 1, i) = c_chars(accesses(i)%key)
        held%all(i)%key = c_loc(held%keys(1, i))
      else if (accesses(i)%rank > 0) then
        held%extents(:, i) = accesses(i)%extents
        held%strides(:, i) = accesses(i)%strides
        held%all(i)%dimensions = accesses(i)%rank
        held%all(i)%extents = c_loc(held%extents(1, i))
        held%all(i)%strides = c_loc(held%strides(1, i))
      end if
    end do
  end subroutine
end module
