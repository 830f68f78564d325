// SPDX-License-Identifier: BSD-3-Clause
// The pointer in each handle class.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "hocket/error.hpp"

namespace hocket::handle {

/// The name of a handle class, as an argument of a template.
template <std::size_t size>
struct Name {
    consteval Name(const char (&name)[size]) {  // NOLINT(google-explicit-constructor)
        std::copy_n(name, size, text);
    }
    char text[size];
};

/// The state that the copies of one handle share. A handle that was moved from has none, nor has
/// one that was made without a state, nor have Tasks that have disconnected.
template <class T, Name name>
class Shared {
  public:
    Shared() = default;
    template <class State>
    Shared(std::shared_ptr<State> state)  // NOLINT(google-explicit-constructor)
        : state_(std::move(state)) {}

    /// @throws Error if there is no state.
    const std::shared_ptr<T>& pointer() const {
        if (state_ == nullptr) [[unlikely]]
            throw_empty();
        return state_;
    }
    T& operator*() const { return *pointer(); }
    T* operator->() const { return pointer().get(); }
    operator const std::shared_ptr<T>&() const {  // NOLINT(google-explicit-constructor)
        return pointer();
    }
    friend bool operator==(const Shared&, const Shared&) = default;

  private:
    [[noreturn, gnu::cold]] static void throw_empty() {
        const std::string kind = name.text;
        throw Error(
            "this " + kind + " is empty: it was moved from" +
            (kind == "Tasks" ? ", or has disconnected," : "") +
            " or never held anything; use the object to which it was moved, or assign one to it");
    }

    std::shared_ptr<T> state_;
};

}  // namespace hocket::handle
