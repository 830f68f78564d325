! SPDX-License-Identifier: BSD-3-Clause
! Fortran arrays of any kind and rank as C's arguments: an address, extents and strides in bytes.
module hocket_views
  use hocket_base
  use hocket_c_interfaces
  use hocket_arguments
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: real64
  implicit none
  private
  public :: memory_view, empty_view, distance, wrap_view, find_data, find_halo_data
  public :: scatter_view, gather_view
  public :: permute_view, permute_view_inplace
  public :: take_rows_of_view, put_rows_of_view, swap_rows_of_view

  type :: memory_view
    type(c_ptr) :: address = c_null_ptr  ! of the first element; null if there is none
    character(:), allocatable :: dtype   ! hocket's name of the type
    integer(c_int64_t) :: itemsize = 0   ! bytes
    integer :: rank = 0
    integer(c_int64_t) :: extents(7) = 1, strides(7) = 0  ! strides in bytes
  end type

  ! The address of arrays without elements, so that pointers to them have a shape.
  complex(c_double_complex), target, save :: nowhere(2) = 0

contains

  function empty_view(dtype, itemsize, extents) result(view)
    character(*), intent(in) :: dtype
    integer, intent(in) :: itemsize
    integer(c_int64_t), intent(in) :: extents(:)
    type(memory_view) :: view
    integer :: d
    view%dtype = dtype
    view%itemsize = itemsize
    view%rank = size(extents)
    view%extents(:view%rank) = extents
    view%strides(1) = itemsize
    do d = 2, view%rank
      view%strides(d) = view%strides(d - 1)*max(extents(d - 1), 1_c_int64_t)
    end do
  end function

  ! Bytes from `from` to `to`.
  function distance(to, from) result(bytes)
    type(c_ptr), intent(in) :: to, from
    integer(c_int64_t) :: bytes
    bytes = int(transfer(to, 0_c_intptr_t) - transfer(from, 0_c_intptr_t), c_int64_t)
  end function

  subroutine wrap_view(view, layout, comm, array, ierr, read_only)
    type(memory_view), intent(in), target :: view
    type(hocket_layout), intent(in) :: layout
    integer, intent(in) :: comm
    type(hocket_array), intent(out), target :: array
    integer, intent(out), optional :: ierr
    logical, intent(in), optional :: read_only
    character(kind=c_char), allocatable, target :: dtype(:)
    dtype = c_chars(view%dtype)
    call count_from_one()
    if (present(read_only)) then
      call finish(c_hocket_array_wrap_const_fortran( &
                  view%address, int(view%rank, c_int64_t), c_loc(view%extents), &
                  c_loc(view%strides), layout%handle, c_loc(dtype), view%itemsize, &
                  int(comm, c_int), c_loc(array%handle)), ierr)
      return
    end if
    call finish(c_hocket_array_wrap_fortran( &
                view%address, int(view%rank, c_int64_t), c_loc(view%extents), c_loc(view%strides), &
                layout%handle, c_loc(dtype), view%itemsize, int(comm, c_int), &
                c_loc(array%handle)), ierr)
  end subroutine

  subroutine find_data(array, dtype, extents, address, ierr)
    type(hocket_array), intent(in) :: array
    character(*), intent(in) :: dtype
    integer(c_int64_t), intent(out), target :: extents(:)
    type(c_ptr), intent(out) :: address
    integer, intent(out), optional :: ierr
    character(kind=c_char), allocatable, target :: name(:)
    type(c_ptr), target :: data
    integer(c_int) :: code
    address = c_null_ptr
    data = c_null_ptr
    extents = 0
    name = c_chars(dtype)
    call count_from_one()
    code = c_hocket_array_data_fortran(array%handle, c_loc(name), size(extents, kind=c_int64_t), &
                                       c_loc(extents), c_loc(data))
    if (code == 0) address = merge(data, c_loc(nowhere), c_associated(data))
    call finish(code, ierr)
  end subroutine

  ! `lowest`: indices of the first element of the border, where the array's first are 1.
  subroutine find_halo_data(halo, dtype, extents, lowest, address, ierr)
    type(hocket_halo), intent(in) :: halo
    character(*), intent(in) :: dtype
    integer(c_int64_t), intent(out), target :: extents(:), lowest(:)
    type(c_ptr), intent(out) :: address
    integer, intent(out), optional :: ierr
    character(kind=c_char), allocatable, target :: name(:)
    integer(c_int64_t), target :: count
    type(c_ptr), target :: data
    integer(c_int) :: code
    address = c_null_ptr
    data = c_null_ptr
    extents = 0
    lowest = 0
    name = c_chars(dtype)
    call count_from_one()
    code = c_hocket_halo_data_fortran(halo%handle, c_loc(name), size(extents, kind=c_int64_t), &
                                      c_loc(extents), c_loc(data))
    if (code == 0) code = c_hocket_halo_width(halo%handle, size(lowest, kind=c_int64_t), &
                                              c_loc(lowest), c_loc(count))
    lowest = 1 - lowest
    if (code == 0) address = data
    call finish(code, ierr)
  end subroutine

  subroutine scatter_view(whole, array, root, timeout, ierr)
    type(memory_view), intent(in), target :: whole
    type(hocket_array), intent(in) :: array
    integer, intent(in), optional :: root
    real(real64), intent(in), optional :: timeout
    integer, intent(out), optional :: ierr
    character(kind=c_char), allocatable, target :: dtype(:)
    dtype = c_chars(whole%dtype)
    call count_from_one()
    call finish(c_hocket_scatter_fortran(whole%address, int(whole%rank, c_int64_t), &
                                         c_loc(whole%extents), c_loc(whole%strides), &
                                         array%handle, c_loc(dtype), number(root, 0_c_int), &
                                         seconds(timeout)), ierr)
  end subroutine

  subroutine gather_view(array, whole, root, timeout, ierr)
    type(hocket_array), intent(in) :: array
    type(memory_view), intent(in), target :: whole
    integer, intent(in), optional :: root
    real(real64), intent(in), optional :: timeout
    integer, intent(out), optional :: ierr
    character(kind=c_char), allocatable, target :: dtype(:)
    dtype = c_chars(whole%dtype)
    call count_from_one()
    call finish(c_hocket_gather_fortran(array%handle, whole%address, &
                                        int(whole%rank, c_int64_t), c_loc(whole%extents), &
                                        c_loc(whole%strides), c_loc(dtype), &
                                        number(root, 0_c_int), seconds(timeout)), ierr)
  end subroutine

  subroutine permute_view(source, order, destination, threads, schedule, ierr)
    type(memory_view), intent(in), target :: source, destination
    integer, intent(in) :: order(:)
    integer, intent(in), optional :: threads
    character(*), intent(in), optional :: schedule
    integer, intent(out), optional :: ierr
    character(kind=c_char), allocatable, target :: how(:)
    type(hocket_permute_options), target :: options
    integer(c_int64_t), target :: axes(7)
    integer :: n
    n = source%rank
    if (wrong_order(order, n, 'hocket_permute', ierr)) return
    if (any(destination%extents(:n) /= source%extents(order))) then
      call fail(HOCKET_ERR_ARGUMENT, 'hocket_permute: the destination has not the extents of '// &
                'the permuted source; extent k of it is extent order(k) of the source', ierr)
      return
    end if
    axes(:n) = order - 1
    options%threads = number(threads, 0_c_int)
    options%stores = 0
    how = c_chars('auto')
    if (present(schedule)) how = c_chars(schedule)
    options%schedule = c_loc(how)
    call count_from_one()
    call finish(c_hocket_permute(source%address, int(n, c_int64_t), c_loc(source%extents), &
                                 c_loc(source%strides), source%itemsize, c_loc(axes), &
                                 destination%address, c_loc(destination%strides), &
                                 c_loc(options)), ierr)
  end subroutine

  ! Column-major memory is row-major memory with reversed dimensions.
  subroutine permute_view_inplace(view, order, extents, threads, schedule, method, ierr)
    type(memory_view), intent(inout) :: view
    integer, intent(in) :: order(:)
    integer(c_int64_t), intent(out) :: extents(:)
    integer, intent(in), optional :: threads
    character(*), intent(in), optional :: schedule, method
    integer, intent(out), optional :: ierr
    character(kind=c_char), allocatable, target :: how(:), which(:)
    type(hocket_permute_options), target :: options
    integer(c_int64_t), target :: axes(7), shape(7)
    type(memory_view) :: dense
    integer(c_int) :: code
    integer :: n
    n = view%rank
    extents = 0
    dense = empty_view(view%dtype, int(view%itemsize), view%extents(:n))
    if (wrong_order(order, n, 'hocket_permute_inplace', ierr)) then
      view%address = c_null_ptr
      return
    end if
    if (any(dense%strides(:n) /= view%strides(:n) .and. view%extents(:n) > 1)) then
      view%address = c_null_ptr
      call fail(HOCKET_ERR_ARGUMENT, 'hocket_permute_inplace: the array is a section whose '// &
                'elements do not lie one after another, and memory in between is not its own; '// &
                'permute a whole array, or use hocket_permute', ierr)
      return
    end if
    extents = view%extents(order)
    shape(:n) = view%extents(n:1:-1)
    axes(:n) = n - order(n:1:-1)
    options%threads = number(threads, 0_c_int)
    options%stores = 0
    how = c_chars('auto')
    if (present(schedule)) how = c_chars(schedule)
    which = c_chars('auto')
    if (present(method)) which = c_chars(method)
    options%schedule = c_loc(how)
    options%method = c_loc(which)
    code = 0
    call count_from_one()
    if (c_associated(view%address)) &
      code = c_hocket_permute_inplace(view%address, int(n, c_int64_t), c_loc(shape), &
                                      view%itemsize, c_loc(axes), c_loc(options))
    if (code /= 0) view%address = c_null_ptr
    call finish(code, ierr)
  end subroutine

  subroutine take_rows_of_view(source, rows, destination, ierr)
    type(memory_view), intent(in) :: source, destination
    integer, intent(in) :: rows(:)
    integer, intent(out), optional :: ierr
    type(hocket_matrix_form), target :: from, to
    integer(c_int64_t), target :: numbers(size(rows))
    if (wrong_rows(rows, source%extents(1), 'hocket_take_rows', 'rows', ierr)) return
    numbers = rows - 1_c_int64_t
    from = form_of(source)
    to = form_of(destination)
    call count_from_one()
    call finish(c_hocket_take_rows(source%address, c_loc(from), size(rows, kind=c_int64_t), &
                                   c_loc(numbers), source%itemsize, destination%address, &
                                   c_loc(to)), ierr)
  end subroutine

  subroutine put_rows_of_view(source, rows, destination, ierr)
    type(memory_view), intent(in) :: source, destination
    integer, intent(in) :: rows(:)
    integer, intent(out), optional :: ierr
    type(hocket_matrix_form), target :: from, to
    integer(c_int64_t), target :: numbers(size(rows))
    if (wrong_rows(rows, destination%extents(1), 'hocket_put_rows', 'rows', ierr)) return
    numbers = rows - 1_c_int64_t
    from = form_of(source)
    to = form_of(destination)
    call count_from_one()
    call finish(c_hocket_put_rows(source%address, c_loc(from), size(rows, kind=c_int64_t), &
                                  c_loc(numbers), source%itemsize, destination%address, &
                                  c_loc(to)), ierr)
  end subroutine

  subroutine swap_rows_of_view(matrix, first, second, ierr)
    type(memory_view), intent(in) :: matrix
    integer, intent(in) :: first(:), second(:)
    integer, intent(out), optional :: ierr
    type(hocket_matrix_form), target :: form
    integer(c_int64_t), target :: a(size(first)), b(size(second))
    if (size(first) /= size(second)) then
      call wrong_length('hocket_swap_rows', 'second', size(second), size(first), ierr)
      return
    end if
    if (wrong_rows(first, matrix%extents(1), 'hocket_swap_rows', 'first', ierr)) return
    if (wrong_rows(second, matrix%extents(1), 'hocket_swap_rows', 'second', ierr)) return
    a = first - 1_c_int64_t
    b = second - 1_c_int64_t
    form = form_of(matrix)
    call count_from_one()
    call finish(c_hocket_swap_rows(matrix%address, c_loc(form), size(first, kind=c_int64_t), &
                                   c_loc(a), c_loc(b), matrix%itemsize), ierr)
  end subroutine

  function form_of(view) result(form)
    type(memory_view), intent(in) :: view
    type(hocket_matrix_form) :: form
    form%rows = view%extents(1)
    form%columns = view%extents(2)
    form%row_stride = view%strides(1)
    form%column_stride = view%strides(2)
  end function

  ! Checked here, because rows count from 1 in the message.
  function wrong_rows(rows, count, procedure, name, ierr) result(is_wrong)
    integer, intent(in) :: rows(:)
    integer(c_int64_t), intent(in) :: count
    character(*), intent(in) :: procedure, name
    integer, intent(out), optional :: ierr
    logical :: is_wrong
    character(100) :: what
    integer :: i
    is_wrong = .true.
    do i = 1, size(rows)
      if (rows(i) >= 1 .and. rows(i) <= count) cycle
      write (what, '(a, a, i0, a, i0, a, i0, a)') name, '(', i, ') is ', rows(i), &
        ', but the matrix has ', count, ' rows; give numbers from 1 on'
      call fail(HOCKET_ERR_ARGUMENT, procedure//': '//trim(what), ierr)
      return
    end do
    is_wrong = .false.
  end function

  function wrong_order(order, rank, procedure, ierr) result(is_wrong)
    integer, intent(in) :: order(:), rank
    character(*), intent(in) :: procedure
    integer, intent(out), optional :: ierr
    logical :: is_wrong
    integer :: d
    is_wrong = .true.
    if (size(order) /= rank) then
      call wrong_length(procedure, 'order', size(order), rank, ierr)
    else if (any([(count(order == d) /= 1, d=1, rank)])) then
      call fail(HOCKET_ERR_ARGUMENT, procedure//": 'order' is no permutation of 1 to the rank", ierr)
    else
      is_wrong = .false.
    end if
  end function

  function number(given, default) result(value)
    integer, intent(in), optional :: given
    integer(c_int), intent(in) :: default
    integer(c_int) :: value
    value = default
    if (present(given)) value = int(given, c_int)
  end function
end module
