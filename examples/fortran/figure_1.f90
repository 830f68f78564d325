! SPDX-License-Identifier: BSD-3-Clause
! A two-dimensional FFT in HPF's manner. Foster, Kohr, Krishnaiyer, Choudhary, "Double Standards:
! Bringing Task Parallelism to HPF via the Message Passing Interface", Figure 1:
!
!     do i = 1, 100
!       call read(A);  call rowfft(8, A);  A = transpose(A);  call rowfft(8, A);  call write(A)
!     end do
!
! Run me: mpiexec -n 8 figure_1
program figure_1
  use hocket
  use fourier
  implicit none
  integer, parameter :: n = 8
  type(hocket_layout) :: layout
  type(hocket_array) :: arrays(2)
  complex, pointer :: A(:, :), transposed(:, :)
  complex :: whole(n, n)
  integer(selected_int_kind(18)), allocatable :: rows(:)
  integer :: world, rank, ranks, i, j

  call hocket_mpi_init()
  call hocket_comm_world(world)
  call hocket_comm_rank(world, rank)
  call hocket_comm_size(world, ranks)
  call hocket_layout_from_hpf([character(40) :: &
                               '!HPF$ processors pr(P)', &
                               '      complex A(8, 8)', &
                               '!HPF$ distribute A(BLOCK,*)'], 'A', layout, &
                              values=[hocket_value('P', ranks)])
  call hocket_array_empty(layout, 'complex64', world, arrays(1))
  call hocket_array_empty(layout, 'complex64', world, arrays(2))
  call hocket_array_data(arrays(1), A)
  call hocket_array_data(arrays(2), transposed)
  call hocket_layout_global_indices(layout, rank, 1, rows)

  do i = 1, 100
    do j = 1, n
      A(:, j) = pixel(i, int(rows), j)
    end do
    call rowfft(A)
    call hocket_redistribute(arrays(1), arrays(2), order=[2, 1])
    call rowfft(transposed)
    call hocket_gather(arrays(2), whole)
    if (rank == 0) then
      if (any(abs(transpose(whole) - spectrum_of(i, n)) > 1e-2)) error stop 'not the serial FFT'
    end if
  end do
  if (rank == 0) print '(a)', 'figure 1: 100 spectra, each that of a serial FFT'
  call hocket_mpi_finalize()
end program
