! SPDX-License-Identifier: BSD-3-Clause
! Poisson's equation by conjugate gradients: DOT_PRODUCT has the same bits on any number of
! processes, so that every step is the same.
!
! Run me: mpiexec -n 3 conjugate_gradient
program conjugate_gradient
  use hocket
  use, intrinsic :: iso_fortran_env, only: int64, real64
  implicit none
  integer, parameter :: n = 12
  type(hocket_layout) :: layout
  type(hocket_array) :: arrays(4), found
  real(real64), pointer :: x(:, :), r(:, :), p(:, :), q(:, :)
  real(real64) :: square, before, alpha, total
  integer(int64), allocatable :: row(:), column(:)
  integer :: world, rank, ranks, steps, i, j, k

  call hocket_mpi_init()
  call hocket_comm_world(world)
  call hocket_comm_rank(world, rank)
  call hocket_comm_size(world, ranks)
  call hocket_layout_make([n, n], '(*, BLOCK)', [ranks], layout)
  do k = 1, 4
    call hocket_array_empty(layout, 'float64', world, arrays(k))
  end do
  call hocket_array_data(arrays(1), x)
  call hocket_array_data(arrays(2), r)
  call hocket_array_data(arrays(3), p)
  call hocket_array_data(arrays(4), q)
  call hocket_array_global_indices(arrays(1), 1, row)
  call hocket_array_global_indices(arrays(1), 2, column)
  x = 0
  do concurrent(j=1:size(r, 2), i=1:size(r, 1))
    r(i, j) = real(mod(7*(row(i) - 1) + 3*(column(j) - 1), 11_int64) - 5, real64)
  end do
  p = r
  square = dot(2, 2)
  steps = 0
  do while (square > 1e-20_real64)
    call laplace()
    alpha = square/dot(3, 4)
    x = x + alpha*p
    r = r - alpha*q
    before = square
    square = dot(2, 2)
    p = r + (square/before)*p
    steps = steps + 1
  end do
  call hocket_reduce(arrays(1), HOCKET_SUM, found)
  call hocket_array_item(found, total)
  if (rank == 0) print '(i0, a, f0.12)', steps, ' steps, sum of the solution ', total
  call hocket_mpi_finalize()

contains

  function dot(a, b) result(value)
    integer, intent(in) :: a, b
    real(real64) :: value
    type(hocket_array) :: product
    call hocket_dot_product(arrays(a), arrays(b), product)
    call hocket_array_item(product, value)
    call hocket_array_free(product)
  end function

  ! q: four times each element of p, less its neighbours; beyond the edges there is 0.
  subroutine laplace()
    use, intrinsic :: iso_c_binding, only: c_null_ptr
    type(hocket_array) :: moved
    real(real64), pointer :: near(:, :)
    q = 4*p
    do k = 1, 4
      call hocket_eoshift(arrays(3), 2*mod(k, 2) - 1, c_null_ptr, moved, dim=(k + 1)/2)
      call hocket_array_data(moved, near)
      q = q - near
      call hocket_array_free(moved)
    end do
  end subroutine
end program
