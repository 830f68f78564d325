! SPDX-License-Identifier: BSD-3-Clause
! HPF's intrinsic functions beside Fortran's own, on arrays that are small enough to be gathered.
program intrinsics
  use checks
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int8, int16, int32, real32, real64
  implicit none
  integer, parameter :: n = 5, m = 7
  type(hocket_layout) :: rows, columns, line
  type(hocket_array) :: a, b, mask, result, turned, vector, index1, index2
  real(real64), pointer :: x(:, :), y(:, :), v(:)
  integer(int32), pointer :: t(:, :), i1(:), i2(:)
  real(real64) :: whole(n, m), other(n, m), segmented(n, m), list(9)
  logical :: chosen(n, m)
  integer(int64), allocatable :: i(:), j(:)
  integer :: k, l, ierr
  real(real64), target :: edge
  integer :: order(7)
  integer(int8), pointer :: bytes(:)
  integer(int16), pointer :: words(:)
  integer(int8) :: byte
  integer(int16) :: word

  call begin()
  call hocket_layout_make([n, m], '(CYCLIC, *)', [ranks], rows)
  call hocket_layout_make([n, m], '(*, BLOCK)', [ranks], columns)
  call hocket_layout_make([9], '(BLOCK)', [ranks], line)
  do l = 1, m
    do k = 1, n
      whole(k, l) = mod(17*k + 5*l*l, 13) - 6 + 0.1_real64*k
      other(k, l) = k - 2*l
    end do
  end do
  chosen = mod(nint(whole*10), 3) /= 0
  call hocket_array_empty(rows, 'float64', world, a)
  call hocket_array_empty(columns, 'float64', world, b)
  call hocket_array_empty(columns, 'int32', world, mask)
  call hocket_array_data(a, x)
  call hocket_array_data(b, y)
  call hocket_array_data(mask, t)
  ! The global-index loop.
  call hocket_array_global_indices(a, 1, i)
  call hocket_array_global_indices(a, 2, j)
  x = whole(i, j)
  call hocket_array_global_indices(b, 1, i)
  call hocket_array_global_indices(b, 2, j)
  y = other(i, j)
  t = merge(1, 0, chosen(i, j))

  call hocket_reduce(a, HOCKET_SUM, result)
  call near(scalar(), sum(whole), 'sum')
  call hocket_reduce(a, HOCKET_MAXVAL, result, mask=mask)
  call near(scalar(), maxval(whole, chosen), 'maxval with a mask')
  call hocket_reduce(a, HOCKET_SUM, result, dim=1)
  call same1(sum(whole, 1), 'sum along 1')
  call hocket_reduce(a, HOCKET_PRODUCT, result, dim=2, mask=mask)
  call same1(product(whole, 2, chosen), 'product along 2')
  call hocket_reduce(mask, HOCKET_COUNT, result)
  call check(number() == count(chosen), 'count')
  call hocket_reduce(mask, HOCKET_ANY, result)
  call check(truth() .eqv. any(chosen), 'any')
  call hocket_reduce(mask, HOCKET_ALL, result)
  call check(truth() .eqv. all(chosen), 'all')
  call hocket_locate(a, HOCKET_MINVAL, result)
  call places(minloc(whole), 'minloc')
  call hocket_locate(a, HOCKET_MAXVAL, result, mask=mask)
  call places(maxloc(whole, chosen), 'maxloc with a mask')
  call hocket_locate(a, HOCKET_MAXVAL, result, dim=2)
  call places(maxloc(whole, 2), 'maxloc along 2')
  call hocket_dot_product(a, b, result)
  call near(scalar(), sum(whole*other), 'dot_product')

  call hocket_cshift(a, 2, result, dim=2)
  call same2(cshift(whole, 2, 2), 'cshift')
  call hocket_reduce(mask, HOCKET_COUNT, turned, dim=2)
  call hocket_cshift(a, 1, result, dim=2, shifts=turned)
  call same2(cshift(whole, 1 + count(chosen, 2), 2), 'cshift by lines')
  call hocket_eoshift(a, -1, c_null_ptr, result, dim=1)
  call same2(eoshift(whole, -1, dim=1), 'eoshift')
  edge = 3
  call hocket_eoshift(a, 3, c_loc(edge), result, dim=1)
  call same2(eoshift(whole, 3, edge, 1), 'eoshift with a boundary')
  call hocket_merge(a, b, mask, result)
  call same2(merge(whole, other, chosen), 'merge')
  call hocket_pack(a, mask, result)
  call same1(pack(whole, chosen), 'pack')
  turned = result
  call hocket_unpack(turned, mask, b, result)
  call same2(merge(whole, other, chosen), 'unpack')
  call hocket_array_empty(line, 'float64', world, vector)
  call hocket_array_data(vector, v)
  call hocket_array_global_indices(vector, 1, i)
  list = [(real(k, real64), k=1, 9)]
  v = list(i)
  call hocket_spread(vector, 3, result, dim=1)
  call same2(spread(list, 1, 3), 'spread')
  call hocket_transpose(b, turned)
  call hocket_matmul(a, turned, result)
  call same2(matmul(whole, transpose(other)), 'matmul with a transpose')
  call hocket_scan(vector, HOCKET_SUM, result)
  call same1([(sum(list(:k)), k=1, 9)], 'sum_prefix')
  call hocket_scan(vector, HOCKET_MAXVAL, result, dim=1, suffix=.true., exclusive=.true.)
  call same1([(maxval(list(k + 1:)), k=1, 9)], 'maxval_suffix')
  call hocket_scan(a, HOCKET_MAXVAL, result, dim=1, segment=mask)
  do l = 1, m
    segmented(1, l) = whole(1, l)
    do k = 2, n
      segmented(k, l) = whole(k, l)
      if (chosen(k, l) .eqv. chosen(k - 1, l)) then
        segmented(k, l) = max(segmented(k - 1, l), whole(k, l))
      end if
    end do
  end do
  call same2(segmented, 'maxval_prefix of segments')
  call hocket_grade(a, result, dim=2, descending=.true.)
  do k = 1, n
    order = [(l, l=1, 7)]
    call sort(whole(k, :), order)
    call row_of(k, order)
  end do
  call hocket_array_empty(line, 'int32', world, index1)
  call hocket_array_empty(line, 'int32', world, index2)
  call hocket_array_data(index1, i1)
  call hocket_array_data(index2, i2)
  i1 = int(mod(i, 3_int64)) + 1
  i2 = 2
  call hocket_scatter_combine(a, vector, [index1, index2], HOCKET_SUM, result)
  other = whole
  do k = 1, 9
    other(mod(k, 3) + 1, 2) = other(mod(k, 3) + 1, 2) + k
  end do
  call same2(other, 'sum_scatter')
  call hocket_assign(b, a)
  result = b
  call same2(whole, 'assign')

  call hocket_array_empty(line, 'int8', world, vector)
  call hocket_array_data(vector, bytes)
  bytes = 100_int8
  call hocket_reduce(vector, HOCKET_SUM, result)
  call hocket_array_item(result, byte)
  call check(byte == -124, 'sum of integers of one byte wraps around')
  call hocket_array_empty(line, 'int16', world, vector)
  call hocket_array_data(vector, words)
  words = 3_int16
  call hocket_reduce(vector, HOCKET_MAXVAL, result)
  call hocket_array_item(result, word)
  call check(word == 3, 'maxval of integers of two bytes')

  call hocket_reduce(a, HOCKET_SUM, result, dim=3, ierr=ierr)
  call fails(HOCKET_ERR_LAYOUT, ierr, 'no dimension 3')
  call hocket_reduce(a, HOCKET_ANY, result, ierr=ierr)
  call fails(HOCKET_ERR_MISMATCH, ierr, 'any does not take float64')
  call hocket_array_item(a, edge, ierr)
  call fails(HOCKET_ERR_ARGUMENT, ierr, 'give one of shape ()')
  call finish('intrinsics')

