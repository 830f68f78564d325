// SPDX-License-Identifier: BSD-3-Clause
// The errors that hocket raises. Each message states the cause, the values and the remedy.
#pragma once

#include <stdexcept>
#include <string>

namespace hocket {

/// The base class of every error that hocket raises.
class Error : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// An invalid layout, alignment, section or plan.
class LayoutError : public Error {
  public:
    using Error::Error;
};

/// Two sides of one operation disagree: shape, dtype, layout or arguments. Every process of both
/// sides raises this error, which names both values, before any data moves.
class MismatchError : public Error {
  public:
    using Error::Error;
};

/// A wait ended because the caller's deadline passed.
class DeadlineError : public Error {
  public:
    using Error::Error;
};

/// A wait ended because a process that it depended on has ended.
class PeerLostError : public Error {
  public:
    using Error::Error;
};

/// As PeerLostError, of a process of another job: this job's own processes go on.
class JobLostError : public PeerLostError {
  public:
    using PeerLostError::PeerLostError;
};

/// An invalid argument of a call in C or Fortran: NULL, a freed handle, or too small a buffer.
/// Every process of a collective call raises it.
class ArgumentError : public Error {
  public:
    using Error::Error;
};

/// There is no memory for an array.
class MemoryError : public Error {
  public:
    using Error::Error;
};

/// A receive on a channel that its sender has closed.
class EndOfStream : public Error {
  public:
    using Error::Error;
};

}  // namespace hocket
