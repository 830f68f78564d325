// SPDX-License-Identifier: BSD-3-Clause
// A protocol is written as straight-line code that pauses where it would have to wait:
//
//     Protocol<int> greet(Link& link) {
//         int n = 0;
//         Requests requests;
//         link.receive(requests, &n, sizeof n, 0, tag);
//         co_await until(requests);
//         co_return n;
//     }
//
// Nothing runs by itself: whoever polls the outermost protocol drives all that it awaits, in the
// polling thread. So a protocol never blocks, and needs no lock against itself.
//
// g++ 12 may destroy an aggregate temporary of a co_await or co_return expression twice: give such
// values a name first.
#pragma once

#include <coroutine>
#include <cstddef>
#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

#include "comm/frames.hpp"

namespace hocket::comm {

/// A condition that a protocol awaits.
class Condition {
  public:
    virtual ~Condition() = default;
    virtual bool holds() = 0;
};

namespace detail {

// Common to a protocol and the protocols that it awaits: the point to resume, and its condition.
struct Thread {
    std::coroutine_handle<> innermost;
    Condition* blocked = nullptr;
    std::exception_ptr error;  // of that condition
};

struct PromiseBase {
    Thread* thread = nullptr;
    std::coroutine_handle<> continuation;
    std::exception_ptr error;

    static void* operator new(std::size_t bytes) { return take_frame(bytes); }
    static void operator delete(void* frame, std::size_t bytes) { give_frame(frame, bytes); }

    std::suspend_always initial_suspend() noexcept { return {}; }

    struct Final {
        bool await_ready() noexcept { return false; }
        template <class Promise>
        std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> self) noexcept {
            auto& promise = self.promise();
            return promise.continuation ? promise.continuation : std::noop_coroutine();
        }
        void await_resume() noexcept {}
    };
    Final final_suspend() noexcept { return {}; }
    void unhandled_exception() { error = std::current_exception(); }
};

template <class T>
struct Promise : PromiseBase {
    std::optional<T> value;
    auto get_return_object() { return std::coroutine_handle<Promise>::from_promise(*this); }
    template <class U>
    void return_value(U&& result) {
        value.emplace(std::forward<U>(result));
    }
    T take() {
        if (error) std::rethrow_exception(error);
        return std::move(*value);
    }
};

template <>
struct Promise<void> : PromiseBase {
    auto get_return_object() { return std::coroutine_handle<Promise>::from_promise(*this); }
    void return_void() {}
    void take() {
        if (error) std::rethrow_exception(error);
    }
};

}  // namespace detail

template <class T = void>
class [[nodiscard]] Protocol {
  public:
    using promise_type = detail::Promise<T>;
    using Handle = std::coroutine_handle<promise_type>;

    // Implicit: the compiler converts what get_return_object gives.
    Protocol(Handle handle) : handle_(handle) {}  // NOLINT(google-explicit-constructor)
    Protocol(Protocol&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
    Protocol& operator=(Protocol&&) = delete;
    ~Protocol() {
        if (handle_) handle_.destroy();
    }

    // Another protocol awaits this one: it runs at once, as a part of it. If it ends at once, it
    // returns here and does not resume the other, so a loop needs no stack for each round.
    bool await_ready() const noexcept { return false; }
    template <class Outer>
    bool await_suspend(std::coroutine_handle<Outer> outer) {
        handle_.promise().thread = outer.promise().thread;
        handle_.resume();
        if (handle_.done()) return false;
        handle_.promise().continuation = outer;
        return true;
    }
    T await_resume() { return handle_.promise().take(); }

    // Driven from outside, by `Driven` only.
    Handle handle() const { return handle_; }

  private:
    Handle handle_;
};

/// Awaiting a condition: `co_await until(condition)`. Throws what the condition throws.
struct Until {
    Condition& condition;
    detail::Thread* thread = nullptr;
    bool await_ready() { return condition.holds(); }
    template <class Promise>
    void await_suspend(std::coroutine_handle<Promise> self) {
        thread = self.promise().thread;
        thread->innermost = self;
        thread->blocked = &condition;
    }
    void await_resume() const {
        if (thread != nullptr && thread->error)
            std::rethrow_exception(std::exchange(thread->error, nullptr));
    }
};

inline Until until(Condition& condition) {
    return {condition};
}

/// Awaits a function that returns true: `When ready([&] { … }); co_await until(ready);`
template <class Function>
class When final : public Condition {
  public:
    explicit When(Function function) : function_(std::move(function)) {}
    bool holds() override { return function_(); }

  private:
    Function function_;
};

/// A protocol polled from outside.
template <class T>
class Driven {
  public:
    explicit Driven(Protocol<T> protocol) : protocol_(std::move(protocol)) {
        auto handle = protocol_.handle();
        thread_.innermost = handle;
        handle.promise().thread = &thread_;
    }
    Driven(const Driven&) = delete;
    Driven& operator=(const Driven&) = delete;

    /// True once the protocol has ended, by a result or by an exception.
    bool poll() {
        if (protocol_.handle().done()) return true;
        if (thread_.blocked != nullptr) {
            try {
                if (!thread_.blocked->holds()) return false;
            } catch (...) {
                thread_.error = std::current_exception();
            }
            thread_.blocked = nullptr;
        }
        thread_.innermost.resume();
        return protocol_.handle().done();
    }
    /// The result; rethrows the exception. Only once `poll` was true, and only once.
    T take() { return protocol_.handle().promise().take(); }

  private:
    Protocol<T> protocol_;
    detail::Thread thread_;
};

}  // namespace hocket::comm
