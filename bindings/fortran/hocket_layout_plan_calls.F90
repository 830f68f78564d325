! SPDX-License-Identifier: BSD-3-Clause
! Layouts and plans whose arguments differ from C's: texts of several lines, slices that count from
! 1, optional lists.
module hocket_layout_plan_calls
  use hocket_base
  use hocket_c_interfaces
  use hocket_arguments
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int64
  implicit none
  private
  public :: hocket_layout_from_hpf, hocket_layout_indexed, hocket_layout_section
  public :: hocket_layout_section_places, hocket_triplet, hocket_subscript, hocket_value
  public :: hocket_plan_make

  ! A value for a name that an HPF program does not define: hocket_value('N', 8).
  type :: hocket_value
    character(63) :: name
    integer(int64) :: value
  end type
  interface hocket_value
    module procedure value_of_default
  end interface

  interface hocket_layout_from_hpf
    module procedure from_hpf_text, from_hpf_lines
  end interface

contains

  function value_of_default(name, value) result(made)
    character(*), intent(in) :: name
    integer, intent(in) :: value
    type(hocket_value) :: made
    made%name = name
    made%value = value
  end function

  ! The layout of the array `name` by the directives of a program, one line an element.
  subroutine from_hpf_lines(program, name, layout, values, ierr)
    character(*), intent(in) :: program(:), name
    type(hocket_layout), intent(out) :: layout
    type(hocket_value), intent(in), optional :: values(:)
    integer, intent(out), optional :: ierr
    character(:), allocatable :: text
    integer :: i
    text = ''
    do i = 1, size(program)
      text = text//trim(program(i))//new_line('a')
    end do
    call from_hpf_text(text//'!', name, layout, values, ierr)
  end subroutine

  subroutine from_hpf_text(program, name, layout, values, ierr)
    character(*), intent(in) :: program, name
    type(hocket_layout), intent(out) :: layout
    type(hocket_value), intent(in), optional :: values(:)
    integer, intent(out), optional :: ierr
    type(hocket_parameter), allocatable, target :: given(:)
    type(hocket_named_layout), allocatable, target :: found(:)
    character(kind=c_char), allocatable, target :: text(:), names(:)
    type(hocket_layout), target :: other
    integer(c_int64_t), target :: count
    integer(c_int64_t) :: many
    integer(c_int) :: code
    integer :: i
    many = 0
    if (present(values)) many = size(values)
    allocate (given(max(many, 1_c_int64_t)), names(64*max(many, 1_c_int64_t)))
    do i = 1, int(many)
      names(64*i - 63:64*i - 63 + len_trim(values(i)%name)) = c_chars(values(i)%name)
      given(i)%name = c_loc(names(64*i - 63))
      given(i)%value = values(i)%value
    end do
    text = c_chars(program)
    call count_from_one()
    code = c_hocket_layout_from_hpf(c_loc(text), many, c_loc(given), 0_c_int64_t, c_null_ptr, &
                                    c_loc(count))
    if (code /= 0) count = 0
    allocate (found(max(count, 1_c_int64_t)))
    if (count > 0) code = c_hocket_layout_from_hpf(c_loc(text), many, c_loc(given), count, &
                                                   c_loc(found), c_loc(count))
    if (code /= 0) count = 0
    do i = 1, int(count)
      if (lower(text_at(found(i)%name)) == lower(trim(name))) then
        layout%handle = found(i)%layout
      else
        other%handle = found(i)%layout
        code = c_hocket_layout_free(c_loc(other%handle))
      end if
    end do
    if (code == 0 .and. .not. c_associated(layout%handle)) then
      call fail(HOCKET_ERR_LAYOUT, "no directive of the program distributes or aligns '"// &
                trim(name)//"'", ierr)
    else
      call finish(code, ierr)
    end if
  end subroutine

  ! Segments of an array of rank 1: counts(r + 1) for process r, each of `length` elements from
  ! `first` on, counted from 1.
  subroutine hocket_layout_indexed(extent, counts, first, length, layout, ierr)
    integer, intent(in) :: extent, counts(:), first(:), length(:)
    type(hocket_layout), intent(out), target :: layout
    integer, intent(out), optional :: ierr
    integer(c_int64_t), target :: shape(1)
    integer(c_int64_t), allocatable, target :: many(:)
    type(hocket_segment), allocatable, target :: segments(:)
    if (size(first) /= sum(counts) .or. size(length) /= sum(counts)) then
      call fail(HOCKET_ERR_ARGUMENT, "hocket_layout_indexed: 'first' and 'length' need as many "// &
                "entries as 'counts' sums to", ierr)
      return
    end if
    shape = extent
    many = [int(counts, c_int64_t), 0_c_int64_t]
    allocate (segments(size(first) + 1))
    segments(:size(first))%first = first - 1
    segments(:size(first))%length = length
    call count_from_one()
    call finish(c_hocket_layout_indexed(1_c_int64_t, c_loc(shape), size(counts, kind=c_int64_t), &
                                        c_loc(many), c_loc(segments), c_loc(layout%handle)), ierr)
  end subroutine

  ! first:last:step of one dimension, counted from 1.
  function hocket_triplet(first, last, step) result(slice)
    integer, intent(in) :: first, last
    integer, intent(in), optional :: step
    type(hocket_slice) :: slice
    slice%step = 1
    if (present(step)) slice%step = step
    slice%first = first - 1
    slice%count = 0
    if (slice%step /= 0) slice%count = max(0_c_int64_t, (last - first + slice%step)/slice%step)
    slice%keep = .true.
  end function

  ! One index, which drops its dimension.
  function hocket_subscript(index) result(slice)
    integer, intent(in) :: index
    type(hocket_slice) :: slice
    slice = hocket_slice(index - 1_c_int64_t, 1_c_int64_t, 1_c_int64_t, .false._c_bool)
  end function

  subroutine hocket_layout_section(layout, slices, section, ierr)
    type(hocket_layout), intent(in) :: layout
    type(hocket_slice), intent(in) :: slices(:)
    type(hocket_layout), intent(out), target :: section
    integer, intent(out), optional :: ierr
    type(hocket_slice), allocatable, target :: held(:)
    if (size(slices) /= dimensions_of(layout)) then
      call wrong_length('hocket_layout_section', 'slices', size(slices), dimensions_of(layout), ierr)
      return
    end if
    held = [slices, hocket_subscript(1)]
    call count_from_one()
    call finish(c_hocket_layout_section(layout%handle, c_loc(held), c_loc(section%handle)), ierr)
  end subroutine

  ! The local indices of the section's elements on process `rank`, along one dimension.
  subroutine hocket_layout_section_places(layout, slices, rank, dimension, values, ierr)
    type(hocket_layout), intent(in) :: layout
    type(hocket_slice), intent(in) :: slices(:)
    integer, intent(in) :: rank, dimension
    integer(int64), allocatable, target, intent(out) :: values(:)
    integer, intent(out), optional :: ierr
    type(hocket_slice), allocatable, target :: held(:)
    integer(c_int64_t), target :: count
    integer(c_int) :: code
    allocate (values(0))
    if (size(slices) /= dimensions_of(layout)) then
      call wrong_length('hocket_layout_section_places', 'slices', size(slices), dimensions_of(layout), ierr)
      return
    end if
    held = [slices, hocket_subscript(1)]
    call count_from_one()
    code = c_hocket_layout_section_places(layout%handle, c_loc(held), int(rank, c_int64_t), &
                                          dimension - 1_c_int64_t, 0_c_int64_t, c_null_ptr, &
                                          c_loc(count))
    if (code == 0 .and. count > 0) then
      deallocate (values)
      allocate (values(count))
      code = c_hocket_layout_section_places(layout%handle, c_loc(held), int(rank, c_int64_t), &
                                            dimension - 1_c_int64_t, count, c_loc(values), &
                                            c_loc(count))
      values = values + 1
    end if
    call finish(code, ierr)
  end subroutine

  ! The destination is the source permuted by `order`, as in RESHAPE(..., order=).
  subroutine hocket_plan_make(source, destination, plan, order, itemsize, strategy, overlap, &
                              stages, model, source_nodes, destination_nodes, ierr)
    type(hocket_layout), intent(in) :: source, destination
    type(hocket_plan), intent(out), target :: plan
    integer, intent(in), optional :: order(:), itemsize, overlap(:), stages
    type(hocket_model), intent(in), optional, target :: model
    integer, intent(in), optional :: source_nodes(:), destination_nodes(:)
    character(*), intent(in), optional :: strategy
    integer, intent(out), optional :: ierr
    type(hocket_plan_options), target :: options
    integer(c_int64_t), allocatable, target :: axes(:), same(:), from(:), to(:)
    character(kind=c_char), allocatable, target :: name(:)
    if (present(itemsize)) options%itemsize = itemsize
    if (present(order)) then
      if (size(order) /= dimensions_of(source)) then
        call wrong_length('hocket_plan_make', 'order', size(order), dimensions_of(source), ierr)
        return
      end if
      if (wrong_entry(order, 'hocket_plan_make', ierr)) return
      axes = [order - 1_c_int64_t, 0_c_int64_t]
      options%axes = c_loc(axes)
    end if
    if (present(overlap)) then
      if (size(overlap) /= processes_of(destination)) then
        call wrong_length('hocket_plan_make', 'overlap', size(overlap), processes_of(destination), &
                          ierr)
        return
      end if
      same = [int(overlap, c_int64_t), 0_c_int64_t]
      options%overlap = c_loc(same)
    end if
    if (present(source_nodes)) then
      if (size(source_nodes) /= processes_of(source)) then
        call wrong_length('hocket_plan_make', 'source_nodes', size(source_nodes), &
                          processes_of(source), ierr)
        return
      end if
      from = [int(source_nodes, c_int64_t), 0_c_int64_t]
      options%source_nodes = c_loc(from)
    end if
    if (present(destination_nodes)) then
      if (size(destination_nodes) /= processes_of(destination)) then
        call wrong_length('hocket_plan_make', 'destination_nodes', size(destination_nodes), &
                          processes_of(destination), ierr)
        return
      end if
      to = [int(destination_nodes, c_int64_t), 0_c_int64_t]
      options%destination_nodes = c_loc(to)
    end if
    if (present(stages)) options%stages = stages
    if (present(model)) options%model = c_loc(model)
    if (present(strategy)) then
      name = c_chars(strategy)
      options%strategy = c_loc(name)
    end if
    call count_from_one()
    call finish(c_hocket_plan_make(source%handle, destination%handle, c_loc(options), &
                                   c_loc(plan%handle)), ierr)
  end subroutine

  function lower(text) result(small)
    character(*), intent(in) :: text
    character(len(text)) :: small
    integer :: i
    small = text
    do i = 1, len(text)
      if (text(i:i) >= 'A' .and. text(i:i) <= 'Z') small(i:i) = achar(iachar(text(i:i)) + 32)
    end do
  end function
end module
