! SPDX-License-Identifier: BSD-3-Clause
! Arrays with a border, alone and in flows. Flows call these procedures.
module strings
  use checks
  use, intrinsic :: iso_c_binding
  implicit none

  ! One process's part of a string, before and after a step; the border is at 0 and at the end.
  type :: string
    real, pointer :: from(:) => null(), to(:) => null()
    integer :: first = 1, last = 0  ! what is to be computed
  end type

contains

  recursive function mean(context, parts) bind(C, name='') result(code)
    type(c_ptr), value :: context, parts
    integer(c_int) :: code
    type(string), pointer :: s
    integer :: i
    call c_f_pointer(context, s)
    do i = s%first, s%last
      s%to(i) = (s%from(i - 1) + s%from(i + 1))/2
    end do
    code = 0
    if (.false.) print *, c_associated(parts)
  end function

  ! Late, so that what does not wait for it is first.
  recursive function late(context, parts) bind(C, name='') result(code)
    type(c_ptr), value :: context, parts
    integer(c_int) :: code
    type(string), pointer :: s
    integer(int64) :: began, now, rate
    call c_f_pointer(context, s)
    call system_clock(began, rate)
    do
      call system_clock(now)
      if (now - began > rate/20) exit
    end do
    s%from(s%first:s%last) = s%from(s%first:s%last) + 1
    code = 0
    if (.false.) print *, c_associated(parts)
  end function

  recursive function begin_later(context, started) bind(C, name='') result(code)
    type(c_ptr), value :: context, started
    integer(c_int) :: code
    type(hocket_operation), pointer :: operation
    call c_f_pointer(context, operation)
    call hocket_started_add(started, operation)
    code = 0
  end function
end module

program halos
  use strings
  implicit none
  call begin()
  call test_planes('(*, BLOCK)', [ranks], [1, 2])
  call test_planes('(BLOCK, *)', [ranks], [2, 0])
  if (mod(ranks, 2) == 0) call test_planes('(BLOCK, BLOCK)', [2, ranks/2], [1, 1])
  call test_one_row()
  call test_rank_3()
  call test_without_elements()
  call test_flow(1)
  call test_flow(2)
  call test_order_of_the_program()
  call test_refused()
  call finish('halos')

