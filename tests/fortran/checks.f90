! SPDX-License-Identifier: BSD-3-Clause
! What the Fortran tests share: checks that count, MPI without MPI's modules, and numbered elements.
module checks
  use, intrinsic :: iso_fortran_env, only: error_unit, int64
  use hocket
  implicit none
  integer :: world, rank, ranks
  integer :: done = 0

contains

  subroutine begin()
    call hocket_mpi_init()
    call hocket_comm_world(world)
    call hocket_comm_rank(world, rank)
    call hocket_comm_size(world, ranks)
  end subroutine

  ! Prints what test_fortran.py waits for.
  subroutine finish(name)
    character(*), intent(in) :: name
    if (rank == 0) print '(3a, i0, a, i0, a)', 'fortran ', name, ': ', done, ' checks on ', ranks, &
      ' processes'
    call hocket_mpi_finalize()
  end subroutine

  subroutine check(holds, what)
    logical, intent(in) :: holds
    character(*), intent(in) :: what
    done = done + 1
    if (holds) return
    write (error_unit, '(a, i0, 2a)') 'process ', rank, ': ', what
    flush (error_unit)
    error stop 2
  end subroutine

  ! The last call gave this code, and words with this in them.
  subroutine fails(code, ierr, words)
    integer, intent(in) :: code, ierr
    character(*), intent(in) :: words
    call check(ierr == code, 'got '//hocket_error_name(ierr)//' for '//hocket_error_name(code)// &
               ': '//hocket_error_message())
    call check(index(hocket_error_message(), words) > 0, &
               'no "'//words//'" in: '//hocket_error_message())
  end subroutine

  ! For each local element, in Fortran's order, its number in the whole array, from 1, in
  ! Fortran's order.
  function numbers_of(layout, process) result(numbers)
    type(hocket_layout), intent(in) :: layout
    integer, intent(in) :: process
    integer, allocatable :: numbers(:)
    integer(int64), allocatable :: shape(:), held(:)
    integer, allocatable :: before(:)
    integer(int64) :: step
    integer :: d, i
    call hocket_layout_shape(layout, shape)
    numbers = [1]
    step = 1
    do d = 1, size(shape)
      call hocket_layout_global_indices(layout, process, d, held)
      before = numbers
      deallocate (numbers)
      allocate (numbers(size(before)*size(held)))
      do i = 1, size(held)
        numbers((i - 1)*size(before) + 1:i*size(before)) = before + int((held(i) - 1)*step)
      end do
      step = step*shape(d)
    end do
  end function
end module
