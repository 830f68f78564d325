! SPDX-License-Identifier: BSD-3-Clause
! Arrays in files, in the folder where the program was started; indices count from 1.
program stores
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use checks
  implicit none
  type(hocket_layout) :: rows, columns, part
  type(hocket_array) :: a, b, c
  type(hocket_store) :: store
  call begin()
  call hocket_layout_make([7, 5], '(BLOCK, *)', [ranks], rows)
  call hocket_layout_make([7, 5], '(*, CYCLIC)', [ranks], columns)
  call hocket_layout_make([6, 5], '(BLOCK, *)', [ranks], part)
  call hocket_array_empty(rows, 'float64', world, a)
  call hocket_array_empty(columns, 'float64', world, b)
  call hocket_array_empty(part, 'float64', world, c)
  call fill(a, rows, 0)
  call hocket_store_open('f.zarr', 'w', world, store)
  call hocket_store_create(store, 't', [7, 5], 'float64', chunks=[2, 3], shards=[4, 3], &
                           codec='none', fill='1.5', attributes='{"unit":"K"}', &
                           dimension_names=[character(20) :: 'height, from below', 'x'])
  call hocket_store_create(store, 'run/u', [7, 5], 'float64')
  call hocket_store_set_attributes(store, '{"step":7}')
  call test_facts()
  call test_moves()
  call test_started()
  call test_counts()
  call hocket_store_close(store)
  call hocket_store_free(store)
  call test_failed_write()
  call test_checkpoints()
  call finish('stores')

