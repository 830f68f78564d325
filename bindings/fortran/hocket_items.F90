! SPDX-License-Identifier: BSD-3-Clause
! The element of an array of rank 0, as reductions of all elements give it.
module hocket_items
  use hocket_base
  use hocket_c_interfaces
  use hocket_arguments
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int8, int16, int32, int64, real32, real64
  implicit none
  private
  public :: hocket_array_item
  interface hocket_array_item
    module procedure item_real32
    module procedure item_real64
    module procedure item_int8
    module procedure item_int16
    module procedure item_int32
    module procedure item_int64
    module procedure item_complex32
    module procedure item_complex64
    module procedure item_logical
  end interface

contains

  subroutine item_real32(array, value, ierr)
    type(hocket_array), intent(in) :: array
    real(real32), intent(out), target :: value
    integer, intent(out), optional :: ierr
    value = 0
    call find(array, 'float32', c_loc(value), ierr)
  end subroutine

  subroutine item_real64(array, value, ierr)
    type(hocket_array), intent(in) :: array
    real(real64), intent(out), target :: value
    integer, intent(out), optional :: ierr
    value = 0
    call find(array, 'float64', c_loc(value), ierr)
  end subroutine

  subroutine item_int8(array, value, ierr)
    type(hocket_array), intent(in) :: array
    integer(int8), intent(out), target :: value
    integer, intent(out), optional :: ierr
    value = 0
    call find(array, 'int8', c_loc(value), ierr)
  end subroutine

  subroutine item_int16(array, value, ierr)
    type(hocket_array), intent(in) :: array
    integer(int16), intent(out), target :: value
    integer, intent(out), optional :: ierr
    value = 0
    call find(array, 'int16', c_loc(value), ierr)
  end subroutine

  subroutine item_int32(array, value, ierr)
    type(hocket_array), intent(in) :: array
    integer(int32), intent(out), target :: value
    integer, intent(out), optional :: ierr
    value = 0
    call find(array, 'int32', c_loc(value), ierr)
  end subroutine

  subroutine item_int64(array, value, ierr)
    type(hocket_array), intent(in) :: array
    integer(int64), intent(out), target :: value
    integer, intent(out), optional :: ierr
    value = 0
    call find(array, 'int64', c_loc(value), ierr)
  end subroutine

  subroutine item_complex32(array, value, ierr)
    type(hocket_array), intent(in) :: array
    complex(real32), intent(out), target :: value
    integer, intent(out), optional :: ierr
    value = 0
    call find(array, 'complex64', c_loc(value), ierr)
  end subroutine

  subroutine item_complex64(array, value, ierr)
    type(hocket_array), intent(in) :: array
    complex(real64), intent(out), target :: value
    integer, intent(out), optional :: ierr
    value = 0
    call find(array, 'complex128', c_loc(value), ierr)
  end subroutine

  ! Of logical arrays of one byte (bool) or of the default kind (int32).
  subroutine item_logical(array, value, ierr)
    type(hocket_array), intent(in) :: array
    logical, intent(out) :: value
    integer, intent(out), optional :: ierr
    logical(c_bool), target :: short
    integer(int32), target :: long
    integer :: code
    short = .false.
    long = 0
    call find(array, 'bool', c_loc(short), code)
    if (code == HOCKET_ERR_MISMATCH) call find(array, 'int32', c_loc(long), code)
    value = short .or. long /= 0
    call finish(int(code, c_int), ierr)
  end subroutine

  subroutine find(array, dtype, address, ierr)
    type(hocket_array), intent(in) :: array
    character(*), intent(in) :: dtype
    type(c_ptr), intent(in) :: address
    integer, intent(out), optional :: ierr
    character(kind=c_char), allocatable, target :: name(:)
    name = c_chars(dtype)
    call count_from_one()
    call finish(c_hocket_array_item(array%handle, c_loc(name), address), ierr)
  end subroutine
end module
