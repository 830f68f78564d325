// SPDX-License-Identifier: BSD-3-Clause
// The body of a step: any callable. Small ones are stored in place, because a step lives for only a
// few hundred nanoseconds.
#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "hocket/coroutine.hpp"
#include "hocket/operation.hpp"

namespace hocket::flow {

using Operations = std::vector<std::shared_ptr<Operation>>;

/// The rest of a step that waits in its middle. As an operation, it is a step that communicates:
/// polls go on with it.
class Suspended : public Operation {
  public:
    /// Whether it may go on; makes progress without blocking.
    virtual bool ready() = 0;
    /// Goes on to its next wait; true at its end. @throws the error of the step.
    virtual bool resume() = 0;
    /// Whether it has a stack of its own: it then goes on in the worker where it began, and a
    /// cancelled flow waits for its end.
    virtual bool has_stack() const { return false; }
    bool poll() final { return ready() && (left_ || resume()); }
    /// It never goes on; what it waits for may have to complete.
    bool leave() final {
        left_ = true;
        return leave_awaited();
    }

  private:
    virtual bool leave_awaited() = 0;
    bool left_ = false;
};

/// A coroutine that has not begun.
std::shared_ptr<Suspended> suspended(Coroutine<> coroutine);
/// A function on a stack of its own, which has not begun. It pauses in its waits.
std::shared_ptr<Suspended> on_own_stack(std::function<void()> function);
/// Waits for operations that a step's function has started, outside of flows.
void complete(const Operations& started);

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
    /// The body of `function()` or `function(Here&)`, which returns nothing, or operations; or of
    /// a coroutine `function()`.
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
    /// Whether it starts one Suspended.
    bool suspends() const { return verbs_ != nullptr && verbs_->suspends; }
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
        bool suspends;
    };

    template <class F>
    static constexpr bool suspends_of() {
        if constexpr (std::invocable<F&>) {
            using Result = std::invoke_result_t<F&>;
            return std::same_as<Result, Coroutine<>> ||
                   std::same_as<Result, std::shared_ptr<Suspended>>;
        } else {
            static_assert(!std::same_as<std::invoke_result_t<F&, Here&>, Coroutine<>>,
                          "a coroutine cannot reduce: its function takes no argument");
            return false;
        }
    }
    static void keep(Operations& started, Coroutine<>&& coroutine) {
        started.push_back(suspended(std::move(coroutine)));
    }
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
        static constexpr Verbs verbs{call, move_of<F>, destroy_of<F>, suspends_of<F>()};
    };
    template <class F>
    struct Held {
        using Owned = std::unique_ptr<F>;
        static void call(void* place, Here& here, Operations& started) {
            run(*at<Owned>(place), here, started);
        }
        static constexpr Verbs verbs{call, move_of<Owned>, destroy_of<Owned>, suspends_of<F>()};
    };

    void take(Body& other) noexcept {
        verbs_ = std::exchange(other.verbs_, nullptr);
        if (verbs_ != nullptr) verbs_->move(other.place_, place_);
    }

    const Verbs* verbs_ = nullptr;
    alignas(std::max_align_t) std::byte place_[room];
};

}  // namespace hocket::flow
