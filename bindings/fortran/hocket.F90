! SPDX-License-Identifier: BSD-3-Clause
! hocket for Fortran 2008: a program needs only `use hocket`.
!
! Every call is a subroutine hocket_<noun>_<verb> with C's arguments in C's order, then optional
! ones, then `ierr`: HOCKET_SUCCESS, or an error code, which hocket_error_message() describes.
! Without `ierr` an error prints its message and ends the program.
!
! Indices, dimensions and orders of dimensions count from 1, processes and tasks from 0, as MPI's
! ranks do. Arrays are Fortran's: column-major, of any strides. Communicators are integers.
module hocket
  use hocket_base, only: hocket_error_message, hocket_error_name
  use hocket_types
  use hocket_generated_calls
  use hocket_layout_plan_calls
  use hocket_layout_ownership
  use hocket_blacs
  use hocket_array_task_calls
  use hocket_flows
  use hocket_items
  use hocket_arrays_integer
  use hocket_arrays_logical
  use hocket_arrays_real
  use hocket_arrays_complex
  implicit none
  public
end module
