! SPDX-License-Identifier: BSD-3-Clause
! Checks and conversions of arguments for the generated procedures, and optional pointers.
module hocket_arguments
  use hocket_base
  use hocket_c_interfaces
  use, intrinsic :: iso_c_binding
  implicit none
  private
  public :: dimensions_of, processes_of, words_of, wrong_handle, wrong_length, fail
  public :: wanted, wanted_text, c_texts, fault_of_order, wrong_entry

  ! The number of dimensions of a layout, or of an array's layout; -1 for a freed handle, which the
  ! call itself reports.
  interface dimensions_of
    module procedure dimensions_of_layout, dimensions_of_array
  end interface

contains

  function dimensions_of_layout(layout) result(dimensions)
    type(hocket_layout), intent(in) :: layout
    integer :: dimensions
    integer(c_int64_t), target :: found
    dimensions = -1
    if (c_hocket_layout_dimensions(layout%handle, c_loc(found)) == 0) dimensions = int(found)
  end function

  function processes_of(layout) result(processes)
    type(hocket_layout), intent(in) :: layout
    integer :: processes
    integer(c_int64_t), target :: found
    processes = -1
    if (c_hocket_layout_size(layout%handle, c_loc(found)) == 0) processes = int(found)
  end function

  ! The number of words of a mask of the team's processes; at least one, so that there is an
  ! address.
  function words_of(team) result(words)
    type(hocket_team), intent(in) :: team
    integer(c_int64_t) :: words
    integer(c_int), target :: processes
    words = 1
    if (c_hocket_team_size(team%handle, c_loc(processes)) == 0) words = (processes + 63)/64
  end function

  function dimensions_of_array(array) result(dimensions)
    type(hocket_array), intent(in) :: array
    integer :: dimensions
    type(hocket_layout), target :: layout
    integer(c_int) :: code
    dimensions = -1
    if (c_hocket_array_layout(array%handle, c_loc(layout%handle)) /= 0) return
    dimensions = dimensions_of_layout(layout)
    code = c_hocket_layout_free(c_loc(layout%handle))
  end function

  ! The fault of the first wrong entry of `order`, or ''. C would count 0 less 1 from the end.
  function fault_of_order(order) result(fault)
    integer, intent(in) :: order(:)
    character(:), allocatable :: fault
    character(80) :: words
    integer :: k
    fault = ''
    do k = 1, size(order)
      if (order(k) >= 1 .and. order(k) <= size(order)) cycle
      write (words, '(a, i0, a, i0, a, i0)') ': order(', k, ') is ', order(k), '; give 1 to ', &
        size(order)
      fault = trim(words)
      return
    end do
  end function

  ! Whether `order` has a wrong entry; for calls of one process.
  function wrong_entry(order, procedure, ierr) result(is_wrong)
    integer, intent(in) :: order(:)
    character(*), intent(in) :: procedure
    integer, intent(out), optional :: ierr
    logical :: is_wrong
    is_wrong = fault_of_order(order) /= ''
    if (is_wrong) call fail(HOCKET_ERR_ARGUMENT, procedure//fault_of_order(order), ierr)
  end function

  ! Ends a call with an error that only Fortran's arguments can have.
  subroutine fail(code, message, ierr)
    integer, intent(in) :: code
    character(*), intent(in) :: message
    integer, intent(out), optional :: ierr
    character(kind=c_char), allocatable, target :: words(:)
    words = c_chars(message)
    call finish(c_hocket_fail(int(code, c_int), c_loc(words)), ierr)
  end subroutine

  ! The last call of C, which `procedure` made, has told of the handle in its own name.
  subroutine wrong_handle(procedure, ierr)
    character(*), intent(in) :: procedure
    integer, intent(out), optional :: ierr
    character(:), allocatable :: found
    found = hocket_error_message()
    call fail(HOCKET_ERR_ARGUMENT, procedure//found(index(found, ':'):), ierr)
  end subroutine

  subroutine wrong_length(procedure, name, length, wanted, ierr)
    character(*), intent(in) :: procedure, name
    integer, intent(in) :: length, wanted
    integer, intent(out), optional :: ierr
    character(12) :: has, needs
    if (wanted < 0) then
      call wrong_handle(procedure, ierr)
      return
    end if
    write (has, '(i0)') length
    write (needs, '(i0)') wanted
    call fail(HOCKET_ERR_ARGUMENT, procedure//": '"//name//"' has "//trim(has)// &
              ' entries, but needs '//trim(needs), ierr)
  end subroutine

  ! The address of an optional result.
  function wanted(pointer, is_wanted) result(address)
    type(c_ptr), intent(in), target :: pointer
    logical, intent(in) :: is_wanted
    type(c_ptr) :: address
    address = c_null_ptr
    if (is_wanted) address = c_loc(pointer)
  end function

  ! The texts of a list without final blanks, each with a final NUL, and their addresses.
  subroutine c_texts(texts, held, addresses)
    character(*), intent(in) :: texts(:)
    character(kind=c_char), allocatable, target, intent(out) :: held(:, :)
    type(c_ptr), allocatable, intent(out) :: addresses(:)
    integer :: i, k
    allocate (held(len(texts) + 1, max(size(texts), 1)), addresses(max(size(texts), 1)))
    held = c_null_char
    addresses = c_null_ptr
    do k = 1, size(texts)
      do i = 1, len_trim(texts(k))
        held(i, k) = texts(k) (i:i)
      end do
      addresses(k) = c_loc(held(1, k))
    end do
  end subroutine

  function wanted_text(text, is_wanted) result(address)
    character(kind=c_char), intent(in), target :: text(:)
    logical, intent(in) :: is_wanted
    type(c_ptr) :: address
    address = c_null_ptr
    if (is_wanted) address = c_loc(text)
  end function
end module
