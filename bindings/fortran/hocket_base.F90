! SPDX-License-Identifier: BSD-3-Clause
! Common to all calls of the Fortran module: strings, lists, and errors.
module hocket_base
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: error_unit, int32, int64, real64
  implicit none
  private
  public :: count_from_one, finish, text_at, c_chars, seconds, hocket_error_message, hocket_error_name

  interface
    function c_error_message() bind(C, name='hocket_error_message') result(text)
      import :: c_ptr
      type(c_ptr) :: text
    end function
    function c_error_name(code) bind(C, name='hocket_error_name') result(text)
      import :: c_ptr, c_int
      integer(c_int), value :: code
      type(c_ptr) :: text
    end function
    function c_first_index_set(first_index) bind(C, name='hocket_first_index_set') result(code)
      import :: c_int, c_int64_t
      integer(c_int64_t), value :: first_index
      integer(c_int) :: code
    end function
    function c_strlen(text) bind(C, name='strlen') result(length)
      import :: c_ptr, c_size_t
      type(c_ptr), value :: text
      integer(c_size_t) :: length
    end function
  end interface

contains

  ! A C string as Fortran's; '' for a null pointer.
  function text_at(pointer) result(text)
    type(c_ptr), intent(in) :: pointer
    character(:), allocatable :: text
    character(kind=c_char), pointer :: chars(:)
    integer :: i, length
    if (.not. c_associated(pointer)) then
      text = ''
      return
    end if
    length = int(c_strlen(pointer))
    call c_f_pointer(pointer, chars, [length])
    allocate (character(length) :: text)
    do i = 1, length
      text(i:i) = chars(i)
    end do
  end function

  ! Fortran's string as C's, without trailing blanks.
  function c_chars(text) result(chars)
    character(*), intent(in) :: text
    character(kind=c_char), allocatable :: chars(:)
    integer :: i
    allocate (chars(len_trim(text) + 1))
    do i = 1, len_trim(text)
      chars(i) = text(i:i)
    end do
    chars(size(chars)) = c_null_char
  end function

  ! A timeout for C: negative if absent.
  function seconds(timeout) result(value)
    real(real64), intent(in), optional :: timeout
    real(c_double) :: value
    value = -1
    if (present(timeout)) value = timeout
  end function

  ! The message of the last error.
  function hocket_error_message() result(message)
    character(:), allocatable :: message
    message = text_at(c_error_message())
  end function

  ! The name of an error code: 'LayoutError', 'DeadlineError', ....
  function hocket_error_name(code) result(name)
    integer, intent(in) :: code
    character(:), allocatable :: name
    name = text_at(c_error_name(int(code, c_int)))
  end function

  ! Begins a call: its message counts indices and dimensions from 1. `finish` ends that, because C and
  ! C++ count from 0 in the same thread.
  subroutine count_from_one()
    integer(c_int) :: code
    code = c_first_index_set(1_c_int64_t)
  end subroutine

  ! Ends every call: sets `ierr`, or prints the message and ends the program.
  subroutine finish(code, ierr)
    integer(c_int), intent(in) :: code
    integer, intent(out), optional :: ierr
    integer(c_int) :: reset
    reset = c_first_index_set(0_c_int64_t)
    if (present(ierr)) then
      ierr = code
    else if (code /= 0) then
      write (error_unit, '(a)') 'hocket: '//hocket_error_name(int(code))//': '//hocket_error_message()
      flush (error_unit)
      error stop 1
    end if
  end subroutine
end module
