! SPDX-License-Identifier: BSD-3-Clause
! Layouts and plans as an HPF programmer writes them: indices and dimensions count from 1.
program layouts
  use checks
  implicit none
  call begin()
  call test_formats()
  call test_ownership()
  call test_blacs()
  call test_alignment()
  call test_numbers_of_messages()
  call test_programs()
  call test_sections()
  call test_plans()
  call test_wrong()
  call finish('layouts')

contains

  subroutine test_formats()
    type(hocket_layout) :: layout, again
    integer(int64), allocatable :: values(:)
    character(:), allocatable :: text
    integer :: n
    integer(int64) :: elements
    logical :: same, indexed
    call hocket_layout_make([4, 9], '(BLOCK, CYCLIC(2))', [2, 2], layout)
    call hocket_layout_text(layout, text)
    call check(text == '(4, 9) (BLOCK, CYCLIC(2)) @ (2, 2)', text)
    call hocket_layout_dist(layout, text)
    call check(text == '(BLOCK, CYCLIC(2))', text)
    call hocket_layout_size(layout, n)
    call check(n == 4, 'processes')
    call hocket_layout_dimensions(layout, n)
    call check(n == 2, 'dimensions')
    call hocket_layout_num_elements(layout, elements)
    call check(elements == 36, 'elements')
    call hocket_layout_shape(layout, values)
    call check(all(values == [4, 9]), 'shape')
    call hocket_layout_procs(layout, values)
    call check(all(values == [2, 2]), 'procs')
    call hocket_layout_local_shape(layout, 3, values)
    call check(all(values == [2, 4]), 'local shape of process 3')
    call hocket_layout_local_elements(layout, 3, elements)
    call check(elements == 8, 'local elements')
    call hocket_layout_global_indices(layout, 3, 1, values)
    call check(all(values == [3, 4]), 'rows of process 3')
    call hocket_layout_global_indices(layout, 3, 2, values)
    call check(all(values == [3, 4, 7, 8]), 'columns of process 3')
    call hocket_layout_owner(layout, [3, 3], n)
    call check(n == 3, 'owner of (3,3)')
    call hocket_layout_owners(layout, [1, 9], values)
    call check(size(values) == 1 .and. values(1) == 0, 'owners of (1,9)')
    call hocket_layout_local_index(layout, [4, 7], values)
    call check(all(values == [2, 3]), 'local index')
    call hocket_layout_is_indexed(layout, indexed)
    call check(.not. indexed, 'no segments')
    call hocket_layout_parse('(4,9)(block,cyclic(2))@(2,2)', again)
    call hocket_layout_equal(layout, again, same)
    call check(same, 'the same layout')
    call hocket_layout_free(again)
    call hocket_layout_make([4_int64, 9_int64], '(BLOCK, *)', [2, 3], again, replicate=[2])
    call hocket_layout_owners(again, [1, 1], values)
    call check(all(values == [0, 1, 2]), 'copies')
    call hocket_layout_replicate(again, values)
    call check(all(values == [2]), 'replicate')
    call hocket_layout_free(again)
    call hocket_layout_free(layout)
    call hocket_layout_make([integer ::], '()', [integer ::], layout)
    call hocket_layout_text(layout, text)
    call check(text == '() () @ ()', text)
    call hocket_layout_free(layout)
    call hocket_layout_indexed(10, [2, 1], [1, 9, 4], [3, 2, 2], layout)
    call hocket_layout_global_indices(layout, 0, 1, values)
    call check(all(values == [1, 2, 3, 9, 10]), 'segments of process 0')
    call hocket_layout_owner(layout, [5], n)
    call check(n == 1, 'owner of a segment')
    call hocket_layout_free(layout)
  end subroutine

  ! Blocks of any extents, owners by list, boxes, and elements in any order.
  subroutine test_ownership()
    type(hocket_layout) :: layout
    integer(int64), allocatable :: values(:), first(:), last(:), step(:), low(:, :), high(:, :)
    character(:), allocatable :: text
    integer :: ierr, n
    call hocket_layout_make([7, 6], '(GEN_BLOCK(2, 0, 5), BALANCED)', [3, 4], layout)
    call hocket_layout_slices(layout, 11, first, last, step)
    call check(all(first == [3, 6]) .and. all(last == [7, 6]) .and. all(step == 1), 'slices')
    call hocket_layout_to_boxes(layout, low, high)
    call check(all(low(:, 12) == [3, 6]) .and. all(high(:, 12) == [7, 6]), 'box of process 11')
    call hocket_layout_free(layout)
    call hocket_layout_make_formats([5, 4], [hocket_distribution('INDIRECT', [1, 0, 0, 1, 1]), &
                                             hocket_distribution('*')], [2], layout)
    call hocket_layout_global_indices(layout, 0, 1, values)
    call check(all(values == [2, 3]), 'rows of process 0')
    call hocket_layout_slices(layout, 1, first, last, step, ierr)
    call fails(HOCKET_ERR_LAYOUT, ierr, 'equally spaced')
    call hocket_layout_free(layout)
    call hocket_layout_make_formats([5], [hocket_distribution('GEN_BLOCK', [2, 2])], [2], layout, &
                                    ierr=ierr)
    call fails(HOCKET_ERR_LAYOUT, ierr, 'add up')
    call hocket_layout_boxes([4, 6], reshape([1, 1, 1, 4, 3, 1], [2, 3]), &
                             reshape([2, 3, 4, 6, 4, 3], [2, 3]), layout)
    call hocket_layout_owner(layout, [3, 3], n)
    call check(n == 2, 'owner of (3,3)')
    call hocket_layout_text(layout, text)
    call check(text == '(4, 6) BOXES [0:2, 0:3 | 0:4, 3:6 | 2:4, 0:3]', text)
    call hocket_layout_free(layout)
    call hocket_layout_elements(6, [3, 2], [6, 1, 3, 2, 4], layout)
    call hocket_layout_local_index(layout, [3], values)
    call check(all(values == [3]), 'third in the list')
    call hocket_layout_global_indices(layout, 0, 1, values)
    call check(all(values == [6, 1, 3]), 'in the order of the local array')
    call hocket_layout_free(layout)
  end subroutine

  ! Ten rows of eight in blocks of 2 by 4, from row 1 of a grid that counts by columns.
  subroutine test_blacs()
    type(hocket_layout) :: layout, again
    integer, parameter :: given(9) = [1, 5, 10, 8, 2, 4, 1, 0, 6]
    integer, allocatable :: grid(:, :)
    integer :: desc(9), ierr, n
    logical :: same
    call hocket_layout_from_blacs(given, reshape([0, 1, 2, 3], [2, 2]), layout, rank=1)
    call hocket_layout_owner(layout, [1, 5], n)
    call check(n == 3, 'owner of the second block')
    call hocket_layout_to_blacs(layout, 1, 5, desc)
    call check(all(desc == given), 'descriptor')
    call hocket_layout_blacs_grid(layout, grid)
    call check(all(grid == reshape([0, 1, 2, 3], [2, 2])), 'grid')
    call hocket_layout_to_blacs(layout, 1, 5, desc, transposed=.true.)
    call check(all(desc == [1, 5, 8, 10, 4, 2, 0, 1, 4]), 'transposed')
    call hocket_layout_blacs_grid(layout, grid, transposed=.true.)
    call hocket_layout_from_blacs(desc, grid, again, transposed=.true.)
    call hocket_layout_equal(layout, again, same)
    call check(same, 'the same layout')
    call hocket_layout_free(again)
    call hocket_layout_from_blacs(given, reshape([0, 1, 2, 3], [1, 4]), again, ierr=ierr)
    call fails(HOCKET_ERR_LAYOUT, ierr, 'another grid')
    call hocket_layout_free(layout)
    call hocket_layout_make([6, 4], '(*, INDIRECT(0, 1, 1, 0))', [2], layout)
    call hocket_layout_blacs_grid(layout, grid, ierr=ierr)
    call fails(HOCKET_ERR_LAYOUT, ierr, 'the blocks of dimension 2 are not equal')
    call hocket_layout_free(layout)
  end subroutine

  ! HPF's T(2*i+1) with i from 1 means template positions 3, 5, ...
  subroutine test_alignment()
    type(hocket_layout) :: template, aligned, expected
    integer(int64), allocatable :: values(:)
    integer :: ierr, n
    logical :: same
    call hocket_layout_make([10], '(BLOCK)', [5], template)
    call hocket_layout_aligned([4], 'A(i) WITH T(2*i+1)', template, aligned)
    call hocket_layout_owner(aligned, [1], n)
    call check(n == 1, 'A(1) lies with T(3)')
    call hocket_layout_owner(aligned, [4], n)
    call check(n == 4, 'A(4) lies with T(9)')
    call hocket_layout_from_hpf([character(50) :: '!HPF$ processors pr(5)', '      real A(4)', &
                                 '!HPF$ template T(10)', '!HPF$ distribute T(block) onto pr', &
                                 '!HPF$ align A(i) with T(2*i+1)'], 'a', expected)
    call hocket_layout_equal(aligned, expected, same)
    call check(same, 'as the directives say')
    call hocket_layout_free(aligned)
    call hocket_layout_aligned([10], 'A(i) WITH T(11-i)', template, aligned)
    call hocket_layout_global_indices(aligned, 0, 1, values)
    call check(all(values == [9, 10]), 'reversed')
    call hocket_layout_aligned([10], 'A(i) WITH T(i-1)', template, aligned, ierr)
    call fails(HOCKET_ERR_LAYOUT, ierr, 'subscript i-1 of dimension 1')
    call fails(HOCKET_ERR_LAYOUT, ierr, 'leaves it at i = 1;')
    call hocket_layout_aligned([10], 'A(i) WITH T(0)', template, aligned, ierr)
    call fails(HOCKET_ERR_LAYOUT, ierr, 'subscript 0 of dimension 1')
    call hocket_layout_free(template)
  end subroutine

  ! C and C++ count from 0 in the same messages.
  subroutine test_numbers_of_messages()
    type(hocket_layout) :: layout
    integer(int64), allocatable :: values(:)
    integer :: ierr, n
    call hocket_layout_make([6, 4], '(BLOCK(1), *)', [2], layout, ierr=ierr)
    call fails(HOCKET_ERR_LAYOUT, ierr, 'of the 6 indices of dimension 1;')
    call hocket_layout_make([6, 4], '(*, INDIRECT(0, 1, 2, 1))', [2], layout, ierr=ierr)
    call fails(HOCKET_ERR_LAYOUT, ierr, 'INDIRECT gives index 3 of dimension 2 to process 2')
    call hocket_layout_make([6, 4], '(BLOCK, *)', [2, 2], layout, replicate=[3], ierr=ierr)
    call fails(HOCKET_ERR_LAYOUT, ierr, 'position 3, but procs (2, 2) has positions 1 to 2')
    call hocket_layout_boxes([4], reshape([1, 4], [1, 2]), reshape([4, 1], [1, 2]), layout)
    call hocket_layout_local_shape(layout, 1, values)
    call check(all(values == [0]), 'a box from 4 to 1')
    call hocket_layout_boxes([4, 4], reshape([1, 1], [2, 1]), reshape([5, 4], [2, 1]), layout, ierr)
    call fails(HOCKET_ERR_LAYOUT, ierr, 'the box ((1, 1), (5, 4)) of process 0 leaves the shape (4, 4) '// &
               'in dimension 1; it must lie within 1 and 4')
    call hocket_layout_make([6, 4], '(*, BLOCK)', [2], layout)
    call hocket_layout_owner(layout, [7, 1], n, ierr=ierr)
    call fails(HOCKET_ERR_LAYOUT, ierr, 'index (7, 1) lies outside the shape (6, 4) '// &
               'in dimension 1, whose indices are 1 to 6')
    call hocket_layout_global_indices(layout, 0, 3, values, ierr=ierr)
    call fails(HOCKET_ERR_ARGUMENT, ierr, 'no such dimension: the local array has 2')
    call hocket_layout_free(layout)
    call hocket_layout_from_hpf('REAL A(6)'//new_line('a')//'!HPF$ PROCESSORS P(2)'//new_line('a')// &
                                '!HPF$ DISTRIBUTE A(BLOCK(1)) ONTO P', 'A', layout, ierr=ierr)
    call fails(HOCKET_ERR_LAYOUT, ierr, 'of the 6 indices of dimension 1;')
  end subroutine

  ! The directives of Foster et al., Figures 1 and 6, as they stand.
  subroutine test_programs()
    character(*), parameter :: nl = new_line('a')
    type(hocket_layout) :: layout
    character(:), allocatable :: text
    integer :: ierr
    call hocket_layout_from_hpf('!HPF$ processors pr(8)'//nl//'      complex A(8, 8)'//nl// &
                                '!HPF$ distribute A(BLOCK,*)'//nl, 'A', layout)
    call hocket_layout_text(layout, text)
    call check(text == '(8, 8) (BLOCK, *) @ (8)', text)
    call hocket_layout_free(layout)
    call hocket_layout_from_hpf('!HPF$ processors pr(P)'//nl//'  real From(N,N), To(N,N)'//nl// &
                                '!HPF$ distribute From(BLOCK,*), To(*,BLOCK)', 'to', layout, &
                                values=[hocket_value('N', 16), hocket_value('P', 4)])
    call hocket_layout_text(layout, text)
    call check(text == '(16, 16) (*, BLOCK) @ (4)', text)
    call hocket_layout_from_hpf('!HPF$ processors pr(8)'//nl//'      complex A(8, 8)'//nl// &
                                '!HPF$ distribute A(BLOCK,*)', 'B', layout, ierr=ierr)
    call fails(HOCKET_ERR_LAYOUT, ierr, "'B'")
    call hocket_layout_from_hpf('!HPF$ processors pr(P)'//nl//'      complex A(8, 8)'//nl// &
                                '!HPF$ distribute A(BLOCK,*)', 'A', layout, ierr=ierr)
    call check(ierr == HOCKET_ERR_LAYOUT, 'P has no value')
  end subroutine

  subroutine test_sections()
    type(hocket_layout) :: layout, section, nowhere
    type(hocket_slice) :: negative
    integer(int64), allocatable :: values(:)
    character(:), allocatable :: text
    integer :: ierr
    call hocket_layout_make([8, 6], '(BLOCK, *)', [2], layout)
    call hocket_layout_section(layout, [hocket_triplet(2, 8, 3), hocket_triplet(6, 1, -2)], section)
    call hocket_layout_shape(section, values)
    call check(all(values == [3, 3]), 'A(2:8:3, 6:1:-2)')
    call hocket_layout_section_places(layout, [hocket_triplet(2, 8, 3), hocket_triplet(6, 1, -2)], &
                                      1, 1, values)
    call check(all(values == [1, 4]), 'rows 5 and 8 are process 1''s first and last')
    call hocket_layout_section(layout, [hocket_triplet(1, 8), hocket_subscript(3)], section)
    call hocket_layout_shape(section, values)
    call check(all(values == [8]), 'A(:, 3)')
    call hocket_layout_section(layout, [hocket_triplet(1, 8)], section, ierr)
    call fails(HOCKET_ERR_ARGUMENT, ierr, '2')
    call hocket_layout_section(layout, [hocket_triplet(1, 9), hocket_subscript(3)], section, ierr)
    call fails(HOCKET_ERR_LAYOUT, ierr, 'slice (first 1, count 9, step 1) of dimension 1 '// &
               'leaves the shape (8, 6); its indices are 1 to 8')
    call hocket_layout_section(layout, [hocket_triplet(1, 8), hocket_subscript(0)], section, ierr)
    call fails(HOCKET_ERR_LAYOUT, ierr, 'slice (first 0, count 1, step 1) of dimension 2')
    call hocket_layout_section(layout, [hocket_triplet(1, 8), hocket_triplet(1, 2, 0)], section, ierr)
    call fails(HOCKET_ERR_LAYOUT, ierr, 'dimension 2 has step 0')
    negative = hocket_triplet(1, 2)
    negative%count = -1
    call hocket_layout_section(layout, [hocket_triplet(1, 8), negative], section, ierr)
    call fails(HOCKET_ERR_LAYOUT, ierr, 'count -1, step 1) of dimension 2 has a negative count')
    call hocket_layout_section(nowhere, [hocket_triplet(1, 8)], section, ierr)
    call fails(HOCKET_ERR_ARGUMENT, ierr, 'hocket_layout_section: ''layout'' is NULL')
    call hocket_layout_relabeled(layout, [1, 0], section)
    call hocket_layout_owners(section, [1, 1], values)
    call check(all(values == [1]), 'relabeled')
    call hocket_layout_relabeled(layout, [1], section, ierr=ierr)
    call fails(HOCKET_ERR_ARGUMENT, ierr, 'ranks')
    call hocket_layout_text(layout, text)
  end subroutine

  subroutine test_plans()
    type(hocket_layout) :: rows, columns, remapped
    type(hocket_plan) :: plan
    type(hocket_traffic), allocatable :: traffic(:)
    type(hocket_step), allocatable :: steps(:)
    type(hocket_cycle), allocatable :: cycles(:)
    type(hocket_parcel), allocatable :: cargo(:)
    type(hocket_model) :: model, again
    character(:), allocatable :: text
    integer(int64), allocatable :: values(:)
    integer(int64) :: messages, moved, before
    integer :: ierr, n
    call hocket_layout_make([8, 8], '(BLOCK, *)', [4], rows)
    call hocket_layout_make([8, 8], '(*, BLOCK)', [2], columns)
    call hocket_plan_make(rows, columns, plan)
    call hocket_plan_sends(plan, 0, traffic)
    call check(all(traffic%process == [0, 1]) .and. all(traffic%elements == 8), 'sends')
    call hocket_plan_recvs(plan, 1, traffic)
    call check(size(traffic) == 4 .and. sum(traffic%elements) == 32, 'receives')
    call hocket_plan_message_count(plan, messages)
    call check(messages == 8, 'messages')
    call hocket_plan_steps(plan, HOCKET_SOURCE, 0, steps)
    call check(size(steps) == 2, 'steps')
    call hocket_plan_free(plan)
    call hocket_plan_make(rows, rows, plan, order=[2, 1], overlap=[0, 1, 2, 3], itemsize=4)
    call hocket_plan_elements_moved(plan, moved)
    call check(moved == 48, 'moved by a transposition')
    call hocket_plan_free(plan)
    call hocket_plan_make(rows, rows, plan, order=[0, 1], ierr=ierr)
    call fails(HOCKET_ERR_ARGUMENT, ierr, 'order(1) is 0; give 1 to 2')
    call hocket_plan_make(rows, rows, plan, order=[2, 2], ierr=ierr)
    call fails(HOCKET_ERR_LAYOUT, ierr, 'order (2, 2): no permutation of the 2 dimensions')
    call hocket_remap_layout(rows, [2, 0], remapped, ierr)
    call fails(HOCKET_ERR_ARGUMENT, ierr, 'order(2) is 0; give 1 to 2')
    call hocket_plan_make(rows, columns, plan, order=[2], ierr=ierr)
    call fails(HOCKET_ERR_ARGUMENT, ierr, 'order')
    call hocket_plan_make(rows, columns, plan, overlap=[1, 2, 3], ierr=ierr)
    call fails(HOCKET_ERR_ARGUMENT, ierr, 'overlap')
    call hocket_plan_make(rows, columns, plan, strategy='staged', stages=2, &
                          source_nodes=[0, 0, 0, 0], destination_nodes=[1, 1])
    call hocket_plan_cargo(plan, HOCKET_SOURCE, 0, 1, cargo)
    call check(sum(cargo%elements) > 0, 'cargo')
    call hocket_model_default(model)
    call check(model%message > 0, 'what a message costs')
    call hocket_model_text(model, text)
    call hocket_model_parse(text, again)
    call check(again%byte == model%byte, 'back from its text')
    call hocket_model_kept(again)
    call hocket_model_kept_path(text)
    call check(len(text) > 0, text)
    call hocket_plan_make(rows, columns, plan, model=model)
    call hocket_plan_make(rows, columns, plan, source_nodes=[0, 0], ierr=ierr)
    call fails(HOCKET_ERR_ARGUMENT, ierr, 'source_nodes')
    call hocket_plan_make(rows, columns, plan, strategy='carrier pigeon', ierr=ierr)
    call check(ierr == HOCKET_ERR_LAYOUT, 'no such strategy')
    call hocket_relabel(rows, rows, [1, 2], values, moved, before)
    call check(moved == 0 .and. size(values) == 4, 'nothing moves')
    ! He and Ding's example: A(3,2), whose transposition has one cycle through places 2 to 5.
    call hocket_cycles([3, 2], [2, 1], cycles)
    call check(size(cycles) == 1, 'one cycle')
    call check(cycles(1)%start == 2 .and. cycles(1)%length == 4, 'from place 2 on')
    call hocket_cycle_path([3, 2], [2, 1], 2, values)
    call check(values(1) == 2 .and. values(5) == 2 .and. size(values) == 5, 'comes round')
    n = 0
    call hocket_cycles([3, 2, n], [2, 1], cycles, ierr)
    call fails(HOCKET_ERR_ARGUMENT, ierr, 'order')
  end subroutine

  subroutine test_wrong()
    type(hocket_layout) :: layout, copy
    integer(int64), allocatable :: values(:)
    character(:), allocatable :: text
    integer :: ierr, n
    call hocket_layout_make([8, 8], '(BLOK, *)', [4], layout, ierr=ierr)
    call fails(HOCKET_ERR_LAYOUT, ierr, 'BLOCK')
    call hocket_layout_size(layout, n, ierr)
    call fails(HOCKET_ERR_ARGUMENT, ierr, 'NULL')
    call hocket_layout_make([8, 8], '(BLOCK, *)', [4], layout, ierr=ierr)
    call check(ierr == HOCKET_SUCCESS, 'a layout')
    copy = layout
    call hocket_layout_free(layout)
    call hocket_layout_size(copy, n, ierr)
    call fails(HOCKET_ERR_ARGUMENT, ierr, 'freed')
    call hocket_layout_free(copy, ierr)
    call fails(HOCKET_ERR_ARGUMENT, ierr, 'freed')
    call hocket_layout_owner(layout, [1, 1], n, ierr)
    call fails(HOCKET_ERR_ARGUMENT, ierr, 'NULL')
    call hocket_layout_make([8, 8], '(BLOCK, *)', [4], layout)
    call hocket_layout_owner(layout, [0, 1], n, ierr)
    call fails(HOCKET_ERR_LAYOUT, ierr, 'outside the shape (8, 8) in dimension 1, whose indices are 1 to 8')
    call hocket_layout_owners(layout, [8_int64, 9_int64], values, ierr)
    call fails(HOCKET_ERR_LAYOUT, ierr, 'outside the shape (8, 8) in dimension 2, whose indices are 1 to 8')
    call hocket_layout_text(copy, text, ierr)
    call fails(HOCKET_ERR_ARGUMENT, ierr, 'freed')
    call check(text == '', 'no text')
    call hocket_layout_owner(layout, [1], n, ierr)
    call fails(HOCKET_ERR_ARGUMENT, ierr, 'index')
    call hocket_layout_global_indices(layout, 4, 1, values, ierr)
    call check(ierr /= HOCKET_SUCCESS .and. size(values) == 0, 'there is no process 4')
  end subroutine
end program
