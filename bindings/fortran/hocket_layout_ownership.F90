! SPDX-License-Identifier: BSD-3-Clause
! Layouts by formats with lists, by boxes and by elements, which count from 1.
module hocket_layout_ownership
  use hocket_base
  use hocket_c_interfaces
  use hocket_arguments
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int64
  implicit none
  private
  public :: hocket_layout_boxes, hocket_layout_elements, hocket_layout_make_formats
  public :: hocket_layout_slices, hocket_layout_to_boxes, hocket_distribution
  public :: hocket_layout_from_local_box, hocket_layout_from_local_elements

  ! The format of one dimension: hocket_distribution('BLOCK'), hocket_distribution('INDIRECT', owners).
  type :: hocket_distribution
    private
    character(kind=c_char), allocatable :: text(:)
    integer(c_int64_t), allocatable :: values(:)
  end type
  interface hocket_distribution
    module procedure distribution_of
  end interface

contains

  ! Owners are processes, which count from 0; GEN_BLOCK has one extent for each process.
  function distribution_of(text, values) result(made)
    character(*), intent(in) :: text
    integer, intent(in), optional :: values(:)
    type(hocket_distribution) :: made
    made%text = c_chars(text)
    allocate (made%values(0))
    if (present(values)) made%values = int(values, c_int64_t)
  end function

  ! As hocket_layout_make, with a format a dimension.
  subroutine hocket_layout_make_formats(shape, formats, procs, layout, replicate, ierr)
    integer, intent(in) :: shape(:), procs(:)
    type(hocket_distribution), intent(in), target :: formats(:)
    type(hocket_layout), intent(out), target :: layout
    integer, intent(in), optional :: replicate(:)
    integer, intent(out), optional :: ierr
    type(hocket_format), allocatable, target :: given(:)
    integer(c_int64_t), allocatable, target :: extents(:), arrangement(:), copies(:)
    integer(c_int64_t) :: many
    integer :: d
    if (size(formats) /= size(shape)) then
      call wrong_length('hocket_layout_make_formats', 'formats', size(formats), size(shape), ierr)
      return
    end if
    allocate (given(size(formats) + 1))
    do d = 1, size(formats)
      given(d)%text = c_loc(formats(d)%text)
      given(d)%count = size(formats(d)%values, kind=c_int64_t)
      given(d)%values = c_null_ptr
      if (given(d)%count > 0) given(d)%values = c_loc(formats(d)%values)
    end do
    extents = [int(shape, c_int64_t), 0_c_int64_t]
    arrangement = [int(procs, c_int64_t), 0_c_int64_t]
    copies = [0_c_int64_t]
    many = 0
    if (present(replicate)) then
      copies = [replicate - 1_c_int64_t, 0_c_int64_t]
      many = size(replicate, kind=c_int64_t)
    end if
    call count_from_one()
    call finish(c_hocket_layout_make_formats(size(shape, kind=c_int64_t), c_loc(extents), &
                                             c_loc(given), size(procs, kind=c_int64_t), &
                                             c_loc(arrangement), many, c_loc(copies), &
                                             c_loc(layout%handle)), ierr)
  end subroutine

  ! Process r holds first(:, r + 1) to last(:, r + 1), counted from 1; last < first: nothing.
  subroutine hocket_layout_boxes(shape, first, last, layout, ierr)
    integer, intent(in) :: shape(:), first(:, :), last(:, :)
    type(hocket_layout), intent(out), target :: layout
    integer, intent(out), optional :: ierr
    integer(c_int64_t), allocatable, target :: extents(:), start(:), stop(:)
    if (size(first, 1) /= size(shape) .or. any(ubound(first) /= ubound(last))) then
      call fail(HOCKET_ERR_ARGUMENT, "hocket_layout_boxes: 'first' and 'last' need a row for "// &
                "each dimension and a column for each process", ierr)
      return
    end if
    extents = [int(shape, c_int64_t), 0_c_int64_t]
    start = [reshape(first - 1_c_int64_t, [size(first)]), 0_c_int64_t]
    stop = [reshape(max(int(last, c_int64_t), first - 1_c_int64_t), [size(last)]), 0_c_int64_t]
    call count_from_one()
    call finish(c_hocket_layout_boxes(size(shape, kind=c_int64_t), c_loc(extents), &
                                      size(first, 2, c_int64_t), c_loc(start), c_loc(stop), &
                                      c_loc(layout%handle)), ierr)
  end subroutine

  ! Elements of an array of rank 1, counted from 1, in the order of the local arrays: the first
  ! counts(1) belong to process 0.
  subroutine hocket_layout_elements(extent, counts, elements, layout, ierr)
    integer, intent(in) :: extent, counts(:), elements(:)
    type(hocket_layout), intent(out), target :: layout
    integer, intent(out), optional :: ierr
    integer(c_int64_t), target :: shape(1)
    integer(c_int64_t), allocatable, target :: many(:), numbers(:)
    if (size(elements) /= sum(counts)) then
      call wrong_length('hocket_layout_elements', 'elements', size(elements), sum(counts), ierr)
      return
    end if
    shape = extent
    many = [int(counts, c_int64_t), 0_c_int64_t]
    numbers = [elements - 1_c_int64_t, 0_c_int64_t]
    call count_from_one()
    call finish(c_hocket_layout_elements(1_c_int64_t, c_loc(shape), size(counts, kind=c_int64_t), &
                                         c_loc(many), c_loc(numbers), c_loc(layout%handle)), ierr)
  end subroutine

  ! The layout of each process's own box, first(:) to last(:), counted from 1. Collective.
  subroutine hocket_layout_from_local_box(comm, first, last, layout, shape, timeout, ierr)
    integer, intent(in) :: comm, first(:), last(:)
    type(hocket_layout), intent(out), target :: layout
    integer, intent(in), optional :: shape(:)
    real(c_double), intent(in), optional :: timeout
    integer, intent(out), optional :: ierr
    integer(c_int64_t), allocatable, target :: start(:), stop(:), extents(:)
    character(kind=c_char), allocatable, target :: wrong(:)
    type(c_ptr) :: given
    real(c_double) :: seconds
    logical :: fits
    seconds = -1
    if (present(timeout)) seconds = timeout
    fits = size(first) == size(last)
    if (present(shape)) fits = fits .and. size(first) == size(shape)
    if (.not. fits) then
      wrong = c_chars("hocket_layout_from_local_box: 'first' and 'last' need one entry a dimension, "// &
                      "and so does 'shape'")
      call finish(c_hocket_refuse_fortran(int(comm, c_int), int(HOCKET_ERR_ARGUMENT, c_int), &
                                          c_loc(wrong), seconds), ierr)
      return
    end if
    start = [first - 1_c_int64_t, 0_c_int64_t]
    stop = [max(int(last, c_int64_t), first - 1_c_int64_t), 0_c_int64_t]
    given = c_null_ptr
    if (present(shape)) then
      extents = [int(shape, c_int64_t), 0_c_int64_t]
      given = c_loc(extents)
    end if
    call count_from_one()
    call finish(c_hocket_layout_from_local_box_fortran(int(comm, c_int), &
                                                       size(first, kind=c_int64_t), c_loc(start), &
                                                       c_loc(stop), given, seconds, &
                                                       c_loc(layout%handle)), ierr)
  end subroutine

  ! The layout of each process's own elements of an array of rank 1, counted from 1. Collective.
  subroutine hocket_layout_from_local_elements(comm, elements, layout, extent, timeout, ierr)
    integer, intent(in) :: comm, elements(:)
    type(hocket_layout), intent(out), target :: layout
    integer, intent(in), optional :: extent
    real(c_double), intent(in), optional :: timeout
    integer, intent(out), optional :: ierr
    integer(c_int64_t), allocatable, target :: numbers(:)
    integer(c_int64_t), target :: shape(1)
    type(c_ptr) :: given
    real(c_double) :: seconds
    numbers = [elements - 1_c_int64_t, 0_c_int64_t]
    given = c_null_ptr
    if (present(extent)) then
      shape = extent
      given = c_loc(shape)
    end if
    seconds = -1
    if (present(timeout)) seconds = timeout
    call count_from_one()
    call finish(c_hocket_layout_from_local_elements_fortran(int(comm, c_int), &
                                                            size(elements, kind=c_int64_t), &
                                                            c_loc(numbers), 1_c_int64_t, given, &
                                                            seconds, c_loc(layout%handle)), ierr)
  end subroutine

  ! The part of process `rank`: first(d):last(d):step(d) of each dimension, counted from 1.
  subroutine hocket_layout_slices(layout, rank, first, last, step, ierr)
    type(hocket_layout), intent(in) :: layout
    integer, intent(in) :: rank
    integer(int64), allocatable, intent(out) :: first(:), last(:), step(:)
    integer, intent(out), optional :: ierr
    type(hocket_slice), allocatable, target :: found(:)
    integer(c_int64_t), target :: count
    integer(c_int) :: code
    allocate (found(dimensions_of(layout) + 1))
    call count_from_one()
    code = c_hocket_layout_slices(layout%handle, int(rank, c_int64_t), &
                                  size(found, kind=c_int64_t), c_loc(found), c_loc(count))
    if (code /= 0) count = 0
    first = found(:count)%first + 1
    step = found(:count)%step
    last = first + (found(:count)%count - 1)*step
    call finish(code, ierr)
  end subroutine

  ! The part of every process as a box, as for hocket_layout_boxes.
  subroutine hocket_layout_to_boxes(layout, first, last, ierr)
    type(hocket_layout), intent(in) :: layout
    integer(int64), allocatable, intent(out) :: first(:, :), last(:, :)
    integer, intent(out), optional :: ierr
    integer(c_int64_t), allocatable, target :: start(:), stop(:)
    integer(c_int) :: code
    integer :: many(2)
    many = [int(dimensions_of(layout)), int(processes_of(layout))]
    allocate (start(product(many) + 1), stop(product(many) + 1))
    start = 0
    stop = 0
    call count_from_one()
    code = c_hocket_layout_to_boxes(layout%handle, c_loc(start), c_loc(stop))
    first = reshape(start + 1, many)
    last = reshape(stop, many)
    call finish(code, ierr)
  end subroutine
end module
