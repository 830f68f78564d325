! SPDX-License-Identifier: BSD-3-Clause
! A port of this job, and a process of its own that looks into it; indices count from 1.
program ports
  use, intrinsic :: iso_c_binding, only: c_loc
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use checks
  implicit none
  character(200) :: argument
  if (command_argument_count() == 1) then
    call get_command_argument(1, argument)
    call look_into(trim(argument))
  else
    call begin()
    call test_port()
    call finish('ports')
  end if

contains

  ! Without MPI.
  subroutine look_into(name)
    character(*), intent(in) :: name
    type(hocket_observer) :: observer
    character(:), allocatable :: text
    integer(int64), allocatable :: shape(:)
    real(real64), target :: values(7, 5), part(3, 2)
    real(real64) :: real
    integer :: i, j, ierr, whole
    logical :: same
    rank = 0
    call hocket_observe(name, observer, timeout=60.0_real64)
    call hocket_observer_arrays(observer, text)
    call check(text == 't', 'the arrays')
    call hocket_observer_parameters(observer, text)
    call check(text == 'viscosity,steps,title', 'the parameters')
    call hocket_observer_shape(observer, 't', shape)
    call check(all(shape == [7, 5]), 'the shape')
    call hocket_observer_dtype(observer, 't', text)
    call check(text == 'float64', 'the type')
    call hocket_observer_read(observer, 't', 280_int64, c_loc(values))
    call check(all(nint(values) == reshape([(i, i=1, 35)], [7, 5])), 'all elements')
    call hocket_observer_read(observer, 't', 48_int64, c_loc(part), lower=[2, 1], upper=[6, 4], &
                              every=[2, 3])
    same = .true.
    do j = 1, 2
      do i = 1, 3
        same = same .and. nint(part(i, j)) == 2 * i + 7 * 3 * (j - 1)
      end do
    end do
    call check(same, 'a section')
    call hocket_observer_value_real(observer, 'viscosity', real)
    call check(abs(real - 0.5) < 1e-9, 'the viscosity')
    call hocket_observer_value_int(observer, 'steps', whole)
    call check(whole == 100, 'the steps')
    call hocket_observer_value_text(observer, 'title', text)
    call check(text == 'a run', 'the title')
    call hocket_observer_swapped(observer, same)
    call check(.not. same, 'the order of bytes')
    call hocket_observer_set_text(observer, 'viscosity', 'thick', ierr)
    call fails(HOCKET_ERR_ERROR, ierr, 'a real number')
    call hocket_observer_set_text(observer, 'title', 'another run')
    call hocket_observer_set_real(observer, 'viscosity', 0.25_real64)
    call hocket_observer_set_int(observer, 'steps', 7)
    call hocket_observer_step(observer, i)
    call check(i > 0, 'polls')
    call hocket_observer_free(observer)
  end subroutine

  subroutine test_port()
    type(hocket_port) :: port, second
    type(hocket_tasks) :: tasks
    type(hocket_layout) :: layout
    type(hocket_array) :: array
    real(real64), pointer :: x(:, :)
    character(:), allocatable :: name, text
    character(200) :: program
    real(real64) :: viscosity
    integer :: ierr, steps, polls
    integer(int64) :: clock, began, per_second
    integer, allocatable :: numbers(:)
    call system_clock(clock)
    write (program, '(a, i0)') 'fortran-', clock
    call hocket_tell(world, name, text=trim(program))
    call hocket_port_open(name, world, port)
    call hocket_port_name(port, text)
    call check(text == name, 'the name')
    call hocket_port_address(port, text)
    call check(text(1:1) == '/', 'the address')
    call hocket_port_key(port, text)
    call check(text == '', 'the key')
    call hocket_ports(text)
    call check(index(text, name) > 0, 'all ports')
    call hocket_port_open(name, world, second, ierr=ierr)
    call fails(HOCKET_ERR_ERROR, ierr, 'there is a port')
    call hocket_port_accept(port, tasks, timeout=0.05_real64, ierr=ierr)
    call fails(HOCKET_ERR_DEADLINE, ierr, 'no job has connected')
    call hocket_connect('fortran-nowhere', world, 'viewer', tasks, timeout=0.05_real64, ierr=ierr)
    call fails(HOCKET_ERR_DEADLINE, ierr, 'fortran-nowhere')
    call hocket_disconnect(tasks, ierr=ierr)
    call check(ierr == HOCKET_ERR_ARGUMENT, 'no tasks')
    call hocket_give_key('no.key', 'read', 'read.key', ierr)
    call fails(HOCKET_ERR_ERROR, ierr, 'no.key')
    call hocket_layout_make([7, 5], '(CYCLIC, *)', [ranks], layout)
    call hocket_array_empty(layout, 'float64', world, array)
    call hocket_array_data(array, x)
    numbers = numbers_of(layout, rank)
    if (size(x) > 0) x = reshape(real(numbers, real64), shape(x))
    call hocket_port_publish(port, 't', array)
    call hocket_port_parameter_real(port, 'viscosity', 0.5_real64)
    call hocket_port_parameter_int(port, 'steps', 100)
    call hocket_port_parameter_text(port, 'title', 'a run')
    if (rank == 0) then
      call get_command_argument(0, program)
      call execute_command_line(trim(program)//' '//name, wait=.false.)
    end if
    steps = 0
    call system_clock(began, per_second)
    do
      call hocket_port_poll(port)
      call system_clock(clock)
      if (clock - began > 60 * per_second) exit
      call hocket_port_value_int(port, 'steps', steps)
      if (steps == 7) exit
    end do
    call check(steps == 7, 'the steps')
    call hocket_port_value_real(port, 'viscosity', viscosity)
    call check(abs(viscosity - 0.25) < 1e-9, 'the viscosity')
    call hocket_port_value_text(port, 'title', text)
    call check(text == 'another run', 'the title')
    call hocket_port_polls(port, polls)
    call check(polls > 0, 'polls')
    call hocket_port_close(port)
    call hocket_port_free(port)
    call hocket_array_free(array)
    call hocket_layout_free(layout)
  end subroutine
end program
