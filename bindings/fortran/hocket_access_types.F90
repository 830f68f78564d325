! SPDX-License-Identifier: BSD-3-Clause
! Accesses of a step of a flow: memory as Fortran's arrays, or keys; and their conversion for C.
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

  ! Dummy views and accesses have the attribute target. Otherwise gfortran assumes that the memory
  ! behind their addresses does not change, because a c_ptr is not a pointer to it.
  !
  ! An access of a step; hocket_reads(...), hocket_writes(...), ... make them.
  type :: hocket_flow_access
    private
    integer :: kind = HOCKET_ACCESS_READS
    logical :: is_key = .false.
    character(longest_key + 1) :: key = ''
    type(c_ptr) :: address = c_null_ptr, reduction = c_null_ptr
    integer(c_int64_t) :: bytes = 0  ! of everything if `rank` is 0; else of an element
    integer :: rank = 0
    integer(c_int64_t) :: extents(7) = 1, strides(7) = 0
  end type

  ! The accesses for C. Must live as long as C uses them.
  type :: c_accesses
    type(hocket_access), allocatable :: all(:)
    character(kind=c_char), allocatable :: keys(:, :)
    integer(c_int64_t), allocatable :: extents(:, :), strides(:, :)
  end type

  interface
    ! The address alone: Fortran's variant also requires the type.
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

  ! A freed handle is no access here; the call itself reports it.
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

  ! The region of a reduction.
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
    ! One more entry: c_loc of an empty array is invalid.
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
