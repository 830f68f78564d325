! SPDX-License-Identifier: BSD-3-Clause
! Beside the MPI's own module mpi_f08, whose handles' integers hocket takes: a communicator that the
! program has made, and a request that becomes an operation.
program mpi_modules
  use mpi_f08
  use checks
  implicit none
  type(MPI_Comm) :: half
  type(MPI_Request) :: requests(2)
  type(hocket_layout) :: rows, columns
  type(hocket_array) :: a, b
  type(hocket_operation) :: operation
  integer, target, allocatable :: x(:, :), y(:, :)
  integer, allocatable :: mine(:)
  integer(int64), allocatable :: e(:)
  integer :: size_of_half, rank_in_half, i
  integer, asynchronous :: heard
  call MPI_Init()
  call begin()
  call check(world == MPI_COMM_WORLD%MPI_VAL, 'one number for the world')
  call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), rank, half)
  call MPI_Comm_size(half, size_of_half)
  call MPI_Comm_rank(half, rank_in_half)
  call hocket_comm_size(half%MPI_VAL, i)
  call check(i == size_of_half, 'the size of a communicator of the program')

  call hocket_layout_make([5, 4], '(BLOCK, *)', [size_of_half], rows)
  call hocket_layout_make([5, 4], '(*, BLOCK)', [size_of_half], columns)
  mine = numbers_of(rows, rank_in_half)
  call hocket_layout_local_shape(rows, rank_in_half, e)
  x = reshape(mine, [e(1), e(2)])
  call hocket_layout_local_shape(columns, rank_in_half, e)
  allocate (y(e(1), e(2)))
  y = 0
  call hocket_array_wrap(x, rows, half%MPI_VAL, a)
  call hocket_array_wrap(y, columns, half%MPI_VAL, b)
  call hocket_redistribute(a, b, timeout=60d0)
  mine = numbers_of(columns, rank_in_half)
  call check(all(reshape(y, [size(y)]) == mine), 'redistributed within half of the processes')

  heard = -1
  call MPI_Irecv(heard, 1, MPI_INTEGER, mod(rank + ranks - 1, ranks), 7, MPI_COMM_WORLD, requests(1))
  i = rank
  call MPI_Isend(i, 1, MPI_INTEGER, mod(rank + 1, ranks), 7, MPI_COMM_WORLD, requests(2))
  call hocket_operation_from_request(requests(1)%MPI_VAL, operation)
  call hocket_operation_wait(operation, timeout=60d0)
  call check(heard == mod(rank + ranks - 1, ranks), 'what the neighbour sent')
  call check(requests(1) == MPI_REQUEST_NULL, 'the request was taken over')
  call MPI_Wait(requests(2), MPI_STATUS_IGNORE)
  call hocket_array_free(a)
  call hocket_array_free(b)
  call finish('mpi_modules')
end program
