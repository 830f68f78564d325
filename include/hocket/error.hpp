// SPDX-License-Identifier: BSD-3-Clause
// What can go wrong. Every message says what went wrong, with which values, and how to mend it.
#pragma once

#include <stdexcept>
#include <string>

namespace hocket {

/// Root of every error that hocket raises.
class Error : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// A layout, an alignment, a section or a plan that cannot be.
class LayoutError : public Error {
  public:
    using Error::Error;
};

/// Two sides of one operation disagree: shape, dtype, layout, arguments. Raised on every process
/// of both sides, naming both, before any data moves.
class MismatchError : public Error {
  public:
    using Error::Error;
};

/// A wait ended because the deadline that the caller set has passed.
class DeadlineError : public Error {
  public:
    using Error::Error;
};

/// A wait ended because a process that it depended on is gone.
class PeerLostError : public Error {
  public:
    using Error::Error;
};

/// An argument of a call in C or Fortran that cannot be used at all: NULL, a handle that was freed,
/// too little room. Raised on every process of a collective call.
class ArgumentError : public Error {
  public:
    using Error::Error;
};

/// A receive on a channel that its sender has closed.
class EndOfStream : public Error {
  public:
    using Error::Error;
};

}  // namespace hocket
