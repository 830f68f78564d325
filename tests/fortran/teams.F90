! SPDX-License-Identifier: BSD-3-Clause
! Teams: aggregate operations of all processes, and of subsets.
module folding
  use, intrinsic :: iso_c_binding
  implicit none
  type, bind(C) :: place
    real(c_double) :: size
    integer(c_int64_t) :: row
  end type
contains

  ! The larger of two places, the first of equals.
  subroutine larger(into, with, context) bind(C, name='')
    type(c_ptr), value :: into, with, context
    type(place), pointer :: a, b
    integer(c_int), pointer :: folds
    call c_f_pointer(into, a)
    call c_f_pointer(with, b)
    call c_f_pointer(context, folds)
    folds = folds + 1
    if (b%size > a%size) a = b
  end subroutine
end module

program teams
  use, intrinsic :: iso_fortran_env, only: int8, int16, int32, int64, real32, real64
  use, intrinsic :: iso_c_binding
  use checks
  use folding
  implicit none
  type(hocket_team) :: team
  call begin()
  call hocket_team_make(world, team, timeout=60d0)
  call test_int8(team)
  call test_int16(team)
  call test_int32(team)
  call test_int64(team)
  call test_real32(team)
  call test_real64(team)
  call test_logical()
  call test_bits()
  call test_subsets()
  call test_folds()
  call hocket_team_free(team)
  call finish('teams')

contains

#define NAME test_int8
#define TYPE integer(int8)
#define VALUE(n) int(n, int8)
#include "kind_of_team.inc"
#define NAME test_int16
#define TYPE integer(int16)
#define VALUE(n) int(n, int16)
#include "kind_of_team.inc"
#define NAME test_int32
#define TYPE integer(int32)
#define VALUE(n) int(n, int32)
#include "kind_of_team.inc"
#define NAME test_int64
#define TYPE integer(int64)
#define VALUE(n) int(n, int64)
#include "kind_of_team.inc"
#define NAME test_real32
#define TYPE real(real32)
#define VALUE(n) real(n, real32)
#include "kind_of_team.inc"
#define NAME test_real64
#define TYPE real(real64)
#define VALUE(n) real(n, real64)
#include "kind_of_team.inc"

  subroutine test_logical()
    logical :: got, all_values(ranks)
    call hocket_team_reduce_add(team, rank == 0, got)
    call check(got, 'or')
    call hocket_team_reduce_mul(team, rank == 0, got)
    call check(got .eqv. ranks == 1, 'and')
    call hocket_team_scan_or(team, rank == 1, got)
    call check(got .eqv. rank >= 1, 'or so far')
    all_values = .false.
    call hocket_team_gather(team, rank > 0, all_values)
    call check(.not. all_values(1) .and. all(all_values(2:)), 'gathered')
    call hocket_team_any(team, rank == ranks - 1, got)
    call check(got, 'any')
    call hocket_team_all(team, rank == ranks - 1, got)
    call check(got .eqv. ranks == 1, 'all')
  end subroutine

  subroutine test_bits()
    integer :: got
    call hocket_team_reduce_and(team, 12 + rank, got)
    call check(iand(got, 12) == 12, 'and')
    call hocket_team_reduce_or(team, ibset(0, rank), got)
    call check(got == 2**ranks - 1, 'or')
    call hocket_team_scan_and(team, 8 + rank, got)
    call check(iand(got, 8) == 8, 'and so far')
    call hocket_team_scan_or(team, ibset(0, rank), got)
    call check(got == 2**(rank + 1) - 1, 'or so far')
    call hocket_team_scan_add(team, rank + 1, got, barrier=.false.)
    call check(got == (rank + 1)*(rank + 2)/2, 'sum so far, no barrier')
    call hocket_team_putget(team, 7*rank, ranks - 1, got, timeout=60.0d0, barrier=.false.)
    call check(got == 7*(ranks - 1), 'putget, no barrier')
  end subroutine

  ! The processes of even number, and those of odd number.
  subroutine test_subsets()
    type(hocket_team) :: half
    integer(int64), allocatable :: mask(:)
    integer(int64) :: mine, bits
    type(hocket_team_result) :: result
    type(hocket_operation) :: operation
    integer :: n, p, ierr
    logical :: flag
    mine = 0
    do p = mod(rank, 2), ranks - 1, 2
      mine = ibset(mine, p)
    end do
    call hocket_team_enqueue(team, [mine], half)
    call hocket_team_mask(half, mask)
    call check(size(mask) == 1 .and. mask(1) == mine, 'mask')
    call hocket_team_population(half, n)
    call check(n == popcnt(mine), 'population')
    call hocket_team_enumerate(half, n)
    call check(n == rank/2, 'enumerate')
    call hocket_team_select_first(half, n)
    call check(n == mod(rank, 2), 'first')
    call hocket_team_select_one(half, n)
    call check(btest(mine, n), 'one of them')
    call hocket_team_size(half, n)
    call check(n == ranks, 'size of the root team')
    call hocket_team_process(half, n)
    call check(n == rank, 'number in the root team')
    call hocket_team_shares_memory(half, flag)
    call hocket_team_wait(half, timeout=60d0)
    call hocket_team_waitvec(half, mod(rank, 4) < 2, mask)
    call check(iand(mask(1), not(mine)) == 0, 'only of the half')
    call hocket_team_vote_count(half, mod(rank, 2), n)
    call check(n == merge(popcnt(mine), 0, rank < 2), 'votes')
    call hocket_team_vote(half, mod(rank, 2), mask)
    call check(mask(1) == merge(mine, 0_int64, rank < 2), 'who voted')
    call hocket_team_reduce_add(half, 1, n)
    call check(n == popcnt(mine), 'ones of the half')
    call hocket_team_start(half, HOCKET_TEAM_OP_REDUCE_ADD, HOCKET_TEAM_INT32, 2_int64, 0, result)
    call hocket_team_result_operation(result, operation)
    call hocket_operation_wait(operation, timeout=60d0)
    call hocket_team_result_test(result, flag)
    call hocket_team_result_bits(result, bits)
    call check(flag .and. bits == 2*popcnt(mine), 'started')
    call hocket_team_result_free(result)
    call hocket_team_enqueue(team, [ibclr(mine, rank)], half, ierr)
    call check(ierr /= HOCKET_SUCCESS, 'the caller is not in it')
  end subroutine

  subroutine test_folds()
    type(hocket_team) :: other
    type(place), target :: mine, best, all_places(ranks)
    type(c_funptr) :: fold
    integer(c_int), target :: folds
    integer :: ierr
    folds = 0
    mine = place(real(-rank, c_double), 100 + rank)
    if (rank == ranks - 1) mine%size = 7.5
    fold = c_funloc(larger)
    call hocket_team_fold(team, c_loc(mine), 16_int64, fold, c_loc(folds), c_loc(best))
    call check(best%row == 99 + ranks, 'the largest')
    call hocket_team_gather_bytes(team, c_loc(mine), 16_int64, c_loc(all_places))
    call check(all_places(rank + 1)%row == 100 + rank, 'all of them')
    call hocket_team_refuse(team, HOCKET_TEAM_OP_WAIT, 'not today', ierr)
    call fails(HOCKET_ERR_ERROR, ierr, 'not today')
    call hocket_team_make(world, other)
    call hocket_team_exit(other, 3)
    call hocket_team_wait(other, ierr=ierr)
    call check(ierr == HOCKET_ERR_ERROR, 'left')
    call hocket_team_error(other, 'nobody hears this', ierr)
    call check(ierr == HOCKET_ERR_ERROR, 'left')
    call hocket_team_free(other)
  end subroutine
end program
