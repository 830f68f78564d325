// SPDX-License-Identifier: BSD-3-Clause
// The body of a step: any callable. Small ones are stored in place, because a step lives for only a
// few hundred nanoseconds.
#pragma once

#include <concepts>
#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#include "hocket/operation.hpp"

namespace hocket::flow {

using Operations = std::vector<std::shared_ptr<Operation>>;

/// A running step, as passed to its function.
class Here {
  public:
    explicit Here(std::vector<void*>* parts) : parts_(parts) {}
    /// The private buffer of the step's i-th reduction: contiguous as Reduction says, and set to
    /// the identity. @throws Error if the step has no such reduction.
    void* part(std::size_t i) const;
    template <class T>
    T* part_of(std::size_t i) const {
        return static_cast<T*>(part(i));
    }

  private:
    std::vector<void*>* parts_;
};

template <class Function, class Body>
concept BodyOf = !std::same_as<std::decay_t<Function>, Body>;

class Body {
  public:
    Body() = default;
    /// The body of `function()` or `function(Here&)`, which returns nothing, or operations.
    template <BodyOf<Body> Function>
    explicit Body(Function&& function) {
        using F = std::decay_t<Function>;
        constexpr bool fits = sizeof(F) <= room && alignof(F) <= alignof(std::max_align_t) &&
                              std::is_nothrow_move_constructible_v<F>;
        if constexpr (fits) {
            new (place_) F(std::forward<Function>(function));
            verbs_ = &Inline<F>::verbs;
        } else {
            using Owned = std::unique_ptr<F>;
            new (place_) Owned(std::make_unique<F>(std::forward<Function>(function)));
            verbs_ = &Held<F>::verbs;
        }
    }
    Body(Body&& other) noexcept { take(other); }
    Body& operator=(Body&& other) noexcept;
    ~Body() { reset(); }

    void operator()(Here& here, Operations& started) { verbs_->call(place_, here, started); }
    void reset() {
        if (verbs_ != nullptr) verbs_->destroy(place_);
        verbs_ = nullptr;
    }

  private:
    static constexpr std::size_t room = 64;
    struct Verbs {
        void (*call)(void* place, Here& here, Operations& started);
        void (*move)(void* from, void* to) noexcept;
        void (*destroy)(void* place) noexcept;
    };

    template <class Result>
    static void keep(Operations& started, Result&& result) {
        if constexpr (std::is_assignable_v<Operations&, Result&&>) {
            started = std::forward<Result>(result);
        } else {
            started.emplace_back(std::forward<Result>(result));
        }
    }
    template <class F>
    static void run(F& function, Here& here, Operations& started) {
        if constexpr (std::invocable<F&, Here&>) {
            if constexpr (std::is_void_v<std::invoke_result_t<F&, Here&>>)
                function(here);
            else
                keep(started, function(here));
        } else {
            if constexpr (std::is_void_v<std::invoke_result_t<F&>>)
                function();
            else
                keep(started, function());
        }
    }

    template <class F>
    static F& at(void* place) {
        return *std::launder(static_cast<F*>(place));
    }
    template <class F>
    static void move_of(void* from, void* to) noexcept {
        new (to) F(std::move(at<F>(from)));
        at<F>(from).~F();
    }
    template <class F>
    static void destroy_of(void* place) noexcept {
        at<F>(place).~F();
    }
    template <class F>
    struct Inline {
        static void call(void* place, Here& here, Operations& started) {
            run(at<F>(place), here, started);
        }
        static constexpr Verbs verbs{call, move_of<F>, destroy_of<F>};
    };
    template <class F>
    struct Held {
        using Owned = std::unique_ptr<F>;
        static void call(void* place, Here& here, Operations& started) {
            run(*at<Owned>(place), here, started);
        }
        static constexpr Verbs verbs{call, move_of<Owned>, destroy_of<Owned>};
    };

    void take(Body& other) noexcept {
        verbs_ = std::exchange(other.verbs_, nullptr);
        if (verbs_ != nullptr) verbs_->move(other.place_, place_);
    }

    const Verbs* verbs_ = nullptr;
    alignas(std::max_align_t) std::byte place_[room];
};

}  // namespace hocket::flow