contains

  function scalar() result(value)
    real(real64) :: value
    call hocket_array_item(result, value)
  end function

  function number() result(value)
    integer(int64) :: value
    call hocket_array_item(result, value)
  end function

  function truth() result(value)
    logical :: value
    call hocket_array_item(result, value)
  end function

  subroutine near(found, expected, what)
    real(real64), intent(in) :: found, expected
    character(*), intent(in) :: what
    call check(abs(found - expected) <= 1e-9*max(1.0_real64, abs(expected)), what)
  end subroutine

  subroutine same1(expected, what)
    real(real64), intent(in) :: expected(:)
    character(*), intent(in) :: what
    real(real64) :: found(size(expected))
    integer :: at
    call hocket_gather(result, found)
    if (rank /= 0) return
    do at = 1, size(expected)
      if (expected(at) < -huge(1.0_real64)) cycle
      call near(max(found(at), -huge(1.0_real64)), expected(at), what)
    end do
  end subroutine

  subroutine same2(expected, what)
    real(real64), intent(in) :: expected(:, :)
    character(*), intent(in) :: what
    real(real64) :: found(size(expected, 1), size(expected, 2))
    call hocket_gather(result, found)
    if (rank == 0) call near(maxval(abs(found - expected)), 0.0_real64, what)
  end subroutine

  subroutine places(expected, what)
    integer, intent(in) :: expected(:)
    character(*), intent(in) :: what
    integer(int64) :: found(size(expected))
    call hocket_gather(result, found)
    if (rank == 0) call check(all(found == expected), what)
  end subroutine

  subroutine row_of(at, expected)
    integer, intent(in) :: at, expected(:)
    integer(int64) :: found(n, m)
    call hocket_gather(result, found)
    if (rank == 0) call check(all(found(at, :) == expected), 'grade_down')
  end subroutine

  ! The order of descending values, by insertion: equal ones stay in theirs.
  subroutine sort(values, order)
    real(real64), intent(in) :: values(:)
    integer, intent(inout) :: order(:)
    integer :: at, to, moved
    do at = 2, size(order)
      moved = order(at)
      to = at
      do while (to > 1)
        if (values(order(to - 1)) >= values(moved)) exit
        order(to) = order(to - 1)
        to = to - 1
      end do
      order(to) = moved
    end do
  end subroutine
end program
