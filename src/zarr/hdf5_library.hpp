// SPDX-License-Identifier: BSD-3-Clause
// The C library of HDF5, loaded when a program first opens an HDF5 file.
//
// hocket loads it rather than linking to it, for three reasons. A program may have a library of its
// own (h5py brings one, a simulation may have the parallel one), and symbols of two versions may
// not mix in one process. A build needs no headers. A machine without HDF5 gets an error from the
// one call that needs it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <type_traits>
#include <utility>

namespace hocket::zarr::hdf5 {

using Id = std::int64_t;  // hid_t, since HDF5 1.10
using Size = std::uint64_t;
constexpr Id none = 0;  // H5P_DEFAULT, H5S_ALL, H5E_DEFAULT
constexpr Size undefined = ~Size{0};
constexpr Size unlimited = ~Size{0};

/// HDF5 is not thread-safe as distributions build it. Every use of it holds this lock.
std::unique_lock<std::recursive_mutex> locked();

/// Also tries this file, after the system's libraries: the one that h5py brings.
void offer(const std::string& path);

/// The address of a symbol. nullptr: this version lacks it. @throws Error if there is no library
void* find(const char* symbol);
void* symbol(const char* name);
/// The value of a variable, as H5T_NATIVE_INT32_g.
Id variable(const char* name);
/// @throws Error with HDF5's own description of its last error
[[noreturn]] void fail_of(const char* function);

template <class Signature>
class Function;

/// A function of the library. A negative result becomes an exception.
template <class Result, class... Arguments>
class Function<Result(Arguments...)> {
  public:
    explicit constexpr Function(const char* name) : name_(name) {}
    bool is_there() const { return find(name_) != nullptr; }
    Result operator()(Arguments... arguments) const {
        const Result result =
            reinterpret_cast<Result (*)(Arguments...)>(symbol(name_))(arguments...);
        if constexpr (std::is_signed_v<Result>)
            if (result < 0) fail_of(name_);
        return result;
    }

  private:
    const char* name_;
};

/// An object of HDF5, released at the end of its life.
class Held {
  public:
    Held(Id id) : id_(id) {}  // NOLINT(google-explicit-constructor): as functions return it
    Held(Held&& other) noexcept : id_(std::exchange(other.id_, -1)) {}
    Held& operator=(Held&& other) noexcept {
        std::swap(id_, other.id_);
        return *this;
    }
    ~Held();
    operator Id() const { return id_; }  // NOLINT(google-explicit-constructor)

  private:
    Id id_;
};

}  // namespace hocket::zarr::hdf5
