! SPDX-License-Identifier: BSD-3-Clause
! Plans ready to run.
program transfers
  use, intrinsic :: iso_fortran_env, only: real64
  use checks
  implicit none
  call begin()
  call test_starts()
  call finish('transfers')

contains

  ! Columns to rows, turned, by each way to start.
  subroutine test_starts()
    type(hocket_layout) :: columns, rows
    type(hocket_array) :: a, b, c, nowhere
    type(hocket_transfer) :: transfer
    type(hocket_operation) :: started, both(2)
    type(hocket_flow) :: flow
    real(real64), pointer :: x(:, :), y(:, :)
    integer(int64), allocatable :: mine(:), theirs(:)
    logical :: done
    integer :: i, j, way, first, again, ierr
    call hocket_layout_make([9, 5], '(*, BLOCK)', [ranks], columns)
    call hocket_layout_make([5, 9], '(*, CYCLIC)', [ranks], rows)
    call hocket_layout_global_indices(columns, rank, 2, mine)
    call hocket_layout_global_indices(rows, rank, 2, theirs)
    call hocket_array_empty(columns, 'float64', world, a)
    call hocket_array_empty(rows, 'float64', world, b)
    call hocket_array_empty(rows, 'float64', world, c)
    call hocket_array_data(a, x)
    call hocket_array_data(b, y)
    call hocket_transfer_make(columns, rows, world, transfer, dtype='float64', order=[2, 1], &
                              strategy='direct', timeout=60d0)
    do way = 1, 5
      do j = 1, size(mine)
        do i = 1, 9
          x(i, j) = real(1000*way + 10*i + mine(j), real64)
        end do
      end do
      y = -1
      select case (way)
      case (1)
        call hocket_transfer_start(transfer, a, b)
        call hocket_transfer_wait(transfer, timeout=60d0)
      case (2)
        call hocket_transfer_start(transfer, a, b)
        done = .false.
        do while (.not. done)
          call hocket_transfer_test(transfer, done)
        end do
      case (3)
        call hocket_transfer_start_later(transfer, a, b, started)
        call hocket_operation_wait(started, timeout=60d0)
        call hocket_operation_free(started)
        call hocket_transfer_operation(transfer, started)
        call hocket_operation_free(started)
      case (4)
        call hocket_flow_make(flow)
        call hocket_flow_transfer(flow, transfer, a, b)
        call hocket_flow_wait(flow, timeout=60d0)
        call hocket_flow_free(flow)
      case (5)
        call hocket_transfer_start(transfer, a, c)
        call hocket_transfer_operation(transfer, both(1))
        call hocket_iredistribute(a, b, both(2), order=[2, 1])
        call hocket_operation_wait_any(both, first, timeout=60d0)
        call check(first == 1 .or. first == 2, 'the first of two')
        call hocket_operation_wait(both(3 - first), timeout=60d0)
        call hocket_operation_wait_any(both(first:first), again, timeout=0d0)
        call check(again == 1, 'the only one is done')
        call hocket_operation_free(both(1))
        started = both(2)
        call hocket_operation_free(started)
      end select
      do j = 1, size(theirs)
        do i = 1, 5
          call check(y(i, j) == real(1000*way + 10*theirs(j) + i, real64), 'y(i,j) is x(j,i)')
        end do
      end do
    end do
    call hocket_transfer_refuse(transfer, HOCKET_ERR_LAYOUT, 'on all processes', ierr=ierr)
    call check(ierr == HOCKET_ERR_LAYOUT, 'refused')
    call hocket_transfer_free(transfer)
    call hocket_transfer_wait(transfer, ierr=ierr)
    call check(ierr == HOCKET_ERR_ARGUMENT, 'freed')
    call hocket_transfer_make(columns, rows, world, transfer, order=[1], ierr=ierr)
    call check(ierr == HOCKET_ERR_ARGUMENT, 'order')
    call hocket_transfer_make(columns, rows, world, transfer, order=[0, 1], ierr=ierr)
    call fails(HOCKET_ERR_ARGUMENT, ierr, 'hocket_transfer_make: order(1) is 0; give 1 to 2')
    call check(index(hocket_error_message(), 'refuse') == 0, 'the procedure that was called')
    call hocket_redistribute(nowhere, nowhere, order=[1, 3], ierr=ierr)
    call fails(HOCKET_ERR_ARGUMENT, ierr, "hocket_redistribute: 'array' is NULL")
  end subroutine
end program