contains

  subroutine fill(array, layout, above)
    type(hocket_array), intent(in) :: array
    type(hocket_layout), intent(in) :: layout
    integer, intent(in) :: above
    real(real64), pointer :: x(:, :)
    integer, allocatable :: numbers(:)
    call hocket_array_data(array, x)
    if (size(x) == 0) return
    numbers = numbers_of(layout, rank)
    x = reshape(real(numbers + above, real64), shape(x))
  end subroutine

  subroutine holds_numbers(array, layout, what)
    type(hocket_array), intent(in) :: array
    type(hocket_layout), intent(in) :: layout
    character(*), intent(in) :: what
    real(real64), pointer :: x(:, :)
    integer, allocatable :: numbers(:)
    call hocket_array_data(array, x)
    if (size(x) == 0) return
    numbers = numbers_of(layout, rank)
    call check(all(nint(reshape(x, [size(x)])) == numbers), what)
    x = -1
  end subroutine

  subroutine test_facts()
    character(:), allocatable :: text
    integer(int64), allocatable :: values(:)
    integer :: arrays, ierr
    call hocket_store_path(store, text)
    call check(text == 'f.zarr', 'the path')
    call hocket_store_mode(store, text)
    call check(text == 'w', 'the mode')
    call hocket_store_size(store, arrays)
    call check(arrays == 2, 'the number of arrays')
    call hocket_store_name_of(store, 1, text)
    call check(text == 'run/u', 'the first name')
    call hocket_store_name_of(store, 2, text)
    call check(text == 't', 'the second name')
    call hocket_store_name_of(store, 3, text, ierr=ierr)
    call fails(HOCKET_ERR_ARGUMENT, ierr, 'index')
    call hocket_store_attributes(store, text)
    call check(text == '{"step":7}', 'attributes')
    call hocket_store_array_attributes(store, 't', text)
    call check(text == '{"unit":"K"}', 'attributes of an array')
    call hocket_store_dimension_name(store, 't', 1, text)
    call check(text == 'height, from below', 'the name of a dimension')
    call hocket_store_dimension_name(store, 't', 2, text)
    call check(text == 'x', 'the name of another one')
    call hocket_store_dtype(store, 't', text)
    call check(text == 'float64', 'the type')
    call hocket_store_unfinished(store, text)
    call check(text == '', 'nobody has begun to write')
    call hocket_store_shape(store, 't', values)
    call check(all(values == [7, 5]), 'the shape')
    call hocket_store_chunks(store, 't', values)
    call check(all(values == [2, 3]), 'chunks')
    call hocket_store_shards(store, 't', values)
    call check(all(values == [4, 3]), 'shards')
    call hocket_store_dtype(store, 'v', text, ierr=ierr)
    call fails(HOCKET_ERR_ERROR, ierr, 'no array')
  end subroutine

  ! A file stands where writers need a folder.
  subroutine test_failed_write()
    type(hocket_store) :: failed
    character(:), allocatable :: text
    integer :: ierr, unit
    call hocket_store_open('failed_f.zarr', 'w', world, failed)
    call hocket_store_create(failed, 't', [7, 5], 'float64')
    if (rank == 0) then
      open (newunit=unit, file='failed_f.zarr/t/c', status='new')
      close (unit)
    end if
    call hocket_store_write(failed, 't', a, ierr=ierr)
    call fails(HOCKET_ERR_ERROR, ierr, 'failed_f.zarr')
    call hocket_store_close(failed)
    call hocket_store_free(failed)
    if (rank == 0) then
      open (newunit=unit, file='failed_f.zarr/t/c', status='old')
      close (unit, status='delete')
    end if
    call hocket_store_open('failed_f.zarr', 'r+', world, failed)
    call hocket_store_unfinished(failed, text)
    call check(index(text, "whose write of 't' failed") > 0, 'a failed write')
    call hocket_store_write(failed, 't', a)
    call hocket_store_close(failed)
    call hocket_store_free(failed)
    call hocket_store_open('failed_f.zarr', 'r', world, failed)
    call hocket_store_unfinished(failed, text)
    call check(text == '', 'the write was repeated')
    call hocket_store_free(failed)
  end subroutine

  ! The stored array, transposed.
  subroutine test_order()
    type(hocket_layout) :: layout
    type(hocket_array) :: turned
    real(real64), pointer :: x(:, :)
    integer(int64), allocatable :: held(:)
    integer :: ierr, i, j
    call hocket_layout_make([5, 7], '(BLOCK, *)', [ranks], layout)
    call hocket_array_empty(layout, 'float64', world, turned)
    call hocket_store_read(store, 't', turned, order=[2, 1])
    call hocket_array_data(turned, x)
    call hocket_layout_global_indices(layout, rank, 1, held)
    do i = 1, size(x, 1)
      do j = 1, size(x, 2)
        call check(nint(x(i, j)) == j + 7*(held(i) - 1), 'the transposed array')
      end do
    end do
    call hocket_store_read(store, 't', turned, order=[2, 2], ierr=ierr)
    call fails(HOCKET_ERR_LAYOUT, ierr, 'permutation')
    call hocket_array_free(turned)
    call hocket_layout_free(layout)
  end subroutine

  ! The stored numbers as numbers of another type.
  subroutine test_conversion()
    type(hocket_array) :: whole
    integer(int64), pointer :: x(:, :)
    integer :: ierr
    call hocket_array_empty(columns, 'int64', world, whole)
    call hocket_store_read(store, 't', whole, dtype='int64')
    call hocket_array_data(whole, x)
    if (size(x) > 0) then
      call check(all(reshape(x, [size(x)]) == numbers_of(columns, rank)), 'whole numbers')
    end if
    call hocket_store_read(store, 't', whole, ierr=ierr)
    call fails(HOCKET_ERR_MISMATCH, ierr, 'dtype')
    call hocket_store_read(store, 't', whole, dtype='int32', ierr=ierr)
    call fails(HOCKET_ERR_MISMATCH, ierr, 'int32')
    call hocket_array_free(whole)
  end subroutine

  subroutine test_moves()
    type(hocket_operation) :: operation
    real(real64), pointer :: x(:, :)
    integer(int64), allocatable :: held(:)
    integer :: ierr, i
    call hocket_store_write(store, 't', a, writers=1, max_buffer=48_int64)
    call hocket_store_read(store, 't', b)
    call holds_numbers(b, columns, 'the array in another layout')
    call hocket_store_read(store, 't', c, lower=[2, 1], upper=[7, 5])
    call hocket_array_data(c, x)
    call hocket_layout_global_indices(part, rank, 1, held)
    do i = 1, size(x, 1)
      call check(nint(x(i, 1)) == held(i) + 1, 'rows from the second on')
    end do
    call hocket_store_create(store, 'v', [7, 5], 'float64', fill='-1')
    call hocket_store_iwrite(store, 'v', c, operation, lower=[2, 1], upper=[7, 5], copy=.true.)
    if (size(x) > 0) x = 0
    call hocket_operation_wait(operation, timeout=60.0_real64)
    call hocket_operation_free(operation)
    call hocket_store_iread(store, 'v', c, operation, lower=[1, 1], upper=[6, 5])
    call hocket_operation_wait(operation, timeout=60.0_real64)
    call hocket_operation_free(operation)
    do i = 1, size(x, 1)
      call check(nint(x(i, 1)) == merge(-1, int(held(i)), held(i) == 1), 'a region that was started')
    end do
    call test_order()
    call test_conversion()
    call hocket_store_write(store, 't', a, max_buffer=47_int64, ierr=ierr)
    call fails(HOCKET_ERR_ERROR, ierr, 'max_buffer')
    call hocket_store_create(store, 's', [0, 5], 'float64', chunks=[1, 5])
    call hocket_store_append(store, 's', a)
    call hocket_store_append(store, 's', a)
    call hocket_store_shape(store, 's', held)
    call check(all(held == [14, 5]), 'two steps')
  end subroutine

  subroutine test_started()
    type(hocket_operation) :: operation
    type(hocket_flow) :: flow
    call hocket_store_iwrite(store, 'run/u', a, operation, copy=.true.)
    call hocket_operation_wait(operation, timeout=60.0_real64)
    call hocket_operation_free(operation)
    call hocket_store_iread(store, 'run/u', b, operation)
    call hocket_operation_wait(operation, timeout=60.0_real64)
    call hocket_operation_free(operation)
    call holds_numbers(b, columns, 'what was started')
    call hocket_store_write_later(store, 't', a, operation)
    call hocket_operation_wait(operation, timeout=60.0_real64)
    call hocket_operation_free(operation)
    call hocket_store_read_later(store, 't', b, operation)
    call hocket_operation_wait(operation, timeout=60.0_real64)
    call hocket_operation_free(operation)
    call holds_numbers(b, columns, 'what began later')
    call hocket_flow_make(flow)
    call hocket_flow_write(flow, store, 't', a)
    call hocket_flow_read(flow, store, 't', b)
    call hocket_flow_wait(flow, timeout=60.0_real64)
    call holds_numbers(b, columns, 'what a flow has read')
    call hocket_flow_free(flow)
  end subroutine

  subroutine test_counts()
    integer(int64) :: opened, reads, writes, bytes_read, bytes_written, seeks
    call hocket_store_counts(opened, reads, writes, bytes_read, bytes_written, seeks)
    call check(opened > 0, 'files were opened')
    call check(rank > 0 .or. min(reads, writes, bytes_read, bytes_written, seeks) > 0, 'and used')
  end subroutine

  subroutine test_checkpoints()
    integer :: ierr
    call hocket_save('saved.zarr', ['t', 'u'], [a, a], attributes='{"step":7}', keep=1)
    call hocket_save('saved.zarr', ['t', 'u'], [a, a], attributes='{"step":8}', keep=1)
    call hocket_load('saved.zarr', ['t'], [b])
    call holds_numbers(b, columns, 'a checkpoint')
    call hocket_load('saved.zarr.1', ['u'], [b])
    call holds_numbers(b, columns, 'the one before')
    call hocket_save('saved.zarr', [character(6) :: 't', 'u, too'], [a, a], keep=1)
    call hocket_load('saved.zarr', ['u, too'], [b])
    call holds_numbers(b, columns, 'a name with a comma')
    call hocket_save('saved.zarr', ['t'], [a, a], ierr=ierr)
    call fails(HOCKET_ERR_ARGUMENT, ierr, 'names')
    call hocket_load('saved.zarr.2', ['u'], [b], ierr=ierr)
    call fails(HOCKET_ERR_ERROR, ierr, 'saved.zarr.2')
    call hocket_save('saved.npy', ['saved'], [a])
    call hocket_load('saved.npy', ['saved'], [b])
    call holds_numbers(b, columns, 'an .npy file')
    call hocket_save('saved.h5', ['t', 'u'], [a, a], attributes='{"step":7}', ierr=ierr)
    if (ierr /= HOCKET_SUCCESS) then
      call fails(HOCKET_ERR_ERROR, ierr, 'finds no HDF5')
      return
    end if
    call hocket_load('saved.h5', ['u'], [b])
    call holds_numbers(b, columns, 'an HDF5 file')
  end subroutine
end program
