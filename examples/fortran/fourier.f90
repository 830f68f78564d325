! SPDX-License-Identifier: BSD-3-Clause
! The computations of the examples: images, their Fourier transforms by rows and columns, and the
! transform of a whole image for comparison.
module fourier
  implicit none
  real, parameter :: pi = 3.14159265358979

contains

  ! Element (i, j) of image `number`.
  elemental function pixel(number, i, j) result(value)
    integer, intent(in) :: number, i, j
    complex :: value
    value = cmplx(mod(number*i + j*j, 7), 0)
  end function

  ! The discrete Fourier transform of n values, from its definition.
  function transform(values) result(spectrum)
    complex, intent(in) :: values(:)
    complex :: spectrum(size(values))
    integer :: n, j, k
    n = size(values)
    do k = 1, n
      spectrum(k) = sum(values*[(exp(cmplx(0, -2*pi*mod((j - 1)*(k - 1), n)/n)), j=1, n)])
    end do
  end function

  ! One-dimensional transforms of the rows, and of the columns, that a process holds.
  subroutine rowfft(a)
    complex, intent(inout) :: a(:, :)
    integer :: i
    do i = 1, size(a, 1)
      a(i, :) = transform(a(i, :))
    end do
  end subroutine

  subroutine colfft(a)
    complex, intent(inout) :: a(:, :)
    integer :: j
    do j = 1, size(a, 2)
      a(:, j) = transform(a(:, j))
    end do
  end subroutine

  ! Both, of a whole n x n image.
  function spectrum_of(number, n) result(a)
    integer, intent(in) :: number, n
    complex :: a(n, n)
    integer :: i, j
    a = reshape([((pixel(number, i, j), i=1, n), j=1, n)], [n, n])
    call rowfft(a)
    call colfft(a)
  end function
end module
