! SPDX-License-Identifier: BSD-3-Clause
! Arrays: hocket's own memory, sections, whole arrays, permutations, and what is refused.
program arrays
  use, intrinsic :: iso_fortran_env, only: real32, real64
  use checks
  implicit none
  call begin()
  call test_own_memory()
  call test_sections()
  call test_conversion()
  call test_whole()
  call test_permute()
  call test_permute_inplace()
  call test_rows()
  call test_remap()
  call test_refused()
  call finish('arrays')

contains

  ! A(i,j) = 100*i + j, transposed on the way.
  subroutine test_own_memory()
    type(hocket_layout) :: rows, columns, theirs
    type(hocket_array) :: a, b
    real(real64), pointer :: x(:, :), y(:, :)
    integer(int64), allocatable :: mine(:), strides(:), shape_b(:)
    type(hocket_profile) :: profile
    character(:), allocatable :: dtype
    integer :: i, j, itemsize, process, comm
    logical :: same, writable
    call hocket_layout_make([6, 9], '(BLOCK, *)', [ranks], rows)
    call hocket_layout_make([9, 6], '(*, CYCLIC)', [ranks], columns)
    call hocket_array_empty(rows, 'float64', world, a)
    call hocket_array_empty(columns, 'float64', world, b)
    call hocket_array_data(a, x)
    call hocket_array_data(b, y)
    call hocket_array_strides(a, strides)
    call check(strides(1) == 8, 'the first index is the fastest')
    call hocket_layout_global_indices(rows, rank, 1, mine)
    call check(size(x, 1) == size(mine) .and. size(x, 2) == 9, 'shape')
    do j = 1, 9
      x(:, j) = 100*real(mine, real64) + j
    end do
    y = -1
    profile = hocket_profile(0, 0, 0, 0, 0, 0)
    call hocket_redistribute(a, b, order=[2, 1], profile=profile, timeout=60d0, &
                             max_buffer=4194304_int64)
    call hocket_layout_global_indices(columns, rank, 2, mine)
    do i = 1, size(mine)
      do j = 1, 9
        call check(y(j, i) == 100*mine(i) + j, 'y(j,i) is x(i,j)')
      end do
    end do
    call check(profile%descriptor > 0, 'the steps were timed')
    call hocket_array_dtype(a, dtype, itemsize)
    call check(dtype == 'float64' .and. itemsize == 8, dtype)
    call hocket_array_process(a, process)
    call check(process == rank, 'process')
    call hocket_array_comm(a, comm)
    call check(comm == world, 'communicator')
    call hocket_array_writable(a, writable)
    call check(writable, 'writable')
    call hocket_array_local_shape(b, shape_b)
    call check(all(shape_b == shape(y)), 'local shape')
    call hocket_array_layout(b, theirs)
    call hocket_layout_equal(theirs, columns, same)
    call check(same, 'layout')
    call hocket_array_free(a)
    call hocket_array_free(b)
    call send_only(x, rows)
  end subroutine

  ! An argument that may not be changed is a source, and no destination.
  subroutine send_only(x, layout)
    real(real64), target, intent(in) :: x(:, :)
    type(hocket_layout), intent(in) :: layout
    type(hocket_array) :: a, b
    real(real64), allocatable, target :: y(:, :)
    logical :: writable
    integer :: ierr
    allocate (y, mold=x)
    call hocket_array_wrap_const(x, layout, world, a)
    call hocket_array_wrap(y, layout, world, b)
    call hocket_array_writable(a, writable)
    call check(.not. writable, 'read-only')
    call hocket_redistribute(a, b)
    call check(all(x == y), 'copied')
    call hocket_redistribute(b, a, ierr=ierr)
    call check(ierr == HOCKET_ERR_ERROR, 'not written')
  end subroutine

  ! Elements between those of a section stay; steps may be negative.
  subroutine test_sections()
    type(hocket_layout) :: rows, columns
    type(hocket_array) :: a, b
    type(hocket_array) :: part, nothing
    type(hocket_layout) :: theirs
    integer(int64), allocatable :: of_part(:)
    complex, target, allocatable :: x(:, :), y(:, :)
    integer, allocatable :: held(:)
    integer(int64), allocatable :: e(:), f(:)
    integer :: i, ierr
    call hocket_layout_make([7, 5], '(BLOCK, *)', [ranks], rows)
    call hocket_layout_make([7, 5], '(*, BLOCK)', [ranks], columns)
    call hocket_layout_local_shape(rows, rank, e)
    call hocket_layout_local_shape(columns, rank, f)
    allocate (x(3*e(1), 2*e(2)), y(-2:f(1) - 3, 2*f(2)))
    x = (-1, 0)
    y = (-2, 0)
    held = numbers_of(rows, rank)
    x(1::3, size(x, 2):1:-2) = reshape(cmplx(held), [e(1), e(2)])
    call hocket_array_wrap(x(1::3, size(x, 2):1:-2), rows, world, a)
    call hocket_array_wrap(y(:, ::2), columns, world, b)
    call hocket_redistribute(a, b)
    held = numbers_of(columns, rank)
    call check(all(y(:, ::2) == reshape(cmplx(held), [f(1), f(2)])), 'elements')
    call hocket_array_section(b, [hocket_triplet(2, 6, 2), hocket_subscript(3)], part)
    call hocket_array_layout(part, theirs)
    call hocket_layout_shape(theirs, of_part)
    call check(all(of_part == [3]), 'A(2:6:2, 3)')
    call hocket_array_free(part)
    call hocket_array_section(part, [hocket_subscript(3)], nothing, ierr)
    call fails(HOCKET_ERR_ARGUMENT, ierr, 'hocket_array_section: ''array'' is NULL')
    call check(all(y(:, 2::2) == (-2, 0)), 'between elements')
    x = (-1, 0)
    call hocket_redistribute(b, a)
    held = numbers_of(rows, rank)
    call check(all(x(1::3, size(x, 2):1:-2) == reshape(cmplx(held), [e(1), e(2)])), 'back')
    call check(count(x == (-1, 0)) == size(x) - size(held), 'between elements of x')
    do i = 1, 2
      call hocket_array_wrap(y(:, ::2), columns, world, b)
    end do
  end subroutine

  subroutine test_whole()
    type(hocket_layout) :: layout
    type(hocket_array) :: a
    integer, pointer :: x(:, :, :)
    integer, target, allocatable :: whole(:, :, :), back(:, :, :)
    integer :: i, root, ierr
    call hocket_layout_make([3, 4, 5], '(*, CYCLIC, *)', [ranks], layout)
    call hocket_array_empty(layout, 'int32', world, a)
    call hocket_array_data(a, x)
    root = ranks - 1
    allocate (whole(0, 0, 0), back(0, 0, 0))
    if (rank == root) then
      whole = reshape([(i, i=1, 60)], [3, 4, 5])
      deallocate (back)
      allocate (back(6, 4, 5))
      back = -1
    end if
    call hocket_scatter(whole, a, root=root, timeout=60d0)
    call check(all(x == reshape(numbers_of(layout, rank), shape(x))), 'dealt out')
    call hocket_gather(a, back(1::2, :, :), root=root)
    if (rank == root) then
      call check(all(back(1::2, :, :) == whole), 'collected')
      call check(all(back(2::2, :, :) == -1), 'between elements')
    end if
    if (rank == root) whole = whole(:, :, 1:4)
    call hocket_scatter(whole, a, root=root, ierr=ierr)
    call fails(HOCKET_ERR_ARGUMENT, ierr, '(3, 4, 5)')
    call hocket_array_free(a)
  end subroutine

  subroutine test_permute()
    real(real32), target :: x(4, 3, 2), y(2, 4, 3), z(8, 6)
    integer :: i, j, k, ierr
    x = reshape([(real(i), i=1, 24)], [4, 3, 2])
    call hocket_permute(x, [3, 1, 2], y)
    do k = 1, 3
      do j = 1, 4
        do i = 1, 2
          call check(y(i, j, k) == x(j, k, i), 'y(i,j,k) is x(j,k,i)')
        end do
      end do
    end do
    z = 0
    call hocket_permute(x(4:1:-1, :, 1), [2, 1], z(2:6:2, 5:2:-1), threads=2)
    do j = 1, 4
      do i = 1, 3
        call check(z(2*i, 6 - j) == x(5 - j, i, 1), 'sections')
      end do
    end do
    call check(count(z == 0) == 48 - 12, 'between elements')
    call hocket_permute(x, [2, 1, 3], y, ierr=ierr)
    call fails(HOCKET_ERR_ARGUMENT, ierr, 'extent')
    call hocket_permute(x, [1, 1, 3], y, ierr=ierr)
    call fails(HOCKET_ERR_ARGUMENT, ierr, 'permutation')
    call hocket_permute(x, [2, 1], y, ierr=ierr)
    call fails(HOCKET_ERR_ARGUMENT, ierr, 'order')
    call hocket_permute(z(1:5, 1:5), [2, 1], z(2:6, 2:6), threads=-1, ierr=ierr)
    call fails(HOCKET_ERR_ERROR, ierr, 'threads')
    call hocket_permute(y, [1, 2, 3], y, ierr=ierr)
    call fails(HOCKET_ERR_ERROR, ierr, 'overlaps')
  end subroutine

  ! Numbers of another type, in column-major memory and on the way.
  subroutine test_conversion()
    type(hocket_layout) :: rows, columns
    type(hocket_array) :: a, b, c
    type(hocket_operation) :: operation
    real(real64), pointer :: x(:, :), y(:, :)
    integer, pointer :: k(:, :)
    integer :: ierr
    call hocket_layout_make([6, 4], '(BLOCK, *)', [ranks], rows)
    call hocket_layout_make([6, 4], '(*, CYCLIC)', [ranks], columns)
    call hocket_array_empty(rows, 'float64', world, a)
    call hocket_array_empty(columns, 'float64', world, c)
    call hocket_random_uniform(a, 7_int64, -9.0_real64, 9.0_real64)
    call hocket_array_data(a, x)
    call check(all(abs(x) <= 9), 'random numbers')
    call hocket_array_astype(a, 'int32', b)
    call hocket_array_data(b, k)
    call check(all(k == int(x)), 'converted')
    call hocket_redistribute(b, c, convert=.true.)
    call hocket_random_uniform(a, 7_int64, -9.0_real64, 9.0_real64)
    x = int(x)
    call hocket_array_free(b)
    call hocket_array_empty(columns, 'float32', world, b)
    call hocket_iredistribute(a, b, operation, convert=.true.)
    call hocket_operation_wait(operation, timeout=60.0_real64)
    call hocket_operation_free(operation)
    call hocket_array_free(a)
    call hocket_array_astype(b, 'float64', a)
    call hocket_array_data(a, y)
    call hocket_array_data(c, x)
    call check(all(x == y), 'converted on the way')
    call hocket_redistribute(b, c, ierr=ierr)
    call fails(HOCKET_ERR_MISMATCH, ierr, 'convert')
    call hocket_random_normal(b, 7_int64, 0.0_real64, -1.0_real64, ierr)
    call fails(HOCKET_ERR_ERROR, ierr, 'deviation is -1')
    call hocket_random_integers(b, 7_int64, 1_int64, 7_int64, ierr)
    call fails(HOCKET_ERR_ERROR, ierr, 'float32 holds no integers')
    call hocket_array_free(a)
    call hocket_array_free(b)
    call hocket_array_free(c)
  end subroutine

  ! Rows by number, of a whole matrix and of a section.
  subroutine test_rows()
    real(real64), target :: a(6, 4), b(3, 4), wide(6, 8)
    integer(int64), target :: numbers(3, 2)
    integer :: i, j, ierr
    a = reshape([((10*i + j + 0.0_real64, i=1, 6), j=1, 4)], [6, 4])
    call hocket_take_rows(a, [5, 1, 5], b)
    call check(all(b == a([5, 1, 5], :)), 'taken')
    wide = 0
    call hocket_put_rows(b, [2, 6, 3], wide(:, 8:2:-2))
    do j = 1, 4
      call check(all(wide([2, 6, 3], 10 - 2*j) == b(:, j)), 'put into a section')
    end do
    call check(count(wide == 0) == 48 - 12, 'between elements')
    call hocket_swap_rows(a, [1, 2], [6, 1])
    call check(all(a(:, 3) == [23, 63, 33, 43, 53, 13]), 'one pair after the other')
    numbers = reshape([1_int64, 2_int64, 3_int64, 4_int64, 5_int64, 6_int64], [3, 2])
    call hocket_swap_rows(numbers, [1], [3])
    call check(all(numbers(:, 2) == [6, 5, 4]), 'integers')
    call hocket_take_rows(a, [5, 7, 1], b, ierr=ierr)
    call fails(HOCKET_ERR_ARGUMENT, ierr, 'rows(2) is 7, but the matrix has 6 rows')
    call hocket_put_rows(b, [0, 1, 2], a, ierr=ierr)
    call fails(HOCKET_ERR_ARGUMENT, ierr, 'from 1 on')
    call hocket_take_rows(a, [5, 1], b, ierr=ierr)
    call fails(HOCKET_ERR_MISMATCH, ierr, '3 rows of 4 columns')
    call hocket_swap_rows(a, [1, 2], [3], ierr=ierr)
    call fails(HOCKET_ERR_ARGUMENT, ierr, 'second')
    call check(all(a(:, 3) == [23, 63, 33, 43, 53, 13]), 'nothing has moved')
  end subroutine

  ! He and Ding's A(N1,N2,N3) -> A(N1,N3,N2), within the array's own memory.
  subroutine test_permute_inplace()
    real(real64), target :: a(3, 5, 7)
    real(real64), allocatable :: before(:, :, :)
    real(real64), pointer :: b(:, :, :)
    integer :: i, j, ierr
    a = reshape([(real(i, real64), i=1, size(a))], shape(a))
    before = a
    call hocket_permute_inplace(a, [1, 3, 2], b)
    call check(all(shape(b) == [3, 7, 5]), 'shape')
    do j = 1, 5
      do i = 1, 7
        call check(all(b(:, i, j) == before(:, j, i)), 'permuted')
      end do
    end do
    call check(b(2, 1, 1) == a(2, 1, 1), 'the same memory')
    call hocket_permute_inplace(a(:, :, ::2), [1, 3, 2], b, ierr=ierr)
    call fails(HOCKET_ERR_ARGUMENT, ierr, 'section')
    call check(.not. associated(b), 'nothing')
    call hocket_permute_inplace(a, [1, 3, 2], b, method='magic', ierr=ierr)
    call check(ierr /= HOCKET_SUCCESS, 'no such method')
  end subroutine

  ! A(N1,N2,N3) distributed along its last dimension becomes A(N1,N3,N2), distributed so again.
  subroutine test_remap()
    type(hocket_layout) :: layout, after
    type(hocket_array) :: a
    integer, pointer :: x(:, :, :)
    integer, allocatable :: whole(:, :, :), wanted(:, :, :)
    integer(int64), allocatable :: mine(:)
    integer(int64) :: room
    integer :: i, ierr
    call hocket_layout_make([2, 5, 6], '(*, *, BLOCK)', [ranks], layout)
    call hocket_array_empty(layout, 'int32', world, a)
    call hocket_array_data(a, x)
    x = reshape(numbers_of(layout, rank), shape(x))
    call hocket_remap_layout(layout, [1, 3, 2], after)
    call hocket_remap_room(layout, [1, 3, 2], rank, room)
    call check(room >= 0, 'room')
    call hocket_remap_inplace(a, [1, 3, 2])
    call hocket_array_data(a, x)
    whole = reshape([(i, i=1, 60)], [2, 5, 6])
    wanted = reshape([((whole(:, i, ierr), ierr=1, 6), i=1, 5)], [2, 6, 5])
    call hocket_layout_global_indices(after, rank, 3, mine)
    call check(all(x == wanted(:, :, mine)), 'permuted')
    call hocket_remap_inplace(a, [1, 2], ierr=ierr)
    call check(ierr == HOCKET_ERR_ARGUMENT, 'an order too short')
    call hocket_remap_inplace(a, [1, 2, merge(0, 3, rank == 0)], ierr=ierr)
    call fails(HOCKET_ERR_ARGUMENT, ierr, 'order(3) is 0; give 1 to 3')
    call hocket_array_free(a)
  end subroutine

  subroutine test_refused()
    type(hocket_layout) :: layout, scalar
    type(hocket_array) :: a, b
    real(real64), target :: x(40)
    real(real32), pointer :: narrow(:)
    real(real64), pointer :: flat(:, :)
    integer :: ierr
    call hocket_layout_make([3*ranks], '(BLOCK)', [ranks], layout)
    call hocket_array_wrap(x(:4), layout, world, a, ierr)
    call fails(HOCKET_ERR_ARGUMENT, ierr, '(4)')
    call fails(HOCKET_ERR_ARGUMENT, ierr, '(3)')
    call hocket_array_wrap(reshaped(x), layout, world, a, ierr)
    call fails(HOCKET_ERR_ARGUMENT, ierr, '(3, 1)')
    call hocket_array_wrap(x(:3), layout, 123456789, a, ierr)
    call fails(HOCKET_ERR_ERROR, ierr, '123456789')
    call hocket_array_wrap(x(:3), layout, -77, a, ierr)
    call fails(HOCKET_ERR_ERROR, ierr, 'no communicator of')
    call test_world_of_another_mpi(x, layout)
    call hocket_array_empty(layout, 'float64', world, a)
    call hocket_array_data(a, narrow, ierr)
    call fails(HOCKET_ERR_MISMATCH, ierr, 'float32')
    call check(.not. associated(narrow), 'no pointer')
    call hocket_array_data(a, flat, ierr)
    call fails(HOCKET_ERR_MISMATCH, ierr, 'rank 2')
    call hocket_array_empty(layout, 'float32', world, b)
    call hocket_redistribute(a, b, ierr=ierr)
    call fails(HOCKET_ERR_MISMATCH, ierr, 'float32')
    call hocket_redistribute(a, a, order=[1, 2], ierr=ierr)
    call fails(HOCKET_ERR_ARGUMENT, ierr, 'order')
    call hocket_array_free(b)
    call hocket_redistribute(a, b, ierr=ierr)
    call fails(HOCKET_ERR_ARGUMENT, ierr, 'NULL')
    call hocket_array_wrap(x(3:1:-1), layout, world, b)
    call hocket_array_data(b, narrow, ierr)
    call check(ierr == HOCKET_ERR_MISMATCH, 'another kind')
    call hocket_array_wrap(x(1:6:2), layout, world, b)
    call hocket_array_empty(layout, 'strange', world, a, itemsize=8)
    call hocket_array_empty(layout, 'strange', world, a, ierr=ierr)
    call fails(HOCKET_ERR_ARGUMENT, ierr, 'strange')
    call hocket_layout_make([integer ::], '()', [integer ::], scalar)
    call hocket_array_empty(scalar, 'int8', world, a)
    call hocket_array_free(a)
  end subroutine

  ! The value of MPI_COMM_WORLD in MPICH and its relatives, in Open MPI, and in the standard's ABI.
  subroutine test_world_of_another_mpi(x, layout)
    real(real64), target, intent(inout) :: x(:)
    type(hocket_layout), intent(in) :: layout
    integer, parameter :: worlds(3) = [1140850688, 0, 257]
    type(hocket_array) :: a
    type(hocket_team) :: team
    type(hocket_tasks) :: tasks
    integer :: i, ierr
    do i = 1, size(worlds)
      if (worlds(i) == world) cycle
      call hocket_array_wrap(x(:3), layout, worlds(i), a, ierr)
      call fails(HOCKET_ERR_ERROR, ierr, 'no communicator of')
      call hocket_array_empty(layout, 'float64', worlds(i), a, ierr=ierr)
      call fails(HOCKET_ERR_ERROR, ierr, 'no communicator of')
      call hocket_team_make(worlds(i), team, ierr=ierr)
      call fails(HOCKET_ERR_ERROR, ierr, 'no communicator of')
      call hocket_tasks_make(['all'], [ranks], worlds(i), tasks, ierr=ierr)
      call fails(HOCKET_ERR_ERROR, ierr, 'no communicator of')
    end do
  end subroutine

  function reshaped(x) result(pointer)
    real(real64), target, intent(in) :: x(:)
    real(real64), pointer :: pointer(:, :)
    pointer(1:3, 1:1) => x(:3)
  end function
end program
