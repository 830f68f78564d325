! SPDX-License-Identifier: BSD-3-Clause
! Arrays of every kind and rank.
#define KIND_MODULE kind_i1
#define TYPE integer(1)
#define VALUE(n) int(mod(n, 100), 1)
#define DIFFERS(a, b) a /= b
#include "kind.inc"
#define KIND_MODULE kind_i2
#define TYPE integer(2)
#define VALUE(n) int(n, 2)
#define DIFFERS(a, b) a /= b
#include "kind.inc"
#define KIND_MODULE kind_i4
#define TYPE integer(4)
#define VALUE(n) int(n, 4)
#define DIFFERS(a, b) a /= b
#include "kind.inc"
#define KIND_MODULE kind_i8
#define TYPE integer(8)
#define VALUE(n) int(n, 8)
#define DIFFERS(a, b) a /= b
#include "kind.inc"
#ifdef __GFC_INT_16__
#define KIND_MODULE kind_i16
#define TYPE integer(16)
#define VALUE(n) int(n, 16)
#define DIFFERS(a, b) a /= b
#include "kind.inc"
#endif
#define KIND_MODULE kind_l1
#define TYPE logical(1)
#define VALUE(n) logical(mod(n, 3) == 0, 1)
#define DIFFERS(a, b) logical(a .neqv. b)
#include "kind.inc"
#define KIND_MODULE kind_l2
#define TYPE logical(2)
#define VALUE(n) logical(mod(n, 3) == 0, 2)
#define DIFFERS(a, b) logical(a .neqv. b)
#include "kind.inc"
#define KIND_MODULE kind_l4
#define TYPE logical(4)
#define VALUE(n) logical(mod(n, 3) == 0, 4)
#define DIFFERS(a, b) logical(a .neqv. b)
#include "kind.inc"
#define KIND_MODULE kind_l8
#define TYPE logical(8)
#define VALUE(n) logical(mod(n, 3) == 0, 8)
#define DIFFERS(a, b) logical(a .neqv. b)
#include "kind.inc"
#define KIND_MODULE kind_r4
#define TYPE real(4)
#define VALUE(n) real(n, 4)
#define DIFFERS(a, b) a /= b
#include "kind.inc"
#define KIND_MODULE kind_r8
#define TYPE real(8)
#define VALUE(n) real(n, 8)
#define DIFFERS(a, b) a /= b
#include "kind.inc"
#ifdef __GFC_REAL_10__
#define KIND_MODULE kind_r10
#define TYPE real(10)
#define VALUE(n) real(n, 10)
#define DIFFERS(a, b) a /= b
#include "kind.inc"
#endif
#ifdef __GFC_REAL_16__
#define KIND_MODULE kind_r16
#define TYPE real(16)
#define VALUE(n) real(n, 16)
#define DIFFERS(a, b) a /= b
#include "kind.inc"
#endif
#define KIND_MODULE kind_c4
#define TYPE complex(4)
#define VALUE(n) cmplx(n, -n, 4)
#define DIFFERS(a, b) a /= b
#include "kind.inc"
#define KIND_MODULE kind_c8
#define TYPE complex(8)
#define VALUE(n) cmplx(n, -n, 8)
#define DIFFERS(a, b) a /= b
#include "kind.inc"
#ifdef __GFC_REAL_10__
#define KIND_MODULE kind_c10
#define TYPE complex(10)
#define VALUE(n) cmplx(n, -n, 10)
#define DIFFERS(a, b) a /= b
#include "kind.inc"
#endif
#ifdef __GFC_REAL_16__
#define KIND_MODULE kind_c16
#define TYPE complex(16)
#define VALUE(n) cmplx(n, -n, 16)
#define DIFFERS(a, b) a /= b
#include "kind.inc"
#endif

program kinds
  use kind_i1, only: test_i1 => test
  use kind_i2, only: test_i2 => test
  use kind_i4, only: test_i4 => test
  use kind_i8, only: test_i8 => test
#ifdef __GFC_INT_16__
  use kind_i16, only: test_i16 => test
#endif
  use kind_l1, only: test_l1 => test
  use kind_l2, only: test_l2 => test
  use kind_l4, only: test_l4 => test
  use kind_l8, only: test_l8 => test
  use kind_r4, only: test_r4 => test
  use kind_r8, only: test_r8 => test
#ifdef __GFC_REAL_10__
  use kind_r10, only: test_r10 => test
#endif
#ifdef __GFC_REAL_16__
  use kind_r16, only: test_r16 => test
#endif
  use kind_c4, only: test_c4 => test
  use kind_c8, only: test_c8 => test
#ifdef __GFC_REAL_10__
  use kind_c10, only: test_c10 => test
#endif
#ifdef __GFC_REAL_16__
  use kind_c16, only: test_c16 => test
#endif
  use checks, only: begin, finish
  implicit none
  call begin()
  call test_i1()
  call test_i2()
  call test_i4()
  call test_i8()
#ifdef __GFC_INT_16__
  call test_i16()
#endif
  call test_l1()
  call test_l2()
  call test_l4()
  call test_l8()
  call test_r4()
  call test_r8()
#ifdef __GFC_REAL_10__
  call test_r10()
#endif
#ifdef __GFC_REAL_16__
  call test_r16()
#endif
  call test_c4()
  call test_c8()
#ifdef __GFC_REAL_10__
  call test_c10()
#endif
#ifdef __GFC_REAL_16__
  call test_c16()
#endif
  call finish('kinds')
end program