contains

  subroutine test_planes(dist, procs, width)
    character(*), intent(in) :: dist
    integer, intent(in) :: procs(:), width(2)
    integer, parameter :: n = 7, m = 10
    type(hocket_layout) :: layout, theirs
    type(hocket_array) :: array, within
    type(hocket_halo) :: halo
    real(8), pointer :: a(:, :), x(:, :)
    integer(int64), allocatable :: rows(:), columns(:), extents(:)
    integer(int64), allocatable :: widths(:)
    logical :: periodic(2), same, below, above
    integer :: turn
    call hocket_layout_make([n, m], dist, procs, layout)
    call hocket_layout_global_indices(layout, rank, 1, rows)
    call hocket_layout_global_indices(layout, rank, 2, columns)
    call hocket_array_empty(layout, 'float64', world, array)
    call hocket_array_data(array, a)
    do turn = 1, 2
      a = spread(100*real(rows, 8), 2, size(columns)) + spread(real(columns, 8), 1, size(rows))
      periodic = [turn == 1, .true.]
      if (turn == 1) then
        call hocket_halo_make(array, width, halo, periodic=periodic)
      else
        periodic = .false.
        call hocket_halo_make(array, width, halo)
      end if
      call hocket_halo_data(halo, x)
      call hocket_halo_local_shape(halo, extents)
      call hocket_halo_width(halo, widths)
      call check(all(widths == width), 'widths')
      call hocket_halo_edges(halo, 2, below, above)
      if (size(a) > 0) same = (below .eqv. (columns(1) == 1 .and. .not. periodic(2))) .and. &
                              (above .eqv. (columns(size(columns)) == m .and. .not. periodic(2)))
      if (size(a) > 0) call check(same, 'edges')
      call check(all(shape(x) == extents), 'shape')
      call hocket_halo_array(halo, within)
      call hocket_array_layout(within, theirs)
      call hocket_layout_equal(theirs, layout, same)
      call check(same, 'the array within')
      if (size(a) > 0) then
        call check(all(lbound(x) == 1 - width), 'the first index of the array is 1')
        call check(all(x(1:size(a, 1), 1:size(a, 2)) == a), 'the elements were copied')
        x(:0, :) = -1
        x(size(a, 1) + 1:, :) = -1
        x(:, :0) = -1
        x(:, size(a, 2) + 1:) = -1
      end if
      call hocket_halo_exchange(halo, timeout=60d0)
      if (size(a) > 0) call look(x, int(rows(1)), int(columns(1)), n, m, periodic)
      call hocket_array_free(within)
      call hocket_halo_free(halo)
      call check(.not. c_associated(halo%handle), 'freed')
    end do
    call hocket_array_free(array)
  end subroutine

  ! Every element of x, whose (1, 1) is (row, column) of the whole array.
  subroutine look(x, row, column, n, m, periodic)
    real(8), pointer, intent(in) :: x(:, :)
    integer, intent(in) :: row, column, n, m
    logical, intent(in) :: periodic(2)
    integer :: i, j, at(2)
    real(8) :: wanted
    do j = lbound(x, 2), ubound(x, 2)
      do i = lbound(x, 1), ubound(x, 1)
        at = [row + i - 1, column + j - 1]
        wanted = -1
        if (periodic(1)) at(1) = modulo(at(1) - 1, n) + 1
        if (periodic(2)) at(2) = modulo(at(2) - 1, m) + 1
        if (all(at >= 1 .and. at <= [n, m])) wanted = 100*at(1) + at(2)
        call check(x(i, j) == wanted, 'an element of the border')
      end do
    end do
  end subroutine

  ! A part of one row lies alike in both orders of memory; with its border it does not.
  subroutine test_one_row()
    type(hocket_layout) :: layout
    type(hocket_array) :: array
    type(hocket_halo) :: halo
    real(8), target :: a(1, 4)
    real(8), pointer :: x(:, :)
    integer :: j
    call hocket_layout_make([ranks, 4], '(BLOCK, *)', [ranks], layout)
    a(1, :) = [(100*(rank + 1) + j, j=1, 4)]
    call hocket_array_wrap(a, layout, world, array)
    call hocket_halo_make(array, [1, 1], halo, periodic=[.true., .true.])
    call hocket_halo_data(halo, x)
    call hocket_halo_exchange(halo)
    call look(x, rank + 1, 1, ranks, 4, [.true., .true.])
    call hocket_halo_free(halo)
    call hocket_array_free(array)
  end subroutine

  subroutine test_rank_3()
    type(hocket_layout) :: layout
    type(hocket_array) :: array
    type(hocket_halo) :: halo
    complex, target :: a(2, 3, 2)
    complex, pointer :: x(:, :, :)
    integer :: i, j, k, before
    call hocket_layout_make([2, 3, 2*ranks], '(*, *, BLOCK)', [ranks], layout)
    a = reshape([(((cmplx(i + 10*j, k + 2*rank), i=1, 2), j=1, 3), k=1, 2)], [2, 3, 2])
    call hocket_array_wrap(a, layout, world, array)
    call hocket_halo_make(array, [1, 0, 1], halo, periodic=[.true., .false., .true.])
    call hocket_halo_data(halo, x)
    call hocket_halo_exchange(halo)
    before = modulo(2*rank - 1, 2*ranks) + 1
    do j = 1, 3
      call check(x(1, j, 0) == cmplx(1 + 10*j, before), 'the plane before')
      call check(x(0, j, 0) == cmplx(2 + 10*j, before), 'its edge')
      call check(x(3, j, 3) == cmplx(1 + 10*j, modulo(2*rank + 2, 2*ranks) + 1), 'the edge behind')
    end do
    call hocket_halo_free(halo)
    call hocket_array_free(array)
  end subroutine

  subroutine test_without_elements()
    type(hocket_layout) :: layout
    type(hocket_array) :: array
    type(hocket_halo) :: halo
    integer(1), pointer :: x(:), y(:)
    integer(1), target :: nothing(0)
    call hocket_layout_make([1], '(BLOCK)', [ranks], layout)
    call hocket_array_empty(layout, 'int8', world, array)
    call hocket_array_data(array, y)
    y = 7
    call hocket_halo_make(array, [2], halo)
    call hocket_halo_data(halo, x)
    call check(associated(x) .and. size(x) == merge(5, 0, rank == 0), 'no elements, no border')
    call hocket_halo_exchange(halo)
    if (rank == 0) call check(x(1) == 7, 'the element')
    call hocket_halo_free(halo)
    call hocket_array_free(array)
    if (rank == 0) return
    call hocket_array_wrap(nothing, layout, world, array)
    call hocket_array_data(array, y)
    call check(associated(y) .and. size(y) == 0, 'a pointer to nothing has a shape')
    call hocket_array_free(array)
  end subroutine

  ! A string that evens out: its inside is computed while the border comes.
  subroutine test_flow(workers)
    integer, intent(in) :: workers
    integer, parameter :: steps = 9
    type(hocket_layout) :: layout
    type(hocket_array) :: array
    type(hocket_halo), target :: halo(2)
    type(hocket_flow) :: flow
    type(hocket_flow_options) :: options
    type(string), target :: inside(steps), ends(2, steps)
    real, allocatable :: whole(:)
    real, pointer :: a(:), x(:), y(:)
    integer(int64), allocatable :: mine(:)
    integer :: n, m, step, i
    n = 3*ranks + 2
    call hocket_layout_make([n], '(BLOCK)', [ranks], layout)
    call hocket_layout_global_indices(layout, rank, 1, mine)
    call hocket_array_empty(layout, 'float32', world, array)
    call hocket_array_data(array, a)
    whole = [(real(mod(3*i, 7)), i=1, n)]
    a = whole(mine)
    m = size(a)
    call hocket_halo_make(array, [1], halo(1), periodic=[.true.])
    call hocket_halo_make(array, [1], halo(2), periodic=[.true.])
    call hocket_flow_options_default(options)
    options%workers = int(workers, c_int)
    call hocket_flow_make(flow, options)
    do step = 1, steps
      call hocket_halo_data(halo(2 - mod(step, 2)), x)
      call hocket_halo_data(halo(1 + mod(step, 2)), y)
      call hocket_flow_exchange(flow, halo(2 - mod(step, 2)), priority=1)
      if (m == 0) cycle
      inside(step) = string(x, y, 2, m - 1)
      call hocket_flow_task(flow, c_funloc(mean), c_loc(inside(step)), &
                            [hocket_reads(hocket_view(x(1:m))), &
                             hocket_writes(hocket_view(y(2:m - 1)))], name='inside')
      do i = 1, merge(1, 2, m == 1)
        ends(i, step) = string(x, y, merge(1, m, i == 1), merge(1, m, i == 1))
        associate (at => ends(i, step)%first)
          call hocket_flow_task(flow, c_funloc(mean), c_loc(ends(i, step)), &
                                [hocket_reads(hocket_view(x)), &
                                 hocket_writes(hocket_view(y(at:at)))], name='ends')
        end associate
      end do
    end do
    call hocket_flow_wait(flow, timeout=60d0)
    do step = 1, steps
      whole = (cshift(whole, -1) + cshift(whole, 1))/2
    end do
    if (m > 0) call check(all(y(1:m) == whole(mine)), 'as one after the other')
    call check(n > 0, 'done')
    call hocket_flow_free(flow)
    call hocket_halo_free(halo(1))
    call hocket_halo_free(halo(2))
    call hocket_array_free(array)
  end subroutine

  ! Two borders, of which each process is first ready for another one: what is exchanged goes by the
  ! order of the calls.
  subroutine test_order_of_the_program()
    type(hocket_layout) :: layout
    type(hocket_array) :: array
    type(hocket_halo) :: halo(3)
    type(hocket_flow) :: flow
    type(hocket_flow_options) :: options
    type(hocket_operation), target :: operation
    type(string), target :: s
    real, pointer :: x(:), a(:)
    real :: left
    integer :: i, before
    call hocket_layout_make([ranks], '(BLOCK)', [ranks], layout)
    call hocket_array_empty(layout, 'float32', world, array)
    call hocket_array_data(array, a)
    call hocket_flow_options_default(options)
    options%workers = 2
    call hocket_flow_make(flow, options)
    do i = 1, 3
      a = 10*i*(rank + 1)
      call hocket_halo_make(array, [1], halo(i), periodic=[.true.])
    end do
    call hocket_halo_data(halo(1 + mod(rank, 2)), x)
    s = string(x, x, 1, 1)
    call hocket_flow_task(flow, c_funloc(late), c_loc(s), [hocket_updates(hocket_view(x(1:1)))])
    call hocket_flow_exchange(flow, halo(1))
    call hocket_flow_exchange(flow, halo(2))
    call hocket_halo_iexchange(halo(3), operation, later=.true.)
    call hocket_halo_data(halo(3), x)
    call hocket_flow_comm(flow, c_funloc(begin_later), c_loc(operation), &
                          [hocket_updates(hocket_view(x))])
    call hocket_flow_wait(flow, timeout=60d0)
    before = modulo(rank - 1, ranks)
    do i = 1, 3
      call hocket_halo_data(halo(i), x)
      left = 10*i*(before + 1)
      if (i == 1 + mod(before, 2)) left = left + 1
      call check(x(0) == left, 'the neighbour''s element of that border')
      x(1) = -x(1)
    end do
    call hocket_halo_iexchange(halo(3), operation, later=.true.)
    call hocket_operation_wait(operation, timeout=60d0)
    call check(x(0) == -30*(before + 1), 'an operation by itself')
    call hocket_operation_free(operation)
    x(1) = -x(1)
    call hocket_halo_iexchange(halo(3), operation)
    call hocket_operation_wait(operation, timeout=60d0)
    call check(x(0) == 30*(before + 1), 'one that was started')
    call hocket_operation_free(operation)
    call hocket_flow_free(flow)
    do i = 1, 3
      call hocket_halo_free(halo(i))
    end do
    call hocket_array_free(array)
  end subroutine

  subroutine test_refused()
    type(hocket_layout) :: layout, dealt
    type(hocket_array) :: array, cyclic, within
    type(hocket_halo) :: halo, other
    type(hocket_flow) :: flow
    real(8), pointer :: x(:), plane(:, :)
    real, pointer :: narrow(:)
    integer :: ierr
    call hocket_layout_make([4*ranks], '(BLOCK)', [ranks], layout)
    call hocket_array_empty(layout, 'float64', world, array)
    call hocket_halo_make(array, [1, 1], halo, ierr=ierr)
    call fails(HOCKET_ERR_ARGUMENT, ierr, "'width' has 2 entries, but needs 1")
    call hocket_halo_make(array, [1], halo, periodic=[.true., .false.], ierr=ierr)
    call fails(HOCKET_ERR_ARGUMENT, ierr, "'periodic' has 2 entries, but needs 1")
    call hocket_halo_make(array, [-1], halo, ierr=ierr)
    call fails(HOCKET_ERR_LAYOUT, ierr, '-1 along dimension 1')
    call hocket_halo_make(within, [1], other, ierr=ierr)
    call fails(HOCKET_ERR_ARGUMENT, ierr, 'hocket_halo_make: ''array'' is NULL')
    call hocket_halo_exchange(halo, ierr=ierr)
    call fails(HOCKET_ERR_ARGUMENT, ierr, 'NULL')
    call hocket_halo_make(array, [1], halo)
    call hocket_halo_data(halo, narrow, ierr)
    call fails(HOCKET_ERR_MISMATCH, ierr, 'float32')
    call check(.not. associated(narrow), 'no pointer')
    call hocket_halo_data(halo, plane, ierr)
    call fails(HOCKET_ERR_MISMATCH, ierr, 'rank 2')
    call hocket_flow_make(flow)
    call hocket_flow_exchange(flow, other, ierr=ierr)
    call fails(HOCKET_ERR_ARGUMENT, ierr, 'NULL')
    call hocket_flow_free(flow)
    call hocket_halo_array(halo, within)
    call hocket_halo_free(halo)
    call hocket_array_data(within, x, ierr)
    call check(ierr == HOCKET_SUCCESS .and. associated(x), 'the memory lives on')
    call hocket_array_free(within)
    call hocket_array_free(array)
    if (ranks == 1) return
    call hocket_layout_make([4*ranks], '(CYCLIC)', [ranks], dealt)
    call hocket_array_empty(dealt, 'float64', world, cyclic)
    call hocket_halo_make(cyclic, [1], halo, ierr=ierr)
    call fails(HOCKET_ERR_LAYOUT, ierr, 'several intervals')
  end subroutine
end program
